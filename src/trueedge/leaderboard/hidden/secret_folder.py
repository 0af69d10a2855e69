"""The secret side of a hidden task: the whole task, the place of its questions, the salt and the key."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.files.arrays import read_array
from trueedge.files.cards import read_json
from trueedge.leaderboard.hidden.keyed import keyed_share
from trueedge.leaderboard.hidden.public_folder import HiddenCard
from trueedge.metrics import Scores, get
from trueedge.tasks import Task, load

CARD, PLACES, TASK = "secret.json", "places.npy", "task"


@dataclass(frozen=True)
class Secret:
    """Everything about a hidden task; only the judge has it.

    Attributes:
        card: the published card.
        task: the task with its labels.
        places: int64 (n,), the candidate behind each question of the task's test part.
        salt: what is hashed before the labels.
        key: the key of all draws.
    """

    card: HiddenCard
    task: Task
    places: NDArray[np.int64]
    salt: bytes
    key: bytes

    @classmethod
    def open(cls, folder: str | Path) -> Secret:
        """Read a secret folder, and compare its labels with their published hash."""
        place = Path(folder)
        plain = read_json(
            place / CARD, absent=f"{place} holds no hidden labels", damaged=f"{place} is damaged: {CARD}"
        )
        try:
            salt, key = (bytes.fromhex(plain[name]) for name in ("salt", "key"))
        except (KeyError, TypeError, ValueError):
            raise InputError(f"{place / CARD} has no salt or no key") from None
        card = HiddenCard.from_plain(plain, str(place / CARD))
        found = cls(card, load(place / TASK), read_array(place / PLACES).astype(np.int64), salt, key)
        if found.labels_hash != card.labels:
            raise InputError(f"{place} is damaged: its labels do not have the published hash")
        return found

    def save(self, folder: Path) -> None:
        """Write it into a new folder that only its owner can read."""
        old = os.umask(0o077)
        try:
            folder.mkdir(parents=True)
            self.task.save(folder / TASK)
            np.save(folder / PLACES, self.places, allow_pickle=False)
            plain = {**json.loads(self.card.to_json()), "salt": self.salt.hex(), "key": self.key.hex()}
            (folder / CARD).write_text(json.dumps(plain, indent=2) + "\n")
        finally:
            os.umask(old)

    @cached_property
    def labels_hash(self) -> str:
        """Return the salted SHA-256 of the labels: what is true, and where it is among the candidates."""
        digest = hashlib.sha256(self.salt)
        digest.update(f"{self.task.hash} {self.card.candidates} {self.places.shape}".encode())
        digest.update(np.ascontiguousarray(self.places, dtype="<i8").tobytes())
        return digest.hexdigest()

    def scores_of(self, submission: NDArray[np.float64]) -> Scores:
        """Return the scores of the test part with the truth, from a submission."""
        return self.task.scores_of("test", submission[self.places])

    def values(self, submission: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the metric's value for each unit, float64 (n,); larger is better."""
        return get(self.card.metric).per_unit(self.scores_of(submission))

    @cached_property
    def constant(self) -> NDArray[np.float64]:
        """Return the values of constant scores."""
        return self.values(np.zeros(self.card.shape))

    @cached_property
    def public(self) -> NDArray[np.bool_]:
        """Return which units are public, by a secret draw, bool (n,)."""
        count = len(self.constant)
        return keyed_share(self.key, "public units", count, round(self.card.public_share * count))

    def release(self) -> dict[str, Any]:
        """Return what is published at the end of a season, besides the task and the places."""
        return {"salt": self.salt.hex(), "labels": self.labels_hash, "candidates": self.card.candidates}
