"""Turn objects, functions, torch modules and tables into scorers of queries (entity, relation)."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.files.arrays import NPY, map_array, regular_file
from trueedge.metrics.scores import as_array, refuse_rounded
from trueedge.scorers.scorer import CallableScorer, ModuleScorer, is_module, is_table, scorer_name

FORMS = (
    "score_tails(heads, relations), a function of heads and relations, a function of triples (n, 3),"
    " TripleEmbeddings or a table of scores"
)
TRIPLES_IN_A_CALL = 1 << 20


@dataclass(frozen=True, eq=False)
class QueryScorer(CallableScorer):
    """Scores every entity as the answer of queries (entity, relation), int64 (b, 2).

    Attributes:
        logits: whether the sigmoid of a score is a probability.
        num_entities: how many entities it must score for each query; None if that is not known.
        is_table: whether it is a table, which has no scores of other queries.
    """

    logits: bool = False
    num_entities: int | None = None
    is_table: bool = False


def as_query_scorer(
    thing: object,
    num_entities: int,
    num_relations: int,
    queries: NDArray[np.int64] | None = None,
    part: str = "",
) -> QueryScorer:
    """Turn anything that can score triples into a scorer of queries.

    A query (entity, r) with r < R asks for tails, and (entity, r + R) for heads of the relation r.

    Args:
        thing: an object with ``score_tails(heads, relations)`` and, optionally,
            ``score_heads(tails, relations)``, both with answers (b, entities); without the latter, heads are
            asked for by ``score_tails(tails, relations + R)``. Or a function of (heads, relations), one of
            triples (n, 3) with answers (n,), a torch module that takes one of these, a table of scores
            (queries, entities), or the path of such a ``.npy`` file.
        num_entities: the number of entities.
        num_relations: the number of relations R.
        queries: int64 (q, 2), the query of each row of a table.
        part: the part that these queries are of, for messages.
    """
    if isinstance(thing, type):
        raise InputError(f"{thing.__name__} is a class: create an object, and give that as the scorer")
    name, logits = scorer_name(thing), bool(getattr(thing, "gives_logits", False))
    if isinstance(thing, (str, Path)):
        return _table(map_table(Path(thing)), queries, str(thing), num_entities, num_relations, part)
    if is_table(thing):
        return _table(thing, queries, "the table of scores", num_entities, num_relations, part)
    for method in ("score_tails", "score_candidates", "score_triples"):
        call: Any = getattr(thing, method, None)
        if callable(call) and not is_module(call):
            if method == "score_candidates":
                return QueryScorer(call, name, (2,), logits)
            if method == "score_triples":
                return QueryScorer(_of_triples(call, num_entities, num_relations), name, (2,), logits)
            heads: Any = getattr(thing, "score_heads", None)
            if heads is not None and not callable(heads):
                raise InputError(f"{name}.score_heads must be a method, got {type(heads).__name__}")
            return QueryScorer(_of_sides(call, heads, num_relations, name), name, (2,), logits)
    if is_module(thing):
        module: Any = thing
        if getattr(type(module), "forward", None) is sys.modules["torch"].nn.Module.forward:
            raise InputError(f"{name} has no forward method: it cannot score triples")
        if _arguments(module.forward) == 2:
            asked = _module_of_two(module)
            return QueryScorer(_of_sides(asked, None, num_relations, name), name, (2,), logits)
        score = ModuleScorer(module).score
        return QueryScorer(_of_triples(score, num_entities, num_relations), name, (2,), logits)
    if callable(thing):
        count = _arguments(thing)
        if count == 1:
            return QueryScorer(_of_triples(thing, num_entities, num_relations), name, (2,), logits)
        if count == 2:
            return QueryScorer(_of_sides(thing, None, num_relations, name), name, (2,), logits)
        raise InputError(
            f"{name} takes {count} arguments: a scorer takes the triples, or heads and relations"
        )
    raise InputError(f"a scorer of triples is an object with {FORMS}; got {name}")


def _of_sides(
    tails: Callable[..., Any], heads: Callable[..., Any] | None, num_relations: int, name: str
) -> Callable[[NDArray[np.int64]], Any]:
    """Return a function of queries from ``score_tails`` and, if there is one, ``score_heads``."""

    def ask(queries: NDArray[np.int64]) -> Any:
        entities, relations = queries[:, 0].copy(), queries[:, 1].copy()
        inverse = relations >= num_relations
        if heads is None or not inverse.any():
            try:
                return tails(entities, relations)
            except IndexError as error:
                if not inverse.any():
                    raise
                raise InputError(
                    f"{name} has no inverse relations: it was asked for heads by score_tails(tails, relations"
                    f" + {num_relations}), and failed ({error}); give it score_heads(tails, relations)"
                ) from error
        if inverse.all():
            return heads(entities, relations - num_relations)
        found = [
            _array(tails(entities[~inverse], relations[~inverse]), name),
            _array(heads(entities[inverse], relations[inverse] - num_relations), name),
        ]
        for part, count in zip(found, (len(queries) - inverse.sum(), inverse.sum()), strict=True):
            if part.ndim != 2 or part.shape != (count, found[0].shape[1]):
                raise InputError(
                    f"{name} must score every entity for each of {count} queries, it answered with shape"
                    f" {part.shape}"
                )
        table = np.empty((len(queries), found[0].shape[1]), dtype=np.result_type(*found))
        table[~inverse], table[inverse] = found
        return table

    return ask


def _of_triples(
    score: Callable[[NDArray[np.int64]], Any], num_entities: int, num_relations: int
) -> Callable[[NDArray[np.int64]], Any]:
    """Return a function of queries from a function of triples, which is asked about every entity."""
    everyone = np.arange(num_entities, dtype=np.int64)
    step = max(1, TRIPLES_IN_A_CALL // num_entities)

    def ask(queries: NDArray[np.int64]) -> Any:
        rows = []
        for start in range(0, len(queries), step):
            part = queries[start : start + step]
            count = len(part)
            given, relations = (np.repeat(column, num_entities) for column in part.T)
            others = np.tile(everyone, count)
            inverse = relations >= num_relations
            heads, tails = np.where(inverse, others, given), np.where(inverse, given, others)
            triples = np.column_stack([heads, relations % num_relations, tails])
            answer = _array(score(triples), scorer_name(score))
            if answer.shape != (len(triples),):
                raise InputError(
                    f"{scorer_name(score)} must answer {len(triples)} triples with shape ({len(triples)},),"
                    f" it answered with {answer.shape}"
                )
            rows.append(answer.reshape(count, num_entities))
        return np.concatenate(rows)

    return ask


def _module_of_two(module: Any) -> Callable[[NDArray[np.int64], NDArray[np.int64]], Any]:
    """Return a torch module of heads and relations as a function of arrays, in evaluation mode."""

    def ask(heads: NDArray[np.int64], relations: NDArray[np.int64]) -> Any:
        import torch

        modes = [(part, part.training) for part in module.modules()]
        weight = next(module.parameters(), next(module.buffers(), None))
        try:
            module.eval()
            with torch.no_grad():
                given = [torch.from_numpy(one) for one in (heads, relations)]
                return module(*(given if weight is None else [one.to(weight.device) for one in given]))
        finally:
            for part, training in modes:
                part.training = training

    return ask


def map_table(path: Path) -> NDArray[Any]:
    """Map a table of scores (queries, entities) from a .npy file; say what is needed for any other file."""
    place = regular_file(path)
    if path.suffix != ".npy":
        with place.open("rb") as stream:
            if stream.read(len(NPY)) != NPY:
                raise InputError(
                    f"{path}: scores of triples are read from a .npy file alone, an array (queries, entities)"
                    " with a row for each of task.queries()"
                )
    return map_array(path, str(path))


def _table(
    thing: Any,
    queries: NDArray[np.int64] | None,
    name: str,
    num_entities: int,
    num_relations: int,
    part: str,
) -> QueryScorer:
    table = as_array(thing, name)
    if queries is None or table.shape != (len(queries), num_entities):
        wanted = (0 if queries is None else len(queries), num_entities)
        of_part = f" for the {part} part" if part else ""
        ranks = "; ranks alone do not say what was filtered or tied" if table.ndim == 1 else ""
        raise InputError(
            f"{name} must have the shape (queries, entities) = {wanted}{of_part}, got {table.shape}{ranks}"
        )
    keys = queries[:, 0] * (2 * num_relations) + queries[:, 1]
    known, first, place_of = np.unique(keys, return_index=True, return_inverse=True)
    # Equal queries have different answers: rows that differ would have been made with these in view.
    for row in np.flatnonzero(first[place_of.reshape(-1)] != np.arange(len(keys))):
        same = int(first[place_of.reshape(-1)[row]])
        if table.dtype.kind in "biuf" and not _agree(table[same], table[row]):
            raise InputError(f"{name}: rows {same} and {row} are the same query, and their scores differ")

    def ask(asked: NDArray[np.int64]) -> Any:
        wanted = asked[:, 0] * (2 * num_relations) + asked[:, 1]
        place = np.searchsorted(known, wanted).clip(max=len(known) - 1)
        if (known[place] != wanted).any():
            raise InputError(f"{name} holds no scores of some of the queries that were asked")
        return table[first[place]]

    return QueryScorer(ask, name, (2,), is_table=True)


def _agree(first: NDArray[Any], second: NDArray[Any]) -> bool:
    """Return whether two rows of scores are the same, up to the rounding of a model's batches."""
    if np.array_equal(first, second):
        return True
    size = np.abs(first.astype(np.float64))
    scale = float(size.max(where=np.isfinite(size), initial=0.0))
    return np.allclose(first, second, rtol=1e-4, atol=1e-4 * scale, equal_nan=True)


def _arguments(call: Any) -> int:
    """Return how many arguments a function must be given; 1 if it does not tell."""
    try:
        parameters = inspect.signature(call).parameters.values()
    except (TypeError, ValueError):
        return 1
    named = [one.name for one in parameters if one.kind is one.KEYWORD_ONLY and one.default is one.empty]
    if named:
        raise InputError(
            f"{scorer_name(call)} cannot be called without {named[0]}=…: wrap it in a function of heads and"
            " relations alone, or of triples"
        )
    positional = [one for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    needed = [one for one in positional if one.default is one.empty]
    if any(one.kind is one.VAR_POSITIONAL for one in parameters) and not needed:
        return 1
    return len(needed) if needed else min(len(positional), 1)


def _array(answer: object, name: str) -> NDArray[Any]:
    """Return a scorer's answer as an array that holds the same numbers."""
    array = as_array(answer, f"the scores of {name}")
    refuse_rounded(answer, array, f"scores of {name}")
    return array
