"""Leaks: pairs that stand where they must not."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trueedge.audit.check import Check, Finding, Verdict, graded, percent, register
from trueedge.audit.picture import Picture
from trueedge.audit.subject import Subject, View
from trueedge.graph import in_sorted, pair_keys

# A positive in a thousand cannot move the third digit of a metric; more than that can.
LEAK_BROKEN = 0.001
EDGE_KINDS = {
    "training edges": "training edges",
    "hidden edges": "positives",
    "other edges": "edges of no part",
}
# A perfect scorer loses as much AUC as there are edges among the negatives: a point is a point.
FALSE_NEGATIVES_BROKEN = 0.01
# A pair of a node and itself asks nothing; a hundredth of them is a point of any metric.
SELF_NEGATIVES_BROKEN = 0.01
# No structural method can rank a pair with a node that has no edge: a twentieth is worth saying, and from a
# half on most of the part is a coin toss.
ISOLATED_LOOK, ISOLATED_BROKEN = 0.05, 0.5


def _train_leak(subject: Subject) -> Finding:
    task = subject.task
    counts, sizes = {}, {}
    for name in task.part_names:
        positives = task.part(name).positives
        counts[name], sizes[name] = int(task.graph.has_edges(positives).sum()), len(positives)
    # Each part by itself: a leak of the test part is not the smaller for a clean validation part beside it.
    shares = {name: counts[name] / sizes[name] for name in counts}
    share = max(shares.values())
    told = " and ".join(
        f"{counts[name]:,} of {sizes[name]:,} {name} positives" + (f" ({percent(of)})" if of else "")
        for name, of in shares.items()
    )
    return Finding(
        "train-leak",
        graded(share, 0.0, LEAK_BROKEN),
        percent(share),
        f"{told} are edges of the training graph, in either direction",
        {"share": share, **shares, **{f"{name} positives": float(count) for name, count in counts.items()}},
        {"part": np.array(list(counts)), "positives in train": np.array(list(counts.values()))},
        f"all {sum(sizes.values()):,} positives",
    )


def _repeats_within(subject: Subject) -> Finding:
    task = subject.task
    shares = {}
    for name in task.part_names:
        keys = pair_keys(task.part(name).positives, task.num_nodes)
        shares[name] = 1.0 - len(np.unique(keys)) / len(keys)
    share = max(shares.values())
    told = " and ".join(f"{percent(value)} of {name}" for name, value in shares.items())
    total = sum(len(task.part(name).positives) for name in task.part_names)
    reason = ": they count twice" if share else ""
    return Finding(
        "repeated-positives",
        graded(share, 0.0, LEAK_BROKEN),
        percent(share),
        f"{told} positives occur again in their part, in either direction{reason}",
        {"share": share, **shares},
        {"part": np.array(list(shares)), "repeated": np.array(list(shares.values()))},
        f"all {total:,} positives",
    )


def _repeats_across(subject: Subject) -> Finding:
    task = subject.task
    share, count = 0.0, 0
    if set(task.part_names) >= {"valid", "test"}:
        valid = np.sort(pair_keys(task.part("valid").positives, task.num_nodes))
        again = in_sorted(pair_keys(task.part("test").positives, task.num_nodes), valid)
        share, count = float(again.mean()), int(again.sum())
    reason = ": what was selected on is judged on" if count else ""
    return Finding(
        "valid-in-test",
        graded(share, 0.0, LEAK_BROKEN),
        percent(share),
        f"{count:,} test positives are validation positives too, in either direction{reason}",
        {"share": share, "positives": float(count)},
        {
            "test positives": np.array(["in the test part alone", "in both parts"]),
            "positives": np.array([len(task.part("test").positives) - count, count]) * (count > 0),
        },
        f"all {len(task.part('test').positives):,} test positives",
    )


def _false_negatives(subject: Subject) -> Finding:
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
    share, ceiling = max(shares.values()), min(ceilings.values())
    others = (
        f", {totals['other edges']:,} are edges in no part of the split" if "other edges" in kinds else ""
    )
    told = others
    if share:
        told += (
            f"; a perfect predictor would only reach an MRR of {ceiling:.3f}, since edges of the graph stand"
            " among the negatives"
        )
    return Finding(
        "false-negatives",
        graded(share, 0.0, FALSE_NEGATIVES_BROKEN),
        percent(share),
        f"of {looked:,} negatives {totals['training edges']:,} are training edges and"
        f" {totals['hidden edges']:,} are positives{told}",
        {
            "share": share,
            **shares,
            "ceiling": ceiling,
            **{kind: float(count) for kind, count in totals.items()},
        },
        {
            "edges": np.array([EDGE_KINDS[kind] for kind in totals]),
            "negatives": np.array(list(totals.values())),
        },
        subject.looked_for_leaks(),
    )


def _self_pairs(subject: Subject) -> Finding:
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


def _isolated(subject: Subject) -> Finding:
    ends = subject.task.part("test").positives
    alone = subject.graph.degrees[ends] == 0
    share = float(alone.any(axis=1).mean())
    both = float(alone.all(axis=1).mean())
    reason = f" ({percent(both)} two), on which structure says nothing" if share else ""
    return Finding(
        "isolated-nodes",
        graded(share, ISOLATED_LOOK, ISOLATED_BROKEN),
        percent(share),
        f"{percent(share)} of the test positives have an end without a training edge{reason}",
        {"share": share, "both ends": both, "nodes": float(len(np.unique(ends[alone])))},
        {
            "ends without a training edge": np.array(["none", "one", "both"]),
            "test positives": np.array([1.0 - share, share - both, both]) * (share > 0),
        },
        f"all {len(ends):,} test positives",
    )


def repeats_in_lists(view: View, num_nodes: int) -> NDArray[np.float64]:
    """The share of pairs in each list of negatives that occurred in it before, float64 (lists,)."""
    keys = pair_keys(view.negatives, num_nodes)
    ordered = np.sort(keys if view.own else keys[None], axis=1)
    again: NDArray[np.float64] = (ordered[:, 1:] == ordered[:, :-1]).sum(axis=1) / ordered.shape[1]
    return again


for _check in (
    Check(
        name="train-leak",
        family="leaks",
        title="positives in the training graph",
        question="Can a method see the answers?",
        rule=f"look: any; broken: more than {percent(LEAK_BROKEN)} of a part",
        run=_train_leak,
        picture=Picture(title="Positives that are training edges", kind="bars", y="positives"),
    ),
    Check(
        name="repeated-positives",
        family="leaks",
        title="positives listed twice in a part",
        question="Does an edge count more than once?",
        rule=f"look: any; broken: more than {percent(LEAK_BROKEN)} of a part",
        run=_repeats_within,
        picture=Picture(title="Positives that occurred before", kind="bars", y="share of the part"),
    ),
    Check(
        name="valid-in-test",
        family="leaks",
        title="positives in both parts",
        question="Is the test part selected on?",
        rule=f"look: any; broken: more than {percent(LEAK_BROKEN)}",
        run=_repeats_across,
        picture=Picture(title="Test positives by where they occur", kind="bars", y="test positives"),
    ),
    Check(
        name="false-negatives",
        family="leaks",
        title="negatives that are edges",
        question="Is a right answer counted as wrong?",
        rule=f"look: any; broken: more than {percent(FALSE_NEGATIVES_BROKEN)} of a part's negatives",
        run=_false_negatives,
        picture=Picture(title="Negatives that are edges", kind="bars", y="negatives"),
    ),
    Check(
        name="self-pairs",
        family="leaks",
        title="a node paired with itself",
        question="Are there pairs that ask nothing?",
        rule=f"look: any negative; broken: any positive, or more than {percent(SELF_NEGATIVES_BROKEN)} of a"
        " part's negatives",
        run=_self_pairs,
        picture=Picture(title="Pairs of a node with itself", kind="bars", y="pairs"),
    ),
    Check(
        name="isolated-nodes",
        family="leaks",
        title="test positives with a node that has no training edge",
        question="How much of the test can structure not answer?",
        rule=f"look: more than {percent(ISOLATED_LOOK)}; broken: more than {percent(ISOLATED_BROKEN)}",
        run=_isolated,
        picture=Picture(
            title="Ends that have no training edge", kind="bars", y="share of the test positives"
        ),
    ),
):
    register(_check)
