"""Files that a user's own code reads while it runs, whatever way it finds their names."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, source_from_cache, spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from trueedge.files.digests import file_digest, file_state
from trueedge.runs.imports import PACKAGE, is_users

# Folders of the system, which hold no data of the user.
_SYSTEM = [
    Path("/", one) for one in ("proc", "sys", "dev", "etc", "run", "usr", "lib", "lib64", "bin", "sbin")
]
# Compiled code, which is made anew when its source changes.
_COMPILED = (".pyc", ".nbi", ".nbc")


@dataclass
class OpenedFiles:
    """The files that were opened in a block.

    Attributes:
        read: the state of each when it was first opened for reading.
        updated: those that were opened for both.
        written: those that were opened for writing, or got their name in the block.
    """

    read: dict[Path, object] = field(default_factory=dict)
    updated: set[Path] = field(default_factory=set)
    written: set[Path] = field(default_factory=set)

    def own_output(self) -> set[Path]:
        """Return the files that the block has written: they are a result, not an input."""
        return {*self.written, *(path for path in self.updated if _state(path) != self.read.get(path))}

    def inputs(self) -> dict[Path, str]:
        """Return the hash of each file that was read and not written; files that are gone do not count."""
        found, output = {}, self.own_output()
        for path in self.read:
            with suppress(OSError):
                if path not in output and path.is_file():
                    found[path] = file_digest(path)
        return found

    def changed(self) -> list[Path]:
        """Return the files that were read, and that somebody else has changed since."""
        left = {path: state for path, state in self.read.items() if path not in self.own_output()}
        return [path for path, state in left.items() if path.exists() and _state(path) != state]


# What was read while a module of the user was imported by trueedge, by the module's name.
AT_IMPORT: dict[str, OpenedFiles] = {}
_watching: list[OpenedFiles] = []
_installed = _torch_tells = False


def imported(name: str) -> ModuleType:
    """Import a user's module by its name, and keep in mind which files it reads."""
    if name in sys.modules:
        return sys.modules[name]
    with watched_files() as AT_IMPORT[name]:
        return import_module(name)


def loaded(name: str, path: str | Path) -> ModuleType:
    """Import a user's file under a name, and keep in mind which files it reads."""
    spec = spec_from_file_location(name, path, loader=_SourceLoader(name, str(path)))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    with watched_files() as AT_IMPORT[name]:
        spec.loader.exec_module(module)
    return module


class _SourceLoader(SourceFileLoader):
    """Compiles a file every time.

    Python compares times in seconds and sizes: it would run the compiled code of an older file that was
    replaced within the second by one of the same size.
    """

    def get_code(self, fullname: str) -> CodeType:
        """Return the code of the file as it is now."""
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


@contextmanager
def watched_files() -> Iterator[OpenedFiles]:
    """Yield the files that Python code opens in the block, in any thread of this process.

    Libraries that open files by themselves, such as HDF5, are not seen.
    """
    global _installed
    if not _installed:
        # Python has no way to take a hook back; without a block to watch it does next to nothing.
        sys.addaudithook(_hook)
        _installed = True
    _watch_torch()
    found = OpenedFiles()
    _watching.append(found)
    try:
        yield found
    finally:
        _watching[:] = [one for one in _watching if one is not found]


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if not _watching or event not in ("open", "os.rename", "sqlite3.connect"):
        return
    with suppress(Exception):
        _watch_torch()
        if event == "os.rename":
            _note(arguments[1], writes=True)
        elif event == "sqlite3.connect":
            _note(arguments[0], reads=True, writes=True)
        else:
            path, mode, flags = arguments
            if isinstance(mode, str):
                _note(path, "r" in mode, bool(set("wax+").intersection(mode)))
            else:
                new = bool(flags & (os.O_CREAT | os.O_TRUNC | os.O_APPEND))
                kind = flags & (os.O_WRONLY | os.O_RDWR)
                _note(path, kind != os.O_WRONLY and not new, new or kind != os.O_RDONLY)


def _watch_torch() -> None:
    """Let torch tell which files it writes: ``torch.save`` opens them without Python."""
    global _torch_tells
    writer = getattr(sys.modules.get("torch.serialization"), "_open_zipfile_writer_file", None)
    if _torch_tells or writer is None:
        return
    _torch_tells = True
    start = writer.__init__

    def noted(self: Any, name: Any, *given: Any, **named: Any) -> None:
        with suppress(Exception):
            _note(name, writes=True)
        start(self, name, *given, **named)

    writer.__init__ = noted


def _note(path: Any, reads: bool = False, writes: bool = False) -> None:
    if isinstance(path, int):
        return
    place = Path(os.path.realpath(os.fsdecode(path)))
    if place.suffix == ".pyc":
        place = Path(source_from_cache(str(place)))
    if not _counts(place):
        return
    for one in _watching:
        if not reads:
            one.written.add(place)
        elif place.is_file():
            one.read.setdefault(place, file_state(place))
            one.updated |= {place} if writes else set()


def _state(path: Path) -> object:
    try:
        return file_state(path)
    except OSError:
        return None


def _counts(path: Path) -> bool:
    """Return whether a file may be the user's: not of Python, of a package, of the system, or compiled."""
    if path.suffix in _COMPILED or path.is_relative_to(PACKAGE) or not is_users(path):
        return False
    return not any(path.is_relative_to(folder) for folder in _SYSTEM)
