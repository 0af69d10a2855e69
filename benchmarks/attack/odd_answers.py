"""Odd objects that a scorer may answer with."""

from __future__ import annotations

import array
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]
Make = Callable[[Scores], Any]


def _cast(kind: str) -> tuple[Make, Callable[[float], float]]:
    def cast(scores: Scores) -> Any:
        with np.errstate(all="ignore"):
            return scores.astype(kind)

    def meaning(score: float) -> float:
        value = cast(np.array([score]))[0]
        return float(value)

    return cast, meaning


def _tensor(name: str) -> tuple[Make, Callable[[float], float]]:
    def cast(scores: Scores) -> Any:
        import torch

        return torch.tensor(scores).to(getattr(torch, name))

    def meaning(score: float) -> float:
        return float(cast(np.array([score]))[0])

    return cast, meaning


#: The type, and what it means for a number.
TYPES: dict[str, tuple[Make, Callable[[float], float]]] = {
    **{
        kind: _cast(kind) for kind in ("f8", "f4", "f2", "g", ">f8", ">f4", "i8", "i4", "i1", "u1", "u8", "?")
    },
    **{f"torch {name}": _tensor(name) for name in ("float64", "float32", "float16", "bfloat16", "int64")},
    "list": (lambda scores: scores.tolist(), float),
    "tuple": (lambda scores: tuple(scores.tolist()), float),
    "integers": (lambda scores: [int(one) for one in scores.ravel()] if scores.ndim == 1 else scores, float),
    "array.array": (lambda scores: array.array("d", scores) if scores.ndim == 1 else scores, float),
}
# A list of whole numbers means these; Python's int() cuts, so the oracle has to as well.
TYPES["integers"] = (
    lambda scores: np.vectorize(int, otypes=[object])(scores).tolist(),
    lambda score: float(int(score)),
)

SHAPES: dict[str, Make] = {
    "column": lambda scores: scores[:, None],
    "row": lambda scores: scores[None],
    "one short": lambda scores: scores[:-1],
    "one more": lambda scores: np.append(scores, 0.0),
    "first alone": lambda scores: scores[:1],
    "a number": lambda scores: float(scores[0]),
    "a numpy number": lambda scores: scores[0],
    "nothing": lambda _: None,
    "empty": lambda scores: scores[:0],
    "twice": lambda scores: np.tile(scores, 2),
    "square": lambda scores: np.tile(scores, (len(scores), 1)),
    "ragged": lambda scores: [[one] * (1 + at % 2) for at, one in enumerate(scores.tolist())],
    "nested": lambda scores: [[one] for one in scores.tolist()],
    "a text": lambda scores: " ".join(map(str, scores)),
    "bytes": lambda scores: scores.tobytes(),
    "a dict": lambda scores: dict(enumerate(scores)),
    "a set": lambda scores: set(scores.tolist()),
    "the function": lambda _: np.mean,
    "a structured array": lambda scores: scores.view([("score", "f8")]),
    "a matrix": lambda scores: np.asmatrix(scores),
    "pairs": lambda scores: np.column_stack([scores, scores]),
}


class _Sub(np.ndarray):
    """A subclass whose elements read otherwise."""

    def __getitem__(self, key: Any) -> Any:
        return np.ndarray.__getitem__(self.view(np.ndarray), key)


class _Array:
    """An object that numpy reads through __array__."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return np.asarray(answer, dtype=dtype)


class _Interface:
    def __init__(self, scores: Scores) -> None:
        self.kept = np.array(scores)
        self.__array_interface__ = self.kept.__array_interface__


class _List(list):  # type: ignore[type-arg]
    """A list whose length is another than what it yields."""

    def __iter__(self) -> Iterator[Any]:
        return iter(list.__getitem__(self, slice(None)))


def _masked(scores: Scores, hide: bool) -> Any:
    mask = np.zeros(len(scores), dtype=bool)
    mask[0] = hide
    return np.ma.MaskedArray(scores, mask)


def _read_only(scores: Scores) -> Any:
    scores.flags.writeable = False
    return scores


def _fortran(scores: Scores) -> Any:
    return np.asfortranarray(np.column_stack([scores, -scores]))[:, 0]


def _broken(_: Scores) -> Any:
    class Broken:
        def __array__(self, *args: Any, **kwargs: Any) -> Any:
            raise KeyError("broken")

    return Broken()


def _torch(make: Callable[[Any], Any]) -> Make:
    def wrapped(scores: Scores) -> Any:
        import torch

        return make(torch.tensor(scores))

    return wrapped


def _zeros_at_second_look(scores: Scores) -> Any:
    return _Array(scores, np.zeros_like(scores[:1]))


def _one_at_second_look(scores: Scores) -> Any:
    return _Array(scores, scores[:1] * 0 + scores.max())


WRAPPERS: dict[str, Make] = {
    "read-only": _read_only,
    "Fortran column": _fortran,
    "every second": lambda scores: np.repeat(scores, 2)[::2],
    "reversed view": lambda scores: scores[::-1].copy()[::-1],
    "memory of bytes": lambda scores: np.frombuffer(scores.tobytes()),
    "not aligned": lambda scores: np.frombuffer(b"x" + scores.tobytes(), dtype="u1")[1:].view("f8"),
    "memoryview": lambda scores: memoryview(scores.tobytes()).cast("d"),
    "subclass": lambda scores: scores.view(_Sub),
    "list subclass": lambda scores: _List(scores.tolist()),
    "__array__": _Array,
    "__array__, then one zero": _zeros_at_second_look,
    "__array__, then one number": _one_at_second_look,
    "__array_interface__": _Interface,
    "broken __array__": _broken,
    "masked": lambda scores: _masked(scores, True),
    "nothing masked": lambda scores: _masked(scores, False),
    "numpy numbers": lambda scores: list(scores),
    "0-d arrays": lambda scores: [np.array(one) for one in scores],
    "objects": lambda scores: scores.astype(object),
    "generator": lambda scores: (one for one in scores.tolist()),
    "iterator": lambda scores: iter(scores.tolist()),
    "map": lambda scores: map(float, scores),
    "range": lambda scores: range(len(scores)) if (scores == np.arange(len(scores))).all() else None,
    "tensor with a gradient": _torch(lambda scores: scores.requires_grad_()),
    "tensor, conjugate view": _torch(lambda scores: scores.to(dtype=_complex()).conj()),
    "tensor, negative view": _torch(lambda scores: (-scores)._neg_view()),
    "tensor, strided": _torch(lambda scores: scores.repeat_interleave(2)[::2]),
    "tensor, sparse": _torch(lambda scores: scores.to_sparse()),
    "tensor, meta": _torch(lambda scores: scores.to("meta")),
    "tensor, column": _torch(lambda scores: scores[:, None]),
    "list of tensors": _torch(list),
    "tensor parameter": _torch(lambda scores: _parameter(scores)),
}


def _complex() -> Any:
    import torch

    return torch.complex128


def _parameter(scores: Any) -> Any:
    import torch

    return torch.nn.Parameter(scores)
