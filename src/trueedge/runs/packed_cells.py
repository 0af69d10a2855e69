"""Cells on their way to another process."""

from __future__ import annotations

import sys
from dataclasses import replace
from operator import attrgetter
from types import ModuleType
from typing import Any

from trueedge.errors import InputError
from trueedge.runs.cells import Cell
from trueedge.runs.opened_files import imported, loaded

# A cell without its method, the method's module and class, and its settings.
PackedCell = tuple[Cell, str, str, dict[str, Any]]


def packed(cell: Cell) -> PackedCell:
    """Return a cell with its method by name, since a class from a user's file cannot be pickled."""
    kind = type(cell.method)
    module = sys.modules.get(kind.__module__)
    typed_in = kind.__module__ == "__main__" and not hasattr(module, "__file__")
    try:
        found = None if typed_in else attrgetter(kind.__qualname__)(module)
    except AttributeError:
        found = None
    if found is not kind:
        raise InputError(
            f"{cell.method.name}: no other process can import the class {kind.__qualname__}; define it at the"
            " top level of a file, or use one job"
        )
    bare = replace(cell, method=None)  # type: ignore[arg-type]
    return bare, kind.__module__, kind.__qualname__, cell.method.settings()


def unpacked(sent: PackedCell) -> Cell:
    """Return the cell; the module of its method is imported."""
    bare, module, name, settings = sent
    kind = attrgetter(name)(_module(module))
    return replace(bare, method=kind(**settings))


def _module(name: str) -> ModuleType:
    """Return a module by its name; a user's own file has its path as name."""
    return imported(name) if name in sys.modules or not name.endswith(".py") else loaded(name, name)
