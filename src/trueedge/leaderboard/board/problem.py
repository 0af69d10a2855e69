"""What is wrong with a board."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """Something wrong with a board.

    Attributes:
        path: the file or folder, relative to the board.
        sentence: what is wrong.
    """

    path: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.path}: {self.sentence}"
