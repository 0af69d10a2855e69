"""A task: what a method may see, and what it is judged on."""

from __future__ import annotations

import hashlib
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError, ScoreWarning, must_be, unknown
from trueedge.graph import Graph
from trueedge.graph.validation import frozen
from trueedge.scorers.scorer import Rebindable, Scorer, as_scorer


@dataclass(frozen=True, eq=False)
class Part:
    """The pairs one part of a task is judged on.

    Attributes:
        positives: int32 array (P, 2).
        negatives: int32 array (M, 2) shared by all positives, or (P, K, 2) each positive's own.
    """

    positives: NDArray[np.int32]
    negatives: NDArray[np.int32]

    def __post_init__(self) -> None:
        for name in ("positives", "negatives"):
            if not isinstance(getattr(self, name), np.ndarray):
                raise must_be(name, "Part", "an int32 array", getattr(self, name))
        if self.positives.ndim != 2 or self.positives.shape[1] != 2:
            raise InputError(f"positives must have shape (P, 2), got {self.positives.shape}")
        shape = self.negatives.shape
        if shape[-1] != 2 or len(shape) not in (2, 3):
            raise InputError(f"negatives must have shape (M, 2) or (P, K, 2), got {shape}")
        if len(shape) == 3 and shape[0] != len(self.positives):
            raise InputError(f"there are {len(self.positives)} positives, but negatives for {shape[0]}")
        object.__setattr__(self, "positives", frozen(self.positives))
        object.__setattr__(self, "negatives", frozen(self.negatives))

    @property
    def own_negatives(self) -> bool:
        """Whether each positive has its own negatives."""
        return self.negatives.ndim == 3

    def pairs(self) -> NDArray[np.int64]:
        """All pairs in listing order, int64 (n, 2): the positives, then the negatives row by row."""
        return np.concatenate([self.positives, self.negatives.reshape(-1, 2)]).astype(np.int64)

    def __repr__(self) -> str:
        size = " × ".join(f"{number:,}" for number in self.negatives.shape[:-1])
        return f"Part({len(self.positives):,} positives, {size} negatives)"

    @cached_property
    def hash(self) -> str:
        """A SHA-256 of positives and negatives."""
        digest = hashlib.sha256()
        for array in (self.positives, self.negatives):
            digest.update(f"{array.shape}".encode())
            digest.update(np.ascontiguousarray(array, dtype="<i4").tobytes())
        return digest.hexdigest()


@dataclass(frozen=True, eq=False, kw_only=True)
class Task(ABC):
    """A data set under a protocol, frozen.

    Attributes:
        dataset: the data set's or graph's name.
        protocol: the protocol's name.
        seed: what split and negatives were drawn with.
        graph: the training graph.
        settings: how split and negatives were made, for the record.
        metrics: the metrics ``evaluate`` reports unless it is asked for others.
        headline: the one metric of those that a table shows first and a search selects by.
        test_graph: the graph to score the test part with, where validation edges join it; else None.
    """

    kind: ClassVar[str]

    dataset: str
    protocol: str
    seed: int
    graph: Graph
    metrics: tuple[str, ...]
    headline: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    test_graph: Graph | None = None

    @property
    def num_nodes(self) -> int:
        """The number of nodes."""
        return self.graph.num_nodes

    @property
    def features(self) -> NDArray[np.float32] | None:
        """The nodes' features, float32 (n, d), or None."""
        return self.graph.features

    @property
    def train(self) -> NDArray[np.int32]:
        """The training positives, int32 (m, 2)."""
        return self.graph.edges

    @property
    @abstractmethod
    def part_names(self) -> tuple[str, ...]:
        """The parts that hold positives: ``valid`` (where there is one) and ``test``."""

    @abstractmethod
    def evaluate(
        self, scorer: object, part: str = "test", metrics: Sequence[str] | None = None
    ) -> dict[str, float]:
        """Judge a scorer on a part of the task.

        Args:
            scorer: a scorer, a callable, an (n, d) embedding matrix, a torch module, or the path of a
                file of scores.
            part: ``"valid"`` or ``"test"``.
            metrics: names of metrics; the protocol's own where none are given.

        Returns:
            each metric's value by its name, as a fraction of 1.
        """

    @abstractmethod
    def sample(self, part: str, size: int, seed: int = 0) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Some positives and about as many negatives of a part, to look at a scorer with.

        Returns:
            int64 (m, 2), and int64 (n, 2) that all share or (m, q, 2) that belong to each.
        """

    @property
    @abstractmethod
    def hash(self) -> str:
        """A SHA-256 of everything a scorer is judged on: graph, positives, negatives."""

    def graph_for(self, part: str) -> Graph:
        """The graph a scorer reads when it scores a part."""
        return self.test_graph if part == "test" and self.test_graph is not None else self.graph

    def save(self, folder: str | Path) -> Path:
        """Write the task into a folder, so that others judge on the very same pairs."""
        from trueedge.tasks.storage import save

        return save(self, Path(folder))

    def bind(self, scorer: object, part: str) -> Scorer:
        """Make anything that can score into a scorer on the graph of a part."""
        if hasattr(scorer, "fit") and hasattr(scorer, "settings"):
            name = getattr(scorer, "name", type(scorer).__name__)
            raise InputError(f"the method {name!r} has not been fitted: evaluate what its fit(task) returns")
        bound = as_scorer(scorer, self.num_nodes, self.graph.labels)
        graph = self.graph_for(part)
        if graph is not self.graph and isinstance(bound, Rebindable):
            return bound.on(graph)
        return bound

    def check_part(self, part: str) -> None:
        """Refuse a part the task does not have."""
        if part in self.part_names:
            return
        if part in ("valid", "test"):
            raise InputError(f"{self.dataset} under {self.protocol} has no {part} part")
        raise unknown("part", part, self.part_names)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.dataset}, {self.protocol}, seed={self.seed})"


def warn_of(task: Task, part: str, findings: Sequence[str]) -> None:
    """Warn of what was found about scores, once a finding."""
    for sentence in findings:
        warnings.warn(f"{task.dataset} {task.protocol} {part}: {sentence}", ScoreWarning, stacklevel=3)
