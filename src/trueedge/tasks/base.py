"""The base class of every kind of task: what a method may see, and what it is evaluated on."""

from __future__ import annotations

import hashlib
import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Self, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError, ScoreWarning, unknown
from trueedge.graph import Graph
from trueedge.graph.freezing import FrozenFields
from trueedge.html import facts_html, shortened
from trueedge.metrics import Evaluation, Scores, measure
from trueedge.metrics import get as get_metric
from trueedge.metrics.units import plural
from trueedge.randomness import generator
from trueedge.scorers.capabilities import Need, as_candidate_scorer, as_predictor, as_vectors
from trueedge.scorers.fitted import fitted_on
from trueedge.scorers.scorer import Scorer, as_scorer, ask, scorer_name, with_graph
from trueedge.tasks.storage import KINDS as KINDS
from trueedge.tasks.storage import PARTS as PARTS
from trueedge.tasks.storage import save

GivenTask = TypeVar("GivenTask", bound="Task")


@dataclass(frozen=True, eq=False, kw_only=True)
class Task(FrozenFields, ABC):
    """A data set under a protocol, frozen. A subclass with a ``kind`` registers itself.

    A kind defines its data (:meth:`arrays`, :meth:`from_arrays`), its questions (:meth:`questions`) and how
    answers become scores with the truth (:meth:`scores_of`). Everything else follows: evaluation, saving,
    hashes, records with intervals, certificates and :func:`trueedge.check_scorer`.

    Attributes:
        kind: the name of the kind, in records and saved tasks.
        title: the kind's name on pages: "Link prediction".
        unit: what one value of a metric belongs to, a noun: "positive", "query", "node", "user".
        data: what methods learn from: a ``graph`` or ``triples``.
        needs: what it needs from a scorer: scores of ``pairs``, of all ``candidates`` of a query, predictions
            for ``nodes``, or ``vectors`` of nodes.
        keeps_scores: whether its scores can be kept and certified.
        truth_nouns: what messages call the arrays of :meth:`truth`, where their names do not tell.
        test_units: the arrays that say what the units of the test part are, for a kind whose published test
            part stays the same while the seed divides the rest; tasks in which they agree have the same ones
            (:mod:`.test_parts`).
        file_holds: what a file of predictions holds, in words, if the task reads such files itself.
        dataset: the name of the data set or graph.
        protocol: the protocol's name.
        seed: the seed of split and negatives.
        metrics: the metrics that ``evaluate`` reports by default.
        headline: the metric that tables show first and searches optimise.
        settings: how the task was made, for the record.
        withheld: the parts that are left out while a method is fitted.
    """

    kind: ClassVar[str]
    title: ClassVar[str]
    unit: ClassVar[str]
    needs: ClassVar[Need]
    data: ClassVar[str] = "graph"
    keeps_scores: ClassVar[bool] = True
    truth_nouns: ClassVar[Mapping[str, str]] = {}
    test_units: ClassVar[tuple[str, ...]] = ()
    file_holds: ClassVar[str] = ""

    dataset: str
    protocol: str
    seed: int
    metrics: tuple[str, ...]
    headline: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    withheld: tuple[str, ...] = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "kind" in cls.__dict__:
            KINDS.add(cls.kind, cls, same=lambda taken: taken.__qualname__ == cls.__qualname__)

    @property
    @abstractmethod
    def part_names(self) -> tuple[str, ...]:
        """Return the names of the parts: ``valid`` (in some tasks) and ``test``."""

    @abstractmethod
    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all data of the task except graphs, as arrays by name."""

    @classmethod
    @abstractmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], **fields: Any) -> Self:
        """Return the task of some :meth:`arrays`, or raise an InputError if they do not fit such a task.

        ``fields`` holds the other fields: data set, protocol, …, :meth:`details`, and the graph, if any.
        """

    @abstractmethod
    def questions(self, part: str) -> NDArray[np.integer[Any]]:
        """Return what a scorer has to score for a part, int array (n, …): pairs, queries or nodes."""

    @abstractmethod
    def scores_of(self, part: str, answers: NDArray[Any]) -> Scores:
        """Combine the answers to :meth:`questions`, finite numbers (n, …), with the truth."""

    def details(self) -> dict[str, Any]:
        """Return the further fields that a saved task has, as plain values."""
        return {}

    def scores(self, scorer: object, part: str = "test") -> Scores:
        """Return the checked scores of a part."""
        self.check_part(part)
        bound = self.bind(scorer, part)
        rows = self.questions(part)
        # In random order: nodes or queries may be listed by their class.
        answers = ask(bound, rows, order=generator(self.seed, "questions").permutation(len(rows)))
        try:
            return self.scores_of(part, answers)
        except InputError:
            raise
        except (IndexError, ValueError) as error:
            raise InputError(
                f"{scorer_name(bound)} answered shape {answers.shape}, which does not fit {self}: {error}"
            ) from error

    def evaluate(
        self, scorer: object, part: str = "test", metrics: Sequence[str] | None = None
    ) -> Evaluation:
        """Evaluate a scorer on a part of the task.

        Args:
            scorer: what the task needs (see :attr:`needs`): a scorer, a callable, an array, a torch module or
                the path of a file of scores.
            part: ``"valid"`` or ``"test"``.
            metrics: names of metrics; by default the task's own.

        Returns:
            the value of each metric by name, shares as fractions of 1; ``units`` holds the values per unit.
        """
        return self.evaluate_scores(self.scores(scorer, part), part, metrics, scorer)

    def evaluate_scores(
        self,
        scores: Scores,
        part: str = "test",
        metrics: Sequence[str] | None = None,
        scorer: object = None,
    ) -> Evaluation:
        """Evaluate checked scores of a part, like :meth:`evaluate`. Warnings name the scorer."""
        warn_of(self, part, self.remarks(scores), scorer)
        return measure(scores, self.metrics_for(scores) if metrics is None else metrics, self.unit)

    def metrics_for(self, scores: Scores) -> tuple[str, ...]:
        """Return the metrics for which there are enough scores: Hits@10 needs ten negatives."""
        return tuple(name for name in self.metrics if get_metric(name).fits(scores))

    def remarks(self, scores: Scores) -> list[str]:
        """Return warnings about scores, one sentence each."""
        del scores
        return []

    def mismatch(self, scores: Scores, part: str) -> str:
        """Return why scores cannot belong to a part, empty if they can.

        Anybody may have written the scores of a certificate: their :meth:`truth` must be that of the task.
        """
        held = scores.facts()
        for name, array in self.truth(part).items():
            if name not in held or not np.array_equal(held[name], array):
                return f"the {self.truth_nouns.get(name, name)} in the scores are not those of the task"
        return ""

    def truth(self, part: str) -> dict[str, NDArray[Any]]:
        """Return the arrays of a part's scores that come from the task, not from a scorer, by name."""
        del part
        return {}

    def properties(self) -> dict[str, NDArray[Any]]:
        """Return properties to group the test units by, an array (n,) each; see ``te.report``."""
        return {}

    def unit_nodes(self, part: str = "test") -> NDArray[np.integer[Any]] | None:
        """Return the two nodes of each unit of a part, int (n, 2); None if its units are no edges."""
        del part
        return None

    def bind(self, scorer: object, part: str) -> Scorer:
        """Turn anything that can answer the task's questions into an object with ``score(rows)``."""
        del part
        refuse_foreign(self, scorer)
        return as_candidate_scorer(scorer) if self.needs == "candidates" else as_predictor(scorer)

    def for_fitting(self) -> Self:
        """Return what a method's ``fit`` gets: the task without its test part. Each kind defines it."""
        return self

    @property
    def training_hash(self) -> str:
        """Return a hash of what methods learn from; a scorer that was fitted on another is refused.

        It is empty for a kind that does not define it: then every scorer is accepted.
        """
        return ""

    def sample(self, part: str, size: int, seed: int = 0) -> NDArray[np.int64]:
        """Return a random sample of a part's questions without replacement, int64 (n, …)."""
        self.check_part(part)
        rows = self.questions(part)
        chosen = generator(seed, "sample", part).choice(len(rows), size=min(size, len(rows)), replace=False)
        return rows[chosen].astype(np.int64)

    @cached_property
    def hashes(self) -> dict[str, str]:
        """Return the SHA-256 of each array of the task."""
        return {name: array_hash(array) for name, array in self.arrays().items()}

    @cached_property
    def hash(self) -> str:
        """Return a SHA-256 of everything a scorer is evaluated on."""
        said = [f"{name}={value}" for name, value in sorted(self.hashes.items())]
        said += [f"{name}={value}" for name, value in self.details().items()]
        return hashlib.sha256(" ".join([self.kind, *said]).encode()).hexdigest()

    @property
    def hash_without_labels(self) -> str:
        """Return the hash as older formats have it: the names of the nodes were no part of it."""
        return self.hash

    def save(self, folder: str | Path) -> Path:
        """Write the task to a new folder, so that others can evaluate on exactly the same data."""
        return save(self, Path(folder))

    def check_part(self, part: str) -> None:
        """Raise an InputError for a part that the task does not have."""
        if part in self.part_names:
            return
        if part in self.withheld:
            raise withheld_error(self.dataset, part)
        if part in PARTS:
            raise InputError(f"{self.dataset} under {self.protocol} has no {part} part")
        raise unknown("part", part, self.part_names)

    def __repr__(self) -> str:
        names = f"{shortened(self.dataset)}, {shortened(self.protocol)}"
        return f"{type(self).__name__}({names}, seed={self.seed})"

    def _repr_html_(self) -> str:
        facts: dict[str, object] = {"seed": self.seed, "headline": self.headline}
        facts["metrics"] = ", ".join(self.metrics)
        facts["training data"] = getattr(self, "graph", None)
        facts |= {part: self.size_of(part) for part in self.part_names}
        return facts_html(f"{type(self).__name__} {self.dataset} · {self.protocol}", facts)

    def size_of(self, part: str) -> str:
        """Return how many units a part has, in words."""
        count = len(self.questions(part))
        return f"{count:,} {self.unit if count == 1 else plural(self.unit)}"


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class GraphTask(Task):
    """A task on one graph.

    Attributes:
        graph: the training graph.
        test_graph: the graph to score the test part with, if validation edges join it; else None.
    """

    graph_type: ClassVar[type[Graph]] = Graph

    graph: Graph
    test_graph: Graph | None = None

    @property
    def num_nodes(self) -> int:
        """Return the number of nodes."""
        return self.graph.num_nodes

    @property
    def features(self) -> NDArray[np.float32] | None:
        """Return the node features, float32 (n, d), or None."""
        return self.graph.features

    @property
    def train(self) -> NDArray[np.int32]:
        """Return the training positives, int32 (m, 2)."""
        return self.graph.edges

    @cached_property
    def hashes(self) -> dict[str, str]:
        """Return the SHA-256 of the training graph and of each array."""
        return {"graph": self.graph.hash, **{name: array_hash(one) for name, one in self.arrays().items()}}

    @property
    def hash_without_labels(self) -> str:
        """Return the hash of the same task on nodes without names."""
        return self.hash if self.graph.labels is None else self.without_labels().hash

    def without_labels(self) -> Self:
        """Return the same task on nodes without names."""
        return replace(self, graph=replace(self.graph, labels=None))

    @property
    def training_hash(self) -> str:
        """Return the hash of the training graph."""
        return self.graph.hash

    def graph_for(self, part: str) -> Graph:
        """Return the graph that a scorer uses for a part."""
        return self.test_graph if part == "test" and self.test_graph is not None else self.graph

    def bind(self, scorer: object, part: str) -> Scorer:
        """Turn anything that can answer the task's questions into a scorer on the graph of a part."""
        refuse_foreign(self, scorer)
        if self.needs == "nodes":
            return as_predictor(scorer, self.num_nodes)
        if self.needs == "vectors":
            return as_vectors(scorer, self.num_nodes)
        if self.needs == "candidates" and hasattr(scorer, "score_candidates"):
            return as_candidate_scorer(scorer)
        bound = as_scorer(scorer, self.num_nodes, self.graph.labels)
        graph = self.graph_for(part)
        return bound if graph is self.graph else with_graph(bound, graph)


