"""Leaks of links in typed graphs: test links that the training graph has, or that the features tell."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trueedge.audit.check import (
    VERDICTS,
    Finding,
    Skipped,
    chance_auc,
    check,
    graded,
    pairs_needed,
    percent,
    picture,
)
from trueedge.audit.leaks import SELF_NEGATIVES_BROKEN
from trueedge.audit.repeated import repeated_finding
from trueedge.audit.typed_subject import LINKS, PART_WORDS, TypedLinkSubject
from trueedge.errors import listed

KINDS = ("typed-links",)
# A link in a thousand cannot move the third digit of a metric; more than that can.
REPEATED_BROKEN = 0.001
# That two relations often connect the same nodes may be what is to be learned. A hundredth is worth saying;
# with more than a tenth, and if nearly all edges of the other relation are links, links can be looked up.
LOOKED_UP_LOOK, LOOKED_UP_BROKEN = 0.01, 0.1
CERTAIN = 0.8
# Features of friends are alike, but seldom so much that hardly a negative is as close as a link.
TELL_LOOK, TELL_BROKEN = 0.9, 0.98


@check(
    "repeated-links",
    "leaks",
    title="links in several parts",
    question="Can a model see the links of the test part in training?",
    rule="look: any test or validation link is also in another part, in either direction if both ends have"
    f" one type; broken: more than {percent(REPEATED_BROKEN)} of them",
    advice="Remove these links from the training graph, and train again",
    picture=picture("Links that are also in another part", "bars", "links"),
    kinds=KINDS,
)
def _repeated(subject: TypedLinkSubject) -> Finding:
    task = subject.task
    counts: dict[str, tuple[int, int]] = {}
    for part, links in task.positives.items():
        others = {"train": None, **({"valid": task.positives["valid"]} if part == "test" else {})}
        if "valid" not in task.positives:
            others.pop("valid", None)
        for other, held in others.items():
            hits = 0
            for number in task.relations:
                known = task.graph.edges[number] if held is None else subject.of(held, number)
                hits += int(subject.among(subject.of(links, number), known, number).sum())
            counts[f"{PART_WORDS[part]} links in {PART_WORDS[other]}"] = hits, len(links)
    return repeated_finding("repeated-links", counts, "links", REPEATED_BROKEN, subject.looked())


@check(
    "self-links",
    "leaks",
    title="links from a node to itself",
    question="Do some links give themselves away, since they join a node to itself?",
    rule="look: any link or negative of a part joins a node to itself; broken: more than"
    f" {percent(REPEATED_BROKEN)} of a part's links, or {percent(SELF_NEGATIVES_BROKEN)} of its negatives",
    advice="Remove the links from a node to itself from these parts",
    picture=picture("Links from a node to itself", "bars", "links"),
    kinds=KINDS,
)
def _self_links(subject: TypedLinkSubject) -> Finding | Skipped:
    task = subject.task
    within = [number for number in task.relations if subject.within_type(number)]
    if not within:
        return Skipped("no predicted relation connects nodes of one type")
    loops, sizes, verdicts = {}, {}, []
    for given, noun, broken in (
        (task.positives, "links", REPEATED_BROKEN),
        (task.negatives, "negatives", SELF_NEGATIVES_BROKEN),
    ):
        for part, rows in given.items():
            name = f"{PART_WORDS[part]} {noun}"
            loops[name], sizes[name] = int((rows[:, 0] == rows[:, 2]).sum()), len(rows)
            verdicts.append(graded(loops[name] / len(rows), 0.0, broken))
    shares = {name: loops[name] / sizes[name] for name in loops}
    worst = max(shares.values())
    known = np.concatenate([task.graph.edges[number] for number in within])
    seen = int((known[:, 0] == known[:, 1]).sum())
    told = listed([f"{loops[name]:,} of {sizes[name]:,} {name}" for name in loops])
    return Finding(
        "self-links",
        min(verdicts, key=VERDICTS.index),
        percent(worst),
        f"{told} join a node to itself; of {len(known):,} training edges, {seen:,} do",
        {"share": worst, **shares, "training edges": float(seen)},
        {"what": np.array(list(loops)), "links": np.array(list(loops.values()))},
        subject.looked_at_both(),
    )


@check(
    "parallel-relations",
    "leaks",
    title="test links under another relation",
    question="Does another relation of the training graph connect the ends of test links?",
    rule=f"look: more than {percent(LOOKED_UP_LOOK)} of the test links, and more than of the negatives, are"
    " edges of another relation; broken:"
    f" more than {percent(LOOKED_UP_BROKEN)}, and {percent(CERTAIN)} of its edges are links",
    advice="Remove the edges of the other relation that are test links",
    picture=picture("Test links under other relations", "bars", "test links", "relation"),
    kinds=KINDS,
)
def _parallel(subject: TypedLinkSubject) -> Finding | Skipped:
    return _looked_up(subject, "parallel-relations", reverse=False)


@check(
    "reverse-relations",
    "leaks",
    title="test links under a reverse relation",
    question="Does another relation of the training graph have the reverse of test links?",
    rule=f"look: more than {percent(LOOKED_UP_LOOK)} of the test links, and more than of the negatives, are"
    f" reversed edges of another relation; broken: more than {percent(LOOKED_UP_BROKEN)}, and"
    f" {percent(CERTAIN)} of its reversed edges are links",
    advice="Remove the edges of the other relation that are test links",
    picture=picture("Test links under reverse relations", "bars", "test links", "relation"),
    kinds=KINDS,
)
def _reverse(subject: TypedLinkSubject) -> Finding | Skipped:
    return _looked_up(subject, "reverse-relations", reverse=True)


def _looked_up(subject: TypedLinkSubject, name: str, reverse: bool) -> Finding | Skipped:
    """Count the test links that another relation has, in one direction or the other."""
    task, relations = subject.task, subject.graph.relations
    found: list[tuple[int, float, int, float]] = []
    for number in task.relations:
        ends = relations[number][1:]
        links, negatives = (subject.of(one["test"], number) for one in (task.positives, task.negatives))
        held = [subject.of(one, number)[:, [0, 2]] for one in task.positives.values()]
        every = subject.pair_keys(np.concatenate([task.graph.edges[number], *held]))
        for other, (_, *theirs) in enumerate(relations):
            if other == number or tuple(theirs[::-1] if reverse else theirs) != tuple(ends):
                continue
            keys = subject.pair_keys(task.graph.edges[other], reverse)
            hits = int(np.isin(subject.pair_keys(links), keys).sum())
            certain = float(np.isin(keys, every).mean()) if len(keys) else 0.0
            chance = float(np.isin(subject.pair_keys(negatives), keys).mean()) if len(negatives) else 0.0
            found.append((hits, certain, other, chance))
    way = "in the other direction" if reverse else "in the same direction"
    if not found:
        return Skipped(f"no other relation connects these node types {way}")
    hits, certain, other, chance = max(found)
    share = hits / len(subject.test)
    # What as many negatives reach, and four standard errors of the difference.
    noise = chance + 4 * np.sqrt(2 * max(chance, share) * (1 - max(chance, share)) / len(subject.test))
    broken = LOOKED_UP_BROKEN if certain >= CERTAIN else np.inf
    verdict = graded(share, max(LOOKED_UP_LOOK, noise), max(broken, noise))
    label = relations[other].name
    what = "reversed edges" if reverse else "edges"
    sentence = f"{hits:,} of {len(subject.test):,} test links are {what} of {label!r} in the training graph"
    if hits:
        sentence += f" ({percent(chance)} of the negatives), and {percent(certain)} of its {what} are links"
    return Finding(
        name,
        verdict,
        percent(share),
        sentence,
        {"share": share, "test links": float(hits), "negatives": chance, "edges that are links": certain},
        {
            "relation": np.array([relations[one].name for _, _, one, _ in found]),
            "test links": np.array([count for count, *_ in found]),
        },
        subject.looked(),
    )


@check(
    "features-tell-links",
    "leaks",
    title="links that features tell",
    question="Do the features of both ends tell links from negatives?",
    rule=f"look: the cosine of the features has an AUC above {TELL_LOOK}; broken: above {TELL_BROKEN}",
    advice="Report the cosine of the features beside every model",
    fewest=pairs_needed(chance_auc, TELL_LOOK - 0.5, LINKS),
    picture=picture("AUC of the cosine of features", "bars", "AUC", "relation"),
    kinds=KINDS,
)
def _tell(subject: TypedLinkSubject) -> Finding | Skipped:
    graph, task = subject.graph, subject.task
    values: dict[str, float] = {}
    for number in task.relations:
        name, source, target = graph.relations[number]
        tables = subject.table(source), subject.table(target)
        if tables[0] is None or tables[1] is None or tables[0].shape[1] != tables[1].shape[1]:
            continue
        links, negatives = (
            _cosines(subject, subject.of(one["test"], number)) for one in (task.positives, task.negatives)
        )
        if len(links) and len(negatives):
            values[name] = subject.auc(links, negatives)
    if not values:
        return Skipped("no predicted relation connects nodes with features of the same width")
    worst = max(values, key=lambda one: values[one])
    return Finding(
        "features-tell-links",
        graded(values[worst], TELL_LOOK, TELL_BROKEN),
        f"{values[worst]:.4f}",
        f"the cosine of the features of both ends has an AUC of {values[worst]:.4f} for links of {worst!r}",
        {"auc": values[worst], **{f"auc of {name}": value for name, value in values.items()}},
        {"relation": np.array(list(values)), "AUC": np.array(list(values.values()))},
        subject.looked_at_both(),
    )


def _cosines(subject: TypedLinkSubject, links: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return the cosine of the features of both ends of links of one relation, float64 (n,)."""
    if not len(links):
        return np.empty(0)
    graph = subject.graph
    _, source, target = graph.relations[int(links[0, 1])]
    rows = []
    for column, end in ((0, source), (2, target)):
        table = subject.table(end)
        assert table is not None
        rows.append(table[links[:, column] - graph.starts[end]].astype(np.float64))
    dots, *squares = (
        np.asarray(left.multiply(right).sum(axis=1)).reshape(-1)
        for left, right in (rows, [rows[0]] * 2, [rows[1]] * 2)
    )
    return np.asarray(dots / np.sqrt(np.maximum(squares[0] * squares[1], 1e-300)))
