"""Link prediction: positives against negatives."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.graph import Graph
from trueedge.metrics import PairScores, get, judge
from trueedge.randomness import generator
from trueedge.scorers.score_files import FileScores, read_scores, split_flat
from trueedge.scorers.scorer import score_pairs
from trueedge.scorers.spread import remarks
from trueedge.splits import Split
from trueedge.tasks.base import Part, Task, warn_of


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class LinkTask(Task):
    """Positives against shared negatives, or each against its own.

    Attributes:
        parts: the pairs of ``valid`` (where there is one) and ``test``.
    """

    kind: ClassVar[str] = "link"

    parts: Mapping[str, Part]

    @classmethod
    def from_split(
        cls, split: Split, protocol: str = "heart", seed: int = 0, name: str | None = None, **options: Any
    ) -> LinkTask:
        """A task from your own split: the protocol adds the negatives and the metrics.

        Args:
            split: the parts (see :mod:`trueedge.splits`).
            protocol: ``existing``, ``heart``, ``uniform``, ``degree-corrected`` or ``triplet``.
            seed: for the negatives.
            name: what to call the data set; the graph's name where it is not given.
            options: the protocol's options.
        """
        from trueedge.tasks.protocols import from_split

        task = from_split(split, protocol, seed, name, options)
        if not isinstance(task, cls):
            raise InputError(f"the protocol {protocol} ranks every node: it makes no LinkTask of a split")
        return task

    @property
    def part_names(self) -> tuple[str, ...]:
        """The parts that hold positives."""
        return tuple(self.parts)

    def part(self, name: str = "test") -> Part:
        """The positives and negatives of a part."""
        self.check_part(name)
        return self.parts[name]

    @property
    def valid(self) -> Part:
        """The validation part: what a method may select and stop on."""
        return self.part("valid")

    @property
    def test(self) -> Part:
        """The test part: judged once, never selected on."""
        return self.part("test")

    def pairs(self, part: str = "test") -> NDArray[np.int64]:
        """All pairs of a part in listing order: the positives, then the negatives row by row."""
        return self.part(part).pairs()

    def evaluate(
        self, scorer: object, part: str = "test", metrics: Sequence[str] | None = None
    ) -> dict[str, float]:
        """Judge a scorer on a part of the task; see :meth:`Task.evaluate`.

        What comes back also has ``ranks``, float64 (P,), where a metric by ranks is among the metrics.
        """
        scores = PairScores.check(*self.scores(scorer, part))
        warn_of(self, part, remarks(scores))
        return judge(scores, self.metrics_of(part) if metrics is None else metrics)

    def metrics_of(self, part: str = "test") -> tuple[str, ...]:
        """The task's metrics that a part has enough pairs for: Hits@10 needs ten negatives."""
        chosen = self.part(part)
        negatives = chosen.negatives.shape[-2]
        pooled = len(chosen.positives) + negatives

        def fits(name: str) -> bool:
            k = get(name).k
            return k is None or k <= (pooled if name.startswith("precision@") else negatives)

        return tuple(name for name in self.metrics if fits(name))

    def scores(self, scorer: object, part: str = "test") -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The scores of a part: positives (P,), and negatives (M,) or (P, K)."""
        chosen = self.part(part)
        if isinstance(scorer, (str, Path)):
            scorer = read_scores(scorer, self.graph.labels)
        if isinstance(scorer, FileScores) and scorer.in_order is not None:
            return split_flat(scorer.in_order, len(chosen.positives), chosen.negatives.shape[:-1])
        bound = self.bind(scorer, part)
        # Scored apart, so that the pairs need not be copied into one array.
        negative = score_pairs(bound, chosen.negatives.reshape(-1, 2))
        return score_pairs(bound, chosen.positives), negative.reshape(chosen.negatives.shape[:-1])

    def sample(self, part: str, size: int, seed: int = 0) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Some positives and negatives of a part, drawn without repetition; see :meth:`Task.sample`."""
        chosen = self.part(part)
        rng = generator(seed, "sample", part)
        rows = rng.choice(len(chosen.positives), size=min(size, len(chosen.positives)), replace=False)
        positives = chosen.positives[rows].astype(np.int64)
        negatives = chosen.negatives[rows] if chosen.own_negatives else chosen.negatives
        count = max(1, size // len(rows)) if chosen.own_negatives else size
        columns = rng.choice(negatives.shape[-2], size=min(count, negatives.shape[-2]), replace=False)
        return positives, negatives[..., columns, :].astype(np.int64)

    @cached_property
    def hashes(self) -> dict[str, str]:
        """The SHA-256 of the training graph and of each part."""
        return {"graph": self.graph.hash, **{name: part.hash for name, part in self.parts.items()}}

    @cached_property
    def hash(self) -> str:
        """A SHA-256 of graph, positives and negatives."""
        text = " ".join(f"{name}={value}" for name, value in sorted(self.hashes.items()))
        joined = f"{self.kind} {text} valid_in_test={self.test_graph is not None}"
        return hashlib.sha256(joined.encode()).hexdigest()


def joined_graph(graph: Graph, valid: NDArray[Any], valid_in_test: bool) -> Graph | None:
    """The graph the test part is scored with, where validation edges join it; else None."""
    return graph.with_edges(valid) if valid_in_test and len(valid) else None
