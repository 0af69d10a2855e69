"""Reading pickles of arrays without running what they say.

A pickle may call any function by name. This reader admits a few names only, and even these do not stand for
numpy's and scipy's own constructors but for the small classes below, which copy numbers out of the file: a
forged dtype or shape is an error, never memory read as something it is not.
"""

from __future__ import annotations

import math
import pickle
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError

_NUMBER = re.compile(r"[iuf][1248]|b1")
_MOST_VALUES = 2**34  # of a dense matrix; a forged shape must not ask for all memory there is


@dataclass(frozen=True, eq=False)
class SparseRows:
    """The content of a pickled ``scipy.sparse.csr_matrix``.

    Attributes:
        indptr: int array (rows + 1,).
        indices: int array (entries,).
        data: array (entries,).
        shape: (rows, columns).
    """

    indptr: NDArray[Any]
    indices: NDArray[Any]
    data: NDArray[Any]
    shape: tuple[int, int]

    def dense(self) -> NDArray[np.float32]:
        """Return the matrix as a float32 array (rows, columns)."""
        rows = np.repeat(np.arange(self.shape[0]), np.diff(self.indptr))
        matrix = np.zeros(self.shape, dtype=np.float32)
        matrix[rows, self.indices] = self.data
        return matrix


def read_pickle(stream: IO[bytes], what: str) -> Any:
    """Read one pickle from a stream: arrays, :class:`SparseRows`, dicts, lists, tuples, numbers, text."""
    return finished(load_pickle(stream, what), what)


def load_pickle(
    stream: IO[bytes],
    what: str,
    admitted: Mapping[tuple[str, str], object] | None = None,
    persistent: Callable[[Any], object] | None = None,
) -> Any:
    """Read one pickle, with stand-ins for arrays; ``persistent`` returns the object of a persistent id."""
    with distrust(what):
        return _Reader(stream, what, {**_ADMITTED, **(admitted or {})}, persistent).load()


def finished(value: Any, what: str) -> Any:
    """Replace stand-ins by what they stand for, within dicts, lists and tuples."""
    with distrust(what):
        return _finish(value, {}, 0)


@contextmanager
def distrust(what: str) -> Iterator[None]:
    """Turn every failure into one clear error: a damaged or forged file can fail in any way at all."""
    try:
        yield
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"{what} cannot be read: {error.strerror or error}") from None
    except Exception as error:
        reason = f"{type(error).__name__}: {error}".rstrip(": ")
        raise InputError(f"{what} is not a file of arrays ({reason})") from None


class StandIn:
    """What the reader makes in place of an object of another library."""

    __slots__ = ()

    def __setstate__(self, state: Any) -> None:
        raise pickle.UnpicklingError("an object that takes no state was given one")

    def finish(self) -> object:
        """Return the object it stands for."""
        raise pickle.UnpicklingError("a name without an object")


class _Reader(pickle._Unpickler):
    # The one written in Python: the other one sets aside as many places as the highest number a file gives to
    # any of its objects, and four changed bytes then ask for more memory than there is.

    def __init__(
        self,
        stream: IO[bytes],
        what: str,
        admitted: Mapping[tuple[str, str], object],
        persistent: Callable[[Any], object] | None,
    ) -> None:
        # Planetoid's pickles are Python 2's: their byte strings become text that keeps every byte.
        super().__init__(stream, encoding="latin1")
        self.what, self.admitted, self.persistent = what, admitted, persistent

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in self.admitted:
            raise InputError(f"{self.what} asks for {module}.{name}, which a file of arrays does not need")
        return self.admitted[module, name]

    def persistent_load(self, identity: Any) -> Any:
        if self.persistent is None:
            raise pickle.UnpicklingError("it refers to objects outside itself")
        return self.persistent(identity)


class _Dtype(StandIn):
    __slots__ = ("code",)

    def __init__(self, code: str, *_: object) -> None:
        if not isinstance(code, str) or not _NUMBER.fullmatch(code):
            raise pickle.UnpicklingError(f"it holds values of the type {code!r}, not numbers")
        self.code = f"<{code}"

    def __setstate__(self, state: Any) -> None:
        if state[1] == ">":
            self.code = f">{self.code[1:]}"

    def finish(self) -> np.dtype[Any]:
        return np.dtype(self.code)


