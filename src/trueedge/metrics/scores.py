"""Checked scores: finite real numbers, which no conversion makes equal."""

from __future__ import annotations

import hashlib
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.files.arrays import refuse_masked
from trueedge.metrics.ranks import Ranks, rank_per_positive, rank_shared
from trueedge.registry import Registry

LAYOUTS = {
    "shared": "negatives shared by all positives, (M,)",
    "per-positive": "negatives for each positive, (P, K)",
    "lists": "lists of candidates (evaluate_lists)",
    "recommended": "recommended lists of users",
    "ranks": "ranked answers of queries",
}

NUMBERS_IN_A_BLOCK = 1 << 22
NUMBERS_HASHED = 1 << 16
# Above this, neighbouring whole numbers become the same float64.
LARGEST_EXACT = 2**53


class Scores(ABC):
    """Checked scores with the truth: all that metrics need. A subclass has a ``form``.

    Attributes:
        form: the name of the class in certificates.
        layout: what metrics ask for: ``shared``, ``per-positive``, ``lists``, …
        sizes: the numbers of scores, if metrics need them.
    """

    form: ClassVar[str]
    layout: str
    sizes: Any

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "form" in cls.__dict__:
            FORMS.add(cls.form, cls, same=lambda taken: taken.__qualname__ == cls.__qualname__)

    @abstractmethod
    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return its content as arrays of numbers."""

    @classmethod
    @abstractmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the scores of some :meth:`arrays`, or raise an InputError if these do not fit together."""

    def facts(self) -> dict[str, NDArray[Any]]:
        """Return the arrays in an order that comes from the task alone, to compare with its truth."""
        return self.arrays()

    @cached_property
    def hash(self) -> str:
        """Return a SHA-256 of all arrays and their shapes."""
        digest = hashlib.sha256()
        for name, array in self.arrays().items():
            if array.dtype.kind not in "biuf":
                raise InputError(f"the array {name!r} of scores must hold numbers, got {array.dtype}")
            kind = "<f8" if array.dtype.kind == "f" else "<i8"
            digest.update(f"{array.shape}".encode())
            flat = array.reshape(-1)
            # In blocks that a cache holds: a copy of all in double precision takes longer than hashing.
            for start in range(0, len(flat), NUMBERS_HASHED):
                block = np.ascontiguousarray(flat[start : start + NUMBERS_HASHED], dtype=kind)
                digest.update(block.view(np.uint8).data)
        return digest.hexdigest()


FORMS: Registry[type[Scores]] = Registry("form of scores", "trueedge.metrics")


def describe_layout(layout: str) -> str:
    """Return a layout in words."""
    return LAYOUTS.get(layout, f"scores of the layout {layout!r}")


def take(arrays: Mapping[str, NDArray[Any]], *names: str) -> list[NDArray[Any]]:
    """Return some arrays by name, or raise an InputError if one is missing."""
    for name in names:
        if name not in arrays:
            raise InputError(f"there is no array {name!r} among the scores")
    return [arrays[name] for name in names]


@dataclass(frozen=True)
class PairSizes:
    """The number of positives, and the number of negatives of each: M shared ones, or its own K."""

    positives: int
    negatives: int


@dataclass(frozen=True, eq=False)
class PairScores(Scores):
    """Checked scores of positives and negatives; ``positive, negative = scores`` unpacks them.

    Attributes:
        positive: float64 array (P,).
        negative: array (M,) shared by all positives, or (P, K) for each positive, in its original type.
    """

    form: ClassVar[str] = "pairs"

    positive: NDArray[np.float64]
    negative: NDArray[Any]

    @classmethod
    def check(cls, positive: object, negative: object) -> Self:
        """Return checked scores, or raise an InputError if they are not finite, empty or of another shape."""
        above = as_scores(positive, "positive scores")
        below = as_scores(negative, "negative scores")
        if above.ndim != 1:
            raise InputError(f"positive scores must have the shape (P,), got {above.shape}")
        if below.ndim not in (1, 2):
            raise InputError(f"negative scores must have the shape (M,) or (P, K), got {below.shape}")
        if below.ndim == 2 and len(below) != len(above):
            raise InputError(f"there are {len(above)} positive scores, but negative scores for {len(below)}")
        for array, what in ((above, "positive"), (below, "negative")):
            if array.size == 0:
                raise InputError(f"there is no {what} score")
        return cls(above.astype(np.float64), below)

    def __iter__(self) -> Iterator[NDArray[Any]]:
        yield self.positive
        yield self.negative

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the scores of positives and negatives."""
        return {"positive": self.positive, "negative": self.negative}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the checked scores of positives and negatives."""
        return cls.check(*take(arrays, "positive", "negative"))

    @property
    def layout(self) -> str:  # type: ignore[override]
        """Return ``shared`` or ``per-positive``."""
        return "shared" if self.negative.ndim == 1 else "per-positive"

    @property
    def sizes(self) -> PairSizes:
        """Return the numbers of positives and negatives."""
        return PairSizes(len(self.positive), self.negative.shape[-1])

    @cached_property
    def range(self) -> tuple[float, float]:
        """Return the lowest and the highest score."""
        low = min(self.positive.min(), self.negative.min())
        high = max(self.positive.max(), self.negative.max())
        return float(low), float(high)

    @cached_property
    def ranks(self) -> Ranks:
        """Return the rank of each positive among its negatives."""
        if self.layout == "shared":
            return rank_shared(self.positive, as_floats(self.negative))
        # What has to be converted first is ranked in blocks, to need little memory.
        is_ready = self.negative.dtype in (np.float32, np.float64) and self.negative.flags.c_contiguous
        blocks = [slice(None)] if is_ready else list(row_blocks(self.negative.shape))
        parts = [rank_per_positive(self.positive[rows], as_floats(self.negative[rows])) for rows in blocks]
        if len(parts) == 1:
            return parts[0]
        return Ranks(
            np.concatenate([part.optimistic for part in parts]),
            np.concatenate([part.pessimistic for part in parts]),
        )


