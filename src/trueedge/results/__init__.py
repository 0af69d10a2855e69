"""Records of what was run, and the store they are kept in."""

from trueedge.results.cells import Cell, Outcome, run, run_cells
from trueedge.results.certificate import certify
from trueedge.results.certificate_check import Verification, verify
from trueedge.results.export import export
from trueedge.results.record import Record
from trueedge.results.store import Store
from trueedge.results.summary import Row, summarise
from trueedge.results.workers import Workers

__all__ = [
    "Cell",
    "Outcome",
    "Record",
    "Row",
    "Store",
    "Verification",
    "Workers",
    "certify",
    "export",
    "run",
    "run_cells",
    "summarise",
    "verify",
]