class _Array(StandIn):
    __slots__ = ("array",)

    def __init__(self, *_: object) -> None:
        self.array: NDArray[Any] = np.empty(0)

    def __setstate__(self, state: Any) -> None:
        _, shape, dtype, fortran, data = state
        if isinstance(data, str):
            data = data.encode("latin1")
        if not isinstance(dtype, _Dtype) or not isinstance(data, bytes):
            raise pickle.UnpicklingError("an array of objects")
        flat = np.frombuffer(data, dtype=dtype.finish())
        if any(not isinstance(size, int) or size < 0 for size in shape) or math.prod(shape) != len(flat):
            raise pickle.UnpicklingError(f"an array of shape {shape} with {len(flat)} values")
        # A copy: what comes from frombuffer cannot be written and keeps the bytes of the file alive.
        self.array = np.array(flat.reshape(shape, order="F" if fortran else "C"), order="C")

    def finish(self) -> NDArray[Any]:
        return self.array


class _SparseMatrix(StandIn):
    __slots__ = ("state",)

    def __setstate__(self, state: Any) -> None:
        self.state = state

    def finish(self) -> SparseRows:
        indptr, indices, data = (self.state[key].finish() for key in ("indptr", "indices", "data"))
        rows, columns = self.state["_shape"]
        fits = (
            all(isinstance(part, np.ndarray) and part.ndim == 1 for part in (indptr, indices, data))
            and isinstance(rows, int)
            and isinstance(columns, int)
            and indptr.dtype.kind == indices.dtype.kind == "i"
            and len(indptr) == rows + 1
            and len(indices) == len(data)
            and indptr[0] == 0
            and indptr[-1] == len(data)
            and (np.diff(indptr) >= 0).all()
            and ((indices >= 0) & (indices < columns)).all()
            and rows * columns <= _MOST_VALUES
        )
        if not fits:
            raise pickle.UnpicklingError("a sparse matrix whose parts do not fit together")
        return SparseRows(indptr, indices, data, (rows, columns))


class _Dict(StandIn):
    """A dict of any kind, as a plain one: what a ``defaultdict`` would fill in is never asked for."""

    __slots__ = ("items",)

    def __init__(self, *_: object) -> None:
        self.items: dict[Any, Any] = {}

    def __setitem__(self, key: Any, value: Any) -> None:
        self.items[key] = value

    def finish(self) -> dict[Any, Any]:
        return self.items


class _Bytes(StandIn):
    """How protocol 2 writes bytes: as text with the encoding that turns it back, and none as ``bytes()``."""

    __slots__ = ()

    def __new__(cls, text: str = "", encoding: str = "latin1") -> Any:
        if encoding != "latin1":
            raise pickle.UnpicklingError(f"bytes in the encoding {encoding!r}")
        return text.encode("latin1")


_ADMITTED: dict[tuple[str, str], object] = {
    ("numpy", "dtype"): _Dtype,
    ("numpy", "ndarray"): _Array,
    ("numpy.core.multiarray", "_reconstruct"): _Array,
    ("numpy._core.multiarray", "_reconstruct"): _Array,
    ("scipy.sparse.csr", "csr_matrix"): _SparseMatrix,
    ("scipy.sparse._csr", "csr_matrix"): _SparseMatrix,
    ("collections", "defaultdict"): _Dict,
    ("collections", "OrderedDict"): _Dict,
    ("__builtin__", "list"): StandIn,
    ("builtins", "list"): StandIn,
    ("__builtin__", "bytes"): _Bytes,
    ("builtins", "bytes"): _Bytes,
    ("_codecs", "encode"): _Bytes,
}

_DEEPEST = 32


def _finish(value: Any, seen: dict[int, Any], depth: int) -> Any:
    if depth > _DEEPEST:
        raise pickle.UnpicklingError(f"containers within containers, more than {_DEEPEST} deep")
    if not isinstance(value, (StandIn, dict, list, tuple)):
        return value
    # Each object once: a forged pickle can hold the same list in itself a million times over.
    if id(value) not in seen:
        plain = value.finish() if isinstance(value, StandIn) else value
        if isinstance(plain, dict):
            plain = {key: _finish(part, seen, depth + 1) for key, part in plain.items()}
        elif isinstance(plain, (list, tuple)):
            plain = type(plain)(_finish(part, seen, depth + 1) for part in plain)
        seen[id(value)] = plain
    return seen[id(value)]
