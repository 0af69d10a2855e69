"""Scorers with odd answers: each metric must be what brute force finds, or the scorer is refused."""

from __future__ import annotations

import io
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

import trueedge as te
from benchmarks.attack.odd_answers import SHAPES, TYPES, WRAPPERS
from benchmarks.attack.outcomes import Case, Family, WrongNumberError, expect, expect_values
from benchmarks.attack.plain_metrics import plain_metrics, task_metrics
from benchmarks.attack.tiny import small_task
from trueedge.errors import InputError
from trueedge.tasks import LinkTask

Table = dict[tuple[int, int], float]
COUNTS = {"quick": 30, "nightly": 800}
#: Grids with many ties, neighbouring floats, huge and tiny numbers, whole numbers near the limits.
VALUES: dict[str, Callable[[Case], float]] = {
    "few": lambda case: float(case.number(0, 2)),
    "grid": lambda case: case.number(-8, 8) / 4,
    "normal": lambda case: float(case.rng.normal()),
    "neighbours": lambda case: 1.0 + case.number(0, 3) * 2.0**-52,
    "huge": lambda case: case.pick([1e308, -1e308, 1.7e308, 1e300, 65504.0, 70000.0, 3.5e38]),
    "tiny": lambda case: case.pick([5e-324, -5e-324, 0.0, -0.0, 1e-310, 1e-45]),
    "whole": lambda case: float(case.pick([2**53 - 1, 2**53 - 2, -(2**53), 127, -128, 255, 2**31])),
    "constant": lambda _: 0.5,
}


def table_of(case: Case, task: LinkTask) -> Table:
    """Return a random score for each pair of nodes, the smaller one first."""
    kind = case.pick(list(VALUES))
    case.tell("values", kind)
    nodes = range(task.num_nodes)
    return {(u, v): VALUES[kind](case) for u in nodes for v in nodes if u < v}


