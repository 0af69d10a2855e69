"""Records of what was run, the store they are kept in, and certificates."""

from typing import Any

from trueedge import moved
from trueedge.results.certificate import certify
from trueedge.results.certificate_check import Verification, verify
from trueedge.results.exporting import export
from trueedge.results.frames import frame
from trueedge.results.record import Record
from trueedge.results.store import Store

__all__ = ["Record", "Store", "Verification", "certify", "export", "frame", "verify"]

_HOMES = {
    **{name: f"trueedge.runs.{name}" for name in ("Cell", "Outcome", "run", "run_cells")},
    **{name: f"trueedge.analysis.{name}" for name in ("Row", "summarise")},
    "Workers": "trueedge.runs.Workers",
}


def __getattr__(name: str) -> Any:
    return moved.find(__name__, name, _HOMES)
