"""Scores of triples from tables of embeddings and the name of a scoring function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError, unknown
from trueedge.metrics.scores import as_scores

Table = NDArray[np.floating[Any]]
# Differences of a block of queries, for scoring functions that are no dot product.
NUMBERS_IN_A_BLOCK = 1 << 24


class TripleEmbeddings:
    """Scores triples by the embeddings of entities (n, d) and relations and a scoring function.

    Args:
        function: ``distmult``, ``complex``, ``transe``, ``transe-l2`` or ``rotate``. ComplEx and RotatE have
            the real parts of all dimensions first, then the imaginary parts; a relation of RotatE has a phase
            for each of the d / 2 dimensions.
        entities: float array or torch tensor (n, d).
        relations: float array or torch tensor, a row for each relation; with 2R rows those of inverse
            relations follow, and heads are scored by these.
    """

    def __init__(self, function: str, entities: object, relations: object) -> None:
        if not isinstance(function, str) or function not in QUERIES:
            raise unknown("scoring function", function, QUERIES)
        self.function = self.name = function
        self.entities = _table(entities, "entities")
        self.relations = _table(relations, "relations")
        half = function in ("complex", "rotate")
        if half and self.entities.shape[1] % 2:
            raise InputError(
                f"{function} needs an even dimension, the entities have {self.entities.shape[1]}"
            )
        wanted = self.entities.shape[1] // (2 if function == "rotate" else 1)
        if self.relations.shape[1] != wanted:
            raise InputError(
                f"{function}: relations must have dimension {wanted} for entities of dimension"
                f" {self.entities.shape[1]}, they have {self.relations.shape[1]}"
            )

    def score_tails(self, heads: NDArray[np.int64], relations: NDArray[np.int64]) -> Table:
        """Return the score of every entity as the tail, (b, n)."""
        return self._score(heads, relations, inverse=False)

    def score_heads(self, tails: NDArray[np.int64], relations: NDArray[np.int64]) -> Table:
        """Return the score of every entity as the head, (b, n)."""
        return self._score(tails, relations, inverse=True)

    def for_counts(self, num_entities: int, num_relations: int) -> TripleEmbeddings | _Inverse:
        """Return what scores queries: tables of 2R relations score heads by their inverse relations."""
        if len(self.entities) != num_entities:
            raise InputError(
                f"there are {num_entities} entities, but embeddings of {len(self.entities)}: give one each"
            )
        if len(self.relations) == num_relations:
            return self
        if len(self.relations) == 2 * num_relations:
            return _Inverse(self)
        raise InputError(
            f"there are {num_relations} relations, but embeddings of {len(self.relations)}: give one each,"
            " or two, with those of inverse relations last"
        )

    def _score(self, given: NDArray[np.int64], relations: NDArray[np.int64], inverse: bool) -> Table:
        made = QUERIES[self.function](self.entities[given], self.relations[relations], inverse)
        if self.function in ("distmult", "complex"):
            return np.asarray(made @ self.entities.T)
        return _distances(made, self.entities, self.function)


class _Inverse:
    """Embeddings that have inverse relations: heads are tails of these."""

    def __init__(self, embeddings: TripleEmbeddings) -> None:
        self.embeddings, self.name = embeddings, embeddings.name

    def score_tails(self, heads: NDArray[np.int64], relations: NDArray[np.int64]) -> Table:
        """Return the score of every entity as the tail, (b, n)."""
        return self.embeddings.score_tails(heads, relations)


def _distmult(given: Table, relation: Table, inverse: bool) -> Table:
    del inverse
    return np.asarray(given * relation)


def _complex(given: Table, relation: Table, inverse: bool) -> Table:
    """Return a query whose dot product with an entity is Re(<h, r, conj(t)>)."""
    real, imaginary = np.split(given, 2, axis=1)
    r_real, r_imaginary = np.split(relation, 2, axis=1)
    sign = -1.0 if inverse else 1.0
    first = real * r_real - sign * imaginary * r_imaginary
    return np.concatenate([first, imaginary * r_real + sign * real * r_imaginary], axis=1).astype(given.dtype)


def _transe(given: Table, relation: Table, inverse: bool) -> Table:
    return np.asarray(given - relation if inverse else given + relation)


def _rotate(given: Table, phase: Table, inverse: bool) -> Table:
    real, imaginary = np.split(given, 2, axis=1)
    cosine, sine = np.cos(phase), np.sin(phase) * (-1.0 if inverse else 1.0)
    turned = [real * cosine - imaginary * sine, real * sine + imaginary * cosine]
    return np.concatenate(turned, axis=1).astype(given.dtype)


QUERIES: dict[str, Callable[[Table, Table, bool], Table]] = {
    "distmult": _distmult,
    "complex": _complex,
    "transe": _transe,
    "transe-l2": _transe,
    "rotate": _rotate,
}


def _distances(queries: Table, entities: Table, function: str) -> Table:
    """Return the negative distance of each query to each entity, in blocks."""
    scores = np.empty((len(queries), len(entities)), dtype=np.result_type(queries, entities))
    step = max(1, NUMBERS_IN_A_BLOCK // entities.size)
    for start in range(0, len(queries), step):
        gap = queries[start : start + step, None, :] - entities[None, :, :]
        if function == "transe":
            length = np.abs(gap).sum(axis=2)
        elif function == "transe-l2":
            length = np.sqrt((gap**2).sum(axis=2))
        else:
            half = gap.shape[2] // 2
            length = np.sqrt(gap[..., :half] ** 2 + gap[..., half:] ** 2).sum(axis=2)
        scores[start : start + step] = -length
    return scores


def _table(values: object, what: str) -> Table:
    table = as_scores(values, f"embeddings of {what}")
    if table.ndim != 2 or not table.size:
        raise InputError(f"embeddings of {what} must have the shape (n, d), got {table.shape}")
    return np.ascontiguousarray(table, dtype=np.float32 if table.dtype == np.float32 else np.float64)
