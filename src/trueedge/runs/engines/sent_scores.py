"""Scores that workers keep: written where the folder of the records is shared, and sent otherwise."""

from __future__ import annotations

import secrets
from dataclasses import replace
from pathlib import Path
from typing import Any

from trueedge.results.kept_scores import FOLDER, HeldScores
from trueedge.runs.cells import Outcome


def token_file(scores_to: Path | None) -> str:
    """Write a file by which workers see whether they share the folder of the records; return its name."""
    if scores_to is None:
        return ""
    name = f"{FOLDER}/.shared-{secrets.token_hex(8)}"
    try:
        (scores_to / FOLDER).mkdir(parents=True, exist_ok=True)
        (scores_to / name).touch()
    except OSError:
        return ""
    return name


def with_scores_to(outcome: Outcome, scores_to: Path | None) -> Outcome:
    """Return an outcome whose scores, which a worker has sent, can be written here."""
    if outcome.scores is None or scores_to is None:
        return outcome
    held: Any = outcome.scores
    return replace(outcome, scores=HeldScores(held, scores_to))
