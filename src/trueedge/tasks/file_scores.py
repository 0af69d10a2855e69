"""Match a file of scores with the pairs of a task."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.scorers.pair_titles import INSTEAD, PairsTitle
from trueedge.scorers.score_files import FileScores, table

if TYPE_CHECKING:
    from trueedge.tasks.base import Task


def title_of(task: Task, part: str) -> PairsTitle:
    """Return the title of a part of a task."""
    return PairsTitle.of(task.dataset, task.protocol, task.seed, part, task.hash)


def match_file(
    scores: FileScores,
    task: Task,
    part: str,
    pairs: Callable[[str], NDArray[np.int64]],
    labels: Sequence[str] | None,
) -> FileScores:
    """Return the scores of a file by pair, or raise an InputError if they are not of a part of a task.

    Scores that come with their pairs stay as they are. Scores without pairs must say whose they are.

    Args:
        scores: the scores of the file.
        task: the task.
        part: the part.
        pairs: returns the distinct pairs of a part, int64 (n, 2), in the order of a file.
        labels: the names of the nodes, for messages.
    """
    if scores.positives is not None:
        return scores
    ours, theirs, in_order = title_of(task, part), scores.title, scores.in_order
    if in_order is not None and theirs is None:
        raise InputError(f"{scores.name} holds scores but does not say of which pairs: {INSTEAD}")
    if theirs is not None and not theirs.agrees_with(
        replace(ours, hash=task.hash), part=in_order is not None
    ):
        raise InputError(f"{scores.name} holds scores of {theirs.words}, not of {ours.words}")
    if in_order is None or theirs is None:
        return scores
    distinct = pairs(part)
    if len(in_order) != len(distinct):
        raise InputError(
            f"{scores.name} holds {len(in_order)} scores, but the {part} part of {task.dataset} has"
            f" {len(distinct)} distinct pairs"
        )
    others = [name for name in task.part_names if name != part and not theirs.part]
    if any(len(pairs(name)) == len(distinct) for name in others):
        raise InputError(
            f"{scores.name} does not say of which part its scores are, and both have {len(distinct)} pairs:"
            f" its 'task' must be {str(ours)!r}"
        )
    return table(scores.name, distinct, in_order, labels)
