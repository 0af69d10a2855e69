"""A module that can be called: ``te.audit(...)`` is an audit, and ``te.audit.Finding`` a name in it."""

from __future__ import annotations

import inspect
from types import ModuleType

from trueedge.audit.audit import audit


class AuditModule(ModuleType):
    """The subpackage of audits; to call it is to call :func:`trueedge.audit.audit`."""

    __call__ = staticmethod(audit)
    # Without it, inspect takes the first argument for the module.
    __signature__ = inspect.signature(audit)
