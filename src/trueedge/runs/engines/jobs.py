"""Cells on their way to another machine: by name and hash, with the user's own code as source."""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from trueedge.errors import InputError
from trueedge.files.digests import file_digest
from trueedge.results.record import Record
from trueedge.runs.cells import Cell
from trueedge.runs.closures import closure
from trueedge.runs.code import source_files
from trueedge.runs.engines.mapped_objects import save_mapped
from trueedge.runs.imports import PACKAGE, is_users
from trueedge.runs.packed_cells import packed
from trueedge.version import VERSION

# A source that is larger does not travel through the scheduler: it is in this folder of a shared one.
MOST_BYTES = 64 << 20
SOURCES = "sources"


@dataclass(frozen=True)
class Job:
    """A cell for a worker. The bytes are read there only after its version has been compared.

    Attributes:
        version: the driver's version of trueedge.
        key: the key of the cell's record; empty if the method's code cannot be hashed.
        name: the name of the data set.
        source_key: the key of the cell's source, for error messages.
        cell: the pickled cell, without its source and its user's code.
        source: the hash of a source that is no name; empty for a name.
        code: the hash of the user's own code; empty for trueedge's.
        runs: the folder of records where scores are kept, or None.
        token: the name of a file in that folder, which a worker sees if it shares the folder.
    """

    version: str
    key: str
    name: str
    source_key: str
    cell: bytes
    source: str = ""
    code: str = ""
    runs: str | None = None
    token: str = ""


@dataclass(frozen=True)
class UserCode:
    """The user's own Python files behind a method.

    Attributes:
        hash: the same for the same files.
        folder: the folder that holds all of them, on the driver's machine.
        files: the content of each, by its path in the folder.
        paths: the folders in it from which modules are imported.
        module: the module of the method, by its path in the folder if it is a file by itself.
    """

    hash: str
    folder: str
    files: Mapping[str, bytes]
    paths: tuple[str, ...]
    module: str


@dataclass(frozen=True)
class Answer:
    """What a worker sends back.

    Attributes:
        record: the record.
        reason: why there is none.
        trouble: an error that the cell did not cause: a traceback.
        refused: why this worker cannot run the cell.
        refused_all: whether it can run no cell at all.
        missing: what is to be sent along with the cell: ``source`` or ``code``.
        scores: scores of the test part, to be written after the record.
        complaint: why the scores could not be kept.
        others: the records that share its training.
    """

    record: Record | None = None
    reason: str = ""
    trouble: str = ""
    refused: str = ""
    refused_all: bool = False
    missing: str = ""
    scores: Any = None
    complaint: str = ""
    others: tuple[Record, ...] = ()


def job_of(cell: Cell, runs: Path | None, token: str) -> Job:
    """Return the job of a cell."""
    bare, module, name, settings = packed(cell)
    named = isinstance(cell.source, str)
    users, code = user_code(cell), cell.code()
    told = replace(bare, source=cell.source if named else cell.name)
    return Job(
        version=VERSION,
        key="" if code.reason else cell.key_with(code),
        name=cell.name,
        source_key=cell.source_key,
        cell=pickle.dumps((told, users.module if users else module, name, settings)),
        source="" if isinstance(cell.source, str) else cell.source.hash,
        code=users.hash if users else "",
        runs=None if runs is None else str(runs.resolve()),
        token=token,
    )


def source_of(cell: Cell, shared: Path | None) -> bytes | str:
    """Return a cell's source as a pickle; for a large one, the path of a file that it is mapped from.

    Args:
        cell: the cell.
        shared: a folder that all machines share, for large sources.
    """
    buffers: list[pickle.PickleBuffer] = []
    head = pickle.dumps(cell.source, protocol=5, buffer_callback=buffers.append)
    size = len(head) + sum(buffer.raw().nbytes for buffer in buffers)
    if size <= MOST_BYTES:
        return pickle.dumps(cell.source, protocol=5)
    if shared is None:
        raise InputError(
            f"{cell.name} has {size >> 20} MiB, too much to be sent to workers: name a folder that all"
            " machines share as that of the records"
        )
    assert not isinstance(cell.source, str)
    path = shared.resolve() / SOURCES / f"{cell.source.hash}.mapped"
    if not path.is_file():
        save_mapped(cell.source, path)
    return str(path)


_USER_CODE: dict[type, tuple[str, UserCode]] = {}


def user_code(cell: Cell) -> UserCode | None:
    """Return the user's own files behind a cell's method; None for a method of trueedge."""
    kind = type(cell.method)
    if kind.__module__.partition(".")[0] == "trueedge":
        return None
    roots = [path.resolve() for path in source_files(kind)]
    # Files may have been edited since the last cell.
    known = _USER_CODE.get(kind)
    digests = {
        path: file_digest(path)
        for path in closure(roots).code
        if not path.is_relative_to(PACKAGE) and is_users(path)
    }
    state = hashlib.sha256("\n".join(f"{p} {d}" for p, d in sorted(digests.items())).encode()).hexdigest()
    if known is not None and known[0] == state:
        return known[1]
    found = _collected(kind, list(digests), state)
    _USER_CODE[kind] = (state, found)
    return found


def _collected(kind: type, paths: list[Path], state: str) -> UserCode:
    if not paths:
        raise InputError(f"{kind.__name__} has no source file that could be sent to workers")
    roots = [Path(one or os.getcwd()).resolve() for one in sys.path]
    folder = Path(os.path.commonpath([path.parent for path in paths]))
    searched = [root for root in roots if any(path.is_relative_to(root) for path in paths)]
    # Folders above the files themselves, as where a package is imported from its parent.
    folder = Path(os.path.commonpath([folder, *(root for root in searched if root in folder.parents)]))
    module = kind.__module__
    home = getattr(sys.modules.get(module), "__file__", None)
    if module == "__main__" or module.endswith(".py"):
        assert home is not None
        module = Path(home).resolve().relative_to(folder).as_posix()
    return UserCode(
        hash=state,
        folder=str(folder),
        files={path.relative_to(folder).as_posix(): path.read_bytes() for path in paths},
        paths=tuple(root.relative_to(folder).as_posix() for root in searched if root.is_relative_to(folder)),
        module=module,
    )