def scores_of(table: Table, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the table's scores of pairs."""
    return np.array([table[min(pair), max(pair)] for pair in pairs.tolist()], dtype=np.float64)


def _evaluated(task: LinkTask, scorer: Any, truth: Callable[[int, int], float]) -> None:
    before = task.hash
    found = task.evaluate(scorer)
    expect_values(found, task_metrics(task.test, truth), "evaluate")
    fresh = te.LinkTask.from_arrays(task.arrays(), graph=task.graph, **_fields(task), valid_in_test=False)
    expect(fresh.hash == before, "the scorer changed the task")
    ranks = found.ranks
    if ranks is not None:
        expect(abs(float(np.mean(ranks)) - found["mr"]) < 1e-9, "the units do not have the metric's mean")


def _fields(task: LinkTask) -> dict[str, Any]:
    names = ("dataset", "protocol", "seed", "metrics", "headline")
    return {name: getattr(task, name) for name in names}


def types(case: Case) -> None:
    """Answer with every type of number; the truth is what Python reads from each."""
    task = small_task(case)
    table = table_of(case, task)
    name = case.pick(list(TYPES))
    case.tell("type", name)
    cast, meaning = TYPES[name]
    _evaluated(task, lambda pairs: cast(scores_of(table, pairs)), lambda u, v: meaning(table[u, v]))


def shapes(case: Case) -> None:
    """Answer with another shape or number of scores: only one score for each pair may be accepted."""
    task = small_task(case)
    table = table_of(case, task)
    name = case.pick(list(SHAPES))
    case.tell("shape", name)
    _evaluated(task, lambda pairs: SHAPES[name](scores_of(table, pairs)), lambda u, v: table[u, v])


def wrappers(case: Case) -> None:
    """Answer with the right numbers in an odd object: views, subclasses, tensors, objects with __array__."""
    task = small_task(case)
    table = table_of(case, task)
    name = case.pick(list(WRAPPERS))
    case.tell("wrapper", name)
    _evaluated(task, lambda pairs: WRAPPERS[name](scores_of(table, pairs)), lambda u, v: table[u, v])


def not_numbers(case: Case) -> None:
    """Put one value that is no finite number among the answers: it must be refused."""
    task = small_task(case)
    table = table_of(case, task)
    odd = case.pick(
        [float("nan"), float("inf"), float("-inf"), None, "1.0", "x", b"1", 1j, Decimal(1), Fraction(1, 3)]
        + [2**53 + 1, 2**64, -(2**70), 10**400, [1.0], (), {}, np.datetime64("2020-01-01"), object()]
    )
    case.tell("one value is", type(odd).__name__, str(odd)[:20])

    def score(pairs: NDArray[np.int64]) -> Any:
        answer: list[Any] = scores_of(table, pairs).tolist()
        answer[case.number(0, len(answer) - 1)] = odd
        return answer if case.chance(0.7) else np.array(answer, dtype=object)

    try:
        task.evaluate(score)
    except InputError:
        raise
    raise WrongNumberError(f"a score of {odd!r} was accepted")


class _Own(Exception):  # noqa: N818
    """The scorer's own error."""


def raising(case: Case) -> None:
    """Raise in mid-run: the error is the scorer's own, and the task works as before."""
    task = small_task(case)
    table = table_of(case, task)
    error = case.pick([_Own(), StopIteration(), GeneratorExit(), RecursionError(), MemoryError(), OSError()])
    case.tell("raises", type(error).__name__)

    def score(pairs: NDArray[np.int64]) -> Any:
        pairs[:] = 0
        raise error

    try:
        task.evaluate(score)
    except BaseException as found:
        chain = {id(found), id(found.__cause__), id(found.__context__)}
        if id(error) not in chain and not isinstance(found, InputError):
            raise
    else:
        raise WrongNumberError("the scorer raised, and there is a number")
    _evaluated(task, lambda pairs: scores_of(table, pairs), lambda u, v: table[u, v])


def writing(case: Case) -> None:
    """Write into the pairs, keep them, or change an answer later: nothing but the answer counts."""
    task = small_task(case)
    table = table_of(case, task)
    kept: list[Any] = []
    how = case.pick(["zeros", "swaps", "sorts", "keeps", "views its input", "resizes"])
    case.tell(how)

    def score(pairs: NDArray[np.int64]) -> Any:
        answer = scores_of(table, pairs)
        for old in kept:
            old[:] = -1
        if how == "zeros":
            pairs[:] = 0
        elif how == "swaps":
            pairs[:] = pairs[:, ::-1].copy()
        elif how == "sorts":
            pairs.sort(axis=0)
        elif how == "keeps":
            kept.extend([pairs, answer])
        elif how == "views its input":
            memory = pairs.reshape(-1)[: len(pairs)].view(np.float64)
            memory[:] = answer
            return memory
        elif how == "resizes" and pairs.base is None:
            pairs.resize((1, 2), refcheck=False)
        return answer

    _evaluated(task, score, lambda u, v: table[u, v])
    _evaluated(task, score, lambda u, v: table[u, v])


def stateful(case: Case) -> None:
    """Give other scores at every call: the metric is that of the scores that were given."""
    task = small_task(case, per_positive=False)
    given: Table = {}

    def score(pairs: NDArray[np.int64]) -> Any:
        answer = case.rng.integers(0, 4, size=len(pairs)).astype(float)
        for pair, value in zip(pairs.tolist(), answer.tolist(), strict=True):
            given[min(pair), max(pair)] = value
        return answer

    found = task.evaluate(score)
    expect_values(found, task_metrics(task.test, lambda u, v: given[u, v]), "the scores that were given")


def tables(case: Case) -> None:
    """Give a matrix of embeddings of odd types and layouts: the score is the dot product."""
    task = small_task(case)
    width = case.number(1, 4)
    matrix: Any = case.rng.integers(-3, 4, size=(task.num_nodes, width)).astype(np.float64)
    plain = matrix.tolist()
    kind = case.pick(
        ["f8", "f4", "f2", "i8", "i1", "u1", ">f8", "bool", "fortran", "view", "masked", "torch"]
    )
    kind = case.pick([kind, "fewer rows", "more rows", "nan", "3d", "1d", "object", "complex", "int8 wraps"])
    case.tell("embeddings", kind)
    if kind in ("u1", "bool"):
        plain = [[float(bool(value)) if kind == "bool" else abs(value) for value in row] for row in plain]
        matrix = np.array(plain)
    if kind == "int8 wraps":
        plain = [[value * 42 for value in row] for row in plain]
        matrix = np.array(plain).clip(-128, 127).astype(np.int8)
        plain = matrix.astype(int).tolist()
    odd = {
        "fortran": lambda: np.asfortranarray(matrix),
        "view": lambda: np.repeat(matrix, 2, axis=0)[::2],
        "masked": lambda: np.ma.masked_equal(matrix, 3.0),
        "torch": lambda: _torch(matrix),
        "fewer rows": lambda: matrix[:-1],
        "more rows": lambda: np.vstack([matrix, matrix[:1]]),
        "nan": lambda: np.where(np.arange(len(matrix))[:, None] == 1, np.nan, matrix),
        "3d": lambda: matrix[:, :, None],
        "1d": lambda: matrix[:, 0],
        "object": lambda: matrix.astype(object),
        "complex": lambda: matrix.astype(complex),
        "int8 wraps": lambda: matrix,
    }
    given: Any = odd[kind]() if kind in odd else matrix.astype(kind)

    def dot(u: int, v: int) -> float:
        return float(sum(left * right for left, right in zip(plain[u], plain[v], strict=True)))

    found = task.evaluate(given)
    expect(kind not in ("fewer rows", "more rows", "nan", "3d", "1d", "complex"), f"{kind} was accepted")
    expect_values(found, task_metrics(task.test, dot), "embeddings")


def _torch(matrix: Any) -> Any:
    import torch

    return torch.tensor(matrix, requires_grad=True)


def direct(case: Case) -> None:
    """Call ``metrics.evaluate`` on odd arrays of scores."""
    positives, own = case.number(1, 6), case.chance(0.5)
    shape = (positives, case.number(1, 6)) if own else (case.number(1, 9),)
    value = VALUES[case.pick(list(VALUES))]
    positive = np.array([value(case) for _ in range(positives)])
    negative = np.array([value(case) for _ in range(int(np.prod(shape)))]).reshape(shape)
    name = case.pick(list(TYPES))
    other = case.pick([name, name, *TYPES])
    case.tell("positive", name, "negative", other, positive.tolist(), negative.tolist())
    cast, meaning = TYPES[name]
    cast_of_negatives, meaning_of_negatives = TYPES[other]
    names = ["mrr", "mr", "hits@1", "auc", *([] if own else ["ap", "precision@1"])]
    found = te.metrics.evaluate(cast(positive), cast_of_negatives(negative), names)
    plain_negative: Any = [
        [meaning_of_negatives(one) for one in row] for row in negative.reshape(-1, shape[-1]).tolist()
    ]
    wanted = plain_metrics(
        [meaning(one) for one in positive.tolist()], plain_negative if own else plain_negative[0]
    )
    expect_values(found, wanted, "metrics.evaluate")


def checked(case: Case) -> None:
    """Run ``check_scorer`` on odd scorers: it reports, and does not fail."""
    task = small_task(case)
    table = table_of(case, task)
    name = case.pick([*SHAPES, *WRAPPERS])
    case.tell("check_scorer", name)
    wrap = SHAPES.get(name) or WRAPPERS[name]
    report = te.check_scorer(lambda pairs: wrap(scores_of(table, pairs)), task)
    expect(str(report), "check_scorer says nothing")


def files(case: Case) -> None:
    """Give the scores as a file that is not quite the usual one."""
    task = small_task(case, named=case.chance(0.3))
    table = table_of(case, task)
    scores = scores_of(table, task.pairs())
    stream = io.BytesIO()
    kind = case.pick(["f8", "f4", ">f8", "f2", "i4", "S5", "O", "c16", "(n,1)", "(1,n)"])
    case.tell("file of", kind)
    with np.errstate(over="ignore", invalid="ignore"):
        array = {"(n,1)": scores[:, None], "(1,n)": scores[None]}.get(kind)
        array = scores.astype(kind) if array is None else array
    np.save(stream, array, allow_pickle=True)
    path = case.folder / "scores.npy"
    path.write_bytes(stream.getvalue())
    found = task.evaluate(str(path))
    given = dict(zip(map(tuple, task.pairs().tolist()), array.ravel().astype(float).tolist(), strict=True))
    expect_values(found, task_metrics(task.test, lambda u, v: given[u, v]), "a file of scores")


FAMILIES: dict[str, Family] = {
    one.__name__.replace("_", " "): one
    for one in (
        types,
        shapes,
        wrappers,
        not_numbers,
        raising,
        writing,
        stateful,
        tables,
        direct,
        checked,
        files,
    )
}
