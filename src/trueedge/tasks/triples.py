"""Knowledge graph completion: every query (head, relation, ?) and (?, relation, tail) ranks all entities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError, must_be
from trueedge.graph.knowledge import KnowledgeGraph
from trueedge.graph.triples import TailIndex, as_triples
from trueedge.metrics import RankedScores
from trueedge.metrics.ranked import degree_groups
from trueedge.randomness import generator
from trueedge.scorers.capabilities import Need
from trueedge.scorers.filtered_ranks import rank_answers
from trueedge.scorers.fitted import fitted_on
from trueedge.scorers.scorer import Scorer, has_with_graph, scorer_name, with_graph
from trueedge.scorers.triple_embeddings import TripleEmbeddings
from trueedge.scorers.triples import QueryScorer, as_query_scorer
from trueedge.splits.triples import NONE, TripleSplit, check_disjoint, checked_split
from trueedge.tasks.base import PARTS, Task, array_hash, refuse_foreign, withhold
from trueedge.tasks.query_properties import query_properties

SIDES = ("both", "tail", "head")
TIE_BOUNDS = ("mrr.optimistic", "mrr.pessimistic")
CALIBRATION = ("ece", "ece-low")
METRICS = (
    "mrr",
    "hits@1",
    "hits@3",
    "hits@10",
    "mr",
    "adjusted-mrr",
    "amri",
    "mrr.optimistic",
    "mrr.pessimistic",
    "ece",
    "ece-low",
)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class TripleTask(Task):
    """Test triples whose tails, and whose heads, are ranked among all entities.

    Ranks are filtered: other answers that are known to be true do not count. The validation part knows the
    training and validation triples, the test part all of them.

    Attributes:
        graph: the training triples.
        test_graph: for an inductive task, the graph of the test part: other entities, the same relations.
        parts: the triples, int32 (n, 3), of ``valid`` (in some tasks) and ``test``.
        known: int32 (k, 3), further true triples of the test part.
        sides: what is asked for: ``tail``, ``head`` or ``both``.
        filter: which true answers of the test part are left out: ``all``, or only the ``facts`` of its graph.
    """

    kind: ClassVar[str] = "triples"
    title: ClassVar[str] = "Knowledge graph completion"
    unit: ClassVar[str] = "query"
    needs: ClassVar[Need] = "candidates"
    data: ClassVar[str] = "triples"
    graph_type: ClassVar[type[KnowledgeGraph]] = KnowledgeGraph
    truth_nouns: ClassVar[Mapping[str, str]] = {
        "negatives": "numbers of candidates",
        "degrees": "degrees of the answers",
    }

    graph: KnowledgeGraph
    test_graph: KnowledgeGraph | None = None
    parts: Mapping[str, NDArray[np.int32]]
    known: NDArray[np.int32]
    sides: str = "both"
    filter: str = "all"

    @classmethod
    def from_split(
        cls, split: TripleSplit, seed: int = 0, sides: str = "both", overlaps: bool = False, **fields: Any
    ) -> Self:
        """Make a task from a split of triples; ``fields`` are further attributes.

        Args:
            split: see :mod:`trueedge.splits.triples`.
            seed: the seed of the order of queries.
            sides: what is asked for.
            overlaps: whether the parts may share triples, which makes results meaningless.
        """
        if sides not in SIDES:
            raise must_be("sides", "TripleTask", f"one of {', '.join(SIDES)}", sides)
        split = checked_split(split)
        if not overlaps:
            check_disjoint(split)
        notes = {"notes": split.notes} if split.notes else {}
        given: dict[str, Any] = {
            "dataset": split.train.name,
            "protocol": "filtered" if split.facts is None else "inductive",
            "metrics": METRICS if split.facts is None else (*METRICS[:4], "sampled-hits@10", *METRICS[4:]),
            "headline": "mrr",
            "settings": {"split": split.name, "sides": sides, **notes},
        }
        return cls(
            **{**given, **fields},
            seed=seed,
            graph=split.train,
            test_graph=split.facts,
            parts=split.parts,
            known=split.known,
            sides=sides,
        )

    @property
    def part_names(self) -> tuple[str, ...]:
        """Return the names of the parts."""
        return tuple(self.parts)

    @property
    def num_entities(self) -> int:
        """Return the number of entities of the training graph."""
        return self.graph.num_entities

    @property
    def num_relations(self) -> int:
        """Return the number of relations R, without inverse ones."""
        return self.graph.num_relations

    def graph_for(self, part: str) -> KnowledgeGraph:
        """Return the graph that a part belongs to."""
        return self.test_graph if part == "test" and self.test_graph is not None else self.graph

    def queries(self, part: str = "test") -> NDArray[np.int64]:
        """Return the queries of a part, int64 (q, 2): (head, r) for tails, then (tail, r + R) for heads."""
        self.check_part(part)
        head, relation, tail = self.parts[part].astype(np.int64).T
        found = []
        if self.sides != "head":
            found.append(np.column_stack([head, relation]))
        if self.sides != "tail":
            found.append(np.column_stack([tail, relation + self.num_relations]))
        return np.concatenate(found)

    questions = queries

    def targets(self, part: str = "test") -> NDArray[np.int64]:
        """Return the true answer of each query, int64 (q,)."""
        self.check_part(part)
        head, _, tail = self.parts[part].astype(np.int64).T
        found = {"tail": [tail], "head": [head], "both": [tail, head]}[self.sides]
        return np.asarray(np.concatenate(found))

    def unit_nodes(self, part: str = "test") -> NDArray[np.int64]:
        """Return the known entity of each query and its answer, int64 (q, 2)."""
        return np.column_stack([self.queries(part)[:, 0], self.targets(part)])

    def known_answers(self, part: str) -> TailIndex:
        """Return all answers that are known to be true when a part is evaluated."""
        if part not in self._known:
            self.check_part(part)
            graph = self.graph_for(part)
            lists = [graph.triples]
            if self.filter == "all":
                lists.append(self.parts[part])
            if part == "test" and self.filter == "all":
                lists.append(self.known)
                if self.test_graph is None:
                    lists.append(self.parts.get("valid", self.known[:0]))
            self._known[part] = TailIndex.of(np.concatenate(lists), self.num_relations)
        return self._known[part]

    @cached_property
    def _known(self) -> dict[str, TailIndex]:
        return {}

    def bind(self, scorer: object, part: str) -> QueryScorer:
        """Turn anything that can score triples into a scorer of queries on the graph of a part."""
        refuse_foreign(self, scorer)
        graph = self.graph_for(part)
        if graph is not self.graph:
            _refuse_bound(scorer, self, graph)
            scorer = with_graph(scorer, graph)  # type: ignore[arg-type]
        if isinstance(scorer, TripleEmbeddings):
            scorer = scorer.for_counts(graph.num_entities, self.num_relations)
        bound = as_query_scorer(scorer, graph.num_entities, self.num_relations, self.queries(part), part)
        return replace(bound, num_entities=graph.num_entities)

    def sample_answers(
        self, part: str, size: int, seed: int = 0
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return a random sample of a part's queries, int64 (n, 2), and their answers, int64 (n,)."""
        queries = self.queries(part)
        chosen = generator(seed, "sample", part).permutation(len(queries))[:size]
        return queries[chosen], self.targets(part)[chosen]

    def answer_counts(self, part: str, queries: NDArray[np.int64]) -> dict[str, NDArray[np.int64]]:
        """Return how often each entity occurs in a part's graph, int64 (b, entities), by what is counted."""
        graph = self.graph_for(part)
        everyone = np.arange(graph.num_entities)
        answers = [graph.tail_relation_degrees(np.full_like(everyone, r), everyone) for r in queries[:, 1]]
        degrees = np.tile(graph.in_degrees + graph.out_degrees, (len(queries), 1))
        return {
            "the number of their triples": degrees,
            "how often they answer the relation": np.array(answers).reshape(degrees.shape),
        }

    def scores(self, scorer: object, part: str = "test") -> RankedScores:
        """Rank the answers of a part's queries."""
        self.check_part(part)
        return self._ranked(self.bind(scorer, part), part)

    def scores_of(self, part: str, answers: NDArray[Any]) -> RankedScores:
        """Rank the answers of a part's queries by scores (q, entities)."""
        return self._ranked(self.bind(answers, part), part)

    def _ranked(self, bound: Scorer, part: str) -> RankedScores:
        known, entities = self.known_answers(part), self.graph_for(part).num_entities
        found = rank_answers(bound, self.queries(part), self.targets(part), known, entities, self.seed)
        logits = getattr(bound, "logits", False)
        return RankedScores(
            found.above, found.tied, found.negatives, found.answer, self.degrees(part), logits
        )

    def degrees(self, part: str) -> NDArray[np.int64]:
        """Return the tail-relation degree of each query's answer, int64 (q,)."""
        return self.graph_for(part).tail_relation_degrees(self.queries(part)[:, 1], self.targets(part))

    def metrics_for(self, scores: Any) -> tuple[str, ...]:
        """Return the metrics that can be computed: the calibration error needs probabilities."""
        found = super().metrics_for(scores)
        low = bool((degree_groups(scores.degrees) == 1).any())
        possible = {"ece": scores.logits, "ece-low": scores.logits and low}
        return tuple(name for name in found if possible.get(name, True))

    def remarks(self, scores: Any) -> list[str]:
        """Return warnings about ties."""
        share = float(np.mean(scores.tied > 0))
        spread = float(np.mean(scores.tied / np.maximum(scores.negatives, 1)))
        if spread == 1.0:
            return ["all entities have the same score: the scores separate nothing"]
        if spread > 0.01:
            return [
                f"{100 * share:.1f} % of the answers tie with other entities; their mean rank is used"
                f" ({' and '.join(TIE_BOUNDS)} are the bounds)"
            ]
        return []

    def truth(self, part: str) -> dict[str, NDArray[Any]]:
        """Return the number of candidates of each query, and the degrees of the answers."""
        queries = self.queries(part)
        known = self.known_answers(part)
        indptr, _ = known.rows(queries[:, 0], queries[:, 1])
        left_out = np.diff(indptr) + ~known.contains(queries, self.targets(part))
        return {
            "negatives": self.graph_for(part).num_entities - left_out,
            "degrees": self.degrees(part),
        }

    def with_filter(self, filter: str) -> Self:
        """Return the task with another filter."""
        return replace(self, filter=filter, settings={**self.settings, "filter": filter})

    def for_fitting(self) -> Self:
        """Return the task without its test part."""
        kept = {name: triples for name, triples in self.parts.items() if name != "test"}
        found = replace(self, parts=kept, test_graph=None, known=self.known[:0], withheld=("test",))
        return withhold(found, "parts")

    @property
    def training_hash(self) -> str:
        """Return the hash of the training graph."""
        return self.graph.hash

    def properties(self) -> dict[str, NDArray[Any]]:
        """Return the side, relation category, degrees and relation of each test query, to group them by."""
        return query_properties(self.graph_for("test"), self.queries(), self.targets())

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the triples of each part and the known ones; of an inductive task, also the test graph."""
        found: dict[str, NDArray[Any]] = {f"{name}_triples": part for name, part in self.parts.items()}
        if len(self.known):
            found["known"] = self.known
        if self.test_graph is not None:
            found["facts"] = self.test_graph.triples
            found["fact_names"] = _packed(self.test_graph.entities)
        return found

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], **fields: Any) -> Self:
        """Return the task of some :meth:`arrays`, or raise an InputError if they do not fit the graph."""
        graph: KnowledgeGraph = fields["graph"]
        test_graph = None
        if "facts" in arrays:
            names = _unpacked(arrays["fact_names"])
            test_graph = KnowledgeGraph.from_triples(
                arrays["facts"], entities=names, relations=graph.relations, name=f"{graph.name}_ind"
            )
        for key, allowed in (("sides", SIDES), ("filter", ("all", "facts"))):
            if fields.get(key) not in allowed:
                raise InputError(f"{key} must be one of {', '.join(allowed)}, got {fields.get(key)!r}")
        parts = {}
        for name in PARTS:
            if f"{name}_triples" in arrays:
                if not len(arrays[f"{name}_triples"]):
                    raise InputError(f"there are no {name} triples")
                on = test_graph if name == "test" and test_graph is not None else graph
                parts[name] = _checked(arrays[f"{name}_triples"], on, f"{name} triples")
        on = test_graph or graph
        if on.num_entities < 2:
            raise InputError(f"{on.name} has one entity: there is nothing to rank")
        known = _checked(arrays.get("known", NONE), on, "known triples")
        return cls(parts=parts, known=known, test_graph=test_graph, **fields)

    def details(self) -> dict[str, Any]:
        """Return what is asked for, and what is left out."""
        return {"sides": self.sides, "filter": self.filter}

    @cached_property
    def hashes(self) -> dict[str, str]:
        """Return the SHA-256 of the training graph and of each array."""
        return {"graph": self.graph.hash, **{name: array_hash(one) for name, one in self.arrays().items()}}


def _refuse_bound(scorer: object, task: TripleTask, graph: KnowledgeGraph) -> None:
    """Raise an InputError for a scorer that knows the training entities alone, and not those of a graph."""
    if has_with_graph(scorer):
        return
    # The same numbers stand for other entities there: its scores would be of the wrong ones.
    wanted = f"with_graph(graph), which returns the scorer for the entities of {graph.name}"
    if fitted_on(scorer):
        raise InputError(
            f"{scorer_name(scorer)} was fitted on the entities of {task.graph.name}, and the test part has"
            f" other ones: give it {wanted}"
        )
    if isinstance(scorer, TripleEmbeddings) and len(scorer.entities) != graph.num_entities:
        raise InputError(
            f"{graph.name} has {graph.num_entities} entities, but there are embeddings of"
            f" {len(scorer.entities)}: give embeddings of its entities, or a scorer with {wanted}"
        )


def _checked(triples: NDArray[Any], graph: KnowledgeGraph, what: str) -> NDArray[np.int32]:
    if triples.dtype != np.int32 or triples.ndim != 2:
        raise InputError(f"{what} must be an int32 array (n, 3), got {triples.dtype} {triples.shape}")
    return as_triples(triples, graph.num_entities, graph.num_relations, what)


def _packed(names: Sequence[str]) -> NDArray[np.uint8]:
    return np.frombuffer("\n".join(names).encode(), dtype=np.uint8)


def _unpacked(packed: NDArray[Any]) -> list[str]:
    if packed.dtype != np.uint8 or packed.ndim != 1:
        raise InputError("fact_names must hold bytes")
    return packed.tobytes().decode().split("\n")
