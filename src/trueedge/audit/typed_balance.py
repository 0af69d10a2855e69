"""Classes and the parts: are there enough nodes of each class, and do the parts have the same shares?"""

from __future__ import annotations

import numpy as np

from trueedge.audit.check import Finding, check, graded, percent, picture
from trueedge.audit.typed_subject import PART_WORDS, NodeSubject

KINDS = ("nodes",)
# The difference of a class's share between training and test. Five points move the score of a classifier
# that predicts by frequency by as much; with twenty, another problem is learned than the one that is tested.
SHIFT_LOOK, SHIFT_BROKEN = 0.05, 0.2
# Macro-F1 gives each class the same weight: with fewer nodes, one node of a class is more than two points.
FEWEST = 10


@check(
    "class-balance",
    "likeness",
    title="classes of the parts",
    question="Does every class have enough nodes, and the same share in training and test?",
    rule=f"look: a class has fewer than {FEWEST} training or test nodes, or its shares in training and test"
    f" differ by more than {percent(SHIFT_LOOK)} of the nodes and more than chance; broken: a class of the"
    f" test part has no training node, or the shares differ by more than {percent(SHIFT_BROKEN)}",
    advice="Split the nodes of each class in the same proportions, and report macro-F1",
    fewest={"test nodes": 2 * FEWEST},
    picture=picture("Classes of the nodes of each part", "bars", "share of the nodes", "class"),
    kinds=KINDS,
)
def _balance(subject: NodeSubject) -> Finding:
    truth = subject.truth
    counts = {part: member.sum(axis=0) for part, member in truth.items()}
    sizes = {part: len(member) for part, member in truth.items()}
    shares = {part: counts[part] / sizes[part] for part in truth}
    gap = np.abs(shares["train"] - shares["test"])
    pooled = (counts["train"] + counts["test"]) / (sizes["train"] + sizes["test"])
    # Four standard errors of the difference of two shares: there are many classes to choose the worst from.
    noise = 4 * np.sqrt(pooled * (1 - pooled) * (1 / sizes["train"] + 1 / sizes["test"]))
    shift = float(np.where(gap > noise, gap, 0.0).max())
    worst = int(np.where(gap > noise, gap, gap * 1e-6).argmax())
    unseen = (counts["train"] == 0) & (counts["test"] > 0)
    few = np.minimum(counts["train"], counts["test"]) < FEWEST
    verdict = graded(shift, SHIFT_LOOK, SHIFT_BROKEN)
    if unseen.any():
        verdict = "broken"
    elif few.any() and verdict == "ok":
        # A class of average size can have so few nodes by chance if all nodes are few.
        small = min(sizes["train"], sizes["test"]) < 2 * FEWEST * subject.task.num_classes
        verdict = "too small" if small else "look"
    names = subject.task.classes
    told = [
        f"the largest difference between training and test is that of {names[worst]!r}:"
        f" {percent(shares['train'][worst])} and {percent(shares['test'][worst])} of the nodes"
        + ("" if gap[worst] > noise[worst] else ", which is within chance")
    ]
    if unseen.any():
        told.insert(0, f"{_listed(names, unseen)} of the test part: no training node")
    elif few.any():
        told.insert(0, f"{_listed(names, few)}: fewer than {FEWEST} nodes in training or test")
    most, least = int(counts["test"].argmax()), int(counts["test"].argmin())
    told.append(
        f"test nodes of a class range from {counts['test'][least]:,} ({names[least]}) to"
        f" {counts['test'][most]:,} ({names[most]})"
    )
    return Finding(
        "class-balance",
        verdict,
        percent(float(gap[worst])),
        "; ".join(told),
        {
            "difference": float(gap[worst]),
            "chance": float(noise[worst]),
            "classes without a training node": float(unseen.sum()),
            "classes with few nodes": float(few.sum()),
            "fewest training nodes": float(counts["train"].min()),
            "fewest test nodes": float(counts["test"].min()),
        },
        {"class": np.array(names), **{PART_WORDS[part]: shares[part] for part in truth}},
        subject.looked(),
    )


def _listed(names: tuple[str, ...], chosen: np.typing.NDArray[np.bool_]) -> str:
    found = [repr(names[one]) for one in np.flatnonzero(chosen)]
    some = ", ".join(found[:3]) + (f" and {len(found) - 3} more" if len(found) > 3 else "")
    return f"{'class' if len(found) == 1 else 'classes'} {some}"
