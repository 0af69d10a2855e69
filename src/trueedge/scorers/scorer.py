"""What gives pairs their scores, and everything that can be turned into one."""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError, whole_number
from trueedge.graph import Graph, as_pairs
from trueedge.metrics.scores import as_array, as_scores
from trueedge.scorers.score_files import FileScores, read_scores, split_flat

__all__ = [
    "FileScores",
    "Scorer",
    "as_scorer",
    "read_scores",
    "score_pairs",
    "scorer_name",
    "split_flat",
    "with_graph",
]

PAIRS_IN_A_BATCH = 1 << 20
# Two blocks of rows are gathered for each block of pairs: this keeps them at some 64 MB each.
NUMBERS_IN_A_BLOCK = 1 << 23


@runtime_checkable
class Scorer(Protocol):
    """Scores node pairs: the higher, the likelier an edge."""

    def score(self, pairs: NDArray[np.int64]) -> NDArray[np.floating[Any]]:
        """A finite score for each pair.

        Args:
            pairs: int64 array (n, 2).

        Returns:
            float array (n,), in the order of the pairs.
        """
        ...


def with_graph(scorer: Scorer, graph: Graph) -> Scorer:
    """Return the same scorer on another graph of the same nodes, where it has ``with_graph(graph)``.

    Validation edges join the graph at test in some benchmarks. ``on(graph)`` is the older name.
    """
    for name in ("with_graph", "on"):
        rebind = getattr(scorer, name, None)
        if callable(rebind):
            if name == "on":
                warnings.warn(
                    "a scorer's on(graph) is now with_graph(graph)", DeprecationWarning, stacklevel=2
                )
            return cast(Scorer, rebind(graph))
    return scorer


def as_scorer(thing: object, num_nodes: int, labels: Sequence[str] | None = None) -> Scorer:
    """Turn anything that can score pairs into a scorer.

    Args:
        thing: an object with ``score(pairs)``, a callable from pairs to scores, an (n, d) embedding matrix
            (numpy or torch; the score is the dot product), a torch module that takes a LongTensor (n, 2), or
            the path of a file of scores.
        num_nodes: the number of nodes; an embedding matrix must have as many rows.
        labels: the nodes' own names, where they have some: a file of scores may use them.
    """
    if isinstance(thing, type):
        raise InputError(f"{thing.__name__} is a class: make one, and give that as the scorer")
    if isinstance(thing, (str, Path)):
        return read_scores(thing, labels)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(thing, torch.nn.Module) and not _has_score_method(thing):
        if getattr(type(thing), "forward", None) is torch.nn.Module.forward:
            raise InputError(f"{scorer_name(thing)} has no forward method: it cannot score pairs")
        check_takes(thing.forward, f"{scorer_name(thing)}.forward")
        return ModuleScorer(thing)
    if isinstance(thing, np.ndarray) or (torch is not None and isinstance(thing, torch.Tensor)):
        return EmbeddingScorer(_check_embeddings(thing, num_nodes))
    if isinstance(thing, Scorer) and callable(thing.score):
        check_takes(thing.score, f"{scorer_name(thing)}.score")
        return thing
    if callable(thing):
        check_takes(thing, scorer_name(thing))
        return CallableScorer(thing)
    raise InputError(
        "a scorer must be an object with score(pairs), a callable, an (n, d) embedding matrix, a torch "
        f"module or the path of a file of scores, got {_article(type(thing).__name__)}"
    )


def score_pairs(
    scorer: Scorer, pairs: NDArray[np.integer[Any]], batch: int = PAIRS_IN_A_BATCH
) -> NDArray[np.float64]:
    """Score pairs in batches and check each answer: its length, its shape, and that all scores are finite.

    Args:
        scorer: what scores.
        pairs: int array (n, 2).
        batch: how many pairs the scorer gets at a time.

    Returns:
        float64 array (n,), in the order of the pairs.
    """
    batch = whole_number("batch", "score_pairs", batch, 1)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise InputError(f"pairs must be an array of shape (n, 2), got shape {pairs.shape}")
    scores = np.empty(len(pairs), dtype=np.float64)
    for start in range(0, len(pairs), batch):
        part = slice(start, start + batch)
        # A copy of its own: a scorer that writes into its input changes nobody's pairs.
        asked = np.array(as_pairs(pairs[part]))
        scores[part] = check_answer(scorer.score(asked), len(asked), scorer_name(scorer))
    return scores


