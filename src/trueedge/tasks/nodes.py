"""Node classification: the classes of nodes of one type in a typed graph."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError, unknown
from trueedge.graph.typed import HeteroGraph, Labels
from trueedge.metrics.classes import ClassScores, classes_from, logit_notes
from trueedge.metrics.scores import as_array
from trueedge.scorers.capabilities import Need, as_predictor
from trueedge.scorers.class_columns import class_numbers, describe_classes
from trueedge.scorers.node_files import read_predictions, refuse_nonfinite
from trueedge.scorers.scorer import Scorer, is_table
from trueedge.tasks.base import Task, array_hash, refuse_foreign, withhold

METRICS = ("micro-f1", "macro-f1", "accuracy")
NODE_PARTS = ("train", "valid", "test")


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class NodeTask(Task):
    """Nodes of one type whose classes are predicted; all edges and features are known.

    Attributes:
        graph: the typed graph, without labels.
        target: the node type that is classified, by number.
        classes: the name of each class.
        nodes: the nodes of ``train``, ``valid`` and ``test``, each int32 (n,), ascending.
        values: their classes: int32 (n,), or bool (n, classes) if a node can have several.
    """

    kind: ClassVar[str] = "nodes"
    title: ClassVar[str] = "Node classification"
    unit: ClassVar[str] = "node"
    needs: ClassVar[Need] = "nodes"
    data: ClassVar[str] = "typed"
    test_units: ClassVar[tuple[str, ...]] = ("test_nodes", "test_labels")
    file_holds: ClassVar[str] = "the classes of nodes, or their scores"
    graph_type: ClassVar[type[HeteroGraph]] = HeteroGraph

    graph: HeteroGraph
    target: int
    classes: tuple[str, ...]
    nodes: Mapping[str, NDArray[np.int32]]
    values: Mapping[str, NDArray[Any]]

    @classmethod
    def of(
        cls, graph: HeteroGraph, labels: Labels, nodes: Mapping[str, NDArray[np.int32]], **fields: Any
    ) -> Self:
        """Make a task from labels and the nodes of each part; ``fields`` are further attributes."""
        values = {}
        for part, wanted in nodes.items():
            place = np.minimum(np.searchsorted(labels.nodes, wanted), len(labels.nodes) - 1)
            if not np.array_equal(labels.nodes[place], wanted):
                raise InputError(f"a node of the {part} part has no label")
            values[part] = labels.values[place]
        given: dict[str, Any] = {
            "dataset": graph.name,
            "protocol": "node-classification",
            "seed": 0,
            "metrics": METRICS,
            "headline": METRICS[0],
        }
        return cls(
            **{**given, **fields},
            graph=graph.without_labels(),
            target=labels.type,
            classes=labels.classes,
            nodes=dict(nodes),
            values=values,
        )

    @property
    def part_names(self) -> tuple[str, ...]:
        """Return the names of the parts that are evaluated."""
        return tuple(part for part in ("valid", "test") if part in self.nodes)

    @property
    def multi(self) -> bool:
        """Return whether a node can have several classes."""
        return bool(self.values["train"].ndim == 2)

    @property
    def num_classes(self) -> int:
        """Return the number of classes."""
        return len(self.classes)

    def questions(self, part: str = "test") -> NDArray[np.int32]:
        """Return the nodes of a part, int32 (n,)."""
        self.check_part(part)
        return self.nodes[part]

    def labels_of(self, part: str) -> NDArray[Any]:
        """Return the classes of a part's nodes: int32 (n,), or bool (n, classes)."""
        if part != "train":
            self.check_part(part)
        return self.values[part]

    def memberships(self, part: str) -> NDArray[np.bool_]:
        """Return which classes the nodes of a part have, bool (n, classes)."""
        values = self.labels_of(part)
        return values if self.multi else np.eye(self.num_classes, dtype=np.bool_)[values]

    def scores_of(self, part: str, answers: NDArray[Any]) -> ClassScores:
        """Compare predicted classes, or scores of all classes, with the true ones."""
        truth = self.memberships(part)
        if answers.ndim == 1 and not self.multi:
            answers = self.numbered(answers)
        scores = ClassScores.check(truth, classes_from(answers, self.num_classes, self.multi))
        return replace(scores, notes=logit_notes(answers)) if self.multi else scores

    def bind(self, scorer: object, part: str) -> Scorer:
        """Turn a predictor, a function of nodes, an array or a file into an object with ``score(nodes)``.

        An array has a row for each node of the graph, for each node of the target type, or for each node of
        the part: a number for each class, or a class, by number or by name.
        """
        self.check_part(part)
        refuse_foreign(self, scorer)
        if isinstance(scorer, (str, Path)):
            scorer = read_predictions(
                Path(scorer), self.graph, self.target, self.classes, self.multi, self.nodes[part]
            )
        if is_table(scorer) or isinstance(scorer, list):
            scorer = self._whole(scorer, part)
        return as_predictor(scorer, self.graph.num_nodes)

    def _whole(self, given: Any, part: str) -> NDArray[Any]:
        """Return an array of predictions with a row for each node of the graph."""
        table = as_array(given, "predictions") if is_table(given) else self._listed(given)
        if table.dtype == object and all(isinstance(one, str) for one in table.ravel()):
            table = table.astype(str)  # as columns of data frames are
        if table.dtype.kind == "U" and table.ndim == 1 and not self.multi:
            table = np.eye(self.num_classes)[self._named(table)]
        refuse_nonfinite(table)
        if table.ndim == 2 and table.shape[1] != self.num_classes:
            raise InputError(f"there are {self.num_classes} classes, but predictions of shape {table.shape}")
        first, last = self.graph.starts[self.target : self.target + 2]
        if table.ndim not in (1, 2) or len(table) == self.graph.num_nodes:
            return table
        places = {int(last - first): np.arange(first, last), len(self.nodes[part]): self.nodes[part]}
        if len(table) not in places:
            kind, count = self.graph.node_types[self.target], len(self.nodes[part])
            sizes = f"{self.graph.num_nodes} nodes, {last - first} of them of type {kind!r} and {count}"
            raise InputError(f"there are {sizes} in the {part} part, but predictions of shape {table.shape}")
        whole = np.zeros((self.graph.num_nodes, *table.shape[1:]), dtype=table.dtype)
        whole[places[len(table)]] = table
        return whole

    def _named(self, classes: NDArray[Any]) -> NDArray[np.int64]:
        """Return the numbers of classes that are given as texts, by name or by number, (n,)."""
        values, place = np.unique(classes, return_inverse=True)
        ways = class_numbers(values.tolist(), self.classes, "predictions")
        strange = [one for one in values.tolist() if one not in ways]
        if strange:
            raise unknown("class", strange[0], self.classes)
        return np.array([ways[one] for one in values.tolist()])[place.reshape(-1)]

    def numbered(self, classes: NDArray[Any]) -> NDArray[np.int64]:
        """Return the numbers of classes that are given as numbers, which may be their names, (n,)."""
        values, place = np.unique(classes, return_inverse=True)
        texts = [str(int(one)) if one == int(one) else str(one) for one in values.tolist()]
        ways = class_numbers(texts, self.classes, "predictions")
        strange = [one for one in texts if one not in ways]
        if strange:
            raise InputError(f"a predicted class is {strange[0]}: {describe_classes(self.classes)}")
        return np.array([ways[one] for one in texts])[place.reshape(-1)]

    def _listed(self, given: Any) -> NDArray[Any]:
        """Return a list as an array."""
        try:
            return np.asarray(given)
        except ValueError:
            shape = f"(n, {self.num_classes})" if self.multi else f"(n,) or (n, {self.num_classes})"
            raise InputError(f"predictions need the shape {shape}: all rows must have one length") from None

    def remarks(self, scores: Any) -> list[str]:
        """Return a warning if all nodes get the same prediction, and one of logits that look otherwise."""
        found = list(scores.notes)
        if len(scores.predicted) > 1 and (scores.predicted == scores.predicted[0]).all():
            found.append("all nodes get the same classes: the predictions separate nothing")
        return found

    def truth(self, part: str) -> dict[str, NDArray[Any]]:
        """Return the classes of a part's nodes."""
        return {"truth": self.memberships(part)}

    def for_fitting(self) -> Self:
        """Return the task without its test part."""
        nodes, values = (
            {name: one for name, one in given.items() if name != "test"}
            for given in (self.nodes, self.values)
        )
        return withhold(replace(self, nodes=nodes, values=values, withheld=("test",)), "nodes", "values")

    @property
    def training_hash(self) -> str:
        """Return the hash of the graph and the labels of training nodes."""
        said = [self.hashes[name] for name in ("graph", "train_nodes", "train_labels")]
        return hashlib.sha256(" ".join(said).encode()).hexdigest()

    def properties(self) -> dict[str, NDArray[Any]]:
        """Return the class and the degree of each test node, to group them by."""
        nodes = self.questions("test")
        degrees = sum(
            np.bincount(one.reshape(-1), minlength=self.graph.num_nodes) for one in self.graph.edges
        )
        found: dict[str, NDArray[Any]] = {"degree": np.asarray(degrees)[nodes]}
        if not self.multi:
            found["class"] = np.array(self.classes)[self.values["test"]]
        return found

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the nodes of each part and their classes."""
        found: dict[str, NDArray[Any]] = {}
        for part in self.nodes:
            found |= {f"{part}_nodes": self.nodes[part], f"{part}_labels": self.values[part]}
        return found

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], **fields: Any) -> Self:
        """Return the task of some :meth:`arrays`, or raise an InputError if they do not fit the graph."""
        graph: HeteroGraph = fields["graph"]
        target, classes = int(fields.pop("target")), tuple(map(str, fields.pop("classes")))
        if not 0 <= target < graph.num_types:
            raise InputError(f"the target type {target} does not exist")
        nodes, values = {}, {}
        for part in NODE_PARTS:
            # A task without its test part is what a method is fitted on.
            if f"{part}_nodes" not in arrays and part != "train":
                continue
            who, what = arrays[f"{part}_nodes"], arrays[f"{part}_labels"]
            first, last = graph.starts[target : target + 2]
            if who.dtype != np.int32 or who.ndim != 1 or not len(who):
                raise InputError(f"{part}_nodes must be int32 (n,)")
            if who.min() < first or who.max() >= last or (np.diff(who) <= 0).any():
                raise InputError(f"{part}_nodes must be nodes of the target type, ascending")
            single = what.shape == who.shape and what.dtype == np.int32
            if single and (what.min() < 0 or what.max() >= len(classes)):
                raise InputError(f"{part}_labels holds a class that does not exist")
            if not single and (what.shape != (len(who), len(classes)) or what.dtype != np.bool_):
                raise InputError(f"{part}_labels must be int32 (n,) or bool (n, {len(classes)})")
            nodes[part], values[part] = who, what
        if len({one.ndim for one in values.values()}) > 1:
            raise InputError("some parts have one class a node, others several")
        seen = np.concatenate(list(nodes.values()))
        if len(np.unique(seen)) != len(seen):
            raise InputError("a node is in two parts")
        return cls(target=target, classes=classes, nodes=nodes, values=values, **fields)

    def details(self) -> dict[str, Any]:
        """Return the target type and the classes."""
        return {"target": self.target, "classes": list(self.classes)}

    @cached_property
    def hashes(self) -> dict[str, str]:
        """Return the SHA-256 of the graph and of each array."""
        return {"graph": self.graph.hash, **{name: array_hash(one) for name, one in self.arrays().items()}}
