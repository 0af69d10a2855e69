"""Per-positive negatives stored on disk in shards, and read as one array."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError, is_whole
from trueedge.files.arrays import read_array
from trueedge.files.cards import read_json
from trueedge.negatives.shard_files import read_rows

CARD = "manifest.json"
POSITIVES = "positives.npy"
FORMAT = "trueedge negatives in shards"
VERSION = 1
# Each map holds a file open, and systems allow a process about a thousand.
MAPS_AT_ONCE = 256
POSITIVES_PER_BLOCK = 4096


def open_shards(folder: str | os.PathLike[str], *, verify: bool = True) -> ShardedNegatives:
    """Open negatives that :func:`trueedge.negatives.heart_shards.heart_shards` wrote, once they are complete.

    Args:
        folder: where they are.
        verify: compare every shard with its checksum; this reads all of them.
    """
    negatives = ShardedNegatives.at(folder)
    missing = [path for path in map(negatives.path, range(negatives.num_shards)) if not path.exists()]
    if missing:
        raise InputError(
            f"{negatives.folder} is not complete: {len(missing)} of its {negatives.num_shards} shards are"
            f" missing, the first is {missing[0].name}; run the command that started it again"
        )
    for shard in range(negatives.num_shards):
        negatives.read(shard, verify=verify)
    return negatives


class Ends(NamedTuple):
    """The places of positives, raveled, by the node that is there: place 2 i + j is end j of positive i.

    Attributes:
        keys: int64 array (e,), the end nodes, ascending.
        starts: int64 array (e + 1,): those of end node i are ``order[starts[i]:starts[i + 1]]``.
        order: int64 array (2 P,), the places, ascending within an end node.
    """

    keys: NDArray[np.int64]
    starts: NDArray[np.int64]
    order: NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class ShardedNegatives:
    """Negatives (P, k, 2) on disk in shards; ``negatives[i]`` and ``negatives[a:b]`` read a part.

    A shard is a .npy file, int32 (m, k / 2), followed by a checksum. Its rows are the replacements of the
    other end, for every position in ``positives`` with an end node of the shard: by end node, then by
    position.

    Attributes:
        positives: int32 array (P, 2).
        request: all that the negatives depend on, as in the folder's ``manifest.json``.
    """

    folder: Path
    positives: NDArray[np.int32]
    request: Mapping[str, Any]

    @classmethod
    def at(cls, folder: str | os.PathLike[str]) -> ShardedNegatives:
        """Return the negatives in a folder, complete or not."""
        place = Path(folder)
        request = read_card(place)
        positives = _read_positives(place, request)
        return cls(place, positives, request)

    @property
    def k(self) -> int:
        """The number of negatives per positive."""
        return int(self.request["k"])

    @property
    def shape(self) -> tuple[int, int, int]:
        """(P, k, 2)."""
        return len(self.positives), self.k, 2

    @property
    def dtype(self) -> np.dtype[np.int32]:
        """int32."""
        return np.dtype(np.int32)

    def __len__(self) -> int:
        return len(self.positives)

    def __getitem__(self, index: Any) -> NDArray[np.int32]:
        """Return the negatives of positives, by number, slice, mask or array: int32 (…, k, 2)."""
        chosen = np.arange(len(self))[index]
        half = self.k // 2
        corrupted = self._corrupted((2 * chosen.reshape(-1, 1) + [0, 1]).ravel()).reshape(-1, 2, half)
        pairs = np.empty((chosen.size, 2, half, 2), dtype=np.int32)
        for side in (0, 1):
            pairs[:, side, :, side] = self.positives[chosen.ravel(), side, None]
            pairs[:, side, :, 1 - side] = corrupted[:, side]
        return pairs.reshape(*chosen.shape, self.k, 2)

    def assemble(self, out: NDArray[np.int32] | None = None) -> NDArray[np.int32]:
        """Return all of them as one array.

        Args:
            out: int32 array (P, k, 2) to fill, e.g. a memory map; a new one where it is not given.
        """
        filled = np.empty(self.shape, dtype=np.int32) if out is None else out
        if filled.shape != self.shape or filled.dtype != np.int32:
            raise InputError(
                f"assemble: out must be an int32 array of shape {self.shape},"
                f" got {filled.dtype} of shape {filled.shape}"
            )
        for first in range(0, len(self), POSITIVES_PER_BLOCK):
            filled[first : first + POSITIVES_PER_BLOCK] = self[first : first + POSITIVES_PER_BLOCK]
        return filled

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("negatives in shards cannot become one array without a copy")
        return self.assemble() if dtype is None else self.assemble().astype(dtype, copy=False)

    @property
    def num_shards(self) -> int:
        """How many shards there are once all is done."""
        return len(self._first_rows) - 1

    def path(self, shard: int) -> Path:
        """Return where a shard is."""
        return self.folder / f"shard-{shard:05d}.npy"

    def stretch(self, shard: int) -> tuple[int, int]:
        """Return the first end node of a shard and the one after its last, by their number in ``ends``."""
        size = int(self.request["ends_per_shard"])
        return shard * size, min((shard + 1) * size, len(self.ends.keys))

    def salt(self, shard: int) -> str:
        """Return what the checksum of a shard depends on beside its rows."""
        return f"{json.dumps(dict(self.request), sort_keys=True)}|{shard}"

    def read(self, shard: int, verify: bool = False) -> NDArray[np.int32]:
        """Return the rows of a shard, mapped into memory: int32 (m, k / 2).

        Args:
            shard: its number.
            verify: compare it with its checksum.
        """
        count = int(self._first_rows[shard + 1] - self._first_rows[shard])
        return read_rows(self.path(shard), (count, self.k // 2), self.salt(shard) if verify else None)

    @cached_property
    def ends(self) -> Ends:
        """The places of the positives by end node."""
        nodes = self.positives.ravel().astype(np.int64)
        order = np.argsort(nodes, kind="stable")
        keys, first = np.unique(nodes[order], return_index=True)
        return Ends(keys, np.append(first, len(nodes)).astype(np.int64), order.astype(np.int64))

    @cached_property
    def _first_rows(self) -> NDArray[np.int64]:
        """The row each shard begins with, of all shards' rows, and the number of rows."""
        starts = self.ends.starts
        return np.append(starts[: len(self.ends.keys) : int(self.request["ends_per_shard"])], starts[-1])

    @cached_property
    def _row_of_place(self) -> NDArray[np.int64]:
        rows = np.empty(len(self.ends.order), dtype=np.int64)
        rows[self.ends.order] = np.arange(len(rows))
        return rows

    @cached_property
    def _mapped(self) -> Callable[[int], NDArray[np.int32]]:
        return lru_cache(MAPS_AT_ONCE)(self.read)

    def _corrupted(self, places: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return what takes the place of the other end, for some places: int32 (m, k / 2)."""
        corrupted = np.empty((len(places), self.k // 2), dtype=np.int32)
        rows = self._row_of_place[places]
        # Shard by shard, and there from front to back.
        order = np.argsort(rows)
        bounds = np.searchsorted(rows[order], self._first_rows)
        for shard in np.flatnonzero(np.diff(bounds)).tolist():
            part = order[bounds[shard] : bounds[shard + 1]]
            corrupted[part] = self._mapped(shard)[rows[part] - self._first_rows[shard]]
        return corrupted

    def __reduce__(self) -> tuple[Any, ...]:
        return ShardedNegatives.at, (self.folder,)

    def __repr__(self) -> str:
        return f"ShardedNegatives({self.folder}: {self.shape}, {self.num_shards} shards)"


def read_card(folder: Path) -> dict[str, Any]:
    """Return what the negatives in a folder were asked for with."""
    path = folder / CARD
    none = f"{folder} holds no negatives in shards"
    card = read_json(path, absent=none, damaged=f"{path} is damaged: it")
    if not isinstance(card, dict) or card.get("format") != FORMAT:
        raise InputError(f"{none}: its {CARD} is something else")
    if card.get("version") != VERSION:
        raise InputError(f"{path} has the format {card.get('version')!r}, this version reads {VERSION}")
    request = card.get("request")
    sizes = [request.get(key) for key in ("k", "ends_per_shard")] if isinstance(request, dict) else [None]
    if not isinstance(request, dict) or not all(is_whole(size) and size > 0 for size in sizes):
        raise InputError(f"{path} is damaged: it does not say what was asked for")
    return dict(request)


def hash_pairs(pairs: NDArray[Any]) -> str:
    """Return a SHA-256 of pairs, the same for every integer type."""
    return hashlib.sha256(np.ascontiguousarray(pairs, dtype="<i8").tobytes()).hexdigest()


def _read_positives(folder: Path, request: Mapping[str, Any]) -> NDArray[np.int32]:
    path = folder / POSITIVES
    try:
        positives = read_array(path, "it")
    except InputError as error:
        raise InputError(f"{path} is missing or damaged ({error})") from None
    if (
        positives.dtype != np.int32
        or positives.ndim != 2
        or hash_pairs(positives) != request.get("positives")
    ):
        raise InputError(f"{path} is damaged: it does not hold the positives the negatives were made for")
    return positives