def check_answer(answer: object, count: int, name: str) -> NDArray[Any]:
    """Refuse an answer that is not one finite real number for each pair.

    Args:
        answer: what a scorer returned.
        count: the number of pairs it was asked.
        name: what to call the scorer.
    """
    shape = as_array(answer, f"the scores of {name}").shape
    if shape != (count,):
        raise InputError(f"{name} must answer {count} pairs with shape ({count},), it answered shape {shape}")
    return as_scores(answer, f"scores of {name}")


def scorer_name(scorer: object) -> str:
    """What to call a scorer in a message: its own name, its function's, or its class's."""
    inner = scorer.call if isinstance(scorer, CallableScorer) else scorer
    inner = inner.module if isinstance(inner, ModuleScorer) else inner
    for attribute in ("name", "__name__"):
        name = getattr(inner, attribute, None)
        if isinstance(name, str) and name:
            return "the lambda" if name == "<lambda>" else name
    return type(inner).__name__


@dataclass(frozen=True, eq=False)
class CallableScorer:
    """A function from pairs to scores."""

    call: Callable[[NDArray[np.int64]], Any]

    def score(self, pairs: NDArray[np.int64]) -> Any:
        """Whatever the function answers."""
        return self.call(pairs)


@dataclass(frozen=True, eq=False)
class EmbeddingScorer:
    """The dot product of two nodes' vectors.

    Attributes:
        embeddings: float array (n, d).
    """

    embeddings: NDArray[np.floating[Any]]

    def score(self, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """The dot product of each pair, summed in float64, float64 (n,)."""
        pairs = as_pairs(pairs, len(self.embeddings))
        scores = np.empty(len(pairs), dtype=np.float64)
        step = max(1, NUMBERS_IN_A_BLOCK // max(1, self.embeddings.shape[1]))
        for start in range(0, len(pairs), step):
            part = pairs[start : start + step]
            left, right = self.embeddings[part[:, 0]], self.embeddings[part[:, 1]]
            scores[start : start + step] = np.einsum("ij,ij->i", left, right, dtype=np.float64)
        return scores


@dataclass(frozen=True, eq=False)
class ModuleScorer:
    """A torch module from a LongTensor (n, 2) to n scores, asked in evaluation mode and without gradients."""

    module: Any

    def score(self, pairs: NDArray[np.int64]) -> NDArray[Any]:
        """What the module answers, flattened; every submodule is left in the mode it was in."""
        import torch

        modes = [(part, part.training) for part in self.module.modules()]
        weight = next(self.module.parameters(), next(self.module.buffers(), None))
        try:
            self.module.eval()
            with torch.no_grad():
                asked = torch.from_numpy(pairs)
                answer = self.module(asked if weight is None else asked.to(weight.device))
        finally:
            for part, training in modes:
                part.training = training
        if not isinstance(answer, torch.Tensor):
            kind = _article(type(answer).__name__)
            raise InputError(f"{scorer_name(self)} must answer with a tensor, it answered with {kind}")
        return as_array(answer.flatten(), f"the scores of {scorer_name(self)}")


def _check_embeddings(values: object, num_nodes: int) -> NDArray[np.floating[Any]]:
    matrix = as_scores(values, "embeddings")
    if matrix.ndim != 2:
        raise InputError(f"an embedding matrix must have shape ({num_nodes}, d), got shape {matrix.shape}")
    if len(matrix) != num_nodes:
        raise InputError(f"the graph has {num_nodes} nodes, but the embedding matrix has {len(matrix)} rows")
    return matrix if matrix.dtype in (np.float32, np.float64) else matrix.astype(np.float64)


def check_takes(call: Callable[..., Any], name: str, argument: str = "pairs") -> None:
    """Refuse what needs more than one argument, before a long run: a method that was not fitted, for one."""
    try:
        signature = inspect.signature(call)
    except (TypeError, ValueError):  # built-in functions do not tell
        return
    try:
        signature.bind(np.empty((0, 2), dtype=np.int64))
    except TypeError:
        bare = [
            part.replace(annotation=part.empty, default=part.empty) for part in signature.parameters.values()
        ]
        raise InputError(
            f"{name}({', '.join(map(str, bare))}) cannot be called with the {argument} alone: a scorer takes"
            f" one argument, the {argument}, so wrap it in a function"
            " that does"
        ) from None


def _has_score_method(module: object) -> bool:
    """A layer that happens to be called score is not a method."""
    return inspect.ismethod(getattr(module, "score", None))


def _article(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"