def as_scores(values: object, what: str) -> NDArray[Any]:
    """Return values as an array of their original type, or raise an InputError unless all are finite numbers.

    Args:
        values: a torch tensor, or anything numpy can read, of any shape.
        what: the plural noun for the error message ("positive scores").
    """
    if type(values) is np.ndarray and _plainly_finite(values):
        return values
    array = as_array(values, what)
    if array.dtype.kind not in "biuf":
        raise InputError(f"{what} must be real numbers, got values of type {array.dtype}")
    nan = infinite = inexact = 0
    for rows in row_blocks(array.shape):
        block = array[rows]
        if block.dtype.kind == "f" and block.dtype.itemsize <= 8 and np.isfinite(block).all():
            continue
        nan += int(np.count_nonzero(np.isnan(block)))
        infinite += int(np.count_nonzero(np.isinf(block)))
        inexact += _count_inexact(block)
    if nan or infinite:
        raise InputError(describe_nonfinite(nan, infinite, array.size, what))
    if inexact:
        raise _inexact(inexact, array.size, what)
    refuse_rounded(values, array, what)
    return array


def _plainly_finite(array: NDArray[Any]) -> bool:
    """Return whether a small array of floats is finite, as most are, without looking further."""
    small = array.ndim > 0 and array.size <= NUMBERS_IN_A_BLOCK
    return small and array.dtype.kind == "f" and array.itemsize <= 8 and bool(np.isfinite(array).all())


def refuse_rounded(values: object, array: NDArray[Any], what: str) -> None:
    """Raise an InputError if numpy rounded whole numbers of a list, as it does if floats are among them."""
    if not isinstance(values, (list, tuple)) or array.dtype.kind != "f" or not array.size:
        return
    if np.abs(array).max() < LARGEST_EXACT:
        return
    given = np.asarray(values, dtype=object).ravel()
    rounded = sum(isinstance(one, int) and int(float(one)) != one for one in given)
    if rounded:
        raise _inexact(rounded, array.size, what)


def describe_nonfinite(nan: int, infinite: int, size: int, what: str) -> str:
    """Say how many of some scores are NaN or infinite, and how many there are in all."""
    kinds = [(count, word) for count, word in ((nan, "NaN"), (infinite, "infinite")) if count]
    (count, word), *rest = kinds
    sentence = f"{count} of {size} {what} {_be(count)} {word}"
    return sentence + "".join(f" and {more} {_be(more)} {kind}" for more, kind in rest)


def as_array(values: object, what: str) -> NDArray[Any]:
    """Return the array of a torch tensor or anything numpy can read, without a copy if possible."""
    torch = sys.modules.get("torch")
    refuse_masked(values, what)
    try:
        if torch is not None and isinstance(values, torch.Tensor):
            tensor: Any = values.detach().cpu()
            # numpy has no bfloat16; float32 holds all its values.
            values = (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy()
        return np.asarray(values)
    except Exception as problem:  # an object that says it is an array may raise anything
        reason = (str(problem) or type(problem).__name__).splitlines()[0]
        raise InputError(f"{what} cannot be read as an array: {reason}") from problem


def as_floats(array: NDArray[Any]) -> NDArray[np.floating[Any]]:
    """Return the same values as contiguous float32 or float64 numbers, read-only for the kernels."""
    kind: type[np.floating[Any]] = np.float32 if array.dtype in (np.float32, np.float16) else np.float64
    floats = np.ascontiguousarray(array, dtype=kind).view()
    # Always read-only, since the kernels are compiled for each state of this flag.
    floats.flags.writeable = False
    return floats


def row_blocks(shape: tuple[int, ...]) -> Iterator[slice]:
    """Yield slices of rows with a few million numbers each, so that little memory is needed."""
    if not shape:
        raise InputError("scores must be an array, got a single number")
    width = max(1, int(np.prod(shape[1:], dtype=np.int64)))
    step = max(1, NUMBERS_IN_A_BLOCK // width)
    for start in range(0, shape[0], step):
        yield slice(start, start + step)


def _count_inexact(block: NDArray[Any]) -> int:
    if block.dtype.kind in "iu" and block.dtype.itemsize == 8:
        large = block > LARGEST_EXACT
        if block.dtype.kind == "i":
            large |= block < -LARGEST_EXACT
        return int(np.count_nonzero(large))
    if block.dtype.kind == "f" and block.dtype.itemsize > 8:
        return int(np.count_nonzero((block != block.astype(np.float64)) & np.isfinite(block)))
    return 0


def _inexact(count: int, size: int, what: str) -> InputError:
    return InputError(
        f"{count} of {size} {what} do not fit into a float64, which would make some of them equal"
    )


def _be(count: int) -> str:
    return "is" if count == 1 else "are"
