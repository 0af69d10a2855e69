"""HeaRT's Figure 2: how the hard negatives of one positive are found, on a positive of a real graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueedge import datasets, methods, tasks
from trueedge.analysis.figure import Figure, Series
from trueedge.errors import InputError
from trueedge.graph import Graph
from trueedge.methods.heuristics.heuristic import Heuristic
from trueedge.studies.heart.figures import SMALL, heart_settings
from trueedge.studies.study import Comparison, Finding, Plan, chosen, register_listed
from trueedge.tasks import LinkTask

NAME = "heart/figure-2"
HEURISTICS = {"ra": "resource allocation", "ppr": "PageRank", "features": "feature similarity"}
SHOWN = 20
# Scores that differ by less are equal but for rounding, as where negatives are chosen.
BINARY_DIGITS = 41


@dataclass(frozen=True, eq=False)
class Corruptions:
    """The candidates to take the place of one end of a positive.

    Attributes:
        kept: the end that stays.
        ranks: each heuristic's rank of every node, float64 (n,), 1 is best, nan where it has none.
        chosen: the nodes in the order of their combined rank, best first, int64 (m,).
    """

    kept: int
    ranks: dict[str, NDArray[np.float64]]
    chosen: NDArray[np.int64]

    @property
    def combined(self) -> NDArray[np.float64]:
        """The smallest of each node's ranks, float64 (n,); nan where it has none."""
        table = np.stack(list(self.ranks.values()))
        return np.where(np.isnan(table).all(axis=0), np.nan, np.fmin.reduce(table, axis=0))

    def best(self, heuristic: str) -> float:
        """Return the share of the chosen nodes that no other heuristic ranks higher."""
        return float((self.ranks[heuristic] == self.combined)[self.chosen].mean())


def _run(plan: Plan) -> Finding:
    chosen(plan.methods, list(HEURISTICS), f"method of {NAME}")
    rows, figures, missing = [], [], []
    for name in chosen(plan.datasets, SMALL, f"data set of {NAME}"):
        try:
            datasets.available(name)
        except datasets.MissingFile as error:
            missing.append(str(error))
            continue
        task = tasks.task(name, "existing", 0)
        assert isinstance(task, LinkTask)
        row = typical(task)
        for side in (0, 1):
            found = corruptions(task, row, side)
            figures.append(_figure(name, row, side, found))
            rows += _rows(name, side, found)
    if not figures:
        raise InputError(f"nothing of {NAME} could be drawn: {missing[0]}")
    return Finding(rows, missing, figures=figures)


def typical(task: LinkTask) -> int:
    """Return the first test positive whose ends have a common neighbour, or the first of all."""
    counts = methods.create("cn").fit(task).score(task.test.positives.astype(np.int64))
    return int((counts > 0).argmax())


def corruptions(task: LinkTask, row: int, side: int) -> Corruptions:
    """Rank all candidates for one end of a test positive, a heuristic at a time.

    Args:
        task: of a named data set, under ``existing``: split and seed are HeaRT's too.
        row: the positive's place among the test positives.
        side: 0 keeps the source, 1 the target.
    """
    graph = task.graph_for("test")
    kept, other = (int(task.test.positives[row, place]) for place in (side, 1 - side))
    allowed = np.ones(graph.num_nodes, dtype=bool)
    allowed[[kept, other]] = False
    allowed[graph.neighbors(kept)] = False
    valid = task.valid.positives
    allowed[valid[(valid == kept).any(axis=1)].ravel()] = False
    settings = heart_settings(task)
    ranks = {
        name: _ranks(_scores(graph, kept, name, settings["alpha"], settings["eps"]), allowed)
        for name in settings["heuristics"]
    }
    found = Corruptions(kept, ranks, np.empty(0, dtype=np.int64))
    nodes = np.flatnonzero(~np.isnan(found.combined))
    total = np.nan_to_num(np.stack(list(ranks.values())), nan=graph.num_nodes).sum(axis=0)
    order = np.lexsort((nodes, total[nodes], found.combined[nodes]))
    return Corruptions(kept, ranks, nodes[order][: settings["k"] // 2])


def _scores(graph: Graph, kept: int, heuristic: str, alpha: float, eps: float) -> NDArray[np.float64]:
    """Return a heuristic's score of a node with every other, float64 (n,)."""
    from trueedge.kernels.walks.push import push_rows

    if heuristic == "ppr":
        row = push_rows(graph.indptr, graph.indices, np.array([kept]), alpha, eps)
        scores = np.zeros(graph.num_nodes)
        scores[row.nodes] = row.scores
        return scores
    pairs = np.column_stack([np.full(graph.num_nodes, kept), np.arange(graph.num_nodes)])
    method = methods.create("cosine" if heuristic == "features" else heuristic)
    assert isinstance(method, Heuristic)
    return method.score(graph, pairs)


def _ranks(scores: NDArray[np.float64], allowed: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return 1 + the number of allowed nodes scored higher; nan if not allowed or not scored above zero."""
    mantissa, exponent = np.frexp(scores)
    rounded = np.ldexp(np.floor(np.ldexp(mantissa, BINARY_DIGITS) + 0.5), exponent - BINARY_DIGITS)
    listed = allowed & (rounded > 0)
    ordered = np.sort(rounded[listed])
    above = len(ordered) - np.searchsorted(ordered, rounded, side="right")
    return np.where(listed, 1.0 + above, np.nan)


def _figure(dataset: str, row: int, side: int, found: Corruptions) -> Figure:
    nodes = found.chosen[:SHOWN]
    table = {HEURISTICS[name]: ranks for name, ranks in found.ranks.items()}
    table["combined: the smallest"] = found.combined
    series = tuple(
        Series(name, tuple(str(node) for node in nodes), tuple(np.log10(ranks[nodes]).tolist()))
        for name, ranks in table.items()
    )
    end = ("source", "target")[side]
    return Figure(
        f"heart-figure-2-{dataset}-{end}",
        f"The hardest negatives of a positive of {dataset} that keep its {end}, node {found.kept}",
        "heat",
        "the node in the other end's place, hardest first",
        "log10 of the rank",
        series,
        note=f"test positive {row} under heart, seed 0; 0 is best, empty cells have no rank",
    )


def _rows(dataset: str, side: int, found: Corruptions) -> list[Comparison]:
    """Return the percentage of negatives that each heuristic ranks as high as any other does."""
    metric = f"ranks best of {len(found.chosen)} that keep the {('source', 'target')[side]}, %"
    return [
        Comparison(dataset, "heart", name, metric, 100 * found.best(name), 0.0, 1, None)
        for name in found.ranks
    ]


register_listed(NAME, _run)
