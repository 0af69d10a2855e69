"""What a benchmark really measures: leaks, negatives that give themselves away, degree bias."""

from trueedge.audit.audit import Audit, audit
from trueedge.audit.check import Check, Finding, Skipped, Verdict, catalogue
from trueedge.audit.subject import LinkSubject, Subject

__all__ = ["Audit", "Check", "Finding", "LinkSubject", "Skipped", "Subject", "Verdict", "audit", "catalogue"]
