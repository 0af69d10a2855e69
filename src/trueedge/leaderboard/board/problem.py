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

    def __post_init__(self) -> None:
        # A file's name need not be UTF-8, and the pages are.
        for name in ("path", "sentence"):
            text = str(getattr(self, name)).encode("utf-8", "backslashreplace").decode()
            object.__setattr__(self, name, text)

    def __str__(self) -> str:
        return f"{self.path}: {self.sentence}"
