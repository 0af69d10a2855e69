"""What readers are served: standings as JSON and CSV, and the pages; the worker writes them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress

from trueedge.errors import InputError
from trueedge.files.writing import write_text
from trueedge.leaderboard.board import Board, BoardTask
from trueedge.leaderboard.board.standings import standing_json, standing_of
from trueedge.leaderboard.pages.downloads import standing_csv
from trueedge.leaderboard.server.logs import event
from trueedge.leaderboard.server.places import Places

INDEX = "boards.json"


def write_standings(board: Board, places: Places, names: Iterable[str] | None = None) -> None:
    """Write the standing of some tasks, or of all, and the list of tasks.

    Args:
        board: the board.
        places: where they go.
        names: the tasks that changed; None for all.
    """
    chosen = None if names is None else set(names)
    listed = []
    for task in _tasks(board):
        listed.append(_summary(task))
        if chosen is not None and task.name not in chosen:
            continue
        try:
            standing = standing_of(task, board.entries(task, damaged=True), board.folder / task.name)
        except InputError as error:
            event("error", "standing", task=task.name, error=str(error))
            continue
        write_text(places.standings / f"{task.name}.json", standing_json(standing), "the standing")
        write_text(places.standings / f"{task.name}.csv", standing_csv(standing), "the standing")
    content = {"title": board.title, "boards": listed}
    write_text(
        places.standings / INDEX, json.dumps(content, ensure_ascii=False, indent=1) + "\n", "the standing"
    )


def _tasks(board: Board) -> list[BoardTask]:
    found = []
    for path in sorted(board.folder.glob("[!.]*/task.toml")):
        try:
            found.append(board.task(path.parent.name))
        except InputError as error:
            event("error", "task", task=path.parent.name, error=str(error))
    return found


def _summary(task: BoardTask) -> dict[str, object]:
    return {
        "name": task.name,
        "title": task.title,
        "dataset": task.dataset,
        "protocol": task.protocol,
        "kind": task.kind,
        "metric": task.headline,
        "version": task.version,
        "superseded_by": task.superseded_by or None,
        "seeds": len(task.seeds),
        "untested": task.untested or None,
        "hidden": dict(task.hidden) or None,
    }


def folder_times(board: Board) -> dict[str, int]:
    """Return when the folder of each task, or that of one of its entries, was changed last.

    A file that is written whole, as all commands do, changes the time of its folder.
    """
    found = {}
    for task in os.scandir(board.folder):
        if task.is_dir(follow_symlinks=False) and not task.name.startswith("."):
            with suppress(OSError):  # it was just removed
                places = [task, *(one for one in os.scandir(task.path) if one.is_dir(follow_symlinks=False))]
                found[task.name] = max(one.stat(follow_symlinks=False).st_mtime_ns for one in places)
    return found


def publish(board: Board, places: Places) -> None:
    """Build the pages of what changed."""
    from trueedge.leaderboard.pages import build

    build(board, places.site)
