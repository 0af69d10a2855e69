"""Link prediction: positives against negatives."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError, must_be
from trueedge.graph import Graph, as_pairs, pair_keys
from trueedge.graph.bipartite import names_by_side
from trueedge.graph.freezing import FrozenFields
from trueedge.metrics import PairScores, Scores
from trueedge.randomness import generator
from trueedge.scorers.asking import ask_mixed, neutral_direction
from trueedge.scorers.asking_once import DistinctPairs, repeats_scores
from trueedge.scorers.capabilities import Need
from trueedge.scorers.score_files import FileScores, read_scores, split_flat
from trueedge.scorers.scorer import Scorer
from trueedge.scorers.spread import remarks
from trueedge.splits import Split
from trueedge.tasks.base import PARTS, GraphTask, array_hash, withhold
from trueedge.tasks.file_scores import match_file, title_of


@dataclass(frozen=True, eq=False)
class Part(FrozenFields):
    """The pairs that a part of a task is evaluated on.

    Attributes:
        positives: int32 array (P, 2).
        negatives: int32 array (M, 2) shared by all positives, or (P, K, 2) for each positive.
        times: the time of each positive, (P,), or None if they are not known. They are no part of the hash.
    """

    positives: NDArray[np.int32]
    negatives: NDArray[np.int32]
    times: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        for name in ("positives", "negatives"):
            if not isinstance(getattr(self, name), np.ndarray):
                raise must_be(name, "Part", "an int32 array", getattr(self, name))
            if getattr(self, name).dtype.kind not in "iu":
                raise must_be(name, "Part", "an int32 array", f"values of type {getattr(self, name).dtype}")
        if self.positives.ndim != 2 or self.positives.shape[1] != 2:
            raise InputError(f"positives must have shape (P, 2), got {self.positives.shape}")
        shape = self.negatives.shape
        if shape[-1] != 2 or len(shape) not in (2, 3):
            raise InputError(f"negatives must have shape (M, 2) or (P, K, 2), got {shape}")
        if len(shape) == 3 and shape[0] != len(self.positives):
            raise InputError(f"there are {len(self.positives)} positives, but negatives for {shape[0]}")
        if self.times is not None and np.shape(self.times) != (len(self.positives),):
            raise InputError(
                f"there are {len(self.positives)} positives, but times of shape {np.shape(self.times)}"
            )
        super().__post_init__()

    @property
    def per_positive(self) -> bool:
        """Return whether each positive has its own negatives."""
        return self.negatives.ndim == 3

    def pairs(self) -> NDArray[np.int64]:
        """Return the positives, then the negatives row by row, int64 (n, 2), with the smaller node first."""
        return neutral_direction(np.concatenate([self.positives, self.negatives.reshape(-1, 2)]))

    def __repr__(self) -> str:
        return f"Part({self.size})"

    @property
    def size(self) -> str:
        """Return how many positives and negatives there are, in words."""
        size = " × ".join(f"{number:,}" for number in self.negatives.shape[:-1])
        return f"{len(self.positives):,} positives, {size} negatives"

    @cached_property
    def distinct(self) -> DistinctPairs | None:
        """Return its pairs, each once; None if they hardly repeat."""
        return DistinctPairs.of(self.positives, self.negatives)

    @cached_property
    def hash(self) -> str:
        """Return a SHA-256 of positives and negatives."""
        digest = hashlib.sha256()
        for array in (self.positives, self.negatives):
            digest.update(f"{array.shape}".encode())
            digest.update(np.ascontiguousarray(array, dtype="<i4").tobytes())
        return digest.hexdigest()


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class LinkTask(GraphTask):
    """Positives against negatives: shared ones, or each positive against its own.

    Attributes:
        parts: the pairs of ``valid`` (in some tasks) and ``test``.
    """

    kind: ClassVar[str] = "link"
    title: ClassVar[str] = "Link prediction"
    unit: ClassVar[str] = "positive"
    needs: ClassVar[Need] = "pairs"

    parts: Mapping[str, Part]

    def size_of(self, part: str) -> str:
        """Return how many positives and negatives a part has, in words."""
        self.check_part(part)
        return self.parts[part].size

    @classmethod
    def from_split(
        cls, split: Split, protocol: str = "heart", seed: int = 0, name: str | None = None, **options: Any
    ) -> LinkTask:
        """Make a task from your own split: the protocol adds the negatives and the metrics.

        Args:
            split: training graph and positives (see :mod:`trueedge.splits`).
            protocol: ``existing``, ``heart``, ``uniform``, ``degree-corrected`` or ``triplet``.
            seed: the seed of the negatives.
            name: the name of the data set; by default that of the graph.
            options: the protocol's options.
        """
        from trueedge.tasks.protocols import from_split

        task = from_split(split, protocol, seed, name, options)
        if not isinstance(task, cls):
            raise InputError(f"the protocol {protocol} does not make a LinkTask from a split")
        return task

    @property
    def part_names(self) -> tuple[str, ...]:
        """Return the names of the parts."""
        return tuple(self.parts)

    def part(self, name: str = "test") -> Part:
        """Return the positives and negatives of a part."""
        self.check_part(name)
        return self.parts[name]

    @property
    def valid(self) -> Part:
        """Return the validation part, for model selection and early stopping."""
        return self.part("valid")

    @property
    def test(self) -> Part:
        """Return the test part, which is evaluated once and never used for selection."""
        return self.part("test")

    def pairs(self, part: str = "test") -> NDArray[np.int64]:
        """Return the positives of a part, then its negatives row by row, int64 (n, 2).

        Each pair has its smaller node first: the direction in which a benchmark lists it may tell its class.
        """
        return self.part(part).pairs()

    questions = pairs

    def unit_nodes(self, part: str = "test") -> NDArray[np.int32]:
        """Return the nodes of each positive of a part, int32 (P, 2)."""
        return self.part(part).positives

    def distinct_pairs(self, part: str = "test") -> NDArray[np.int64]:
        """Return each pair of a part once, int64 (n, 2): the smaller node first, sorted.

        Neither the order nor the direction of a pair tells whether it is a positive.
        """
        keys = np.unique(pair_keys(self.pairs(part), self.num_nodes))
        return np.column_stack([keys // self.num_nodes, keys % self.num_nodes])

    def pairs_title(self, part: str = "test") -> str:
        """Return the line by which a file says that its scores are in the order of :meth:`distinct_pairs`."""
        self.check_part(part)
        return str(title_of(self, part))

    def scores_of(self, part: str, answers: NDArray[Any]) -> PairScores:
        """Divide the scores of :meth:`pairs` into those of positives and of negatives."""
        chosen = self.part(part)
        return PairScores.check(*split_flat(answers, len(chosen.positives), chosen.negatives.shape[:-1]))

    def scores(self, scorer: object, part: str = "test") -> PairScores:
        """Return the scores of a part: positives (P,), and negatives (M,) or (P, K)."""
        chosen = self.part(part)
        for noun, pairs in (("positives", chosen.positives), ("negatives", chosen.negatives)):
            if not pairs.size:
                raise InputError(f"the {part} part of {self.dataset} has no {noun}")
        if isinstance(scorer, (str, Path)):
            scorer = read_scores(scorer, self.graph.labels, names_by_side(self.graph))
        if isinstance(scorer, FileScores) and scorer.in_order is not None and scorer.positives is not None:
            if scorer.positives != len(chosen.positives):
                raise InputError(
                    f"{scorer.name} holds scores of {scorer.positives} positives, but the {part} part of "
                    f"{self.dataset} has {len(chosen.positives)}"
                )
            return self.scores_of(part, scorer.in_order)
        bound = self.bind(scorer, part)
        if repeats_scores(bound) and chosen.distinct is not None:
            return chosen.distinct.scores(bound, self.seed)
        return PairScores(*ask_mixed(bound, chosen.positives, chosen.negatives, self.seed))

    def bind(self, scorer: object, part: str) -> Scorer:
        """Turn anything that can score pairs into a scorer on the graph of a part."""
        if isinstance(scorer, (str, Path)):
            scorer = read_scores(scorer, self.graph.labels, names_by_side(self.graph))
        if not isinstance(scorer, FileScores):
            return super().bind(scorer, part)
        return match_file(scorer, self, part, self.distinct_pairs, self.graph.labels)

    def for_fitting(self) -> Self:
        """Return the task without its test part, and without validation edges in a graph."""
        parts = {name: part for name, part in self.parts.items() if name != "test"}
        return withhold(replace(self, parts=parts, test_graph=None, withheld=("test",)), "parts")

    def remarks(self, scores: Scores) -> list[str]:
        """Return warnings about scores: ties, saturation, a constant."""
        return remarks(scores) if isinstance(scores, PairScores) else []

    def mismatch(self, scores: Scores, part: str) -> str:
        """Return why scores cannot belong to a part: another number of pairs."""
        chosen = self.part(part)
        ours = (len(chosen.positives), *chosen.negatives.shape[:-1])
        found = (len(scores.positive), *scores.negative.shape) if isinstance(scores, PairScores) else ()
        return "" if ours == found else f"the task has {_size(ours)} pairs, the scores are of {_size(found)}"

    def sample_pairs(
        self, part: str, size: int, seed: int = 0
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return some random positives, int64 (m, 2), and about as many negatives, (n, 2) or (m, q, 2)."""
        chosen = self.part(part)
        rng = generator(seed, "sample", part)
        rows = rng.choice(len(chosen.positives), size=min(size, len(chosen.positives)), replace=False)
        positives = chosen.positives[rows].astype(np.int64)
        negatives = chosen.negatives[rows] if chosen.per_positive else chosen.negatives
        count = max(1, size // len(rows)) if chosen.per_positive else size
        if chosen.per_positive:
            # Every list is sampled for itself: its negatives may be in the order of their difficulty.
            keys = rng.random(negatives.shape[:2])
            columns = np.argsort(keys, axis=1)[:, :count]
            return positives, np.take_along_axis(negatives, columns[:, :, None], axis=1).astype(np.int64)
        columns = rng.choice(len(negatives), size=min(count, len(negatives)), replace=False)
        return positives, negatives[columns].astype(np.int64)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the positives and negatives of each part, and the times of its positives if it has them."""
        found: dict[str, NDArray[Any]] = {}
        for name, part in self.parts.items():
            found |= {f"{name}_positives": part.positives, f"{name}_negatives": part.negatives}
            found |= {} if part.times is None else {f"{name}_times": part.times}
        return found

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], **fields: Any) -> Self:
        """Return the task of positives and negatives, or raise an InputError if they do not fit the graph."""
        graph: Graph = fields["graph"]
        parts = {
            name: Part(
                checked_pairs(arrays, f"{name}_positives", graph),
                checked_pairs(arrays, f"{name}_negatives", graph),
                arrays.get(f"{name}_times"),
            )
            for name in PARTS
            if f"{name}_positives" in arrays
        }
        if fields.pop("times", {}) != _times_hashes(parts):
            raise InputError("the times of its positives are not those it was saved with")
        valid = parts["valid"].positives if "valid" in parts else np.empty((0, 2), dtype=np.int32)
        test_graph = joined_graph(graph, valid, fields.pop("valid_in_test", False))
        return cls(parts=parts, test_graph=test_graph, **fields)

    def details(self) -> dict[str, Any]:
        """Return whether validation edges join the graph at test time, and the SHA-256 of times."""
        times = _times_hashes(self.parts)
        return {"valid_in_test": self.test_graph is not None} | ({"times": times} if times else {})

    @cached_property
    def hashes(self) -> dict[str, str]:
        """Return the SHA-256 of the training graph and of each part."""
        return {"graph": self.graph.hash, **{name: part.hash for name, part in self.parts.items()}}


def _times_hashes(parts: Mapping[str, Part]) -> dict[str, str]:
    return {name: array_hash(part.times) for name, part in parts.items() if part.times is not None}


def joined_graph(graph: Graph, valid: NDArray[Any], valid_in_test: bool) -> Graph | None:
    """Return the graph to score the test part with, if validation edges join it; else None."""
    return graph.with_edges(valid) if valid_in_test and len(valid) else None


def checked_pairs(arrays: Mapping[str, NDArray[Any]], name: str, graph: Graph) -> NDArray[np.int32]:
    """Return an array of pairs of a saved task, or raise an InputError if they do not fit the graph."""
    if name not in arrays:
        raise InputError(f"{name} is missing")
    array = arrays[name]
    if array.dtype != np.int32 or array.ndim not in (2, 3) or array.shape[-1] != 2:
        raise InputError(f"{name} must hold int32 pairs, got {array.dtype} of shape {array.shape}")
    pairs = array.reshape(-1, 2)
    if not len(pairs):
        raise InputError(f"{name} holds no pair")
    as_pairs(pairs, graph.num_nodes, name)
    if (pairs[:, 0] == pairs[:, 1]).any():
        raise InputError(f"{name} pairs a node with itself")
    return np.asarray(array, dtype=np.int32)


def _size(shape: tuple[int, ...]) -> str:
    return f"{shape[0]} + {' x '.join(map(str, shape[1:]))}" if shape else "another kind"
