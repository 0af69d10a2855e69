"""A share of the cells: the third of 64, always the same ones, for jobs that know nothing of each other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from trueedge.errors import InputError
from trueedge.runs.cells import Cell, Outcome
from trueedge.runs.runner import LookUp, Runner, nothing_known

MOST_SHARES = 100_000
# Why a cell of another share has no record.
OTHERS = "it is in another share"


@dataclass(frozen=True)
class Share:
    """One of ``of`` shares of a list of cells, numbered from 1.

    A share of a list is a stretch of it, so that cells of the same task stay together. Of a generator, whose
    length is not known, a share is every ``of``-th cell.
    """

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Share:
        """Return the share that a text like ``3/64`` names."""
        found = re.fullmatch(r"\s*(\d{1,18})\s*/\s*(\d{1,18})\s*", text)
        if found is None:
            raise InputError(f"--share {text} is not of the form 3/64: the third of 64 shares")
        number, of = int(found[1]), int(found[2])
        if not 1 <= of <= MOST_SHARES:
            raise InputError(f"--share {text}: there can be 1 to {MOST_SHARES:,} shares")
        if not 1 <= number <= of:
            raise InputError(f"--share {text}: shares are numbered from 1/{of} to {of}/{of}")
        return cls(number, of)

    def holds(self, position: int, count: int | None) -> bool:
        """Return whether a cell is in the share.

        Args:
            position: its position in the list, from 0.
            count: the length of the list; None for a generator.
        """
        if count is None:
            return position % self.of == self.number - 1
        return (self.number - 1) * count // self.of <= position < self.number * count // self.of

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


class ShareDone(Exception):  # noqa: N818
    """The cells of a share are done, and what comes next needs those of the other shares."""


class OwnShare(Runner):
    """Runs the cells of a share with another runner; each other cell has an outcome without a record.

    Args:
        runner: what runs them.
        share: which cells.
        count: the number of cells of a generator, if it is known.

    Attributes:
        left_out: how many cells were left to other shares.
    """

    def __init__(self, runner: Runner, share: Share, count: int | None = None) -> None:
        self._runner, self.share, self._count = runner, share, count
        # An attribute of the class, which the runner within decides here.
        self.in_process = runner.in_process  # type: ignore[misc]
        self.left_out = 0

    def run(
        self, cells: Iterable[Cell], look_up: LookUp = nothing_known, scores_to: Path | None = None
    ) -> Iterator[tuple[int, Outcome]]:
        """Run the cells of the share."""
        listed = isinstance(cells, Sequence)
        count = len(cells) if isinstance(cells, Sequence) else self._count
        places: list[int] = []
        others: list[tuple[int, Outcome]] = []

        def own() -> Iterator[Cell]:
            for position, cell in enumerate(cells):
                if self.share.holds(position, count):
                    places.append(position)
                    yield cell
                else:
                    others.append((position, Outcome(cell, None, reason=OTHERS)))

        mine: Iterable[Cell] = list(own()) if listed and not self.in_process else own()
        for place, outcome in self._runner.run(mine, look_up, scores_to):
            yield places[place], outcome
            yield from self._leave(others)
        yield from self._leave(others)

    def _leave(self, others: list[tuple[int, Outcome]]) -> Iterator[tuple[int, Outcome]]:
        self.left_out += len(others)
        found, others[:] = list(others), []
        yield from found

    def stop(self) -> None:
        """Stop the runner within."""
        self._runner.stop()
