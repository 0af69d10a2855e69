"""What a board must know of all entries of a task before it takes another one; it is kept in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from trueedge.leaderboard.board.entry import Entry
from trueedge.leaderboard.board.problem import Problem


@dataclass(frozen=True)
class Held:
    """What is known of an entry.

    Attributes:
        name: the name of its folder.
        seals: those of its certificates.
        damage: why its card cannot be read, or None.
    """

    name: str
    seals: frozenset[str]
    damage: Problem | None


class HeldEntries:
    """The entries of a board, each read again only if its folder has changed."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[int, Held]] = {}

    def of(self, folders: Sequence[Path]) -> list[Held]:
        """Return what is known of some entries; a certificate that cannot be read is an InputError."""
        return [self._one(folder) for folder in folders]

    def _one(self, folder: Path) -> Held:
        changed = folder.stat().st_mtime_ns
        known = self._known.get(folder)
        if known is None or known[0] != changed:
            entry = Entry.read(folder)
            # The seals count, whatever the card says: whoever damages a card must not free its certificates.
            known = self._known[folder] = changed, Held(folder.name, entry.seals, entry.damage)
        return known[1]
