"""An entry of a board: its card, its certificates, and what speaks for them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.files.cards import read_json
from trueedge.leaderboard.board.entry_card import FILE, EntryCard
from trueedge.leaderboard.board.problem import Problem
from trueedge.leaderboard.board.reproduction import PROOF, Reproduction
from trueedge.leaderboard.board.text_fields import folder_name
from trueedge.results.certificate_file import MOST_BYTES, read_certificate

Tier = Literal["consistent", "reproduced", "scored"]
#: The tiers that are ranked: a certificate of public labels can be forged, so verifying it is not enough.
RANKED: tuple[Tier, ...] = ("reproduced", "scored")
CERTIFICATE = re.compile(r"seed-(0|[1-9][0-9]{0,17})\.json")
SCORES, UNITS, SCORED = ".scores.npz", ".units.npz", "scored.json"
# Beside the entries of a hidden task: what its judge answered for all of them.
JUDGED = "standing.json"


@dataclass(frozen=True, eq=False)
class Entry:
    """An entry; its files are read when they are needed.

    Attributes:
        name: the name of its folder.
        task: the name of its task.
        folder: where it is.
        card: what it says about itself.
        damage: why its card cannot be read, so that ``card`` is that of nobody; None if it can.
    """

    name: str
    task: str
    folder: Path
    card: EntryCard
    damage: Problem | None = None

    @classmethod
    def open(cls, folder: Path) -> Entry:
        """Read the card of an entry's folder."""
        folder_name(folder.name, f"{folder}: the name of an entry")
        return cls(folder.name, folder.parent.name, folder, EntryCard.from_toml(folder / FILE))

    @classmethod
    def read(cls, folder: Path) -> Entry:
        """Read an entry whose card may be damaged: its ``damage`` says so then, and no file is changed."""
        try:
            return cls.open(folder)
        except InputError as error:
            damage = Problem.of(folder.parents[1], folder / FILE, error)
        # The name of a folder need not be UTF-8.
        name = folder.name.encode("utf-8", "backslashreplace").decode()
        return cls(name, folder.parent.name, folder, EntryCard.unreadable(name), damage)

    @cached_property
    def _names(self) -> tuple[str, ...]:
        """Return the names of its files, sorted; they are listed once."""
        return tuple(sorted(os.listdir(self.folder)))

    @cached_property
    def paths(self) -> dict[int, Path]:
        """Return the certificate of each seed."""
        found = {}
        for name in self._names:
            if named := CERTIFICATE.fullmatch(name):
                found[int(named[1])] = self.folder / name
        return dict(sorted(found.items()))

    @cached_property
    def certificates(self) -> dict[int, Mapping[str, Any]]:
        """Return the content of each certificate; nothing in it is verified here."""
        return {seed: read_certificate(path) for seed, path in self.paths.items()}

    @cached_property
    def kept_values(self) -> dict[int, NDArray[np.float64]]:
        """Return where the headline's values of a seed that was verified are kept, for ranks."""
        return {}

    @cached_property
    def seals(self) -> frozenset[str]:
        """Return the seals of its certificates."""
        return frozenset(str(card["seal"]) for card in self.certificates.values())

    @cached_property
    def reproductions(self) -> tuple[Reproduction, ...]:
        """Return the proofs that somebody else got the same."""
        return tuple(Reproduction.read(self.folder / name) for name in self._names if PROOF.fullmatch(name))

    @cached_property
    def scored(self) -> Mapping[str, Any] | None:
        """Return what the judge of a hidden task answered, or None."""
        if SCORED not in self._names:
            return None
        path = self.folder / SCORED
        found = read_json(path, absent=str(self.folder), damaged=f"{path}: it", most=MOST_BYTES)
        if not isinstance(found, dict):
            raise InputError(f"{path} must hold an object")
        return found

    @property
    def withdrawn(self) -> bool:
        """Return whether it was withdrawn."""
        return self.card.withdrawn is not None

    @property
    def tier(self) -> Tier:
        """Return what speaks for its numbers.

        ``scored``: judged here on hidden labels. ``reproduced``: another party, no author, got a value
        within its interval or ran it again. ``consistent``: its certificates verify, which a forged one
        does too.
        """
        if self.scored is not None:
            return "scored"
        others = any(not self.card.is_author(one.by) for one in self.reproductions)
        return "reproduced" if others else "consistent"

    def keeps_units_alone(self, seed: int) -> bool:
        """Return whether the scores of a seed are kept elsewhere, and their values per unit here."""
        return f"seed-{seed}{UNITS}" in self._names and f"seed-{seed}{SCORES}" not in self._names

    def scores_path(self, seed: int) -> Path:
        """Return where the scores of a seed are, or would be if they were kept here."""
        return self.folder / f"seed-{seed}{SCORES}"

    def units_path(self, seed: int) -> Path:
        """Return where the values per unit of a seed are, if its scores are kept elsewhere."""
        return self.folder / f"seed-{seed}{UNITS}"
