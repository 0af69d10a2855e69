"""What the end of a season needs from a server: the file of scores behind each entry of a hidden task."""

from __future__ import annotations

import fcntl
import json
from pathlib import Path

from sqlalchemy import select

from trueedge.errors import InputError
from trueedge.leaderboard.server.database import SUBMISSIONS, reading
from trueedge.leaderboard.server.running import opened


def submitted_files(folder: str | Path, task: str, database: str | None = None) -> dict[str, Path]:
    """Return the file of scores of each entry, by the entry's name; the server must have been stopped.

    Args:
        folder: the folder of the board.
        task: the name of the hidden task.
        database: the address of the database; by default the file in the board's folder.
    """
    places, engine, _ = opened(folder, database)
    with places.lock.open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(f"{folder} is being served: stop the server first") from None
        chosen = (SUBMISSIONS.c.task == task) & (SUBMISSIONS.c.kind == "scores")
        with reading(engine) as connection:
            rows = connection.execute(select(SUBMISSIONS).where(chosen).order_by(SUBMISSIONS.c.created)).all()
    engine.dispose()
    waiting = [row for row in rows if row.status in ("waiting", "judged")]
    if waiting:
        raise InputError(
            f"{len(waiting)} submissions to {task} are not judged yet: let the server finish them"
        )
    return {
        row.entry: places.upload(row.team, json.loads(row.body)["scores"])
        for row in rows
        if row.status == "done"
    }