class WithheldParts(dict[str, Any]):
    """The parts that a method may see; reaching for another is an error that says why it is not there.

    Args:
        parts: all parts of a task.
        dataset: the name of the data set.
    """

    def __init__(self, parts: Mapping[str, Any], dataset: str) -> None:
        super().__init__({name: part for name, part in parts.items() if name != "test"})
        self._dataset = dataset

    def __missing__(self, part: str) -> Any:
        if part == "test":
            raise withheld_error(self._dataset, part)
        raise KeyError(part)


def withheld_error(dataset: str, part: str) -> InputError:
    """Return the error for a part that a method reaches for while it is fitted."""
    return InputError(
        f"{dataset}: the {part} part is withheld while a method is fitted; train on the training part, and"
        " select on the validation part"
    )


def withhold(task: GivenTask, *names: str) -> GivenTask:
    """Let mappings from parts explain that the test part is withheld; returns the task."""
    for name in names:
        kept = MappingProxyType(WithheldParts(getattr(task, name), task.dataset))
        object.__setattr__(task, name, kept)
    return task


def refuse_foreign(task: Task, scorer: object) -> None:
    """Raise an InputError for a method that is not fitted, and for a scorer fitted on other training data."""
    if hasattr(scorer, "fit") and hasattr(scorer, "settings"):
        name = getattr(scorer, "name", type(scorer).__name__)
        raise InputError(f"the method {name!r} has not been fitted: evaluate what its fit(task) returns")
    origins = fitted_on(scorer)
    if origins and task.training_hash and task.training_hash not in origins:
        name, where = scorer_name(scorer), ", ".join(origins.values())
        raise InputError(
            f"{name} was fitted on {where}, whose training graph is not that of {describe(task)}: it may have"
            " seen the answers, or number the nodes differently; fit it on this task"
        )


