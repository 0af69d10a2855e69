"""What a benchmark really measures: leaks, negatives that give themselves away, degree bias.

The subpackage can be called: ``te.audit("cora", "heart")`` is ``te.audit.audit("cora", "heart")``.
"""

import sys

from trueedge.audit.audit import audit
from trueedge.audit.callable_module import AuditModule
from trueedge.audit.check import Check, Finding, Skipped, Verdict, catalogue
from trueedge.audit.findings import Audit, Problem
from trueedge.audit.subject import LinkSubject, Subject

__all__ = [
    "Audit",
    "Check",
    "Finding",
    "LinkSubject",
    "Problem",
    "Skipped",
    "Subject",
    "Verdict",
    "audit",
    "catalogue",
]

sys.modules[__name__].__class__ = AuditModule
