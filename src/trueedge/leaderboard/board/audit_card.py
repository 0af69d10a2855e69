"""The audit's findings about a task, kept beside its card as ``audit.json``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trueedge.audit.audit import audit as examine
from trueedge.audit.check import catalogue as checks
from trueedge.errors import InputError
from trueedge.files.cards import read_json
from trueedge.files.writing import write_text
from trueedge.tasks import Task

FILE = "audit.json"
FORMAT = "trueedge audit card"
FIELDS = ("check", "verdict", "shown", "sentence", "advice")


def write_audit(folder: Path, task: Task) -> Path | None:
    """Audit a task and write what was found, without times and machines: the same bytes everywhere.

    Returns the path, or None for a kind of task that has no checks.
    """
    if not checks(task.kind):
        return None
    audit = examine(task)
    findings = [{name: str(getattr(one, name)) for name in FIELDS} for one in audit.findings]
    content = {
        "format": FORMAT,
        "dataset": audit.dataset,
        "protocol": audit.protocol,
        "seed": audit.seed,
        "sizes": dict(audit.sizes),
        "findings": findings,
        "skipped": dict(audit.skipped),
        "notes": list(audit.notes),
    }
    return write_text(folder / FILE, json.dumps(content, indent=2, ensure_ascii=False) + "\n", "the audit")


def read_audit(folder: Path) -> Mapping[str, Any] | None:
    """Return the findings of a task's folder, or None if there are none."""
    path = folder / FILE
    if not path.exists():
        return None
    found = read_json(path, absent=str(folder), damaged=f"{path}: it")
    findings = found.get("findings") if isinstance(found, dict) and found.get("format") == FORMAT else None
    fits = isinstance(findings, list) and all(
        isinstance(one, dict) and all(isinstance(one.get(name), str) for name in FIELDS) for one in findings
    )
    if not fits:
        raise InputError(f"{path} does not hold the findings of an audit")
    return dict(found)
