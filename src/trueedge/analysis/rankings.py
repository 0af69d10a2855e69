"""How the ranking of methods changes between the protocols on one data set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from trueedge.analysis.tables import Table, higher_is_better
from trueedge.statistics.rank_overlap import rank_groups, rbo

# As in the published studies: half of the weight is on the first place.
P = 0.5


@dataclass(frozen=True)
class Ranking:
    """The rankings of the methods that all protocols on a data set have in common.

    Attributes:
        dataset: the data set's name.
        protocols: the protocols, with the options that were set.
        ranks: for each method's label its rank under each protocol, 1 is best; the mean rank for ties.
        overlaps: the rank-biased overlap of each two protocols, by position; 1 is the same order.
        left_out: the methods that some protocols lack.
    """

    dataset: str
    protocols: tuple[str, ...]
    ranks: dict[str, tuple[float, ...]]
    overlaps: dict[tuple[int, int], float]
    left_out: tuple[str, ...]


def rankings(tables: Sequence[Table], p: float = P) -> list[Ranking]:
    """Return the rankings of each data set with at least two protocols and two common methods.

    Args:
        tables: from :func:`trueedge.analysis.tables.tables`.
        p: the depth of the overlap, see :func:`trueedge.statistics.rank_overlap.rbo`.
    """
    by_dataset: dict[str, list[Table]] = {}
    for table in tables:
        by_dataset.setdefault(table.first.dataset, []).append(table)
    found = [_ranking(name, group, p) for name, group in by_dataset.items()]
    return [one for one in found if one is not None]


def _ranking(dataset: str, tables: Sequence[Table], p: float) -> Ranking | None:
    scores = [{line.label: line.value for line in table.lines} for table in tables]
    common = [label for label in scores[0] if all(label in other for other in scores)]
    if len(tables) < 2 or len(common) < 2:
        return None
    orders = [
        rank_groups({label: one[label] for label in common}, higher_is_better(table.headline))
        for table, one in zip(tables, scores, strict=True)
    ]
    places = [_places(order) for order in orders]
    everyone = dict.fromkeys(label for one in scores for label in one)
    return Ranking(
        dataset,
        tuple(table.protocol for table in tables),
        {label: tuple(place[label] for place in places) for label in common},
        {(i, j): rbo(orders[i], orders[j], p) for i, j in combinations(range(len(tables)), 2)},
        tuple(label for label in everyone if label not in common),
    )


def _places(order: list[list[str]]) -> dict[str, float]:
    found, above = {}, 0
    for group in order:
        for label in group:
            found[label] = above + (len(group) + 1) / 2
        above += len(group)
    return found
