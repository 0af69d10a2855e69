"""Scorers of pairs, and everything that can be turned into one."""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError, whole_number, with_article
from trueedge.graph import Graph, as_pairs
from trueedge.metrics.scores import as_array, as_scores, refuse_rounded
from trueedge.scorers.score_files import FileScores, read_scores, split_flat

__all__ = [
    "FileScores",
    "Scorer",
    "as_scorer",
    "ask",
    "has_with_graph",
    "read_scores",
    "score_pairs",
    "scorer_name",
    "split_flat",
    "with_graph",
]

ROWS_IN_A_BATCH = 1 << 20
# Two blocks of rows are gathered for each block of pairs: this limits them to about 64 MB each.
NUMBERS_IN_A_BLOCK = 1 << 23


@runtime_checkable
class Scorer(Protocol):
    """Scores node pairs: the higher, the likelier an edge."""

    def score(self, pairs: NDArray[np.int64]) -> NDArray[np.floating[Any]]:
        """Return a finite score for each of int64 pairs (n, 2), float (n,)."""
        ...


def with_graph(scorer: Scorer, graph: Graph) -> Scorer:
    """Return the scorer on another graph of the same nodes, if it has ``with_graph(graph)``.

    In some benchmarks validation edges join the graph at test time. ``on(graph)`` is the older name.
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


def has_with_graph(scorer: object) -> bool:
    """Return whether a scorer has ``with_graph(graph)``, or its older name."""
    return any(callable(getattr(scorer, name, None)) for name in ("with_graph", "on"))


def as_scorer(thing: object, num_nodes: int, labels: Sequence[str] | None = None) -> Scorer:
    """Turn anything that can score pairs into a scorer.

    Args:
        thing: an object with ``score(pairs)``, a callable from pairs to scores, an (n, d) embedding matrix
            (numpy or torch; the score is the dot product), a torch module that takes a LongTensor (n, 2), or
            the path of a file of scores.
        num_nodes: the number of nodes; an embedding matrix must have as many rows.
        labels: the names of the nodes, if any, which a file of scores may use.
    """
    if isinstance(thing, type):
        raise InputError(f"{thing.__name__} is a class: create an object, and give that as the scorer")
    if isinstance(thing, (str, Path)):
        return read_scores(thing, labels)
    if is_module(thing) and not _has_score_method(thing):
        return as_module_scorer(thing)
    if is_table(thing):
        return EmbeddingScorer(_check_embeddings(thing, num_nodes))
    if isinstance(thing, Scorer) and callable(thing.score):
        check_takes(thing.score, f"{scorer_name(thing)}.score")
        return thing
    if callable(thing):
        check_takes(thing, scorer_name(thing))
        return CallableScorer(thing)
    raise InputError(
        "a scorer must be an object with score(pairs), a callable, an (n, d) embedding matrix, a torch "
        f"module or the path of a file of scores, got {with_article(type(thing).__name__)}"
    )


def score_pairs(
    scorer: Scorer, pairs: NDArray[np.integer[Any]], batch: int = ROWS_IN_A_BATCH
) -> NDArray[np.float64]:
    """Return the scores of pairs (n, 2), float64 (n,), asked in batches and checked as in :func:`ask`."""
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise InputError(f"pairs must be an array of shape (n, 2), got shape {pairs.shape}")
    return ask(scorer, pairs, batch).astype(np.float64, copy=False)


def ask(
    scorer: Scorer,
    rows: NDArray[np.integer[Any]],
    batch: int = ROWS_IN_A_BATCH,
    order: NDArray[np.int64] | None = None,
) -> NDArray[Any]:
    """Ask a scorer in batches and check that it answers with a row of finite real numbers for each question.

    Args:
        scorer: the scorer.
        rows: int array (n, …): pairs, queries or nodes.
        batch: the number of rows per call.
        order: int array (n,), the order in which rows are asked; the answers are in the order of the rows.
    """
    batch = whole_number("batch", "ask", batch, 1)
    answers: NDArray[Any] = np.empty(len(rows), dtype=np.float32)
    for start in range(0, len(rows), batch):
        stop = min(start + batch, len(rows))
        part = slice(start, stop) if order is None else order[start:stop]
        # A copy, so that a scorer that writes into its input does not change the questions.
        asked = np.array(rows[part], dtype=np.int64)
        answer = check_answer(scorer.score(asked), len(asked), scorer)
        if start == 0:
            answers = np.empty((len(rows), *answer.shape[1:]), dtype=answer.dtype)
        elif answer.shape[1:] != answers.shape[1:]:
            raise InputError(
                f"{scorer_name(scorer)} must answer every row alike, its answers have the shapes"
                f" {answers[:batch].shape} and {answer.shape}"
            )
        elif answer.dtype != answers.dtype:
            answers = answers.astype(np.result_type(answers, answer), copy=False)
        answers[part] = answer
    return answers


def check_answer(answer: object, count: int, scorer: object) -> NDArray[Any]:
    """Return an answer, or raise an InputError unless it is ``count`` rows of finite real numbers."""
    name = scorer_name(scorer)
    # Converted once: an object may give numpy another array when it is asked again.
    array = as_array(answer, f"the scores of {name}")
    dimensions = dimensions_of(scorer)
    if dimensions == (1,) and array.shape == (count, 1):
        array = array[:, 0]  # the usual output of a torch model whose last layer has one unit
    shape = array.shape
    if len(shape) not in dimensions or shape[0] != count:
        wanted = " or ".join({1: f"({count},)", 2: f"({count}, d)"}[size] for size in dimensions)
        rows = "pairs" if dimensions == (1,) else "rows"
        raise InputError(f"{name} must answer {count} {rows} with shape {wanted}, it answered with {shape}")
    scores = as_scores(array, f"scores of {name}")
    refuse_rounded(answer, scores, f"scores of {name}")
    return scores


def dimensions_of(scorer: object) -> tuple[int, ...]:
    """Return the allowed numbers of dimensions of an answer; pairs get one number each."""
    return scorer.dimensions if isinstance(scorer, CallableScorer) else (1,)


def scorer_name(scorer: object) -> str:
    """Return the name of a scorer for messages: its own, its function's, or its class's."""
    inner = scorer.call if isinstance(scorer, CallableScorer) and not scorer.name else scorer
    inner = inner.module if isinstance(inner, ModuleScorer) else inner
    for attribute in ("name", "__name__"):
        name = getattr(inner, attribute, None)
        if isinstance(name, str) and name:
            return "the lambda" if name == "<lambda>" else name
    return type(inner).__name__


@dataclass(frozen=True, eq=False)
class CallableScorer:
    """A function that answers rows of questions: pairs, queries or nodes.

    Attributes:
        call: the function.
        name: the name in messages; by default the function's own.
        dimensions: the allowed numbers of dimensions of an answer: 1 for a number, 2 for a row each.
    """

    call: Callable[[NDArray[np.int64]], Any]
    name: str = ""
    dimensions: tuple[int, ...] = (1,)

    def score(self, rows: NDArray[np.int64]) -> Any:
        """Return what the function answers."""
        return self.call(rows)


@dataclass(frozen=True, eq=False)
class EmbeddingScorer:
    """Scores pairs by the dot product of the embeddings (n, d) of both nodes."""

    embeddings: NDArray[np.floating[Any]]

    def score(self, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the dot product of each pair, summed in float64, float64 (n,)."""
        pairs = as_pairs(pairs, len(self.embeddings))
        scores = np.empty(len(pairs), dtype=np.float64)
        step = max(1, NUMBERS_IN_A_BLOCK // max(1, self.embeddings.shape[1]))
        for start in range(0, len(pairs), step):
            part = pairs[start : start + step]
            left, right = self.embeddings[part[:, 0]], self.embeddings[part[:, 1]]
            scores[start : start + step] = np.einsum("ij,ij->i", left, right, dtype=np.float64)
        return scores

    def score_candidates(self, queries: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the dot product of each node with all nodes, as :meth:`score` sums it, float64 (n, nodes).

        BLAS sums in an order that depends on the place in the matrix, so equal vectors would not tie.
        """
        from trueedge.kernels.arrays.threads import even_blocks, run_blocks

        wide = self._wide
        scores = np.empty((len(queries), len(wide)), dtype=np.float64)

        def multiply(first: int, last: int, _: None) -> None:
            np.einsum("ij,kj->ik", wide[queries[first:last]], wide, out=scores[first:last])

        run_blocks(multiply, len(queries), even_blocks(len(queries), 1), lambda: None)
        return scores

    @cached_property
    def _wide(self) -> NDArray[np.float64]:
        return np.ascontiguousarray(self.embeddings, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class ModuleScorer:
    """A torch module from a LongTensor (n, 2) to n scores, called in evaluation mode and without gradients.

    With ``flat`` its answer is flattened to one score for each pair.
    """

    module: Any
    flat: bool = True

    def score(self, pairs: NDArray[np.int64]) -> NDArray[Any]:
        """Return what the module answers; every submodule is left in the mode it was in."""
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
            kind = with_article(type(answer).__name__)
            raise InputError(f"{scorer_name(self)} must answer with a tensor, it answered with {kind}")
        return as_array(answer.flatten() if self.flat else answer, f"the scores of {scorer_name(self)}")


def as_module_scorer(module: Any, argument: str = "pairs", flat: bool = True) -> ModuleScorer:
    """Turn a torch module that takes one argument into a scorer."""
    if getattr(type(module), "forward", None) is sys.modules["torch"].nn.Module.forward:
        raise InputError(f"{scorer_name(module)} has no forward method: it cannot score {argument}")
    check_takes(module.forward, f"{scorer_name(module)}.forward", argument)
    return ModuleScorer(module, flat)


def _check_embeddings(values: object, num_nodes: int) -> NDArray[np.floating[Any]]:
    matrix = as_scores(values, "embeddings")
    if matrix.ndim != 2:
        raise InputError(f"an embedding matrix must have shape ({num_nodes}, d), got shape {matrix.shape}")
    if len(matrix) != num_nodes:
        raise InputError(f"the graph has {num_nodes} nodes, but the embedding matrix has {len(matrix)} rows")
    return matrix if matrix.dtype in (np.float32, np.float64) else matrix.astype(np.float64)


def check_takes(call: Callable[..., Any], name: str, argument: str = "pairs") -> None:
    """Raise an InputError, before a long run, for a callable that needs more than one argument."""
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
            f" one argument, the {argument}, so wrap it in a function that does"
        ) from None


def is_module(thing: object) -> bool:
    """Return whether it is a torch module, without importing torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(thing, torch.nn.Module)


def is_table(thing: object) -> bool:
    """Return whether it is a numpy array or a torch tensor."""
    torch = sys.modules.get("torch")
    return isinstance(thing, np.ndarray) or (torch is not None and isinstance(thing, torch.Tensor))


def _has_score_method(module: object) -> bool:
    """Return whether ``score`` is a method, and not a layer of that name."""
    return inspect.ismethod(getattr(module, "score", None))
