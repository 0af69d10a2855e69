"""Shortcuts of triples: what counting and a single rule achieve, and relations that join everything."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from trueedge.audit.advice import COUNTING, ONE_RULE
from trueedge.audit.check import (
    STANDARD_ERRORS,
    Finding,
    check,
    graded,
    graded_share,
    percent,
    picture,
    smallest,
)
from trueedge.audit.triples_subject import TripleSubject, relation_overlaps
from trueedge.graph.knowledge import KnowledgeGraph
from trueedge.methods import create
from trueedge.metrics import get
from trueedge.metrics.ranked import RankSizes

KINDS = ("triples",)
# The share of the way from chance to certainty. A fifth is more than most models differ by; with a half gone,
# most of a model's score is not its own.
ADJUSTED_LOOK, ADJUSTED_BROKEN = 0.2, 0.5
# Akrami et al., Realistic Re-evaluation of Knowledge Graph Completion Methods, SIGMOD 2020.
FULL = 0.8
FEWEST_PAIRS = 10
FULL_LOOK, FULL_BROKEN = 0.05, 0.5
SHOWN = 8
SHOWN_METRICS = {"mrr": "MRR", "hits@1": "Hits@1", "hits@10": "Hits@10"}


@check(
    "cartesian-relations",
    "shortcuts",
    title="relations that join all their heads with all their tails",
    question="Do relations only say which entities are heads and which are tails?",
    rule=f"look: more than {percent(FULL_LOOK)} of the test triples have a relation with {percent(FULL)} or"
    f" more of all pairs of its heads and tails; broken: more than {percent(FULL_BROKEN)}",
    advice="Report results without these relations too",
    picture=picture("Relations that are closest to complete", "bars", "share of all pairs", "relation"),
    kinds=KINDS,
)
def _cartesian(subject: TripleSubject) -> Finding:
    triples, count = subject.whole, subject.task.num_relations
    sizes = np.bincount(triples[:, 1], minlength=count)
    heads, tails = (_distinct(triples[:, [1, column]], count) for column in (0, 2))
    density = sizes / np.maximum(heads * tails, 1)
    # A relation of one head or tail is complete, whatever it says.
    several = (heads > 1) & (tails > 1) & (heads * tails >= FEWEST_PAIRS)
    full = several & (density >= FULL)
    share = float(full[subject.test[:, 1]].mean())
    top = np.flatnonzero(several)[np.argsort(-density[several], kind="stable")[:SHOWN]]
    sentence = "no relation joins nearly all of its heads with all of its tails"
    if full.any():
        largest = int(np.argmax(np.where(full, sizes, 0)))
        many = "a relation that joins" if full.sum() == 1 else f"one of {int(full.sum())} relations that join"
        sentence = (
            f"{percent(share)} of the test triples have {many} nearly all heads with all tails:"
            f" {subject.task.graph.relations[largest]} joins {heads[largest]:,} heads with"
            f" {tails[largest]:,} tails in {sizes[largest]:,} triples"
        )
    return Finding(
        "cartesian-relations",
        graded_share(share, FULL_LOOK, FULL_BROKEN, len(subject.test)),
        percent(share),
        sentence,
        {"share": share, "relations": float(full.sum())},
        {
            "relation": np.array([subject.relation(one) for one in top]),
            "share of all pairs": density[top],
        },
        subject.looked(),
    )


def _distinct(pairs: NDArray[np.int32], count: int) -> NDArray[np.int64]:
    """Return how many different entities each relation has, int64 (R,), from pairs (relation, entity)."""
    return np.bincount(np.unique(pairs, axis=0)[:, 0], minlength=count)


class OneRule:
    """Scores 1 the answers that one rule of each relation gives, and all others 0.

    The rule of a relation is the other relation, or inverse relation, with the most pairs in common, as a
    share of all pairs of both. Dettmers et al., Convolutional 2D Knowledge Graph Embeddings, AAAI 2018, use
    such a model to show that inverse relations solve WN18 and FB15k.
    """

    name = "one rule"
    expects_ties = True

    def __init__(self, bodies: NDArray[np.int64], graph: KnowledgeGraph) -> None:
        self.bodies, self.graph = bodies, graph

    @classmethod
    def of(cls, graph: KnowledgeGraph) -> OneRule:
        """Learn the rules of a graph."""
        common = relation_overlaps(graph.triples, graph.num_relations)
        sizes = np.diagonal(common).copy()
        np.fill_diagonal(common, 0)
        shares = common / np.maximum(sizes[:, None] + sizes[None, :] - common, 1)
        return cls(shares.argmax(axis=1), graph)

    def with_graph(self, graph: KnowledgeGraph) -> OneRule:
        """Return the same rules on another graph."""
        return OneRule(self.bodies, graph)

    def score_tails(self, heads: NDArray[np.int64], relations: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the score of every entity as the tail, (b, entities)."""
        indptr, tails = self.graph.tails.rows(heads, self.bodies[relations])
        scores = np.zeros((len(heads), self.graph.num_entities), dtype=np.float32)
        scores[np.repeat(np.arange(len(heads)), np.diff(indptr)), tails] = 1.0
        return scores


