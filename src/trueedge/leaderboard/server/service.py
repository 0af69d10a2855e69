"""What the application of a board works with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from sqlalchemy import Engine

from trueedge.leaderboard.board import Board
from trueedge.leaderboard.server.accepting import Submission
from trueedge.leaderboard.server.limits import Limits
from trueedge.leaderboard.server.observing import Counts
from trueedge.leaderboard.server.places import Places
from trueedge.leaderboard.server.problems import ApiError


@dataclass
class Service:
    """What the application works with.

    Attributes:
        places: the board and the server's files.
        engine: the database.
        limits: sizes and times.
        wake: called when there is work for the worker.
        counts: of requests.
        judged: the hidden tasks whose labels the judge has; None if this is not known.
    """

    places: Places
    engine: Engine
    limits: Limits = field(default_factory=Limits)
    wake: Callable[[], None] = lambda: None
    counts: Counts = field(default_factory=Counts)
    judged: frozenset[str] | None = None

    def check_judge(self, submission: Submission) -> None:
        """Refuse scores that nobody could judge, before they count."""
        task = submission.task.name
        if submission.kind == "scores" and self.judged is not None and task not in self.judged:
            raise ApiError(409, f"this server has no judge for {task}: it takes no submissions to it now")

    @property
    def board(self) -> Board:
        """Return the board as it is now."""
        return Board.open(self.places.board)
