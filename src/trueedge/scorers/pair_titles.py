"""The first line of a file of pairs, by which a file of scores says whose scores it holds."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.files.text import plain

START = "trueedge pairs: "
DIGITS = 16
TITLE = re.compile(rf"{START}(\S.*) (\S+) ([0-9a-f]{{{DIGITS}}})")
HASH = re.compile(rf"[0-9a-f]{{{DIGITS}}}|[0-9a-f]{{64}}")
COMMENTS = ("#", "%")
#: What to do with scores that come without pairs.
INSTEAD = (
    "write lines u,v,score, or keep the first line of the file that 'trueedge pairs' wrote (in a .npz file as"
    " the array 'task'), or save a .npz file with 'positive' and 'negative'"
)


@dataclass(frozen=True)
class PairsTitle:
    """The part of a task that a list of pairs or scores is of.

    Attributes:
        task: the task in words: data set, protocol and seed. Empty if only the hash is known.
        part: ``valid`` or ``test``; empty if only the hash is known.
        hash: the hash of the task, or its first sixteen digits.
    """

    task: str
    part: str
    hash: str

    @classmethod
    def of(cls, dataset: str, protocol: str, seed: int, part: str, hash: str) -> PairsTitle:
        """Return the title of a part of a task."""
        # One line, whatever characters the name of a graph has.
        name = "".join(mark if mark.isprintable() else "?" for mark in " ".join(dataset.split()))
        return cls(f"{name or '?'} {protocol} seed {seed}", part, hash[:DIGITS])

    def __str__(self) -> str:
        return f"{START}{self.task} {self.part} {self.hash}"

    @property
    def words(self) -> str:
        """Return the title for a sentence."""
        known = f"{self.task} {self.part} ({self.hash[:DIGITS]})"
        return known if self.task else f"a task with the hash {self.hash[:DIGITS]}"

    def agrees_with(self, other: PairsTitle, part: bool = True) -> bool:
        """Return whether both are of one task and, unless that is not asked for, of one part."""
        digits = min(len(self.hash), len(other.hash))
        same_part = not part or not self.part or not other.part or self.part == other.part
        return self.hash[:digits] == other.hash[:digits] and same_part


def title_of_lines(lines: Iterable[str]) -> PairsTitle | None:
    """Return the title among the comment lines that a text begins with, or None."""
    for line in lines:
        text = line.strip()
        if text and not text.startswith(COMMENTS):
            return None
        found = TITLE.fullmatch(text.lstrip("#% "))
        if found:
            return PairsTitle(*found.groups())
    return None


def title_of_array(array: NDArray[Any], what: str) -> PairsTitle:
    """Return the title in an array of one text: a whole title, or the hash of the task."""
    value: Any = array.reshape(-1)[0] if array.size == 1 and array.dtype.kind in "US" else ""
    text = (value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)).strip()
    found = TITLE.fullmatch(text.lstrip("#% "))
    if found:
        return PairsTitle(*found.groups())
    if HASH.fullmatch(text):
        return PairsTitle("", "", text)
    raise InputError(
        f"{what} must be the first line of a file that 'trueedge pairs' wrote, or the hash of a task, got"
        f" {plain(text) if text else f'{array.dtype} of shape {array.shape}'}"
    )