def chance_mrr(triples: int) -> float:
    """Return how far the MRR of two queries for each of so few triples is from its mean, at most.

    A reciprocal rank has a standard deviation of at most 0.5.
    """
    return STANDARD_ERRORS * 0.5 / math.sqrt(2 * triples)


def _counted(subject: TripleSubject, method: str) -> object:
    return create(method).fit(subject.task.for_fitting())


#: Scorers that learn nothing: what makes them, and what they use, in words.
TRIPLE_SHORTCUTS: dict[str, tuple[Callable[[TripleSubject], object], str]] = {
    "entity-degree": (partial(_counted, method="entity-degree"), "degrees of entities"),
    "relation-frequency": (
        partial(_counted, method="relation-frequency"),
        "frequencies of answers of a relation",
    ),
    "one-rule": (lambda subject: OneRule.of(subject.task.graph), "one rule for each relation"),
}


def _run(subject: TripleSubject, *, shortcut: str) -> Finding:
    make, uses = TRIPLE_SHORTCUTS[shortcut]
    found = subject.evaluate(shortcut, make(subject))
    values = found.units.values["mrr"]
    sizes = RankSizes(len(values), subject.negatives())
    # With few candidates there is no Hits@10.
    shown = {name: title for name, title in SHOWN_METRICS.items() if name in found}
    chance = {name: get(name).expectation(sizes) for name in shown}
    noise = STANDARD_ERRORS * float(values.std()) / math.sqrt(len(values)) / max(1.0 - chance["mrr"], 1e-9)
    adjusted = found["adjusted-mrr"]
    return Finding(
        f"shortcut-{shortcut}",
        graded(adjusted, ADJUSTED_LOOK, ADJUSTED_BROKEN, noise),
        f"{found['mrr']:.4f}",
        f"{uses} alone: "
        + ", ".join(f"{title} {found[name]:.4f}" for name, title in shown.items())
        + "; random scores: "
        + ", ".join(f"{value:.4f}" for value in chance.values()),
        {
            "mrr": found["mrr"],
            "adjusted-mrr": adjusted,
            **{name: found[name] for name in shown if name != "mrr"},
            "chance": chance["mrr"],
        },
        {
            "metric": np.array(list(shown.values())),
            uses: np.array([found[name] for name in chance]),
            "random scores": np.array(list(chance.values())),
        },
        f"{len(values):,} test queries",
    )


for _shortcut, (_, _uses) in TRIPLE_SHORTCUTS.items():
    check(
        f"shortcut-{_shortcut}",
        "shortcuts",
        title=f"the MRR of {_uses} alone",
        question=f"How much of the task can be solved with {_uses} alone?",
        rule=f"look: an MRR, adjusted for chance, above {ADJUSTED_LOOK}; broken: above {ADJUSTED_BROKEN}",
        advice=ONE_RULE if _shortcut == "one-rule" else COUNTING,
        fewest={"test triples": smallest(chance_mrr, ADJUSTED_BROKEN)},
        picture=picture(f"Performance of {_uses} alone", "bars", "value"),
        kinds=KINDS,
    )(partial(_run, shortcut=_shortcut))
