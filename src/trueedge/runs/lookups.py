"""What a search through the user's files has asked the system, so that it is repeated only when needed."""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

from trueedge.files.digests import SETTLED, file_state

# What tells a file or a folder from another one: its device, its number, and what it is.
_Identity = tuple[int, int, int]
_Search = Callable[[str], Path | None]
# Our own files do not change.
_PACKAGE = str(Path(__file__).resolve().parents[1]) + os.sep


@dataclass
class _Absent:
    """Paths in a folder that do not exist, and the state of the folder when they did not.

    The state is None where the folder does not exist itself, and empty where it was too young to be trusted:
    another entry may have come since without another time.
    """

    names: set[str] = field(default_factory=set)
    state: tuple[int, ...] | None = ()


@dataclass
class Lookups:
    """Questions about files, folders and modules, with their answers.

    Attributes:
        found: paths that exist, with what is there.
        absent: paths that do not exist, by their folder: one look at a folder answers for all of them.
        modules: the files of loaded modules by name; None for modules that are not loaded.
        searched: what functions returned that search for a name in ways of their own.
    """

    found: dict[str, _Identity] = field(default_factory=dict)
    absent: dict[str, _Absent] = field(default_factory=dict)
    modules: dict[str, str | None] = field(default_factory=dict)
    searched: dict[tuple[_Search, str], Path | None] = field(default_factory=dict)

    def note(self, path: str, there: _Identity | None) -> None:
        """Note what is at a path."""
        if there is not None:
            self.found[path] = there
        elif os.path.islink(path):
            # What it points to may appear while its own folder stays the same.
            self.absent.setdefault(path, _Absent()).names.add(path)
        else:
            self.absent.setdefault(os.path.dirname(path), _Absent()).names.add(path)

    def still_hold(self) -> bool:
        """Return whether every answer would be the same now."""
        return (
            all(_module_path(name) == file for name, file in self.modules.items())
            and all(_identity(path) == there for path, there in self.found.items())
            and all(self._is_absent(folder, absent) for folder, absent in self.absent.items())
            and all(search(name) == path for (search, name), path in self.searched.items())
        )

    def _is_absent(self, folder: str, absent: _Absent) -> bool:
        now = time.time_ns()
        try:
            state: tuple[int, ...] | None = file_state(folder or os.curdir)
        except OSError:
            state = None
        if absent.state != () and state == absent.state:
            return True
        if any(_identity(path) is not None for path in absent.names):
            return False
        # The folder was looked at before its entries: what comes later changes its state.
        absent.state = state if state is None or max(state[3:]) < now - SETTLED else ()
        return True


_NOTED: ContextVar[Lookups | None] = ContextVar("lookups", default=None)


@contextmanager
def noted_lookups() -> Iterator[Lookups]:
    """Yield what is asked in the block through the functions of this module."""
    found = Lookups()
    token = _NOTED.set(found)
    try:
        yield found
    finally:
        _NOTED.reset(token)


def is_file(path: str | Path) -> bool:
    """Return whether a path is a file."""
    there = _noted_identity(path)
    return there is not None and stat.S_ISREG(there[2])


def is_folder(path: str | Path) -> bool:
    """Return whether a path is a folder."""
    there = _noted_identity(path)
    return there is not None and stat.S_ISDIR(there[2])


def loaded_path(name: str) -> str | None:
    """Return the path of a loaded module, empty if it has none; None for a module that is not loaded."""
    path = _module_path(name)
    lookups = _NOTED.get()
    if lookups is not None:
        lookups.modules[name] = path
    if path:
        _noted_identity(path)
    return path


def searched(search: _Search, name: str) -> Path | None:
    """Return what a function finds that searches in ways of its own; it is called again to compare."""
    path = search(name)
    lookups = _NOTED.get()
    if lookups is not None:
        lookups.searched[search, name] = path
    return path


def _noted_identity(path: str | Path) -> _Identity | None:
    text = os.fspath(path)
    there = _identity(text)
    lookups = _NOTED.get()
    if lookups is not None and not text.startswith(_PACKAGE):
        lookups.note(text, there)
    return there


def _identity(path: str) -> _Identity | None:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino, stat.S_IFMT(found.st_mode)


def _module_path(name: str) -> str | None:
    if name not in sys.modules:
        return None
    path = getattr(sys.modules[name], "__file__", None)
    return path if isinstance(path, str) else ""
