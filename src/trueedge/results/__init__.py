"""Records of what was run, the store they are kept in, and certificates."""

from trueedge.results.certificate import certify
from trueedge.results.certificate_check import Verification, verify
from trueedge.results.export import export
from trueedge.results.record import Record
from trueedge.results.store import Store

__all__ = ["Record", "Store", "Verification", "certify", "export", "verify"]
