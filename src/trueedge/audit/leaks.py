"""Leaks: pairs in a place where they must not be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.audit.check import Finding, Verdict, check, graded, graded_share, percent, picture
from trueedge.audit.subject import LinkSubject, View
from trueedge.errors import listed
from trueedge.graph import in_sorted, pair_keys

PART_WORDS = {"valid": "validation", "test": "test"}
# A positive in a thousand cannot move the third digit of a metric; more than that can.
LEAK_BROKEN = 0.001
EDGE_KINDS = {
    "training edges": "training edges",
    "hidden edges": "positives",
    "other edges": "edges of no part",
}
# What they are called in a sentence.
FOUND_EDGES = {**EDGE_KINDS, "hidden edges": "hidden edges"}
# A perfect scorer loses as much AUC as there are edges among the negatives: a point is a point.
FALSE_NEGATIVES_BROKEN = 0.01
# A pair of a node with itself tests nothing; one in a hundred is a point of any metric.
SELF_NEGATIVES_BROKEN = 0.01
# No structural method can rank a pair with a node that has no edge: a twentieth is worth saying, and from a
# half on most of the part is a coin toss.
ISOLATED_LOOK, ISOLATED_BROKEN = 0.05, 0.5


def _leak(
    name: str,
    share: float,
    sentence: str,
    numbers: Mapping[str, float],
    series: Mapping[str, NDArray[Any]],
    looked: str,
    broken: float = LEAK_BROKEN,
) -> Finding:
    """The finding on a share of pairs, of which any is worth a look."""
    verdict = graded(share, 0.0, broken)
    return Finding(name, verdict, percent(share), sentence, {"share": share, **numbers}, series, looked)


@check(
    "train-leak",
    "leaks",
    title="positives in the training graph",
    question="Can a method see the answers?",
    rule=f"look: any; broken: more than {percent(LEAK_BROKEN)} of a part",
    advice="Remove these positives from the training graph, and train again",
    picture=picture("Positives that are training edges", "bars", "positives"),
)
def _train_leak(subject: LinkSubject) -> Finding:
    task = subject.task
    sizes = {name: len(part.positives) for name, part in task.parts.items()}
    counts = {name: int(task.graph.has_edges(part.positives).sum()) for name, part in task.parts.items()}
    # Each part by itself: a clean validation part does not make a leak of the test part smaller.
    shares = {name: counts[name] / sizes[name] for name in counts}
    told = " and ".join(
        f"{counts[name]:,} of {sizes[name]:,} {PART_WORDS[name]} positives"
        + (f" ({percent(of)})" if of else "")
        for name, of in shares.items()
    )
    return _leak(
        "train-leak",
        max(shares.values()),
        f"{told} are edges of the training graph, in either direction",
        {**shares, **{f"{name} positives": float(count) for name, count in counts.items()}},
        {"part": np.array(list(counts)), "positives in train": np.array(list(counts.values()))},
        f"all {sum(sizes.values()):,} positives",
    )


@check(
    "repeated-positives",
    "leaks",
    title="positives listed twice in a part",
    question="Does an edge count more than once?",
    rule=f"look: any; broken: more than {percent(LEAK_BROKEN)} of a part",
    advice="List each positive once",
    picture=picture("Repeated positives", "bars", "share of the part"),
)
def _repeats_within(subject: LinkSubject) -> Finding:
    keys = {
        name: pair_keys(part.positives, subject.task.num_nodes) for name, part in subject.task.parts.items()
    }
    shares = {name: 1.0 - len(np.unique(one)) / len(one) for name, one in keys.items()}
    told = " and ".join(f"{percent(value)} of {name}" for name, value in shares.items())
    reason = ", so they count twice" if any(shares.values()) else ""
    return _leak(
        "repeated-positives",
        max(shares.values()),
        f"{told} positives are repeated within their part, in either direction{reason}",
        shares,
        {"part": np.array(list(shares)), "repeated": np.array(list(shares.values()))},
        f"all {sum(map(len, keys.values())):,} positives",
    )


@check(
    "valid-in-test",
    "leaks",
    title="positives in both parts",
    question="Was the test part used for model selection?",
    rule=f"look: any; broken: more than {percent(LEAK_BROKEN)}",
    advice="Remove these pairs from the validation part, and select models again",
    picture=picture("Test positives by where they occur", "bars", "test positives"),
)
def _repeats_across(subject: LinkSubject) -> Finding:
    task, count = subject.task, 0
    size = len(task.test.positives)
    if "valid" in task.part_names:
        valid = np.sort(pair_keys(task.valid.positives, task.num_nodes))
        count = int(in_sorted(pair_keys(task.test.positives, task.num_nodes), valid).sum())
    reason = ", so models are selected on test data" if count else ""
    return _leak(
        "valid-in-test",
        count / size,
        f"{count:,} test positives are also validation positives, in either direction{reason}",
        {"positives": float(count)},
        {
            "test positives": np.array(["in the test part alone", "in both parts"]),
            "positives": np.array([size - count, count]) * (count > 0),
        },
        f"all {size:,} test positives",
    )


def _fewer_false_negatives(subject: LinkSubject) -> str:
    """Return what to do about negatives that are edges; HeaRT has them by its definition."""
    protocol = str(subject.task.protocol)
    if protocol.removesuffix("-released") == "heart":
        return (
            f"Compare only with results under {protocol}: some negatives are hidden edges, which is inherent"
            " to HeaRT"
        )
    return "Draw the negatives again, and leave out the edges of every part"


@check(
    "false-negatives",
    "leaks",
    title="negatives that are edges",
    question="Are correct answers counted as wrong?",
    rule=f"look: any; broken: more than {percent(FALSE_NEGATIVES_BROKEN)} of the test negatives",
    advice=_fewer_false_negatives,
    picture=picture("Negatives that are edges", "bars", "negatives"),
)
def _false_negatives(subject: LinkSubject) -> Finding:
    task = subject.task
    shares, ceilings = {}, {}
    kinds = {"training edges": task.graph.edge_keys, "hidden edges": subject.hidden_keys}
    if subject.other_keys is not None:
        kinds["other edges"] = subject.other_keys
    totals = dict.fromkeys(kinds, 0)
    looked = 0
    for name in subject.judged:
        view = subject.listed_for_leaks(name)
        keys = pair_keys(view.negatives, task.num_nodes)
        hits = {kind: in_sorted(keys, known) for kind, known in kinds.items()}
        either = np.logical_or.reduce(list(hits.values()))
        shares[name] = float(either.mean())
        # A perfect predictor ties a positive with the edges in its list, and has the mean of their ranks.
        ceilings[name] = float((1.0 / (1.0 + either.sum(axis=-1) / 2)).mean())
        looked += keys.size
        for kind, hit in hits.items():
            totals[kind] += int(hit.sum())
    # Results are those of the test part; the validation part counts if it alone has such negatives.
    judged = "test" if shares["test"] else max(shares, key=lambda name: shares[name])
    share, ceiling = shares[judged], ceilings[judged]
    words = [_counted(totals[kind], FOUND_EDGES[kind]) for kind in kinds]
    limit = ""
    if share:
        limit = (
            f"; even a perfect predictor would reach an MRR of only {ceiling:.3f} on the"
            f" {PART_WORDS[judged]} part"
        )
    return _leak(
        "false-negatives",
        share,
        f"the {looked:,} negatives contain {listed(words)}{limit}",
        {**shares, "ceiling": ceilings["test"], **{kind: float(count) for kind, count in totals.items()}},
        {
            "edges": np.array([EDGE_KINDS[kind] for kind in totals]),
            "negatives": np.array(list(totals.values())),
        },
        subject.looked_for_leaks(),
        FALSE_NEGATIVES_BROKEN if judged == "test" else 1.0,
    )


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun.replace('edges', 'edge') if count == 1 else noun}"


@check(
    "self-pairs",
    "leaks",
    title="a node paired with itself",
    question="Are there pairs of a node with itself?",
    rule=f"look: any negative; broken: any positive, or more than {percent(SELF_NEGATIVES_BROKEN)} of a"
    " part's negatives",
    advice="Remove the pairs of a node with itself",
    picture=picture("Pairs of a node with itself", "bars", "pairs"),
)
def _self_pairs(subject: LinkSubject) -> Finding:
    positives = negatives = looked = 0
    shares = {}
    for name in subject.task.part_names:
        asked = subject.task.part(name).positives
        positives += int((asked[:, 0] == asked[:, 1]).sum())
    for name in subject.judged:
        view = subject.listed_for_leaks(name)
        looped = view.negatives[..., 0] == view.negatives[..., 1]
        shares[name] = float(looped.mean())
        negatives += int(looped.sum())
        looked += looped.size
    share = max(shares.values())
    verdict: Verdict = "broken" if positives else graded(share, 0.0, SELF_NEGATIVES_BROKEN)
    return Finding(
        "self-pairs",
        verdict,
        f"{positives + negatives:,}",
        f"{positives:,} positives and {negatives:,} of {looked:,} negatives join a node to itself",
        {"pairs": float(positives + negatives), "positives": float(positives), "negatives": float(negatives)},
        {
            "pairs of a node with itself": np.array(["positives", "negatives"]),
            "pairs": np.array([positives, negatives]),
        },
        subject.looked_for_leaks(),
    )


@check(
    "isolated-nodes",
    "leaks",
    title="test positives with a node that has no training edges",
    question="How many test positives cannot be ranked by structural methods?",
    rule=f"look: more than {percent(ISOLATED_LOOK)}; broken: more than {percent(ISOLATED_BROKEN)}",
    advice="Report these positives separately",
    picture=picture("End nodes without training edges", "bars", "share of the test positives"),
)
def _isolated(subject: LinkSubject) -> Finding:
    ends = subject.task.part("test").positives
    alone = subject.graph.degrees[ends] == 0
    share = float(alone.any(axis=1).mean())
    both = float(alone.all(axis=1).mean())
    reason = f" ({percent(both)} at both ends), so structure cannot rank them" if share else ""
    return Finding(
        "isolated-nodes",
        graded_share(share, ISOLATED_LOOK, ISOLATED_BROKEN, len(ends)),
        percent(share),
        f"{percent(share)} of the test positives have an end node without training edges{reason}",
        {"share": share, "both ends": both, "nodes": float(len(np.unique(ends[alone])))},
        {
            "ends without a training edge": np.array(["none", "one", "both"]),
            "test positives": np.array([1.0 - share, share - both, both]) * (share > 0),
        },
        f"all {len(ends):,} test positives",
    )


def repeats_in_lists(view: View, num_nodes: int) -> NDArray[np.float64]:
    """Return the share of pairs in each list of negatives that are repeats, float64 (lists,)."""
    keys = pair_keys(view.negatives, num_nodes)
    ordered = np.sort(keys if view.per_positive else keys[None], axis=1)
    again: NDArray[np.float64] = (ordered[:, 1:] == ordered[:, :-1]).sum(axis=1) / ordered.shape[1]
    return again
