"""How test links differ from negatives and from training: degrees, common neighbours, unseen nodes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trueedge.audit.check import (
    Finding,
    chance_auc,
    check,
    graded,
    graded_share,
    pairs_needed,
    percent,
    picture,
)
from trueedge.audit.typed_subject import LINKS, TypedLinkSubject

KINDS = ("typed-links",)
# An embedding of a node without a training edge is random: a twentieth is worth saying, and from a quarter
# on, results depend on how a method treats these.
UNSEEN_LOOK, UNSEEN_BROKEN = 0.05, 0.25
# As for plain graphs (Aiyappa et al., Implicit Degree Bias in the Link Prediction Task, 2025): 0.54 is what
# degree-corrected negatives leave, and 0.83 the mean against uniform ones.
DEGREE_LOOK, DEGREE_BROKEN = 0.6, 0.8
# Negatives have the heads of the positives, so that heads must not tell them apart at all.
HEADS_LOOK, HEADS_BROKEN = 0.52, 0.6
# With three quarters, counting does what many models do; above 0.95, little is left to learn. That negatives
# are closer than links says how they were drawn, and nothing else: less of it is worth a look.
PATHS_LOOK, PATHS_BROKEN = 0.75, 0.95
CLOSER_LOOK, CLOSER_BROKEN = 0.45, 0.25
#: Checks of scorers that learn nothing, and what these use, in words.
TYPED_LINK_SHORTCUTS = {"popular-targets": "degrees of targets", "shortcut-two-steps": "common neighbours"}


@check(
    "unseen-ends",
    "likeness",
    title="test links with an end that has no training edge",
    question="Does training tell anything about the nodes of the test part?",
    rule=f"look: more than {percent(UNSEEN_LOOK)} of the test links; broken: more than"
    f" {percent(UNSEEN_BROKEN)}",
    advice="Report test links with unseen nodes separately",
    picture=picture("Test links by what has no training edge", "bars", "test links"),
    kinds=KINDS,
)
def _unseen(subject: TypedLinkSubject) -> Finding:
    source, target = (subject.degrees[subject.test[:, column]] == 0 for column in (0, 2))
    bars = {
        "source": source & ~target,
        "target": target & ~source,
        "both": source & target,
        "neither": ~source & ~target,
    }
    count = len(subject.test) - int(bars["neither"].sum())
    share = count / len(subject.test)
    return Finding(
        "unseen-ends",
        graded_share(share, UNSEEN_LOOK, UNSEEN_BROKEN, len(subject.test)),
        percent(share),
        f"{count:,} of {len(subject.test):,} test links have an end without a training edge"
        f" (source: {int(source.sum()):,}, target: {int(target.sum()):,})",
        {"share": share, "sources": float(source.sum()), "targets": float(target.sum())},
        {
            "what has none": np.array(list(bars)),
            "test links": np.array([int(one.sum()) for one in bars.values()]),
        },
        subject.looked(),
    )


@check(
    "popular-targets",
    "degree bias",
    title="popular targets against negatives",
    question="Does the degree of the target tell links from negatives?",
    rule=f"look: the number of training edges that the target has in the relation has an AUC above"
    f" {DEGREE_LOOK} (or below {1 - DEGREE_LOOK:.1f}); broken: above {DEGREE_BROKEN} (or below"
    f" {1 - DEGREE_BROKEN:.1f})",
    advice="Report the degree of the target (`target-degree`) beside every model",
    fewest=pairs_needed(chance_auc, DEGREE_BROKEN - 0.5, LINKS),
    picture=picture("Degrees of the targets of test links and negatives", "bars", "share", "degree, at most"),
    kinds=KINDS,
)
def _popular(subject: TypedLinkSubject) -> Finding:
    above, below = (subject.target_degrees(one["test"]) for one in _both(subject))
    auc = subject.mean_auc(subject.target_degrees)
    noise = 0.5 + chance_auc(len(above), len(below))
    ends = np.array([0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10**9])
    bars = [np.bincount(np.searchsorted(ends, one), minlength=len(ends)) / len(one) for one in (above, below)]
    last = max(int(np.flatnonzero(bars[0] + bars[1])[-1]), 1) + 1
    names = [f"{one:,}" for one in ends[:-1]] + ["more"]
    return Finding(
        "popular-targets",
        graded(abs(auc - 0.5) + 0.5, DEGREE_LOOK, DEGREE_BROKEN, noise),
        f"{auc:.4f}",
        f"the degree of the target alone has an AUC of {auc:.4f}: targets of test links have"
        f" {np.median(above):.0f} training edges of their relation (median), those of negatives"
        f" {np.median(below):.0f}",
        {
            "auc": auc,
            "median of links": float(np.median(above)),
            "median of negatives": float(np.median(below)),
            "mean of links": float(above.mean()),
            "mean of negatives": float(below.mean()),
            "chance": chance_auc(len(above), len(below)),
        },
        {"degree": np.array(names[:last]), "links": bars[0][:last], "negatives": bars[1][:last]},
        subject.looked_at_both(),
    )


@check(
    "uneven-heads",
    "degree bias",
    title="heads of negatives",
    question="Do negatives have the same heads as links?",
    rule=f"look: the degree of the head has an AUC above {HEADS_LOOK} (or below {1 - HEADS_LOOK:.2f});"
    f" broken: above {HEADS_BROKEN} (or below {1 - HEADS_BROKEN:.1f})",
    advice="Draw as many negatives for each head as it has links",
    fewest=pairs_needed(chance_auc, DEGREE_BROKEN - 0.5, LINKS),
    picture=picture("Test heads by their negatives for each link", "bars", "heads"),
    kinds=KINDS,
)
def _heads(subject: TypedLinkSubject) -> Finding:
    links, negatives = (one["test"] for one in _both(subject))
    auc = subject.mean_auc(subject.source_degrees)
    keys = [rows[:, 1].astype(np.int64) * subject.graph.num_nodes + rows[:, 0] for rows in (links, negatives)]
    heads, place = np.unique(np.concatenate(keys), return_inverse=True)
    place = place.reshape(-1)
    counts = [np.bincount(one, minlength=len(heads)) for one in (place[: len(links)], place[len(links) :])]
    groups = {
        "as many": counts[0] == counts[1],
        "fewer negatives": (counts[0] > counts[1]) & (counts[1] > 0),
        "more negatives": (counts[0] < counts[1]) & (counts[0] > 0),
        "no negatives": counts[1] == 0,
        "no links": counts[0] == 0,
    }
    uneven = len(heads) - int(groups["as many"].sum())
    return Finding(
        "uneven-heads",
        graded(abs(auc - 0.5) + 0.5, HEADS_LOOK, HEADS_BROKEN, 0.5 + chance_auc(len(links), len(negatives))),
        f"{auc:.4f}",
        f"the degree of the head alone has an AUC of {auc:.4f}; {uneven:,} of {len(heads):,} test heads have"
        " another number of negatives than of links",
        {"auc": auc, "heads": float(uneven)},
        {
            "negatives of a head": np.array(list(groups)),
            "heads": np.array([int(one.sum()) for one in groups.values()]),
        },
        subject.looked_at_both(),
    )


@check(
    "shortcut-two-steps",
    "shortcuts",
    title="what common neighbours alone achieve",
    question="How much of the task can be solved by counting the nodes between both ends?",
    rule=f"look: the number of common neighbours in the training graph has an AUC above {PATHS_LOOK} or below"
    f" {CLOSER_LOOK}; broken: above {PATHS_BROKEN} or below {CLOSER_BROKEN}",
    advice="Report the number of common neighbours beside every model",
    fewest=pairs_needed(chance_auc, PATHS_BROKEN - 0.5, LINKS),
    picture=picture("Common neighbours of both ends", "bars", "share", "common neighbours, at most"),
    kinds=KINDS,
)
def _two_steps(subject: TypedLinkSubject) -> Finding:
    above, below = (subject.common_neighbors(one["test"]) for one in _both(subject))
    auc, noise = subject.mean_auc(subject.common_neighbors), chance_auc(len(above), len(below))
    verdict = graded(auc, PATHS_LOOK, PATHS_BROKEN, 0.5 + noise)
    if auc < 0.5:
        verdict = graded(-auc, -CLOSER_LOOK, -CLOSER_BROKEN, noise - 0.5)
    near = [percent(float((one > 0).mean())) for one in (above, below)]
    ends = np.array([0, 1, 2, 5, 10, 20, 50, 10**9])
    bars = [np.bincount(np.searchsorted(ends, one), minlength=len(ends)) / len(one) for one in (above, below)]
    last = max(int(np.flatnonzero(bars[0] + bars[1])[-1]), 1) + 1
    names = [f"{one:,}" for one in ends[:-1]] + ["more"]
    return Finding(
        "shortcut-two-steps",
        verdict,
        f"{auc:.4f}",
        f"the number of common neighbours alone has an AUC of {auc:.4f}: {near[0]} of the test links and"
        f" {near[1]} of the negatives have one"
        + (", so closeness singles out negatives" if auc < 0.5 and verdict != "ok" else ""),
        {
            "auc": auc,
            "links with a common neighbour": float((above > 0).mean()),
            "negatives with a common neighbour": float((below > 0).mean()),
            "chance": noise,
        },
        {"common neighbours": np.array(names[:last]), "links": bars[0][:last], "negatives": bars[1][:last]},
        subject.looked_at_both(),
    )


def _both(subject: TypedLinkSubject) -> tuple[dict[str, NDArray[np.int32]], dict[str, NDArray[np.int32]]]:
    return dict(subject.task.positives), dict(subject.task.negatives)
