"""Turn objects, callables, modules and arrays into what a task needs: ``score(rows)`` with answers (n, …).

A row is a pair of nodes, a query for which every candidate is scored, or a node.
"""

from __future__ import annotations

from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.metrics.scores import as_scores
from trueedge.scorers.scorer import (
    CallableScorer,
    as_module_scorer,
    check_takes,
    is_module,
    is_table,
    scorer_name,
)

Need = Literal["pairs", "links", "candidates", "nodes", "vectors"]


@runtime_checkable
class CandidateScorer(Protocol):
    """Scores every candidate of a query: the higher, the better."""

    def score_candidates(self, queries: NDArray[np.int64]) -> NDArray[np.floating[Any]]:
        """Return a finite score for each query and candidate.

        Args:
            queries: int64 array (n, …), a row for each query: a node, or a head and a relation.

        Returns:
            float array (n, candidates).
        """
        ...


@runtime_checkable
class NodePredictor(Protocol):
    """Predicts a class for each node, or a score for every class."""

    def predict(self, nodes: NDArray[np.int64]) -> NDArray[Any]:
        """Return the predictions for some nodes.

        Args:
            nodes: int64 array (n,).

        Returns:
            array (n,) of classes or numbers, or float array (n, classes) of scores.
        """
        ...


def as_candidate_scorer(thing: object, argument: str = "queries", others: str = "") -> CallableScorer:
    """Turn an object with ``score_candidates(queries)``, a callable or a torch module into a scorer.

    ``argument`` and ``others`` are words for errors: what is asked, and what else would do.
    """
    wanted = f"{others}an object with score_candidates({argument})"
    return _scorer(thing, "score_candidates", argument, wanted, (2,))


def as_predictor(thing: object, num_nodes: int | None = None) -> CallableScorer:
    """Turn an object with ``predict(nodes)``, a callable, a torch module or an array into a scorer of nodes.

    An array has a row for each of ``num_nodes`` nodes, if that is given.
    """
    if is_table(thing):
        table = as_scores(thing, "predictions")
        if table.ndim not in (1, 2) or num_nodes not in (None, len(table)):
            raise InputError(f"there are {num_nodes} nodes, but predictions of shape {table.shape}")
        return CallableScorer(lambda nodes: _rows(table, nodes), "the array of predictions", (1, 2))
    return _scorer(thing, "predict", "nodes", "an array, an object with predict(nodes)", (1, 2))


def as_vectors(thing: object, num_nodes: int) -> CallableScorer:
    """Turn an array (n, d), or an object with ``embeddings()`` or ``vectors``, into a scorer of nodes."""
    found, name = thing, "the array of vectors" if is_table(thing) else scorer_name(thing)
    if hasattr(thing, "embeddings"):
        given = thing.embeddings
        found = given() if callable(given) and not is_module(given) else given
    elif hasattr(thing, "vectors"):
        found = thing.vectors
    elif hasattr(thing, "score") or callable(thing):
        raise InputError(f"{name} scores pairs: it has no vectors of nodes")
    points = as_scores(found, "vectors")
    if points.ndim != 2 or len(points) != num_nodes:
        raise InputError(f"{name} has vectors of shape {points.shape} for {num_nodes} nodes")
    return CallableScorer(lambda nodes: points[nodes], name, (2,))


def _rows(table: NDArray[Any], nodes: NDArray[np.int64]) -> NDArray[Any]:
    if len(nodes) and nodes.max() >= len(table):
        raise InputError(f"there is no prediction for node {nodes.max()}: the array has shape {table.shape}")
    return np.asarray(table[nodes])


def _scorer(
    thing: object, method: str, argument: str, wanted: str, dimensions: tuple[int, ...]
) -> CallableScorer:
    if isinstance(thing, type):
        raise InputError(f"{thing.__name__} is a class: create an object, and give that as the scorer")
    call: Any = getattr(thing, method, None)
    name = scorer_name(thing)
    if callable(call) and not is_module(call):
        check_takes(call, f"{name}.{method}", argument)
        return CallableScorer(call, name, dimensions)
    if is_module(thing):
        return CallableScorer(as_module_scorer(thing, argument, flat=False).score, name, dimensions)
    if callable(thing) and not hasattr(thing, "score"):
        check_takes(thing, name, argument)
        return CallableScorer(thing, name, dimensions)
    raise InputError(f"this task needs {wanted} or a function of {argument}, got {name}")
