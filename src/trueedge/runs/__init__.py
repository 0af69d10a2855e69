"""Run cells (a task, a method and a seed); each gives a record."""

import importlib
import warnings
from typing import Any

from trueedge.runs.cells import Cell, Outcome, default_protocol
from trueedge.runs.driver import drive, run, run_cells, runner_for, runner_in_use, workers
from trueedge.runs.processes import Processes
from trueedge.runs.runner import InProcess, Runner, StoredOnly

__all__ = [
    "Cell",
    "InProcess",
    "Outcome",
    "Processes",
    "Runner",
    "StoredOnly",
    "default_protocol",
    "drive",
    "run",
    "run_cells",
    "runner_for",
    "runner_in_use",
]


def __getattr__(name: str) -> Any:
    if name == "engines":
        return importlib.import_module("trueedge.runs.engines")
    if name == "Workers":
        warnings.warn(
            "trueedge.runs.Workers is deprecated: run_cells(cells, store, jobs=4) does the same",
            DeprecationWarning,
            stacklevel=2,
        )
        return workers
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
