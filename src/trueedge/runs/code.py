"""The code behind a record: of its method, and of what makes and evaluates its task.

A hash covers a file and everything it imports, found in the source without importing it.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import re
import secrets
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from trueedge import datasets, metrics
from trueedge.files.digests import file_state
from trueedge.methods import Method
from trueedge.runs.closures import Closure, closure, closure_hash, label, own_label
from trueedge.runs.imports import PACKAGE, module_file
from trueedge.runs.live_code import LiveCode
from trueedge.runs.opened_files import AT_IMPORT
from trueedge.tasks import Task
from trueedge.tasks.protocols import Data, get


@dataclass(frozen=True)
class Code:
    """The code that a result depends on.

    Attributes:
        hash: the same for the same code; random for code that cannot be hashed.
        reason: why it cannot be hashed, and so no stored record may be used; empty if it can.
        folder: the folder of the user's own code, to which names of files are relative; None for our own.
        files: the data files that the user's own code names.
        since: when the user's class was defined, in nanoseconds: it may not have seen files that are newer.
    """

    hash: str
    reason: str = ""
    folder: Path | None = None
    files: frozenset[Path] = frozenset()
    since: int = sys.maxsize


def method_code(kind: type[Method]) -> Code:
    """Return the code of a method: its class, those it is derived from, and all that their files import."""
    if kind.__module__.startswith("trueedge."):
        return _own_method_code(kind)
    return _users_code(kind, {kind.__name__: kind}, since=getattr(kind, "_defined_at", sys.maxsize))


@cache
def _own_method_code(kind: type[Method]) -> Code:
    return Code(closure_hash(source_files(kind)))


def source_files(kind: type[Method]) -> list[Path]:
    """Return the files of a method's class and of the methods it is derived from."""
    owners = (owner for owner in kind.__mro__ if issubclass(owner, Method))
    found = (inspect.getsourcefile(owner) for owner in owners)
    return list(dict.fromkeys(Path(path) for path in found if path is not None))


def task_code(asked: str | Data | Task, protocol: str) -> Code:
    """Return the code that reads a source, makes its task and evaluates it, with all it imports."""
    if isinstance(asked, Task):
        cards: list[Any] = [type(asked)]
        named = {re.sub(r"@\d+", "@K", name) for name in asked.metrics}
        measured = [metric for metric in metrics.catalogue() if metric.pattern in named]
    else:
        cards = [get(protocol)]
        if isinstance(asked, str) and datasets.is_name(asked):
            cards.append(datasets.get(asked))
        measured = list(metrics.catalogue())
    theirs = {_name(card): card for card in cards if not _is_ours(card)}
    # A task finds metrics by name, not by import. Which of the user's own a protocol of ours uses is known.
    if theirs or isinstance(asked, Task):
        theirs |= {_name(metric): metric for metric in measured if not _is_ours(metric)}
    homes = {home for card in cards for home in _homes(card) if home.startswith("trueedge.")}
    own = _own_modules_hash(frozenset(homes | _metric_homes()))
    if not theirs:
        return Code(own)
    return _users_code(next(iter(theirs.values())), theirs, known=own)


@cache
def _metric_homes() -> frozenset[str]:
    found = (home for metric in metrics.catalogue() for home in _homes(metric))
    return frozenset(home for home in found if home.startswith("trueedge."))


def _name(card: object) -> str:
    return str(getattr(card, "name", "") or getattr(card, "pattern", "") or getattr(card, "__name__", ""))


def _is_ours(card: object) -> bool:
    return all(home.startswith("trueedge.") for home in _homes(card))


def _homes(card: object) -> Iterator[str]:
    """Yield the modules of a card's functions, and the module that registered it, if known."""
    if isinstance(card, type):
        yield card.__module__
        return
    if module := getattr(card, "module", ""):
        yield module
    left = list(vars(card).values())
    while left:
        value = left.pop()
        if isinstance(value, partial):
            left += [value.func, *value.args, *value.keywords.values()]
        elif callable(value) and getattr(value, "__module__", None):
            yield value.__module__


def _modules_hash(names: frozenset[str]) -> str:
    return closure_hash(path for path in map(module_file, names) if path is not None)


_own_modules_hash = cache(_modules_hash)


def _users_code(owner: object, things: dict[str, Any], known: str = "", since: int = sys.maxsize) -> Code:
    """Return the code of the user's own classes and cards, with the hash of our own code behind them."""
    live = LiveCode()
    for name, thing in things.items():
        if isinstance(thing, type):
            live.add(name, thing)
            continue
        home = sys.modules.get(getattr(thing, "module", ""))
        if home is not None and not home.__name__.startswith("trueedge."):
            live.add(home.__name__, home)
        for part, value in vars(thing).items():
            live.add(f"{name}.{part}", value)
    base = next((path.parent for path in live.roots if not path.is_relative_to(PACKAGE)), Path.cwd())
    reasons = list(live.reasons)
    try:
        found = closure(live.roots, live.names, base)
    except OSError as error:
        found = Closure()
        reasons.append(f"{error.filename} cannot be read: {error.strerror}")
    data = found.data | _read_at_import(things) - set(found.code)
    reasons += (f"{path.name} was changed after it was imported" for path in _outdated(found.code, since))
    if reasons:
        return Code(_token(owner), reasons[0], base, frozenset(data), since)
    listed = sorted(f"{label(path, base)} {digest}" for path, digest in found.code.items())
    text = "\n".join([known, *listed, *live.parts])
    return Code(hashlib.sha256(text.encode()).hexdigest(), "", base, frozenset(data), since)


def _read_at_import(things: dict[str, Any]) -> set[Path]:
    """Return the files that were read while the modules of the user's things were imported, if known."""
    homes = {home for thing in things.values() for home in _homes(thing)}
    opened = [AT_IMPORT[home] for home in homes if home in AT_IMPORT]
    return {path for one in opened for path in one.read if path not in one.own_output()}


_TOKENS: WeakKeyDictionary[Any, str] = WeakKeyDictionary()


def _token(owner: object) -> str:
    """Return what takes the place of a hash: it stays with a class and is met nowhere else."""
    kept = owner if isinstance(owner, type) else type(owner)
    return f"{_TOKENS.setdefault(kept, secrets.token_hex(16))} {_name(owner)}"


# What a loaded module was when it was first seen here: its specification, and the hash of its file.
_LOADED: dict[Path, tuple[object, str]] = {}


def _outdated(code: dict[Path, str], since: int) -> Iterator[Path]:
    """Yield files of the user that are not what was loaded from them: then the hash is of other code."""
    theirs = {path: digest for path, digest in code.items() if not own_label(path)}
    modules = _loaded_from({path.name for path in theirs})
    for path, digest in theirs.items():
        module = modules.get(path)
        if module is None:
            continue
        # A module that is loaded again gets a new specification; a script has none.
        loaded = getattr(module, "__spec__", None) or module
        known = _LOADED.get(path)
        if known is None or known[0] is not loaded:
            newer = max(file_state(path)[3:]) > since
            known = _LOADED[path] = (loaded, "" if newer else digest)
        if known[1] != digest:
            yield path


def _loaded_from(names: set[str]) -> dict[Path, ModuleType]:
    """Return the loaded modules by their files, of files with some names."""
    found = {}
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and file.rpartition(os.sep)[2] in names:
            found[Path(file).resolve()] = module
    return found
