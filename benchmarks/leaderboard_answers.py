"""What attackers of a hidden task ask: ladders, teams, honest submissions, and the labels they are after."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import trueedge as te
from trueedge.leaderboard.hidden.ladder import Values, climb
from trueedge.leaderboard.hidden.making import hide
from trueedge.leaderboard.hidden.public_folder import HiddenTask
from trueedge.leaderboard.hidden.secret_folder import Secret
from trueedge.methods import get as get_method

LABELS = 200
HONEST, BASELINE = "ppr", "ra"
OTHERS = (BASELINE, "cn", "aa", "katz", "jaccard", "pa", "lrw")
# Half of the edges are tested: a hidden task needs 1,000 units.
HARD: dict[str, Any] = {"ratios": (0.45, 0.05, 0.5), "k": 100, "heuristics": ("ra", "ppr")}
# A data set, a protocol and its options.
Case = tuple[str, str, dict[str, Any]]
TASKS: dict[str, Case] = {"uniform": ("cora", "uniform", {}), "heart": ("cora", "heart", HARD)}
NEW_TASKS: dict[str, Case] = {
    "citeseer-heart": ("citeseer", "heart", {**HARD, "k": 50}),
    "polblogs-uniform": ("polblogs-rachith", "uniform", {}),
}
# Graphs that no rule and no attacker was tried on before both were fixed.
FRESH_TASKS: dict[str, Case] = {
    "grqc-heart": ("ca-GrQc", "heart", {**HARD, "k": 50}),
    "messages-uniform": ("opsahl-ucsocial", "uniform", {}),
    "flights-heart": ("opsahl-openflights", "heart", {**HARD, "k": 50}),
}

Array = NDArray[np.float64]


@dataclass
class Ladder:
    """A ladder: the best submission and the value that was shown for it.

    Attributes:
        best: the public values of the best submission.
        shown: what was shown for it.
        tries: the submissions to the task.
    """

    best: Values | None = field(default=None, repr=False)
    shown: float | None = None
    tries: int = 0


@dataclass
class Channel:
    """The answers that one team gets.

    Attributes:
        secret: the hidden task.
        how: ``exact``, ``rounded`` to 0.01, ``ladder``; for contrast, ``ladder-team``, where each team climbs
            one of its own, and ``ladder-1.65``, where the step does not grow with tries either.
        board: the ladder of the task.
        shown: the value that the team is shown.
        tries: how often it asked.
    """

    secret: Secret
    how: str
    board: Ladder = field(default_factory=Ladder)
    shown: float | None = None
    tries: int = 0
    own: Ladder = field(default_factory=Ladder, repr=False)

    def ask(self, scores: Array) -> float:
        """Return the value that the team is shown after a submission; 0 for none."""
        self.tries += 1
        self.board.tries += 1
        values = self.secret.values(scores, public=True)
        if self.how.startswith("ladder"):
            ladder = self.board if self.how == "ladder" else self.own
            best = self.secret.constant(public=True) if ladder.best is None else ladder.best
            value = climb(values, best, 1 if self.how == "ladder-1.65" else self.board.tries)
            if value is not None:
                ladder.best, ladder.shown, self.shown = values, value, value
        else:
            self.shown = values.mean if self.how == "exact" else round(values.mean, 2)
        return self.shown or 0.0


@dataclass(frozen=True)
class Attempt:
    """What an attack ended with: the submission, the value it was shown, and the share of labels guessed."""

    scores: Array
    told: float = float("nan")
    decoded: float = float("nan")


@dataclass(frozen=True)
class Setting:
    """A hidden task with honest submissions to begin with.

    Attributes:
        secret: the hidden task.
        honest: the submission of an honest model, as ranks from 0 to 1 without ties.
        others: those of other honest models; the first is the organiser's baseline.
        pairs: int64 (n, 2), the candidates.
    """

    secret: Secret
    honest: Array
    others: tuple[Array, ...]
    pairs: NDArray[np.int64]

    def board(self, how: str) -> Ladder:
        """Return the ladder of the task, which begins with the organiser's baseline."""
        board = Ladder()
        if how == "ladder":
            Channel(self.secret, how, board).ask(self.others[0])
        return board

    def team(self, how: str) -> tuple[Channel, float]:
        """Return the answers of a new team on a new board, and what it is told for the honest model."""
        channel = Channel(self.secret, how, self.board(how))
        return channel, channel.ask(self.honest)


Attack = Callable[[Setting, str, np.random.Generator], Attempt]


def asked_labels(secret: Secret, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return 200 candidates, half of them positives of public units, and their labels, 1 or -1."""
    count = len(secret.public)
    positive = secret.places[:count][secret.public]
    others = secret.places[count:]
    if len(others) == len(secret.public_negatives) and len(others) < 100 * count:
        others = others[secret.public_negatives]
    negative = np.setdiff1d(others, secret.places[:count])
    half = LABELS // 2
    chosen = np.concatenate(
        [rng.choice(positive, half, replace=False), rng.choice(negative, half, replace=False)]
    )
    order = rng.permutation(LABELS)
    return chosen[order], np.repeat([1, -1], half)[order]


def accuracy(guesses: Array, truth: NDArray[np.int64], rng: np.random.Generator) -> float:
    """Return the share of right guesses; where nothing is known, a coin is tossed."""
    coins = rng.choice([-1.0, 1.0], size=len(guesses))
    return float(np.mean(np.where(guesses == 0, coins, np.sign(guesses)) == truth))


def settings(name: str, draws: int) -> list[Setting]:
    """Return a hidden task with several draws of its public units, and honest submissions."""
    dataset, protocol, options = {**TASKS, **NEW_TASKS, **FRESH_TASKS}[name]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        task = te.task(dataset, protocol, 0, **options)
        # Answers are attacked here, not draws: the task is that of the seed 0, under another name.
        hidden = hide(
            lambda seed: replace(task, seed=seed, dataset="attacked"),
            place / "public",
            place / "secret",
            name=f"{name}-attacked",
            key=bytes(32),
        )
        secret = Secret.open(place / "secret")
        honest, *others = [_ranked(hidden, method) for method in (HONEST, *OTHERS)]
        pairs = hidden.candidates
    keys = [number.to_bytes(32, "little") for number in range(1, draws + 1)]
    return [Setting(replace(secret, key=key), honest, tuple(others), pairs) for key in keys]


def _ranked(hidden: HiddenTask, name: str) -> Array:
    """Return a method's scores as ranks from 0 to 1, with ties broken by chance.

    Ranks of ties are mean ranks, and 1 / rank is convex: noise alone would raise the MRR of a method with
    ties, by 3 points on Citeseer, and say nothing about labels.
    """
    scores = hidden.scores(get_method(name)().fit(hidden.task))
    chance = np.random.default_rng(0).random(len(scores))
    places = np.empty(len(scores))
    places[np.lexsort((chance, scores))] = np.arange(len(scores))
    return places / max(1, len(scores) - 1)
