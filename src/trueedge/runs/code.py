"""Hashes of the code behind a record: of its method, and of what makes and evaluates its task."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path

from trueedge import datasets, metrics
from trueedge.graph import Graph
from trueedge.methods import Method
from trueedge.runs.imports import closure_hash, module_file
from trueedge.tasks import Task
from trueedge.tasks.protocols import get


@cache
def code_hash(kind: type[Method]) -> str:
    """Return a hash of a method's file and of all it imports; empty where its source cannot be read."""
    try:
        return closure_hash(source_files(kind))
    except (TypeError, OSError):
        return ""


def source_files(kind: type[Method]) -> list[Path]:
    """Return the files of a method's class and of the methods it is derived from."""
    owners = (owner for owner in kind.__mro__ if issubclass(owner, Method))
    found = (inspect.getsourcefile(owner) for owner in owners)
    return list(dict.fromkeys(Path(path) for path in found if path is not None))


def task_code_hash(source: str | Graph | Task, protocol: str) -> str:
    """Return a hash of the code that makes a task and evaluates scores on it, with all it imports.

    Args:
        source: as in a cell. The reader of a data set counts; so does the class of a task that is given.
        protocol: the protocol's name.
    """
    if isinstance(source, Task):
        homes = {type(source).__module__}
    else:
        homes = {*_homes(get(protocol))}
        if isinstance(source, str) and datasets.is_name(source):
            homes |= {*_homes(datasets.get(source))}
    homes |= _metric_homes()
    # A user may edit a file and import it again. Our own files do not change.
    ours = all(home.startswith("trueedge.") for home in homes)
    return (_own_modules_hash if ours else _modules_hash)(frozenset(homes))


@cache
def _metric_homes() -> frozenset[str]:
    # A task finds metrics by name, so no import leads to them. A user's own come with their protocol.
    found = (home for metric in metrics.catalogue() for home in _homes(metric))
    return frozenset(home for home in found if home.startswith("trueedge."))


def _homes(card: object) -> Iterator[str]:
    """Yield the modules of a card's functions, and the one that registered it where that is known."""
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
    """Return the hash of some modules; what has no file, as in a notebook, is left out."""
    return closure_hash(path for path in map(module_file, names) if path is not None)


_own_modules_hash = cache(_modules_hash)
