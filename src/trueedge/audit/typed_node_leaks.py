"""Leaks of node classification: nodes in several parts, copies of training nodes, classes told by ids."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from trueedge.audit.check import (
    STANDARD_ERRORS,
    Finding,
    Skipped,
    check,
    graded,
    graded_share,
    percent,
    picture,
    smallest,
)
from trueedge.audit.repeated import repeated_finding
from trueedge.audit.typed_subject import PART_WORDS, NodeSubject
from trueedge.randomness import generator

KINDS = ("nodes",)
# A node in a thousand cannot move the third digit of a metric; more than that can.
REPEATED_BROKEN = 0.001
# Nodes without features and with one neighbour are often the same: a twentieth is worth saying. From a
# quarter on, looking up a copy is a large part of every score.
COPIES_LOOK, COPIES_BROKEN = 0.05, 0.25
# The share of the way from chance to certainty. A tenth is more than models differ by; at a half, the files
# are sorted by class.
IDS_LOOK, IDS_BROKEN = 0.1, 0.5
SHUFFLES = 20


def chance_f1(nodes: int) -> float:
    """Return how far the F1 of so few nodes is from its mean one time in a thousand, at most."""
    return STANDARD_ERRORS * 0.5 / math.sqrt(nodes)


@check(
    "repeated-nodes",
    "leaks",
    title="nodes in several parts",
    question="Can a model see the classes of test nodes in training?",
    rule=f"look: any test or validation node is also in another part; broken: more than"
    f" {percent(REPEATED_BROKEN)} of them",
    advice="Remove these nodes from the training part, and train again",
    picture=picture("Nodes that are also in another part", "bars", "nodes"),
    kinds=KINDS,
)
def _repeated(subject: NodeSubject) -> Finding:
    parts = subject.parts
    counts = {}
    for part, other in (("test", "train"), ("valid", "train"), ("test", "valid")):
        if part in parts and other in parts:
            name = f"{PART_WORDS[part]} nodes in {PART_WORDS[other]}"
            counts[name] = int(np.isin(parts[part], parts[other]).sum()), len(parts[part])
    return repeated_finding("repeated-nodes", counts, "nodes", REPEATED_BROKEN, subject.looked())


@check(
    "duplicate-nodes",
    "leaks",
    title="test nodes that are copies of training nodes",
    question="Do test nodes have the same features and neighbours as a training node?",
    rule=f"look: more than {percent(COPIES_LOOK)} of the test nodes; broken: more than"
    f" {percent(COPIES_BROKEN)}",
    advice="Keep all copies of a node in one part",
    picture=picture("Test nodes by their copies among training nodes", "bars", "test nodes"),
    kinds=KINDS,
)
def _copies(subject: NodeSubject) -> Finding:
    marks, something = _fingerprints(subject)
    train, test = (subject.parts[part] - subject.first for part in ("train", "test"))
    known, first = np.unique(marks[train], return_index=True)
    place = np.minimum(np.searchsorted(known, marks[test]), len(known) - 1)
    copy = (known[place] == marks[test]) & something[test] & (train[first[place]] != test)
    same = (subject.truth["test"] == subject.truth["train"][first[place]]).all(axis=1)
    share, agree = float(copy.mean()), int((copy & same).sum())
    sentence = (
        f"{int(copy.sum()):,} of {len(test):,} test nodes have the same features and neighbours as a training"
        " node"
    )
    if copy.any():
        sentence += f", and {agree:,} of them the same classes"
    return Finding(
        "duplicate-nodes",
        graded_share(share, COPIES_LOOK, COPIES_BROKEN, len(test)),
        percent(share),
        sentence,
        {"share": share, "copies": float(copy.sum()), "copies with the same classes": float(agree)},
        {
            "test nodes": np.array(["copies, same classes", "copies, other classes", "no copies"]),
            "number": np.array([agree, int(copy.sum()) - agree, int((~copy).sum())]),
        },
        subject.looked(),
    )


def _fingerprints(subject: NodeSubject) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """Return a number for each node of the target type, and whether it has a feature or a neighbour.

    Nodes with the same features and the same neighbours in every relation have the same number; others share
    one with a probability of about 2 to the power of -64.
    """
    graph, target = subject.graph, subject.task.target
    rng = generator(subject.seed, "audit", "fingerprints")
    count = int(graph.starts[target + 1] - graph.starts[target])
    marks = np.zeros(count, dtype=np.uint64)
    something = np.zeros(count, dtype=np.bool_)
    for number, (_, source, goal) in enumerate(graph.relations):
        for kind, own, other in ((source, 0, 1), (goal, 1, 0)):
            codes = rng.integers(0, 2**64, size=graph.num_nodes, dtype=np.uint64)
            if kind != target:
                continue
            ends = graph.edges[number][:, own] - subject.first
            np.add.at(marks, ends, codes[graph.edges[number][:, other]])
            something[ends] = True
    table = subject.table(target)
    if table is not None:
        codes = rng.integers(0, 2**64, size=table.shape[1], dtype=np.uint64)
        rows = np.repeat(np.arange(count), np.diff(table.indptr))
        # The bits of a float, so that equal values give equal numbers.
        bits = np.ascontiguousarray(table.data, dtype=np.float32).view(np.uint32).astype(np.uint64)
        np.add.at(marks, rows, codes[table.indices] * (2 * bits + np.uint64(1)))
        something[rows] = True
    return marks, something


@check(
    "label-in-ids",
    "leaks",
    title="classes that node ids tell",
    question="Do nodes with neighbouring ids have the same class?",
    rule="look: copying the classes of the training node with the nearest id has a micro-F1 that is more than"
    f" {percent(IDS_LOOK)} of the way from chance to 1; broken: more than {percent(IDS_BROKEN)}",
    advice="Shuffle node ids before a method may use them",
    fewest={"test nodes": smallest(chance_f1, IDS_BROKEN)},
    picture=picture("Classes of the training node with the nearest id", "bars", "micro-F1"),
    kinds=KINDS,
)
def _ids(subject: NodeSubject) -> Finding | Skipped:
    train, test, given = subject.parts["train"], subject.parts["test"], subject.truth["train"]
    fresh = ~np.isin(test, train)
    asked, test_truth = test[fresh], subject.truth["test"][fresh]
    if not len(asked) or len(train) < 2:
        return Skipped("there are too few training nodes, or all test nodes are among them")
    above = np.clip(np.searchsorted(train, asked), 1, len(train) - 1)
    nearer = asked - train[above - 1] <= train[above] - asked
    copied = given[np.where(nearer, above - 1, above)]
    value = _micro_f1(test_truth, copied)
    rng = generator(subject.seed, "audit", "ids")
    random = [_micro_f1(test_truth, given[rng.integers(0, len(given), len(asked))]) for _ in range(SHUFFLES)]
    chance, spread = float(np.mean(random)), float(np.std(random))
    adjusted, noise = ((one - chance) / max(1.0 - chance, 1e-9) for one in (value, chance + 4 * spread))
    return Finding(
        "label-in-ids",
        graded(adjusted, IDS_LOOK, IDS_BROKEN, noise),
        f"{value:.4f}",
        f"the classes of the training node with the nearest id have a micro-F1 of {value:.4f}, those of a"
        f" random training node {chance:.4f}"
        + (": the ids are sorted by class" if adjusted > IDS_BROKEN else ""),
        {"micro-f1": value, "chance": chance, "adjusted": adjusted},
        {
            "copied from": np.array(["nearest id", "random node"]),
            "micro-F1": np.array([value, chance]),
        },
        subject.looked(),
    )


def _micro_f1(truth: NDArray[np.bool_], predicted: NDArray[np.bool_]) -> float:
    total = int(truth.sum()) + int(predicted.sum())
    return 2.0 * int((truth & predicted).sum()) / total if total else 0.0
