"""Negatives of typed links: are they links, do they repeat, are there enough of the kind that is drawn?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trueedge.audit.check import Finding, Skipped, chance_share, check, graded, graded_share, percent, picture
from trueedge.audit.typed_subject import PART_WORDS, TypedLinkSubject

KINDS = ("typed-links",)
# A negative in a hundred that is a link cannot move an AUC by more than half a point; more than that can.
LINKS_BROKEN = 0.01
# A repeat adds no comparison: a hundredth is careless, and with a tenth a part is smaller than it says.
REPEATS_LOOK, REPEATS_BROKEN = 0.01, 0.1
# Heads whose negatives are filled up with random nodes are easier: a twentieth is worth saying, and with a
# half the benchmark is one of random negatives.
FEW_LOOK, FEW_BROKEN = 0.05, 0.5
# Heads whose nodes are listed at a time.
BLOCK = 512


@check(
    "negatives-are-links",
    "negatives",
    title="negatives that are links",
    question="Are correct answers counted as wrong?",
    rule=f"look: any negative is a link of any part; broken: more than {percent(LINKS_BROKEN)} of a part's"
    " negatives",
    advice="Draw the negatives again, and leave out the links of every part",
    picture=picture("Negatives that are links", "bars", "negatives", "part of the link"),
    kinds=KINDS,
)
def _links(subject: TypedLinkSubject) -> Finding:
    task = subject.task
    counts = dict.fromkeys(("train", *task.positives), 0)
    shares = {}
    for part, negatives in task.negatives.items():
        either = 0
        for number in task.relations:
            rows = subject.of(negatives, number)
            hits = {"train": subject.among(rows, task.graph.edges[number], number)}
            for held, links in task.positives.items():
                hits[held] = subject.among(rows, subject.of(links, number), number)
            for held, one in hits.items():
                counts[held] += int(one.sum())
            either += int(np.logical_or.reduce(list(hits.values())).sum())
        shares[PART_WORDS[part]] = either / len(negatives)
    worst = max(shares.values())
    total = sum(map(len, task.negatives.values()))
    told = ", ".join(f"{count:,} are {PART_WORDS[held]} links" for held, count in counts.items())
    return Finding(
        "negatives-are-links",
        graded(worst, 0.0, LINKS_BROKEN),
        percent(worst),
        f"of {total:,} negatives {told}",
        {"share": worst, **{f"{held} links": float(count) for held, count in counts.items()}},
        {
            "part": np.array([PART_WORDS[held] for held in counts]),
            "negatives": np.array(list(counts.values())),
        },
        f"{total:,} negatives",
    )


@check(
    "repeated-negatives",
    "negatives",
    title="negatives that repeat",
    question="Are the negatives of each part distinct?",
    rule=f"look: more than {percent(REPEATS_LOOK)} of a part's negatives are repeats; broken: more than"
    f" {percent(REPEATS_BROKEN)}",
    advice="Draw the negatives again, without replacement",
    picture=picture("Negatives that repeat another one", "bars", "share of the negatives", "part"),
    kinds=KINDS,
)
def _repeats(subject: TypedLinkSubject) -> Finding:
    counts, shares = {}, {}
    for part, negatives in subject.task.negatives.items():
        counts[part] = len(negatives) - len(np.unique(negatives, axis=0))
        shares[part] = counts[part] / len(negatives)
    worst = max(shares.values())
    fewest = min(map(len, subject.task.negatives.values()))
    return Finding(
        "repeated-negatives",
        graded(worst, REPEATS_LOOK, REPEATS_BROKEN, chance_share(REPEATS_LOOK, fewest)),
        percent(worst),
        ", ".join(
            f"{counts[part]:,} of {len(negatives):,} {PART_WORDS[part]} negatives repeat another one"
            for part, negatives in subject.task.negatives.items()
        ),
        {"share": worst, **shares},
        {
            "part": np.array([PART_WORDS[part] for part in shares]),
            "share": np.array(list(shares.values())),
        },
        f"{sum(map(len, subject.task.negatives.values())):,} negatives",
    )


@check(
    "few-two-hop",
    "negatives",
    title="heads with too few nodes two steps away",
    question="Can every test head have negatives that are two steps away?",
    rule=f"look: more than {percent(FEW_LOOK)} of the test heads have fewer such nodes than links; broken:"
    f" more than {percent(FEW_BROKEN)}",
    advice="Use `--option negatives=random`, or report these heads separately",
    picture=picture("Test heads by their nodes two steps away", "bars", "heads"),
    kinds=KINDS,
)
def _few(subject: TypedLinkSubject) -> Finding | Skipped:
    drawn = subject.task.settings.get("negatives")
    if drawn not in (None, "two-hop"):
        return Skipped(f"the negatives are {drawn}, not two steps away")
    few = heads = random = 0
    for number in subject.task.relations:
        links, negatives = (
            subject.of(one["test"], number) for one in (subject.task.positives, subject.task.negatives)
        )
        amounts = _two_hop_nodes(subject, number, np.unique(links[:, 0]))
        _, wanted = np.unique(links[:, 0], return_counts=True)
        few += int((amounts < wanted).sum())
        heads += len(wanted)
        random += int((subject.common_neighbors(negatives, hidden=True) == 0).sum())
    share = few / heads
    total = len(subject.task.negatives["test"])
    return Finding(
        "few-two-hop",
        graded_share(share, FEW_LOOK, FEW_BROKEN, heads),
        percent(share),
        f"{few:,} of {heads:,} test heads have fewer nodes two steps away than links, and {random:,} of"
        f" {total:,} test negatives are not two steps from their head",
        {"share": share, "heads": float(few), "negatives elsewhere": float(random)},
        {"test heads": np.array(["enough", "too few"]), "heads": np.array([heads - few, few])},
        subject.looked_at_both(),
    )


def _two_hop_nodes(subject: TypedLinkSubject, relation: int, heads: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return how many nodes of the target type are two steps from each head and not linked to it."""
    graph = subject.graph
    first, last = (int(one) for one in graph.starts[graph.relations[relation].target :][:2])
    whole = subject.with_hidden
    to_targets = whole[:, first:last]
    held = [subject.of(links, relation)[:, [0, 2]] for links in subject.task.positives.values()]
    links = np.concatenate([graph.edges[relation], *held])
    if subject.within_type(relation):
        links = np.concatenate([links, links[:, ::-1]])
    links = np.unique(links, axis=0)
    found = []
    for begin in range(0, len(heads), BLOCK):
        block = heads[begin : begin + BLOCK]
        near = whole[block] @ to_targets
        rows = np.repeat(block, np.diff(near.indptr)).astype(np.int64)
        keys = rows * graph.num_nodes + near.indices + first
        free = ~np.isin(keys, subject.pair_keys(links)) & (rows != near.indices + first)
        found.append(np.bincount(np.searchsorted(block, rows[free]), minlength=len(block)))
    return np.concatenate(found)
