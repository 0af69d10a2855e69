"""What a benchmark really measures: leaks, negatives that give themselves away, degree bias."""

from trueedge.audit.audit import Audit, audit
from trueedge.audit.check import Check, Finding, Skipped, Verdict, catalogue
from trueedge.audit.subject import Subject

__all__ = ["Audit", "Check", "Finding", "Skipped", "Subject", "Verdict", "audit", "catalogue"]
