"""What scorers can do, and how a task gets what it needs from what it is given.

A bound scorer answers rows of questions with ``score(rows) -> (n, …)``. What a row is depends on what the
task needs: a pair of nodes, a query that every candidate is scored for, or a node.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError, whole_number
from trueedge.metrics.scores import as_array, as_scores
from trueedge.scorers.scorer import Scorer, check_takes, scorer_name

Need = Literal["pairs", "candidates", "nodes", "vectors"]
ROWS_IN_A_BATCH = 1 << 20
NUMBERS_IN_A_BATCH = 1 << 24


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
    """Predicts something of nodes: a class each, or a score for every class."""

    def predict(self, nodes: NDArray[np.int64]) -> NDArray[Any]:
        """Return the predictions for some nodes.

        Args:
            nodes: int64 array (n,).

        Returns:
            array (n,) of classes or numbers, or float array (n, classes) of scores.
        """
        ...


@dataclass(frozen=True, eq=False)
class Bound:
    """Something that answers rows of questions, with the name of what it came from."""

    name: str
    call: Callable[[NDArray[np.int64]], Any]

    def score(self, rows: NDArray[np.int64]) -> Any:
        """Answer some rows."""
        return self.call(rows)


def as_candidate_scorer(thing: object) -> Bound:
    """Turn an object with ``score_candidates(queries)``, or a callable, into what scores candidates."""
    return _bound(thing, "score_candidates", "queries", "an object with score_candidates(queries)")


def as_predictor(thing: object, num_nodes: int) -> Bound:
    """Turn an object with ``predict(nodes)``, a callable, or an array with a row for each node into one.

    Args:
        thing: what predicts.
        num_nodes: the number of nodes; an array must have as many rows.
    """
    torch = sys.modules.get("torch")
    if isinstance(thing, np.ndarray) or (torch is not None and isinstance(thing, torch.Tensor)):
        table = as_scores(thing, "predictions")
        if table.ndim not in (1, 2) or len(table) != num_nodes:
            raise InputError(f"there are {num_nodes} nodes, but predictions of shape {table.shape}")
        return Bound("the array of predictions", lambda nodes: table[nodes])
    return _bound(thing, "predict", "nodes", "an array, an object with predict(nodes)")


def as_vectors(thing: object, num_nodes: int) -> NDArray[np.floating[Any]]:
    """Return the vector of each node that a scorer knows, float (n, d); a scorer without any is refused.

    Args:
        thing: an array (n, d), or an object with ``embeddings()`` or ``vectors``.
        num_nodes: the number of nodes.
    """
    found = thing
    if hasattr(thing, "embeddings"):
        found = thing.embeddings()
    elif hasattr(thing, "vectors"):
        found = thing.vectors
    elif hasattr(thing, "score") or callable(thing):
        raise InputError(f"{scorer_name(thing)} scores pairs: it has no vectors of nodes")
    points = as_scores(found, "vectors")
    if points.ndim != 2 or len(points) != num_nodes:
        raise InputError(f"there are vectors of shape {points.shape} for {num_nodes} nodes")
    return points


def ask(scorer: Scorer, rows: NDArray[np.integer[Any]], batch: int = ROWS_IN_A_BATCH) -> NDArray[Any]:
    """Ask a bound scorer in batches and check each answer: finite real numbers, a row for each question.

    Args:
        scorer: what answers.
        rows: int array (n, …).
        batch: how many rows the scorer gets at a time.

    Returns:
        array (n, …), in the order of the rows, in the type the scorer answers with.
    """
    batch = whole_number("batch", "ask", batch, 1)
    answers: list[NDArray[Any]] = []
    for start in range(0, len(rows), batch):
        # A copy of its own: a scorer that writes into its input changes nobody's questions.
        asked = np.array(rows[start : start + batch], dtype=np.int64)
        answers.append(check_answer(scorer.score(asked), asked, scorer_name(scorer)))
        if len({answer.shape[1:] for answer in answers}) > 1:
            raise InputError(f"{scorer_name(scorer)} must answer every row with the same shape")
    return np.concatenate(answers)


def check_answer(answer: object, asked: NDArray[np.int64], name: str) -> NDArray[Any]:
    """Refuse an answer without a row of finite real numbers for each question."""
    shape = as_array(answer, f"the answer of {name}").shape
    if not 1 <= len(shape) <= 2 or shape[0] != len(asked):
        raise InputError(f"{name} must answer {len(asked)} rows with as many rows, it answered shape {shape}")
    # A copy: the scorer may use its buffer again.
    return np.array(as_scores(answer, f"scores of {name}"))


def _bound(thing: object, method: str, argument: str, wanted: str) -> Bound:
    if isinstance(thing, type):
        raise InputError(f"{thing.__name__} is a class: create an object, and give that as the scorer")
    call: Any = getattr(thing, method, None)
    name = scorer_name(thing)
    if callable(call):
        check_takes(call, f"{name}.{method}", argument)
        return Bound(name, call)
    if callable(thing) and not hasattr(thing, "score"):
        check_takes(thing, name, argument)
        return Bound(name, thing)
    raise InputError(f"this task needs {wanted} or a function of {argument}, got {name}")
