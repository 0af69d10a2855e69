"""The secret side of a hidden task: the whole task, the place of its questions, the salt and the key."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.files.arrays import read_array
from trueedge.leaderboard.hidden.hidden_card import HiddenCard, read_card
from trueedge.leaderboard.hidden.keyed import keyed_share
from trueedge.leaderboard.hidden.ladder import Values
from trueedge.leaderboard.hidden.public_folder import answer_shape
from trueedge.metrics import PairScores, Scores, get
from trueedge.randomness import secret_seed
from trueedge.tasks import Task, load

CARD, PLACES, TASK = "secret.json", "places.npy", "task"
# Groups of shared negatives that are left out in turn, to see how much an answer rests on a few of them.
GROUPS = 30


@dataclass(frozen=True)
class Secret:
    """Everything about a hidden task; only the judge has it.

    Attributes:
        card: the published card.
        task: the task with its labels.
        places: int64 (n,), the candidate behind each question of the task's test part.
        salt: what is hashed before the labels.
        key: the key of all draws: of the split, the negatives and the order of candidates.
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
        card, plain = read_card(place / CARD, f"{place} holds no hidden labels")
        try:
            salt, key = (bytes.fromhex(plain[name]) for name in ("salt", "key"))
        except (KeyError, TypeError, ValueError):
            raise InputError(f"{place / CARD} has no salt or no key") from None
        places = read_array(place / PLACES)
        if places.dtype.kind not in "iu" or places.ndim != 1:
            raise InputError(f"{place / PLACES} does not hold the places of questions")
        found = cls(card, load(place / TASK), places.astype(np.int64), salt, key)
        if found.labels_hash != card.labels:
            raise InputError(f"{place} is damaged: its labels do not have the published hash")
        if not found._fits:
            raise InputError(f"{place} is damaged: {CARD} is not the card of its task")
        return found

    @property
    def _fits(self) -> bool:
        """Return whether the card is that of the task: no other one could be judged by."""
        task, card = self.task, self.card
        said = (card.kind, card.dataset, card.protocol, card.metric, card.shape)
        shape = answer_shape(task, len(np.unique(self.places)))
        return said == (task.kind, task.dataset, task.protocol, task.headline, shape)

    def save(self, folder: Path) -> None:
        """Write it into a new folder that only its owner can read; whole or not at all."""
        old = os.umask(0o077)
        try:
            folder.mkdir(parents=True)
            try:
                self._write(folder)
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise
        finally:
            os.umask(old)

    def _write(self, folder: Path) -> None:
        self.task.save(folder / TASK)
        np.save(folder / PLACES, self.places, allow_pickle=False)
        plain = {**json.loads(self.card.to_json()), "salt": self.salt.hex(), "key": self.key.hex()}
        (folder / CARD).write_text(json.dumps(plain, indent=2) + "\n")

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

    def values(self, submission: NDArray[np.float64], public: bool) -> Values:
        """Return what a submission is worth on the public units, or on the private ones.

        Shared negatives are divided too: what answers tell about public ones is worth nothing on others.
        """
        metric, scores = get(self.card.metric), self.scores_of(submission)
        units = self.public if public else ~self.public
        if not isinstance(scores, PairScores) or scores.layout != "shared":
            return Values(metric.per_unit(scores)[units], np.empty(0))
        negatives = scores.negative[self.public_negatives if public else ~self.public_negatives]
        return values_of_auc(scores.positive[units], negatives)

    def constant(self, public: bool) -> Values:
        """Return what constant scores are worth."""
        return self.values(np.zeros(self.card.shape), public)

    @cached_property
    def num_units(self) -> int:
        """Return the number of units."""
        return len(get(self.card.metric).per_unit(self.scores_of(np.zeros(self.card.shape))))

    @cached_property
    def public(self) -> NDArray[np.bool_]:
        """Return which units are public, by a secret draw, bool (n,)."""
        return self._share("public units", self.num_units)

    @cached_property
    def public_negatives(self) -> NDArray[np.bool_]:
        """Return which negatives that all positives share are public, by a secret draw, bool (m,)."""
        return self._share("public negatives", len(self.places) - self.num_units)

    def _share(self, purpose: str, count: int) -> NDArray[np.bool_]:
        return keyed_share(self.key, purpose, count, round(self.card.public_share * count))

    def release(self) -> dict[str, Any]:
        """Return what is published at the end of a season, besides the task and the places.

        With the key and the data, the split and the negatives can be drawn again.
        """
        return {
            "salt": self.salt.hex(),
            "key": self.key.hex(),
            "seed": str(secret_seed(self.key)),
            "labels": self.labels_hash,
            "candidates": self.card.candidates,
        }


def values_of_auc(positive: NDArray[np.float64], negative: NDArray[Any]) -> Values:
    """Return the AUC of scores with shared negatives: by positive, and without each group of negatives.

    Args:
        positive: float64 (p,), the scores of positives.
        negative: (m,), those of negatives.
    """
    groups = [np.sort(negative[first::GROUPS].astype(np.float64)) for first in range(GROUPS)]
    # A tie is half a win.
    wins = np.stack([_below(one, positive) for one in groups])
    sizes, total = np.array([len(one) for one in groups]), wins.sum()
    without = (total - wins.sum(axis=1)) / (len(positive) * (len(negative) - sizes))
    return Values(wins.sum(axis=0) / len(negative), without)


def _below(group: NDArray[np.float64], positive: NDArray[np.float64]) -> NDArray[np.float64]:
    return (np.searchsorted(group, positive, "left") + np.searchsorted(group, positive, "right")) / 2.0
