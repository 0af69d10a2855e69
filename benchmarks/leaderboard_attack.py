"""Attack the answers of a hidden task: exact ones, rounded ones, and those of ladders.

python -m benchmarks.leaderboard_attack                      every attack, four draws of the public units
python -m benchmarks.leaderboard_attack --draws 2            a glance
python -m benchmarks.leaderboard_attack --new                other attackers on other graphs
python -m benchmarks.leaderboard_attack --fresh              attackers of both files on three further graphs

The step of the ladder was fitted to the first attackers on Cora. Those of ``--new`` came later; after them
the ladder became one for all teams. The graphs of ``--fresh`` were not used for either.

Every attacker begins with an honest model and may ask 500 times as one team, or 200 times with accounts that
pool their answers. The ladder is the one that the judge uses, and the organiser has submitted a baseline.
What is measured, in points of MRR (lists) or AUC (shared negatives):

- told: how much the value that was shown rose above that of the honest model,
- private: how much the final submission gains on the private units, which nobody was answered about,
- decoded: the share of 200 labels (100 positives, 100 negatives) that were guessed correctly.

``--price`` measures what the ladder costs honest teams instead.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.leaderboard_answers import (
    FRESH_TASKS,
    LABELS,
    NEW_TASKS,
    TASKS,
    Attack,
    Attempt,
    Channel,
    Setting,
    accuracy,
    asked_labels,
    settings,
)
from trueedge.runs.provenance import machine, versions

RESULTS = Path(__file__).parent / "results"
TRIES, POOLED = 500, 200
TIMES_POOLED = 4
# What is allowed: points told to one team, and points gained on the private units by a coalition.
MOST_TOLD, MOST_PRIVATE = 0.5, 0.0
# The other ladders are there for contrast.
ANSWERS = ("exact", "rounded", "ladder-1.65", "ladder-team", "ladder")


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
    channel = Channel(setting.secret, how, setting.board(how))
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
        guesses[group] += np.sign(answer - before)
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
    board = setting.board(how)
    noises = rng.choice([-1.0, 1.0], size=(POOLED, len(setting.honest)))
    answers = np.array(
        [Channel(setting.secret, how, board).ask(setting.honest + 0.05 * one) for one in noises]
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
    budget, board = POOLED, setting.board(how)
    start = Channel(setting.secret, how, board).ask(setting.honest)
    for share in np.linspace(0.01, 0.2, 20):
        mask = rng.random(len(setting.honest)) < share
        candidate = np.where(mask, rng.random(len(setting.honest)), setting.honest)
        budget -= 1
        spoiled = candidate
        if Channel(setting.secret, how, board).ask(candidate) < start:
            break
    noises = rng.choice([-1.0, 1.0], size=(budget - 1, len(setting.honest)))
    answers = [Channel(setting.secret, how, board).ask(spoiled + 0.05 * one) for one in noises]
    found = np.array(answers)
    total = np.sign(found - np.median(found)) @ noises
    spread = total.std()
    return Attempt(setting.honest + (0.05 * total / spread if spread else total))


def pool_teams(setting: Setting, how: str, rng: np.random.Generator) -> Attempt:
    """Let sixteen teams of twelve tries climb one hill: each begins with the coalition's best scores."""
    scores, board = setting.honest.copy(), setting.board(how)
    for _ in range(POOLED // 12):
        channel = Channel(setting.secret, how, board)
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
FROM_NOTHING, REAL = ("groups", "memory", "ratchet"), ("tune",)


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
    private = secret.values(attempt.scores, public=False).mean - secret.values(start, public=False).mean
    told = attempt.told
    if name not in FROM_NOTHING:
        channel, honest = setting.team(how)
        # The value on the board: that of the baseline, if the honest model is not better by a step.
        record = (channel.board.shown or 0.0) if how == "ladder" else honest
        told = max(told, record) - record if how == "ladder" else told - record
    return 100 * told, 100 * float(private), attempt.decoded


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
        return bool(chance and row["private"] <= MOST_PRIVATE + 2 * (row.get("private_error") or 0.0))
    if name in FROM_NOTHING:
        return bool(chance)
    told = row["told"] - (max(0.0, row["private"]) if name in REAL else 0.0)
    return bool(told <= MOST_TOLD and chance)


def _line(row: dict[str, Any]) -> str:
    cells = [f"{key} {row[key]:+.2f}" for key in ("told", "private", "decoded") if row[key] is not None]
    mark = {None: "", True: "reached", False: "MISSED"}[row.get("reached")]
    return f"{row['task']:16} {row['attack']:13} {row['answers']:12} {'  '.join(cells):50} {mark}"


def price(task: str, draws: int) -> list[dict[str, Any]]:
    """Return how many honest teams see a value before the end of the season, in two ways of answering.

    Each of seven honest models is one team with one submission, in a random order, after the baseline.
    """
    rows = []
    for how in ("ladder-team", "ladder"):
        shown, best = [], []
        for number, setting in enumerate(settings(task, draws)):
            models = [setting.honest, *setting.others[1:]]
            private = [setting.secret.values(one, public=False).mean for one in models]
            board = setting.board(how)
            order = np.random.default_rng(number).permutation(len(models))
            told = {place: Channel(setting.secret, how, board).ask(models[place]) for place in order}
            shown.append(sum(value > 0 for value in told.values()))
            best.append(told[int(np.argmax(private))] > 0)
        row = {"task": task, "answers": how, "draws": draws, "teams": len(models)}
        row |= {"see_a_value": float(np.mean(shown)), "the_best_sees_one": float(np.mean(best))}
        rows.append(row)
        print(row, flush=True)
    return rows


def main(words: Sequence[str] | None = None) -> int:
    """Run the attacks, print a table and write the results; the status is 1 if the ladder gave in."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--draws", type=int, default=4, help="draws of the public units; four times as many for coalitions"
    )
    parser.add_argument("--new", action="store_true", help="other attackers on other graphs")
    parser.add_argument("--fresh", action="store_true", help="all attackers on three further graphs")
    parser.add_argument("--price", action="store_true", help="what the ladder costs honest teams")
    parser.add_argument("--attacks", help="names of attacks; all by default")
    parser.add_argument("--tasks", help="names of tasks; all by default")
    parser.add_argument("--answers", default=",".join(ANSWERS), help="ways of answering")
    parser.add_argument("--output", type=Path)
    given = parser.parse_args(words)
    from benchmarks.leaderboard_new_attackers import NEW_ATTACKS

    attacks, tasks, file = ATTACKS, TASKS, "leaderboard-attack"
    if given.new:
        attacks, tasks, file = NEW_ATTACKS, NEW_TASKS, "leaderboard-attack-new"
    if given.fresh:
        attacks, tasks, file = {**ATTACKS, **NEW_ATTACKS}, FRESH_TASKS, "leaderboard-attack-fresh"
    chosen = given.tasks.split(",") if given.tasks else list(tasks)
    names = given.attacks.split(",") if given.attacks else list(attacks)
    content: dict[str, Any] = {"machine": machine(), "versions": versions()}
    if given.price:
        rows, file = [row for task in chosen for row in price(task, given.draws)], f"{file}-price"
    else:
        content |= {"tries": TRIES, "pooled": POOLED, "labels": LABELS}
        rows = []
        for task in chosen:
            rows += measure(
                task, given.draws, {name: attacks[name] for name in names}, given.answers.split(",")
            )
    path = given.output or RESULTS / f"{file}.json"
    path.write_text(json.dumps({**content, "rows": rows}, indent=1) + "\n")
    return int(any(row.get("reached") is False for row in rows))


if __name__ == "__main__":
    sys.exit(main())
