"""Attack the answers of a hidden task: exact ones, rounded ones, and those of the ladder.

python -m benchmarks.leaderboard_attack                      every attack, four draws of the public units
python -m benchmarks.leaderboard_attack --draws 2            a glance
python -m benchmarks.leaderboard_attack --new                other attackers on other graphs

The rules of the ladder were fitted to the first attackers on Cora. Those of ``--new`` came later.

Every attacker begins with an honest model and may ask 500 times as one team, or 200 times with accounts that
pool their answers. The ladder is the one that the judge uses. What is measured, in points of MRR (lists) or
AUC (shared negatives):

- told: how much the value that was shown rose above that of the honest model,
- private: how much the final submission gains on the private units, which nobody was answered about,
- decoded: the share of 200 labels (100 positives, 100 negatives) that were guessed correctly.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
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
from trueedge.runs.provenance import machine, versions

RESULTS = Path(__file__).parent / "results"
TRIES, POOLED, LABELS = 500, 200, 200
TIMES_POOLED = 4
HONEST = "ppr"
OTHERS = ("ra", "cn", "aa", "katz", "jaccard", "pa", "lrw")
# What the issue allows: points told to one team, and points gained on the private units by a coalition.
MOST_TOLD, MOST_PRIVATE = 0.5, 0.0
# A ladder whose step stays at 1.65 standard errors is there for contrast.
ANSWERS = ("exact", "rounded", "ladder-1.65", "ladder")
# Half of the edges are tested: a hidden task needs 1,000 units.
HALF = (0.45, 0.05, 0.5)
HARD = {"ratios": HALF, "k": 100, "heuristics": ("ra", "ppr")}
# A data set, a protocol and its options.
Case = tuple[str, str, dict[str, Any]]
TASKS: dict[str, Case] = {"uniform": ("cora", "uniform", {}), "heart": ("cora", "heart", HARD)}
NEW_TASKS: dict[str, Case] = {
    "citeseer-heart": ("citeseer", "heart", {**HARD, "k": 50}),
    "polblogs-uniform": ("polblogs-rachith", "uniform", {}),
}

Array = NDArray[np.float64]


@dataclass
class Channel:
    """The answers that one team gets, in one of three ways.

    Attributes:
        secret: the hidden task.
        how: ``exact``, ``rounded`` to 0.01, ``ladder``, or one whose step does not grow with tries.
        shown: the value that the team is shown.
        tries: how often it asked.
        counter: how often all teams of a coalition asked together.
    """

    secret: Secret
    how: str
    shown: float | None = None
    tries: int = 0
    best: Values | None = field(default=None, repr=False)
    counter: list[int] = field(default_factory=lambda: [0])

    def ask(self, scores: Array) -> float:
        """Return the value that is shown after a submission; minus infinity for none."""
        self.tries += 1
        self.counter[0] += 1
        values = self.secret.values(scores, public=True)
        if self.how.startswith("ladder"):
            base = self.secret.constant(public=True) if self.best is None else self.best
            answer = climb(values, base, self.shown, self.counter[0] if self.how == "ladder" else 1)
            if answer.improved:
                self.best, self.shown = values, answer.value
        else:
            self.shown = values.mean if self.how == "exact" else round(values.mean, 2)
        return -np.inf if self.shown is None else self.shown


@dataclass(frozen=True)
class Attempt:
    """What an attack ended with: the submission, the value it was shown, and the share of labels guessed."""

    scores: Array
    told: float = float("nan")
    decoded: float = float("nan")


Attack = Callable[["Setting", str, np.random.Generator], Attempt]


@dataclass(frozen=True)
class Setting:
    """A hidden task with honest submissions to begin with.

    Attributes:
        secret: the hidden task.
        honest: the submission of an honest model, as ranks from 0 to 1 without ties.
        others: those of other honest models.
        pairs: int64 (n, 2), the candidates.
    """

    secret: Secret
    honest: Array
    others: tuple[Array, ...]
    pairs: NDArray[np.int64]

    def team(self, how: str) -> tuple[Channel, float]:
        """Return the answers of a new team, and the one it gets for the honest model."""
        channel = Channel(self.secret, how)
        return channel, channel.ask(self.honest)


def boost(setting: Setting, how: str, rng: np.random.Generator) -> Attempt:
    """Add the random vectors that raise the answer, and subtract those that lower it."""
    channel, start = setting.team(how)
    total = np.zeros_like(setting.honest)
    for _ in range(TRIES - 2):
        noise = rng.choice([-1.0, 1.0], size=total.shape)
        # Measured from the value before the try: the ladder's may rise.
        before = channel.shown if channel.shown is not None else start
        total += np.sign(channel.ask(setting.honest + 0.05 * noise) - before) * noise
    spread = total.std()
    found = setting.honest + (0.05 * total / spread if spread else total)
    return Attempt(found, channel.ask(found))


def climb_hill(setting: Setting, how: str, rng: np.random.Generator) -> Attempt:
    """Change a random part of the scores, and keep what the answer calls better."""
    channel, best = setting.team(how)
    scores = setting.honest.copy()
    for _ in range(TRIES - 1):
        changed = scores.copy()
        chosen = rng.random(len(scores)) < 0.1
        changed[chosen] += rng.normal(0, 0.1, chosen.sum())
        answer = channel.ask(changed)
        if answer > best:
            scores, best = changed, answer
    return Attempt(scores, best)


def decode(setting: Setting, how: str, rng: np.random.Generator) -> Attempt:
    """Raise one candidate at a time to the top: the answer rises for a positive and falls for a negative."""
    channel, _ = setting.team(how)
    chosen, truth = asked_labels(setting.secret, rng)
    guesses = np.zeros(len(chosen))
    scores = setting.honest.copy()
    for place, candidate in enumerate(chosen):
        before = channel.shown or 0.0
        changed = setting.honest.copy()
        changed[candidate] = 2.0
        guesses[place] = np.sign(channel.ask(changed) - before)
        # Rounded or exact answers say what this one alone changed.
        if not how.startswith("ladder"):
            guesses[place] = np.sign((channel.shown or 0.0) - channel.ask(setting.honest))
        scores[candidate] += guesses[place]
    return Attempt(scores, channel.ask(scores), accuracy(guesses, truth, rng))


def decode_groups(setting: Setting, how: str, rng: np.random.Generator) -> Attempt:
    """Raise groups of candidates above constant scores, and halve a group that passes."""
    channel = Channel(setting.secret, how)
    base = channel.ask(np.zeros_like(setting.honest))
    chosen, truth = asked_labels(setting.secret, rng)
    guesses = np.zeros(len(chosen))
    waiting = [np.array(one) for one in np.array_split(rng.permutation(len(chosen)), 10)]
    scores = np.zeros_like(setting.honest)
    while waiting and channel.tries < TRIES - 1:
        group = waiting.pop(0)
        changed = scores.copy()
        changed[chosen[group]] = 1.0
        before, answer = base, channel.ask(changed)
        guesses[group] += np.sign(answer - before) if np.isfinite(before) or np.isfinite(answer) else 0.0
        if how.startswith("ladder") and answer > before:
            scores, base = changed, answer
        if len(group) > 1:
            waiting += np.array_split(group, 2)
    return Attempt(scores, channel.ask(scores), accuracy(guesses, truth, rng))


def tune(setting: Setting, how: str, rng: np.random.Generator) -> Attempt:
    """Search the weights of a mixture of honest models by the answers."""
    channel, best = setting.team(how)
    scores, models = setting.honest, np.stack([setting.honest, *setting.others])
    weights = np.eye(len(models))[0]
    for _ in range(TRIES - 1):
        changed = weights + rng.normal(0, 0.2, len(weights))
        mixed = changed @ models
        answer = channel.ask(mixed)
        if answer > best:
            weights, best, scores = changed, answer, mixed
    return Attempt(scores, best)


def pool_boosts(setting: Setting, how: str, rng: np.random.Generator) -> Attempt:
    """Let each of 200 new accounts ask once about the honest model with noise, and pool the signs."""
    counter = [0]
    noises = rng.choice([-1.0, 1.0], size=(POOLED, len(setting.honest)))
    answers = np.array(
        [Channel(setting.secret, how, counter=counter).ask(setting.honest + 0.05 * one) for one in noises]
    )
    signs = np.sign(answers - np.median(answers)) + 0.0
    if not signs.any():
        signs = np.sign(answers - answers.mean())
    total = signs @ noises
    spread = total.std()
    return Attempt(setting.honest + (0.05 * total / spread if spread else total))


def pool_dithers(setting: Setting, how: str, rng: np.random.Generator) -> Attempt:
    """Begin at a rounding edge: accounts first worsen the honest model until the shown value falls."""
    spoiled, answers = setting.honest, []
    budget, counter = POOLED, [0]
    start = Channel(setting.secret, how, counter=counter).ask(setting.honest)
    for share in np.linspace(0.01, 0.2, 20):
        mask = rng.random(len(setting.honest)) < share
        candidate = np.where(mask, rng.random(len(setting.honest)), setting.honest)
        budget -= 1
        spoiled = candidate
        if Channel(setting.secret, how, counter=counter).ask(candidate) < start:
            break
    noises = rng.choice([-1.0, 1.0], size=(budget - 1, len(setting.honest)))
    answers = [Channel(setting.secret, how, counter=counter).ask(spoiled + 0.05 * one) for one in noises]
    found = np.array(answers)
    total = np.sign(found - np.median(found)) @ noises
    spread = total.std()
    return Attempt(setting.honest + (0.05 * total / spread if spread else total))


def pool_teams(setting: Setting, how: str, rng: np.random.Generator) -> Attempt:
    """Let sixteen teams of twelve tries climb one hill: each begins with the coalition's best scores."""
    scores, counter = setting.honest.copy(), [0]
    for _ in range(POOLED // 12):
        channel = Channel(setting.secret, how, counter=counter)
        best = channel.ask(scores)
        for _ in range(11):
            changed = scores + rng.normal(0, 0.1, len(scores)) * (rng.random(len(scores)) < 0.1)
            answer = channel.ask(changed)
            if answer > best:
                scores, best = changed, answer
    return Attempt(scores)


ATTACKS: dict[str, Attack] = {
    "boost": boost,
    "hill": climb_hill,
    "decode": decode,
    "groups": decode_groups,
    "tune": tune,
    "pool-boosts": pool_boosts,
    "pool-dithers": pool_dithers,
    "pool-teams": pool_teams,
}
# Attackers that begin with constant scores, or mix honest models: what they are told may be a real gain.
FROM_NOTHING, REAL = ("groups", "memory"), ("tune",)


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
    dataset, protocol, options = {**TASKS, **NEW_TASKS}[name]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        task = te.task(dataset, protocol, 0, **options)
        hidden = hide(task, place / "public", place / "secret", key=bytes(32))
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


def measure(
    task: str, draws: int, attacks: Mapping[str, Attack], answers: Sequence[str] = ANSWERS
) -> list[dict[str, Any]]:
    """Return a row for each attack on a task and each way of answering."""
    rows = []
    made = settings(task, draws * TIMES_POOLED)
    for name, attack in attacks.items():
        # What a coalition gains by chance varies more between draws than what one team is told.
        chosen = made if name.startswith("pool") else made[:draws]
        for how in answers:
            outcomes = []
            for number, setting in enumerate(chosen):
                attempt = attack(setting, how, np.random.default_rng(number))
                outcomes.append(_outcome(setting, how, attempt, name))
            rows.append(_row(task, name, how, outcomes))
            print(_line(rows[-1]), flush=True)
    return rows


def _outcome(setting: Setting, how: str, attempt: Attempt, name: str) -> tuple[float, float, float]:
    secret = setting.secret
    start = np.zeros(secret.card.shape) if name in FROM_NOTHING else setting.honest
    told_at_start = 0.0 if name in FROM_NOTHING else setting.team(how)[1]
    private = secret.values(attempt.scores, public=False).mean - secret.values(start, public=False).mean
    told = attempt.told if np.isfinite(attempt.told) else 0.0 if name in FROM_NOTHING else attempt.told
    return 100 * (told - told_at_start), 100 * float(private), attempt.decoded


def _row(task: str, name: str, how: str, outcomes: list[tuple[float, float, float]]) -> dict[str, Any]:
    told, private, decoded = np.array(outcomes).T
    row: dict[str, Any] = {"task": task, "attack": name, "answers": how, "draws": len(outcomes)}
    for key, values in (("told", told), ("private", private), ("decoded", decoded)):
        known = values[np.isfinite(values)]
        row[key] = round(float(known.mean()), 4) if len(known) else None
        row[f"{key}_error"] = (
            round(float(known.std(ddof=1) / np.sqrt(len(known))), 4) if len(known) > 1 else None
        )
        row[f"{key}_worst"] = round(float(known.max()), 4) if len(known) else None
    if how == "ladder":
        row["reached"] = _reached(name, row)
    return row


def _reached(name: str, row: dict[str, Any]) -> bool:
    # Of 2,000 tossed coins, 53 % heads are within three standard errors.
    chance = row["decoded"] is None or abs(row["decoded"] - 0.5) <= 3 * 0.5 / np.sqrt(LABELS * row["draws"])
    if name.startswith("pool"):
        # A gain within two standard errors is none.
        return bool(row["private"] <= MOST_PRIVATE + 2 * (row.get("private_error") or 0.0))
    if name in FROM_NOTHING:
        return bool(chance)
    told = row["told"] - (max(0.0, row["private"]) if name in REAL else 0.0)
    return bool(told <= MOST_TOLD and chance)


def _line(row: dict[str, Any]) -> str:
    cells = [f"{key} {row[key]:+.2f}" for key in ("told", "private", "decoded") if row[key] is not None]
    mark = {None: "", True: "reached", False: "MISSED"}[row.get("reached")]
    return f"{row['task']:16} {row['attack']:13} {row['answers']:12} {'  '.join(cells):50} {mark}"


def main(words: Sequence[str] | None = None) -> int:
    """Run the attacks, print a table and write the results; the status is 1 if the ladder gave in."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--draws", type=int, default=4, help="draws of the public units; four times as many for coalitions"
    )
    parser.add_argument("--new", action="store_true", help="other attackers on other graphs")
    parser.add_argument("--attacks", help="names of attacks; all by default")
    parser.add_argument("--tasks", help="names of tasks; all by default")
    parser.add_argument("--answers", default=",".join(ANSWERS), help="ways of answering")
    parser.add_argument("--output", type=Path)
    given = parser.parse_args(words)
    attacks, tasks, file = ATTACKS, TASKS, "leaderboard-attack.json"
    if given.new:
        from benchmarks.leaderboard_new_attackers import NEW_ATTACKS

        attacks, tasks, file = NEW_ATTACKS, NEW_TASKS, "leaderboard-attack-new.json"
    names = given.attacks.split(",") if given.attacks else list(attacks)
    chosen = {name: attacks[name] for name in names}
    rows = [
        row
        for task in (given.tasks.split(",") if given.tasks else tasks)
        for row in measure(task, given.draws, chosen, given.answers.split(","))
    ]
    content = {
        "tries": TRIES,
        "pooled": POOLED,
        "labels": LABELS,
        "machine": machine(),
        "versions": versions(),
    }
    (given.output or RESULTS / file).write_text(json.dumps({**content, "rows": rows}, indent=1) + "\n")
    return int(any(row.get("reached") is False for row in rows))


if __name__ == "__main__":
    sys.exit(main())
