"""Link prediction in a typed graph: links of some relations against negatives of the same heads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.graph.typed import HeteroGraph
from trueedge.metrics.by_head import HeadScores
from trueedge.metrics.scores import Scores
from trueedge.scorers.capabilities import Need
from trueedge.scorers.link_files import LinkTable, read_link_scores
from trueedge.scorers.score_files import FileScores
from trueedge.scorers.scorer import CallableScorer, Scorer
from trueedge.scorers.typed_links import as_link_scorer
from trueedge.tasks.base import PARTS, Task, array_hash, refuse_foreign, withhold
from trueedge.tasks.file_scores import match_file, title_of

METRICS = ("roc-auc", "head-mrr", "mrr-by-head")


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class TypedLinkTask(Task):
    """Links of some relations, and about as many negatives with the same heads.

    A link is a row (source, relation, target). Positives and negatives are asked mixed and in random order.

    Attributes:
        graph: the typed graph of training edges, without labels.
        relations: the relations whose links are predicted, by number.
        positives: the links of ``valid`` and ``test``, each int32 (n, 3).
        negatives: their negatives, each int32 (m, 3).
    """

    kind: ClassVar[str] = "typed-links"
    title: ClassVar[str] = "Link prediction in typed graphs"
    unit: ClassVar[str] = "head"
    needs: ClassVar[Need] = "links"
    data: ClassVar[str] = "typed"
    # The seed also draws the negatives, which units are compared with.
    test_units: ClassVar[tuple[str, ...]] = ("test_positives",)
    graph_type: ClassVar[type[HeteroGraph]] = HeteroGraph

    graph: HeteroGraph
    relations: tuple[int, ...]
    positives: Mapping[str, NDArray[np.int32]]
    negatives: Mapping[str, NDArray[np.int32]]

    @property
    def part_names(self) -> tuple[str, ...]:
        """Return the names of the parts."""
        return tuple(self.positives)

    def questions(self, part: str = "test") -> NDArray[np.int32]:
        """Return the positives of a part, then its negatives, int32 (n, 3)."""
        self.check_part(part)
        return np.concatenate([self.positives[part], self.negatives[part]])

    def heads(self, part: str) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return the head of each positive and negative as a number, and the relation of each head."""
        rows = self.questions(part).astype(np.int64)
        count = len(self.positives[part])
        lookup = np.full(self.graph.num_relations, -1)
        lookup[list(self.relations)] = np.arange(len(self.relations))
        keys = lookup[rows[:, 1]] * self.graph.num_nodes + rows[:, 0]
        units, number = np.unique(keys[:count], return_inverse=True)
        other = np.minimum(np.searchsorted(units, keys[count:]), len(units) - 1)
        if not np.array_equal(units[other], keys[count:]):
            raise InputError(f"a negative of the {part} part has a head without a positive")
        return number.reshape(-1), other, units // self.graph.num_nodes

    def scores_of(self, part: str, answers: NDArray[Any]) -> HeadScores:
        """Divide the scores of :meth:`questions` into positives and negatives of each head."""
        count = len(self.positives[part])
        return HeadScores.check(answers[:count], answers[count:], *self.heads(part))

    def distinct_links(self, part: str = "test") -> NDArray[np.int64]:
        """Return each link of a part once, int64 (n, 3), sorted: the order tells nothing about its class."""
        return np.unique(self.questions(part), axis=0).astype(np.int64)

    def pairs_title(self, part: str = "test") -> str:
        """Return the line by which a file says that its scores are in the order of :meth:`distinct_links`."""
        self.check_part(part)
        return str(title_of(self, part))

    @cached_property
    def links_in_files(self) -> LinkTable:
        """Return how files have the links of its relations."""
        return LinkTable(self.graph, self.relations)

    def scores(self, scorer: object, part: str = "test") -> Scores:
        """Return the checked scores of a part, which a file may hold in the order of the task."""
        self.check_part(part)
        if isinstance(scorer, (str, Path)):
            scorer = read_link_scores(scorer, self.links_in_files, self.distinct_links(part))
        if isinstance(scorer, FileScores) and scorer.in_order is not None and scorer.positives is not None:
            ours = (len(self.positives[part]), len(self.questions(part)))
            if (scorer.positives, len(scorer.in_order)) != ours:
                raise InputError(
                    f"{scorer.name} holds scores of {scorer.positives} positives among {len(scorer.in_order)}"
                    f" links, but the {part} part of {self.dataset} has {ours[0]} among {ours[1]}"
                )
            return self.scores_of(part, scorer.in_order)
        return super().scores(scorer, part)

    def bind(self, scorer: object, part: str) -> Scorer:
        """Turn anything that can score links into an object with ``score(links)``."""
        refuse_foreign(self, scorer)
        if isinstance(scorer, (str, Path)):
            scorer = read_link_scores(scorer, self.links_in_files, self.distinct_links(part))
        if isinstance(scorer, FileScores):
            table = self.links_in_files
            found = match_file(
                scorer, self, part, lambda one: table.pairs(self.distinct_links(one)), table.labels
            )
            return CallableScorer(lambda links: found.score(table.pairs(links)), found.name, (1,))
        return as_link_scorer(scorer, self.graph.num_nodes)

    def remarks(self, scores: Any) -> list[str]:
        """Return warnings about scores that do not tell positives from negatives."""
        together = np.concatenate([scores.positive, scores.negative])
        if (together == together[0]).all():
            return ["all links have the same score: the scores separate nothing"]
        tied = float(np.mean(scores.positive_ranks % 1 != 0))
        if tied > 0.01:
            return [f"{100 * tied:.1f} % of the positives tie with a negative; their mean rank is used"]
        return []

    def truth(self, part: str) -> dict[str, NDArray[Any]]:
        """Return the head of each positive and negative, and the relation of each head."""
        names = ("positive_head", "negative_head", "relation")
        return dict(zip(names, self.heads(part), strict=True))

    def for_fitting(self) -> Self:
        """Return the task without its test part."""
        kept = [
            {name: one for name, one in given.items() if name != "test"}
            for given in (self.positives, self.negatives)
        ]
        found = replace(self, positives=kept[0], negatives=kept[1], withheld=("test",))
        return withhold(found, "positives", "negatives")

    @property
    def training_hash(self) -> str:
        """Return the hash of the training graph."""
        return self.graph.hash

    def properties(self) -> dict[str, NDArray[Any]]:
        """Return the degree of each head in the training graph, and its relation if there are several."""
        units, relation = self._units
        degrees = np.zeros(self.graph.num_nodes, dtype=np.int64)
        for number in self.relations:
            degrees += np.bincount(self.graph.edges[number][:, 0], minlength=self.graph.num_nodes)
        found: dict[str, NDArray[Any]] = {"degree": degrees[units]}
        if len(self.relations) > 1:
            names = np.array([self.graph.relations[one].name for one in self.relations])
            found["relation"] = names[relation]
        return found

    @property
    def _units(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        number, _, relation = self.heads("test")
        units = np.zeros(len(relation), dtype=np.int64)
        units[number] = self.positives["test"][:, 0]
        return units, relation

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the positives and negatives of each part."""
        found: dict[str, NDArray[Any]] = {}
        for part in self.positives:
            found |= {f"{part}_positives": self.positives[part], f"{part}_negatives": self.negatives[part]}
        return found

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], **fields: Any) -> Self:
        """Return the task of some :meth:`arrays`, or raise an InputError if they do not fit the graph."""
        graph: HeteroGraph = fields["graph"]
        relations = tuple(int(one) for one in fields.pop("relations"))
        if not relations or len(set(relations)) < len(relations):
            raise InputError("relations must be named, each once")
        found: dict[str, dict[str, NDArray[np.int32]]] = {"positives": {}, "negatives": {}}
        for part in PARTS:
            # A task without its test part is what a method is fitted on.
            if f"{part}_positives" not in arrays:
                continue
            for what, held in found.items():
                held[part] = checked_links(arrays[f"{part}_{what}"], graph, relations, f"{part}_{what}")
        return cls(relations=relations, positives=found["positives"], negatives=found["negatives"], **fields)

    def details(self) -> dict[str, Any]:
        """Return the relations whose links are predicted."""
        return {"relations": list(self.relations)}

    @cached_property
    def hashes(self) -> dict[str, str]:
        """Return the SHA-256 of the training graph and of each array."""
        return {"graph": self.graph.hash, **{name: array_hash(one) for name, one in self.arrays().items()}}


def checked_links(
    links: NDArray[Any], graph: HeteroGraph, relations: tuple[int, ...], what: str
) -> NDArray[np.int32]:
    """Return links (source, relation, target), or raise an InputError if they do not fit the graph."""
    if links.dtype != np.int32 or links.ndim != 2 or links.shape[1] != 3 or not len(links):
        raise InputError(f"{what} must be int32 (n, 3), got {links.dtype} {links.shape}")
    if not np.isin(links[:, 1], relations).all():
        raise InputError(f"{what} has a link of a relation that is not predicted")
    for relation in relations:
        _, *ends = graph.relations[relation]
        rows = links[links[:, 1] == relation]
        for column, kind in ((0, ends[0]), (2, ends[1])):
            inside = (rows[:, column] >= graph.starts[kind]) & (rows[:, column] < graph.starts[kind + 1])
            if not inside.all():
                raise InputError(
                    f"{what}: node {rows[~inside][0, column]} has another type than its relation"
                )
    return links
