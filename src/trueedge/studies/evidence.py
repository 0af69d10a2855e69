"""What a study came to, as a file that can be shown and kept."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from trueedge.errors import InputError
from trueedge.studies.study import Finding, Study


def write(study: Study, finding: Finding, path: str | Path) -> Path:
    """Write a finding as JSON: every number, ours and theirs, and where ours were computed.

    Args:
        study: what was run.
        finding: what it came to.
        path: a ``.json`` file.
    """
    path = Path(path)
    if path.suffix != ".json":
        raise InputError(f"{path}: a study is written to a .json file")
    card = {
        "study": study.name,
        "title": study.title,
        "citation": study.citation,
        "decimals": study.decimals,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "places": finding.places,
        "missing": finding.missing,
        "rows": [asdict(row) for row in finding.rows],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(card, indent=1) + "\n")
    return path
