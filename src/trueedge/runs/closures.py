"""Python files and all they import, found in the source without importing it."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from trueedge.files.digests import file_digest
from trueedge.runs.imports import PACKAGE, dependencies, is_code, is_users, source
from trueedge.runs.lookups import Lookups, is_file, noted_lookups
from trueedge.runs.named_files import named_files
from trueedge.runs.scanned_source import keep_scans


@dataclass
class Closure:
    """Files and all they import: the hash of each, and the user's data files that they name."""

    code: dict[Path, str] = field(default_factory=dict)
    data: set[Path] = field(default_factory=set)


def closure(roots: Iterable[Path], names: Iterable[str] = (), folder: Path | None = None) -> Closure:
    """Return Python files and all they import; an OSError if one cannot be read.

    Args:
        roots: the files. Of an installed package, all files of the package count.
        names: texts in code without a file, which may name files in the working folder.
        folder: the folder of that code.

    It is found anew only if a file, or an answer that led to one, is no longer what it was.
    """
    asked = (tuple(roots), frozenset(names), folder, os.getcwd(), tuple(sys.path), os.path.expanduser("~"))
    known = _KNOWN.get(asked)
    if known is not None and known[1].still_hold() and _is_unchanged(known[0]):
        return known[0]
    with noted_lookups() as lookups:
        for path in asked[0]:
            is_file(path)  # noted: it may be a link that leads elsewhere later
        left = [path.resolve() for path in asked[0]]
        packages = [one for path in left for one in _package_of(path)]
        found = _followed([*left, *packages], asked[1], folder)
    keep_scans()
    if not packages:
        if len(_KNOWN) >= _MOST_KNOWN:
            _KNOWN.clear()
        _KNOWN[asked] = (found, lookups)
    return found


def _is_unchanged(found: Closure) -> bool:
    try:
        return all(file_digest(path) == digest for path, digest in found.code.items() if not own_label(path))
    except OSError:
        return False


def _followed(left: list[Path], names: Iterable[str], folder: Path | None) -> Closure:
    """Return files and all they import."""
    found = Closure()
    for path in named_files(names, folder or Path.cwd()) if names else ():
        (left.append if path.suffix == ".py" else found.data.add)(path)
    while left:
        path = left.pop()
        if path in found.code:
            continue
        if path.is_relative_to(PACKAGE):
            found.code |= _own_closure(path)
            continue
        read = source(path)
        found.code[path] = read.digest
        left += dependencies(path)
        for data in named_files(read.names, path.parent) if read.names else ():
            if data.suffix == ".py":
                left.append(data)
            elif data not in found.code:
                found.data.add(data)
    return found


# What was found for what was asked. All files of an installed package are looked through every time.
_KNOWN: dict[object, tuple[Closure, Lookups]] = {}
_MOST_KNOWN = 64


@cache
def _own_closure(root: Path) -> dict[Path, str]:
    """Return a file of ours, all it imports and the data files they name: these do not change."""
    found: dict[Path, str] = {}
    left = [root]
    while left:
        path = left.pop()
        if path not in found:
            read = source(path)
            found[path] = read.digest
            found |= {data: file_digest(data) for data in read.data}
            left += dependencies(path)
    return found


def closure_hash(roots: Iterable[Path]) -> str:
    """Return a SHA-256 of Python files and of all they import, independent of where the folders are."""
    found = sorted((label(path, Path.cwd()), digest) for path, digest in closure(roots).code.items())
    return hashlib.sha256("\n".join(f"{name} {digest}" for name, digest in found).encode()).hexdigest()


def _package_of(path: Path) -> list[Path]:
    """Return all files of the installed package that a file belongs to; nothing for other files."""
    if path.is_relative_to(PACKAGE) or is_users(path):
        return []
    top = path.parent
    while (top.parent / "__init__.py").is_file():
        top = top.parent
    if not (top / "__init__.py").is_file():
        return []
    return [one for one in top.rglob("*") if is_code(one) and one.is_file()]


def label(path: Path, base: Path) -> str:
    """Return the name of a file, independent of where its folder is."""
    return own_label(path) or f"user {os.path.relpath(path, base)}"


@cache
def own_label(path: Path) -> str:
    """Return the name of a file of ours; nothing for other files."""
    return path.relative_to(PACKAGE).as_posix() if path.is_relative_to(PACKAGE) else ""