def describe(task: Task) -> str:
    """Return a task in words, as messages name it."""
    return f"{task.dataset} under {task.protocol}, seed {task.seed}"


def array_hash(array: NDArray[Any]) -> str:
    """Return a SHA-256 of an array's content, the same on every machine."""
    content = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
    return hashlib.sha256(f"{array.shape}".encode() + content).hexdigest()


def warn_of(task: Task, part: str, findings: Sequence[str], scorer: object = None) -> None:
    """Warn about scores, once for each task, scorer and finding.

    Ties are not mentioned if the scorer ``expects_ties``. With the filter "always" for ScoreWarnings, as
    records use it, every warning is given.
    """
    action = next((one[0] for one in warnings.filters if issubclass(ScoreWarning, one[2])), "default")
    for sentence in findings if action != "ignore" else ():
        tied = re.search(r"\bties?\b", sentence) is not None
        if action != "always" and tied and getattr(scorer, "expects_ties", False):
            continue
        known = WARNED.setdefault(task, set())
        found = (getattr(scorer, "name", None) or id(scorer), re.sub(r"[\d.e+-]+", "", sentence))
        if found not in known or action in ("always", "error"):
            known.add(found)
            warnings.warn(f"{task.dataset} {task.protocol} {part}: {sentence}", ScoreWarning, stacklevel=4)


# The warnings given for each task: the scorer's name (or id), and the sentence without its numbers.
WARNED: WeakKeyDictionary[Task, set[tuple[Any, str]]] = WeakKeyDictionary()
