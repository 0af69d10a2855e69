"""Reading arrays that ``torch.save`` wrote, without torch.

Both formats hold pickles: the legacy one is a sequence of them followed by the raw values of the tensors, the
newer one a zip archive with one pickle and a file for the values of each tensor.
"""

from __future__ import annotations

import math
import os
import pickle
import struct
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from trueedge.datasets.pickles import StandIn, distrust, finished, load_pickle, read_pickle
from trueedge.errors import InputError, with_article
from trueedge.files.archives import refuse_repeated
from trueedge.files.arrays import regular_file
from trueedge.files.bounds import check_archive

_LEGACY_MAGIC = 0x1950A86A20F9469CFC6C
_LEGACY_VERSION = 1001


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Read a file in which ``torch.save`` put a dict of numpy arrays or tensors."""
    what = str(path)
    with distrust(what), regular_file(path).open("rb") as stream:
        zipped = stream.read(4) == b"PK\x03\x04"
        stream.seek(0)
        content = _read_zip(stream, what) if zipped else _read_legacy(stream, what)
    if not isinstance(content, dict):
        raise InputError(f"{path} does not contain a dict of arrays")
    for key, value in content.items():
        if not isinstance(key, str) or not isinstance(value, np.ndarray):
            kind = with_article(type(value).__name__)
            raise InputError(f"{path} does not contain a dict of arrays: under {key!r} is {kind}")
    return content


def _read_legacy(stream: IO[bytes], what: str) -> Any:
    if read_pickle(stream, what) != _LEGACY_MAGIC or read_pickle(stream, what) != _LEGACY_VERSION:
        raise InputError(f"{what} was not written by torch.save")
    system = read_pickle(stream, what)
    if not isinstance(system, dict) or system.get("little_endian") is not True:
        raise InputError(f"{what} was written by a big-endian machine, which is not supported")
    storages: dict[str, _Storage] = {}

    def storage(identity: Any) -> _Storage:
        _, code, key, _, length, view = identity
        if view is not None:
            raise pickle.UnpicklingError("a view of a tensor's values")
        return storages.setdefault(key, _Storage(code, length))

    content = load_pickle(stream, what, _ADMITTED, storage)
    size = os.fstat(stream.fileno()).st_size
    for key in read_pickle(stream, what):
        (count,) = struct.unpack("<q", stream.read(8))
        values = storages[key]
        values.expect(count * values.dtype.itemsize, size - stream.tell())
        values.fill(stream.read(count * values.dtype.itemsize))
    return finished(content, what)


def _read_zip(stream: IO[bytes], what: str) -> Any:
    with zipfile.ZipFile(stream) as archive:
        check_archive(archive.infolist(), os.fstat(stream.fileno()).st_size, what)
        refuse_repeated(archive.namelist(), what)
        pickled = [name for name in archive.namelist() if name.count("/") == 1 and name.endswith("/data.pkl")]
        if len(pickled) != 1:
            raise InputError(f"{what} was not written by torch.save: it is an archive without data.pkl")
        root = pickled[0].removesuffix("data.pkl")
        if f"{root}byteorder" in archive.namelist() and _member(archive, f"{root}byteorder") != b"little":
            raise InputError(f"{what} was written by a big-endian machine, which is not supported")

        storages: dict[str, _Storage] = {}

        def storage(identity: Any) -> _Storage:
            _, code, key, _, length = identity
            # Once: a forged pickle can name the same values a million times over.
            if key not in storages:
                name, storages[key] = f"{root}data/{key}", _Storage(code, length)
                size = archive.getinfo(name).file_size
                storages[key].expect(size, size)
                storages[key].fill(_member(archive, name))
            return storages[key]

        with archive.open(pickled[0]) as inner:
            return finished(load_pickle(inner, what, _ADMITTED, storage), what)


def _member(archive: zipfile.ZipFile, name: str) -> bytes:
    """Read a file of an archive, and no more of it than the directory says."""
    info = archive.getinfo(name)
    with archive.open(info) as inner:
        return inner.read(info.file_size)


class _Storage(StandIn):
    """The flat values behind tensors."""

    __slots__ = ("dtype", "length", "values")

    def __init__(self, code: str, length: int) -> None:
        if code not in _ADMITTED.values():
            raise pickle.UnpicklingError(f"a tensor of the type {code!r}")
        self.dtype = np.dtype(code)
        self.length = length
        self.values: NDArray[Any] = np.empty(0, dtype=self.dtype)

    def expect(self, size: int, there: int) -> None:
        """Refuse values, before they are read, that are not as many bytes as there must be, or not there."""
        if size != self.length * self.dtype.itemsize or size > there:
            raise pickle.UnpicklingError(f"{min(size, there):,} bytes for a tensor of {self.length} values")

    def fill(self, raw: bytes) -> None:
        """Take the values from the file."""
        self.values = np.frombuffer(raw, dtype=self.dtype)
        if len(self.values) != self.length:
            raise pickle.UnpicklingError(f"{len(self.values)} values for a tensor of {self.length}")


class _Tensor(StandIn):
    """A window on a storage: where it starts, how long its sides are, and the step along each."""

    __slots__ = ("offset", "shape", "storage", "strides")

    def __init__(
        self, storage: _Storage, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], *_: object
    ) -> None:
        self.storage, self.offset, self.shape, self.strides = storage, offset, shape, strides

    def finish(self) -> NDArray[Any]:
        if not isinstance(self.storage, _Storage) or len(self.shape) != len(self.strides):
            raise pickle.UnpicklingError("a tensor without values")
        numbers = (self.offset, *self.shape, *self.strides)
        if any(not isinstance(number, int) or number < 0 for number in numbers):
            raise pickle.UnpicklingError("a tensor of negative size")
        values = self.storage.values
        if math.prod(self.shape) == 0:
            return np.empty(self.shape, dtype=values.dtype)
        reach = self.offset + sum(
            (size - 1) * step for size, step in zip(self.shape, self.strides, strict=True)
        )
        if reach >= len(values) or math.prod(self.shape) > len(values):
            raise pickle.UnpicklingError("a tensor that reaches past its values")
        steps = [step * values.itemsize for step in self.strides]
        window = np.lib.stride_tricks.as_strided(values[self.offset :], self.shape, steps)
        return np.array(window, order="C")


_ADMITTED: dict[tuple[str, str], object] = {
    ("torch._utils", "_rebuild_tensor"): _Tensor,
    ("torch._utils", "_rebuild_tensor_v2"): _Tensor,
    ("torch", "LongStorage"): "<i8",
    ("torch", "IntStorage"): "<i4",
    ("torch", "ShortStorage"): "<i2",
    ("torch", "CharStorage"): "<i1",
    ("torch", "ByteStorage"): "<u1",
    ("torch", "BoolStorage"): "|b1",
    ("torch", "FloatStorage"): "<f4",
    ("torch", "DoubleStorage"): "<f8",
}
