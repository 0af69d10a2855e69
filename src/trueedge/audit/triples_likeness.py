"""Test triples and their candidates: what was not seen in training, how many there are, how popular."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.audit.advice import COUNTING
from trueedge.audit.check import Finding, check, graded, graded_share, percent, picture
from trueedge.audit.triples_subject import TripleSubject
from trueedge.metrics import get
from trueedge.metrics.ranked import DEGREE_NAMES, RankSizes, degree_groups

KINDS = ("triples",)
# An embedding of an entity without a training triple is random: a twentieth is worth saying, and from a
# quarter on, results depend on how a method treats these.
UNSEEN_LOOK, UNSEEN_BROKEN = 0.05, 0.25
# The MRR of random scores. Above a tenth, small gaps are hidden; above a quarter, a large part of every score
# is luck.
CHANCE_LOOK, CHANCE_BROKEN = 0.1, 0.25
POPULAR = 0.01
POPULAR_LOOK = 0.25


@check(
    "unseen-entities",
    "likeness",
    title="test triples with an entity that has no training triple",
    question="Does training tell anything about the entities of the test part?",
    rule=f"look: more than {percent(UNSEEN_LOOK)} of the test triples; broken: more than"
    f" {percent(UNSEEN_BROKEN)}",
    advice="Report test triples with unseen entities or relations separately",
    picture=picture("Test triples by what has no training triple", "bars", "test triples"),
    kinds=KINDS,
)
def _entities(subject: TripleSubject) -> Finding:
    seen = (subject.facts.in_degrees + subject.facts.out_degrees) > 0
    head, tail = ~seen[subject.test[:, 0]], ~seen[subject.test[:, 2]]
    counts = {"head": head & ~tail, "tail": tail & ~head, "both": head & tail}
    return _unseen(subject, "unseen-entities", head | tail, f"an entity without a {subject.fact}", counts)


@check(
    "unseen-relations",
    "likeness",
    title="test triples with a relation that has no training triple",
    question="Does training tell anything about the relations of the test part?",
    rule=f"look: more than {percent(UNSEEN_LOOK)} of the test triples; broken: more than"
    f" {percent(UNSEEN_BROKEN)}",
    advice="Report test triples with unseen entities or relations separately",
    picture=picture("Test triples by their relation", "bars", "test triples"),
    kinds=KINDS,
)
def _relations(subject: TripleSubject) -> Finding:
    # Weights are learned on the training graph, in inductive tasks too.
    task = subject.task
    seen = np.bincount(task.graph.triples[:, 1], minlength=task.num_relations) > 0
    new = ~seen[subject.test[:, 1]]
    noun = "a relation without a training triple"
    return _unseen(subject, "unseen-relations", new, noun, {"without training triples": new})


def _unseen(
    subject: TripleSubject, name: str, new: NDArray[np.bool_], noun: str, counts: dict[str, NDArray[Any]]
) -> Finding:
    share = float(new.mean())
    bars = {**counts, "neither" if len(counts) > 1 else "with training triples": ~new}
    return Finding(
        name,
        graded_share(share, UNSEEN_LOOK, UNSEEN_BROKEN, len(new)),
        percent(share),
        f"{int(new.sum()):,} of {len(new):,} test triples have {noun}",
        {"share": share, "test triples": float(new.sum())},
        {
            "what has none": np.array(list(bars)),
            "test triples": np.array([int(one.sum()) for one in bars.values()]),
        },
        subject.looked(),
    )


@check(
    "few-candidates",
    "negatives",
    title="candidates of a query",
    question="How well do random scores do, because there are few candidates?",
    rule=f"look: the expected MRR of random scores is above {CHANCE_LOOK}; broken: above {CHANCE_BROKEN}",
    advice="Report the adjusted MRR (`adjusted-mrr`), which is 0 for random scores",
    picture=picture("Queries by the number of their candidates", "bars", "queries", "candidates, at most"),
    kinds=KINDS,
)
def _candidates(subject: TripleSubject) -> Finding:
    negatives = subject.task.truth("test")["negatives"]
    chance = get("mrr").expectation(RankSizes(len(negatives), negatives))
    ends = _round_ends(int(negatives.max()) + 1)
    groups = np.searchsorted(ends, negatives + 1)
    return Finding(
        "few-candidates",
        graded(chance, CHANCE_LOOK, CHANCE_BROKEN),
        f"{chance:.4f}",
        f"a query has {int(np.median(negatives)) + 1:,} candidates (median) of {subject.facts.num_entities:,}"
        f" entities once known answers are left out: random scores have an MRR of {chance:.4f}",
        {
            "mrr of random scores": chance,
            "median candidates": float(np.median(negatives)) + 1,
            "fewest candidates": float(negatives.min()) + 1,
        },
        {
            "candidates": np.array([f"{one:,}" for one in ends]),
            "queries": np.bincount(groups, minlength=len(ends)),
        },
        f"{len(negatives):,} test queries",
    )


def _round_ends(largest: int) -> NDArray[np.int64]:
    """Return 1, 2, 5, 10, 20, … up to the first number that is no smaller."""
    ends = [number * 10**power for power in range(12) for number in (1, 2, 5)]
    return np.array(ends[: int(np.searchsorted(ends, largest)) + 1])


@check(
    "popular-answers",
    "degree bias",
    title="test answers that are popular entities",
    question="How many answers are among the few entities with the most training triples?",
    rule=f"look: more than {percent(POPULAR_LOOK)} of the answers are among the {percent(POPULAR)} of"
    " entities with the most training triples",
    advice=COUNTING,
    fewest={"entities": round(1 / POPULAR)},
    picture=picture(
        "Test queries by the tail-relation degree of their answer", "bars", "queries", "tail-relation degree"
    ),
    kinds=KINDS,
)
def _popular(subject: TripleSubject) -> Finding:
    degrees = subject.facts.in_degrees + subject.facts.out_degrees
    most = max(1, round(POPULAR * len(degrees)))
    top = np.zeros(len(degrees), dtype=np.bool_)
    top[np.argsort(-degrees, kind="stable")[:most]] = True
    share = float(top[subject.task.targets()].mean())
    counts = np.bincount(degree_groups(subject.task.degrees("test")), minlength=len(DEGREE_NAMES))
    few = f"among the {most:,} entities" if most > 1 else "the entity"
    return Finding(
        "popular-answers",
        graded_share(share, POPULAR_LOOK, 1.0, len(subject.test)),
        percent(share),
        f"{percent(share)} of the answers are {few} with the most triples {subject.in_facts};"
        f" {counts[0]:,} of {int(counts.sum()):,} answers never occur with their relation there",
        {
            "share": share,
            **{f"degree {name}": float(count) for name, count in zip(DEGREE_NAMES, counts, strict=True)},
        },
        {"tail-relation degree": np.array(DEGREE_NAMES), "queries": counts},
        f"{int(counts.sum()):,} test queries",
    )
