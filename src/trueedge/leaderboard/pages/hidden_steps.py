"""What to do with a task whose labels are hidden: answer it while its season is open, check it afterwards."""

from __future__ import annotations

from collections.abc import Sequence

from trueedge.leaderboard.board.task_card import BoardTask

#: What to do, and the command for it.
Step = tuple[str, str]
# Where the organiser has released the task, in words that stand for a folder.
LABELS = "labels/task"


def takes_certificates(task: BoardTask) -> bool:
    """Return whether entries of a task are certificates, and it takes further ones."""
    return not task.hidden and not task.superseded_by


def takes_scores(task: BoardTask) -> bool:
    """Return whether a judge scores submissions to a task."""
    return task.labels_hidden and not task.superseded_by


def steps_to_answer(name: str) -> list[Step]:
    """Return how to submit to a hidden task.

    Args:
        name: the name of the task.
    """
    return [
        (
            "Ask the organiser of the board for the public folder of the task, here called PUBLIC, and for a "
            "token of your team. The folder holds the training data and the candidates.",
            "export TRUEEDGE_TOKEN=TOKEN",
        ),
        (
            "Fit your method on the training data and score all candidates.",
            "trueedge leaderboard answer PUBLIC -m mine.py:Mine -o scores.npy",
        ),
        (
            "Submit the scores to the server of the board, with your names and an SPDX licence.",
            f'trueedge submit scores.npy --to https://SERVER --task {name} --name Mine --author "Your Name" '
            "--licence MIT",
        ),
    ]


def verify_with_labels(path: str) -> str:
    """Return the command that compares a certificate with the released task."""
    return f"trueedge verify {path} --task {LABELS}"


def steps_after_the_end(task: BoardTask, entries: Sequence[str]) -> list[Step]:
    """Return how to check a hidden task whose labels were released, and how to evaluate on it.

    Args:
        task: the task.
        entries: the names of its entries.
    """
    path = f"{task.name}/{entries[0] if entries else 'ENTRY'}/seed-{min(task.seeds, default=0)}.json"
    return [
        (
            "The season has ended. The split and the negatives were drawn with a secret key, so no ordinary "
            f"seed makes this task. The organiser has released it as the folder {LABELS}. Any entry can be "
            "checked with it.",
            verify_with_labels(path),
        ),
        (
            "Other methods can be evaluated on the same task.",
            f"trueedge run {LABELS} -m METHOD --keep-scores",
        ),
    ]
