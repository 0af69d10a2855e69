"""Make a hidden task: a public folder for participants, and a secret folder for the judge."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.files.writing import new_folder
from trueedge.leaderboard.board import Board
from trueedge.leaderboard.board.board import today
from trueedge.leaderboard.board.text_fields import LONGEST_NAME, date_field, folder_name, text_field
from trueedge.leaderboard.hidden.deriving import for_everyone, without_hints
from trueedge.leaderboard.hidden.drawing import Make, drawn
from trueedge.leaderboard.hidden.folders import check_folders
from trueedge.leaderboard.hidden.hidden_card import HiddenCard
from trueedge.leaderboard.hidden.keyed import keyed_order, new_key
from trueedge.leaderboard.hidden.public_folder import (
    CANDIDATES,
    CARD,
    TASK,
    HiddenTask,
    answer_shape,
    candidates_hash,
)
from trueedge.leaderboard.hidden.secret_folder import Secret
from trueedge.metrics import get
from trueedge.scorers.asking import neutral_direction
from trueedge.tasks import LinkTask, Task

PUBLIC_SHARE = 0.3
# With a few hundred, single negatives and chance decide: 500 tries then climb the ladder by points.
LEAST_UNITS = 1000


def hide(
    make: Make,
    public: str | Path,
    secret: str | Path,
    *,
    board: Board | None = None,
    name: str | None = None,
    season: str = "1",
    closes: str = "",
    public_share: float = PUBLIC_SHARE,
    key: bytes | None = None,
    least_units: int = LEAST_UNITS,
) -> HiddenTask:
    """Divide a task into a public folder, which can be shared, and a secret folder with labels and keys.

    Everything is checked before anything is written, and both folders are written or none.

    Args:
        make: makes the task of a seed, as ``partial(te.task, graph, "uniform")`` does, of data that nobody
            outside has. It gets a secret seed.
        public: a new folder for participants.
        secret: a new folder for the judge, readable by its owner alone.
        board: a board that gets the task.
        name: the name of the task on its board; by default data set and protocol.
        season: the name of the season.
        closes: its last day, as YYYY-MM-DD.
        public_share: the share of the units that the ladder answers with.
        key: the secret key of all draws, 32 bytes; by default a new one.
        least_units: how many test units there must be; fewer than 1,000 do not withstand many tries.
    """
    if not 0 < public_share < 1:
        raise InputError(f"hide: the public share must lie between 0 and 1, got {public_share}")
    closes, season = _checked_day(closes), text_field(season, "the name of the season", LONGEST_NAME)
    check_folders(Path(public), Path(secret), board)
    if name is not None:
        _check_name(name, board)
    own_key, salt = new_key() if key is None else key, new_key()
    task = judged(make, own_key)
    candidates, places = listed(task, own_key)
    fields: dict[str, Any] = {
        "name": name or _name(task),
        "kind": task.kind,
        "dataset": task.dataset,
        "protocol": task.protocol,
        "metric": task.headline,
        "season": season,
        "closes": closes,
        "shape": answer_shape(task, len(candidates)),
        "candidates": candidates_hash(candidates),
        "public_share": public_share,
    }
    draft = Secret(HiddenCard(labels="", **fields), task, places, salt, own_key)
    _check_units(draft, least_units)
    found = replace(draft, card=HiddenCard(labels=draft.labels_hash, **fields))
    _check_name(found.card.name, board)
    _write(found, candidates, Path(public), Path(secret), board)
    return HiddenTask.open(public)


def judged(make: Make, key: bytes) -> Task:
    """Return the task that submissions are judged on.

    When a season has ended, its key is public: whoever has the data can draw the same task again.

    Args:
        make: makes the task of a seed.
        key: the secret key of all draws.
    """
    return without_hints(drawn(make, key), key)


def _write(
    found: Secret, candidates: NDArray[np.int64], public: Path, secret: Path, board: Board | None
) -> None:
    """Write both folders, and the task into its board: all of it or nothing."""
    on_board, made = found.card.board_task(), []
    try:
        with new_folder(public, "the hidden task") as folder:
            for_everyone(found.task).save(folder / TASK)
            np.save(folder / CANDIDATES, candidates, allow_pickle=False)
            (folder / CARD).write_text(found.card.to_json())
            try:
                found.save(secret)
            except OSError as error:
                raise InputError(f"the labels cannot be written to {secret}: {error.strerror}") from None
            made.append(secret)
        made.append(public)
        if board is not None:
            board.add_task(on_board)
    except BaseException:
        for one in made:
            shutil.rmtree(one, ignore_errors=True)
        raise


def listed(task: Task, key: bytes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the candidates of a task, each once and in a secret order, and the place of each question.

    Args:
        task: the task that submissions are judged on.
        key: the secret key of the order.
    """
    questions = task.questions("test").astype(np.int64)
    if isinstance(task, LinkTask):
        questions = neutral_direction(questions)
    distinct, number = np.unique(questions, axis=0, return_inverse=True)
    order = keyed_order(key, "candidates", len(distinct))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return np.ascontiguousarray(distinct[order]), place[number.reshape(-1)]


def _check_units(secret: Secret, least: int) -> None:
    """Refuse a task whose metric has no values for units, or that has too few of these."""
    metric = get(secret.card.metric)
    if metric.values is None or metric.shown != "percent" or not metric.higher_is_better:
        raise InputError(f"{metric.name} is no mean of shares over units, which the ladder needs")
    count = secret.num_units
    if count < least:
        raise InputError(
            f"the test part has {count} units: {least:,} are needed, or answers would be about few labels"
        )


def _check_name(name: str, board: Board | None) -> None:
    folder_name(name, "the name of a task")
    if board is not None and (board.folder / name).exists():
        raise InputError(f"the board has a task {name} already: choose another name with --name")


def _checked_day(closes: str) -> str:
    if not closes:
        return ""
    day = date_field(closes, "the last day of the season")
    if day < today():
        raise InputError(f"the last day of the season, {day}, is over: nobody could submit")
    return day


def _name(task: Task) -> str:
    return re.sub(r"[^a-z0-9]+", "-", f"{task.dataset}-{task.protocol}-hidden".lower()).strip("-")
