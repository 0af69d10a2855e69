"""Write what the judge answered into the board: an entry's card and value, and the standing of the task."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from trueedge.files.writing import new_folder, write_text
from trueedge.leaderboard.board import Board, EntryCard
from trueedge.leaderboard.board.entry import JUDGED, SCORED
from trueedge.leaderboard.board.entry_card import FILE as ENTRY_FILE
from trueedge.leaderboard.server.places import sync_folder


def write_scored(
    board: Board, task: str, entry: str, card: EntryCard, value: float | None, created: float
) -> None:
    """Write an entry that was judged on hidden labels; the same again changes nothing.

    Args:
        board: the board.
        task: the name of the task.
        entry: the name of the entry's folder.
        card: the entry's card.
        value: what is shown for it, or None if it is not better than the best of the board by a step.
        created: when it was submitted, in seconds since 1970.
    """
    place = board.folder / task
    moment = datetime.fromtimestamp(created, UTC)
    dated = replace(card, submitted=moment.date().isoformat())
    scored = {
        "phase": "public",
        "metric": board.task(task).headline,
        "value": value,
        "time": moment.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    if not (place / entry / ENTRY_FILE).is_file():
        with new_folder(place / entry, "the entry") as draft:
            (draft / ENTRY_FILE).write_text(dated.to_toml())
            (draft / SCORED).write_text(json.dumps(scored, indent=1) + "\n")
        sync_folder(place)
    write_standing(board, task)


def write_standing(board: Board, task: str) -> None:
    """Write the standing of a hidden task from the values of its entries; equal values are ties."""
    place = board.folder / task
    shown: dict[str, Any] = {}
    # The value of an entry whose card is damaged stays.
    for entry in board.entries(task, damaged=True):
        scored = entry.scored
        if scored is not None and scored.get("value") is not None:
            # Nothing but the value that the ladder shows: an interval would tell more about the labels.
            shown[entry.name] = {"value": scored["value"], "low": None, "high": None, "letters": ""}
    content = {"phase": "public", "metric": board.task(task).headline, "entries": with_ties(shown)}
    write_text(place / JUDGED, json.dumps(content, indent=1) + "\n", "the standing")


def with_ties(shown: dict[str, Any]) -> dict[str, Any]:
    """Give entries with the same shown value the same letter, best first."""
    values = sorted({one["value"] for one in shown.values()}, reverse=True)
    letters = {value: _letter(place) for place, value in enumerate(values)}
    return {name: {**one, "letters": letters[one["value"]]} for name, one in shown.items()}


def _letter(place: int) -> str:
    text = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        text = chr(ord("a") + rest) + text
    return text
