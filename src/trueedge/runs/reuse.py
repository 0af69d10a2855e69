"""Which stored records may be used again: those whose code and files are what they were."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from trueedge.files.digests import file_digest, file_state
from trueedge.results.record import Record
from trueedge.runs.code import Code
from trueedge.runs.opened_files import OpenedFiles

# Files that earlier runs of a class, or of a protocol, have read in this process: they may be in memory.
_READ: WeakKeyDictionary[type, dict[str, dict[Path, str]]] = WeakKeyDictionary()


def is_unchanged(record: Record, code: Code) -> bool:
    """Return whether the files behind a record are what they were, and nothing else speaks against it."""
    origin = record.provenance
    if code.reason or origin.get("not_reused"):
        return False
    known: Mapping[str, str] = origin.get("files", {})
    folder = code.folder or Path.cwd()
    places = {_label(path, folder): path for path in code.files} | {one: _place(one, folder) for one in known}
    for name in origin.get("wrote", ()):
        places.pop(name, None)
    return all(_digest(path) == known.get(name) for name, path in places.items())


def digests_before(code: Code) -> dict[Path, str | None]:
    """Return the hash of each file that code names, to be compared after the run."""
    return {path: _digest(path) for path in code.files}


def dependencies(
    kind: type,
    protocol: str,
    code: Code,
    after: Code,
    before: Mapping[Path, str | None],
    opened: OpenedFiles,
    task_files: OpenedFiles,
) -> dict[str, Any]:
    """Return what a record says of its files: ``files`` with hashes, ``wrote``, ``not_reused`` (a reason).

    Args:
        kind: the class of the method.
        protocol: the protocol that made the task.
        code: its code before the run.
        after: its code after the run.
        before: the hashes of the files that it names, before the run.
        opened: the files that were opened in the run.
        task_files: the files that were opened to make the task.
    """
    if code.folder is None:
        return {}
    output = opened.own_output() | task_files.own_output()
    named = {path: digest for path, digest in before.items() if digest is not None and path not in output}
    earlier = _READ.setdefault(kind, {})
    read: dict[Path, str] = {}
    for what, seen in ((f"task {protocol}", task_files), ("run", opened)):
        known = earlier.setdefault(what, {})
        known |= seen.inputs()
        read |= known
    changed = [*opened.changed(), *task_files.changed()]
    reason = code.reason or after.reason or _change(code, after, named, changed, set(read))
    files = sorted({**named, **read}.items())
    return {
        "files": {_label(path, code.folder): digest for path, digest in files},
        "wrote": sorted(_label(path, code.folder) for path in output if path in code.files or path.exists()),
        **({"not_reused": reason} if reason else {}),
    }


def _change(
    code: Code, after: Code, named: Mapping[Path, str], changed: Sequence[Path], seen: set[Path]
) -> str:
    """Return what has changed during a run, or since the code was imported, in words, or nothing."""
    if code.hash != after.hash:
        return "its code, or a value that it refers to, changed while it ran"
    if changed:
        return f"{changed[0].name} was changed while it ran"
    for path, digest in named.items():
        if path not in seen and _digest(path) != digest:
            return f"{path.name} was changed while it ran"
        # It may have been read when the code was imported, or by a library that does not tell.
        with suppress(OSError):
            if path not in seen and max(file_state(path)[3:]) > code.since:
                return f"{path.name} was changed after the code that names it was imported"
    return ""


def _digest(path: Path) -> str | None:
    try:
        return file_digest(path) if path.is_file() else None
    except OSError:
        return None


def _label(path: Path, folder: Path) -> str:
    """Return the name of a file in a record: relative to the folder of the code or to the home folder."""
    if path.is_relative_to(folder):
        return path.relative_to(folder).as_posix()
    home = Path(os.path.expanduser("~"))
    return f"~/{path.relative_to(home).as_posix()}" if path.is_relative_to(home) else str(path)


def _place(label: str, folder: Path) -> Path:
    return folder / os.path.expanduser(label)
