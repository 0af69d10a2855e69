"""Names of version 0.1 that have moved: they work for one more version, with a warning."""

from __future__ import annotations

import importlib
import sys
import warnings
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

MODULES = {
    "trueedge.metrics.rank_tests": "trueedge.statistics.rank_tests",
    "trueedge.results.comparison": "trueedge.analysis.comparison",
    "trueedge.results.figure": "trueedge.analysis.figure",
    "trueedge.results.rankings": "trueedge.analysis.rankings",
    "trueedge.results.slices": "trueedge.analysis.slices",
    "trueedge.results.tables": "trueedge.analysis.tables",
    "trueedge.studies.clustering": "trueedge.tasks.communities",
}


def warn(old: str, new: str) -> None:
    """Warn that a name has moved."""
    warnings.warn(
        f"{old} is now {new}; the old name will be removed in version 0.3", DeprecationWarning, stacklevel=3
    )


def find(owner: str, name: str, homes: dict[str, str]) -> Any:
    """Return the object of a name that moved out of a module (``owner``); ``homes`` has its full new name."""
    if name not in homes:
        raise AttributeError(f"module {owner!r} has no attribute {name!r}")
    warn(f"{owner}.{name}", homes[name])
    module, _, attribute = homes[name].rpartition(".")
    return getattr(importlib.import_module(module), attribute)


class _Finder:
    """Imports a module by the name it had."""

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        del path, target
        return ModuleSpec(fullname, self) if fullname in MODULES else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        warn(spec.name, MODULES[spec.name])
        return importlib.import_module(MODULES[spec.name])

    def exec_module(self, module: ModuleType) -> None:
        # The import system has put the old name's specification in its place.
        module.__spec__ = ModuleSpec(module.__name__, None, origin=module.__file__)


sys.meta_path.append(_Finder())
