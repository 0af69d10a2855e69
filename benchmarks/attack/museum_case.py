"""The museum of cheating scorers as a category of attacks, where it is there."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.attack.outcomes import Case, Family, WrongNumberError


def museum_families() -> dict[str, Family]:
    """Return a family for each cheat and each task of the museum."""
    museum = importlib.import_module("benchmarks.attack.museum")
    tasks = list(museum.tasks())
    return {
        f"{name} · {task.protocol}": partial(_judge, museum.judge, name, task)
        for task in tasks
        for name in museum.CHEATS
    }


def _judge(judge: Callable[[str, Any], Any], name: str, task: Any, case: Case) -> None:
    verdict = judge(name, task)
    case.tell(verdict.reason)
    if verdict.outcome == "got through":
        raise WrongNumberError(f"{name} lifts {task.headline} from {verdict.honest} to {verdict.value}")
    if verdict.outcome == "named":
        case.notes.append(verdict.reason)
