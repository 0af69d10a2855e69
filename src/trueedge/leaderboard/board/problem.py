"""What is wrong with a board."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from trueedge.errors import InputError


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

    @classmethod
    def of(cls, folder: Path, path: Path, error: InputError) -> Problem:
        """Return an error of a file as a problem that names the file once.

        Args:
            folder: the board.
            path: the file.
            error: what is wrong with it.
        """
        sentence = str(error).removeprefix(f"{path}: ")
        if sentence.startswith(f"{path} "):
            sentence = f"it{sentence.removeprefix(str(path))}"
        return cls(str(path.relative_to(folder)), sentence.replace(f"{folder}/", ""))

    def __str__(self) -> str:
        return f"{self.path}: {self.sentence}"
