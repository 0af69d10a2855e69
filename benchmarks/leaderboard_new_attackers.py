"""Attackers that the ladder's rules were not fitted to: ``python -m benchmarks.leaderboard_attack --new``.

One team with 500 tries:

- flips: two halves of the scores get noise of both signs, block by block; the better sign stays.
- bandit: exponential weights over 32 fixed perturbations at three scales, paid by every answer that rises.
- memory: begins just below the score that beats constant scores, asks about random halves of the labels, and
  keeps a regression of all answers.
- ratchet: begins with noise, comes nearer to the honest model with each failure, and asks about random halves
  of the labels on the way: the lower a ladder begins, the more often it tells whether a half is right.

200 accounts that share everything they are told:

- pool-edge: keeps the submission at an edge of the rounding by stochastic approximation, and adds up noise.
- pool-nodes: the same with a bonus for each node, which can be worth something on private units too.
- pool-decode: the same with random halves of 200 labels.
- pool-ranks: pairs of accounts are told only which of the two stands higher on the board.
- pool-sixteen: sixteen teams with twelve tries each, the fewest that can ask 200 times within the quotas. The
  first try of each is at an edge of the rounding, the others are those of the ratchet.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from benchmarks.leaderboard_answers import (
    Array,
    Attack,
    Attempt,
    Channel,
    Setting,
    accuracy,
    asked_labels,
)
from benchmarks.leaderboard_attack import POOLED, TRIES

BLOCKS, ARMS, SCALES = 50, 32, (0.02, 0.05, 0.2)
NOISE = 0.05
# How much of the noise the ratchet gives up after a failure.
TURN = 0.01
SIXTEEN, TWELVE = 16, 12
Draw = Callable[[], Array]


def flip_blocks(setting: Setting, how: str, rng: np.random.Generator) -> Attempt:
    """Try both signs of noise on one half of the scores after the other, and keep what was told to help."""
    channel, best = setting.team(how)
    blocks = rng.integers(BLOCKS, size=len(setting.honest))
    scores = setting.honest.copy()
    for turn in range((TRIES - 1) // 2):
        half = rng.permutation(BLOCKS) < BLOCKS // 2 if turn % 2 else np.arange(BLOCKS) == turn % BLOCKS
        noise = np.where(half[blocks], rng.choice([-NOISE, NOISE], size=len(scores)), 0.0)
        told = [channel.ask(scores + sign * noise) for sign in (1.0, -1.0)]
        # Exact answers rank both signs; of the ladder's, only one that rises says anything.
        if max(told) > best:
            scores = scores + (1.0 if told[0] >= told[1] else -1.0) * noise
            best = max(told)
    return Attempt(scores, best)


def bandit(setting: Setting, how: str, rng: np.random.Generator) -> Attempt:
    """Draw perturbations by exponential weights, and make those that pay more likely."""
    channel, best = setting.team(how)
    arms = rng.normal(size=(ARMS, len(setting.honest)))
    weights = np.zeros((ARMS, len(SCALES), 2))
    scores = setting.honest.copy()
    for _ in range(TRIES - 1):
        chances = np.exp(weights - weights.max())
        chances = 0.9 * chances / chances.sum() + 0.1 / chances.size
        arm, scale, sign = np.unravel_index(rng.choice(chances.size, p=chances.ravel()), chances.shape)
        changed = scores + (1 - 2 * int(sign)) * SCALES[scale] * arms[arm]
        answer = channel.ask(changed)
        gain = answer - best
        weights[arm, scale, sign] += np.clip(100 * gain, -1.0, 1.0)
        if answer > best:
            scores, best = changed, answer
    return Attempt(scores, best)


def remember(setting: Setting, how: str, rng: np.random.Generator) -> Attempt:
    """Ask about random halves of the labels at the edge of what beats constant scores, with a regression."""
    channel = Channel(setting.secret, how, setting.board(how))
    chosen, truth = asked_labels(setting.secret, rng)
    share, answers, halves = 0.5, [], []
    while channel.tries < TRIES - 1:
        half = rng.choice([-1.0, 1.0], size=len(chosen))
        changed = _spoiled(setting.honest, share, rng)
        changed[chosen] = 1.0 + half
        before = -1.0 if channel.shown is None else channel.shown
        rose = channel.ask(changed) > before
        # Nearer to the edge: a pass asks for a worse submission, a failure for a better one.
        share = float(np.clip(share + (0.05 if rose else -0.01), 0.0, 1.0))
        answers.append(float(channel.shown or 0.0) if not how.startswith("ladder") else float(rose))
        halves.append(half)
    guesses = np.array(halves).T @ (np.array(answers) - np.mean(answers))
    scores = setting.honest.copy()
    scores[chosen] += np.sign(guesses)
    return Attempt(scores, channel.ask(scores), accuracy(guesses, truth, rng))


def ratchet(setting: Setting, how: str, rng: np.random.Generator) -> Attempt:
    """Climb from noise to the honest model in small steps, with random halves of the labels."""
    channel = Channel(setting.secret, how, setting.board(how))
    chosen, truth = asked_labels(setting.secret, rng)
    guesses = _ratcheted(channel, setting, chosen, TRIES - 1, rng)
    scores = setting.honest.copy()
    scores[chosen] += np.sign(guesses)
    return Attempt(scores, channel.ask(scores), accuracy(guesses, truth, rng))


def pool_sixteen(setting: Setting, how: str, rng: np.random.Generator) -> Attempt:
    """Use all that sixteen teams are allowed: a first answer each, and eleven on the way up."""
    board = setting.board(how)
    chosen, truth = asked_labels(setting.secret, rng)
    guesses, told, share = np.zeros(len(chosen)), [], 0.05
    for turn in range(SIXTEEN):
        channel = Channel(setting.secret, how, board)
        half = rng.choice([-1.0, 1.0], size=len(chosen))
        submission = _spoiled(setting.honest, share, rng)
        submission[chosen] = 0.5 + 1.5 * half
        told.append(channel.ask(submission))
        sign = float(np.sign(told[-1] - np.mean(told)))
        share = float(np.clip(share + 0.05 * sign / np.sqrt(1 + turn), 0.0, 0.9))
        guesses += sign * half + _ratcheted(channel, setting, chosen, TWELVE - 1, rng)
    scores = setting.honest.copy()
    scores[chosen] += np.sign(guesses)
    return Attempt(scores, decoded=accuracy(guesses, truth, rng))


def _ratcheted(
    channel: Channel, setting: Setting, chosen: NDArray[np.int64], tries: int, rng: np.random.Generator
) -> Array:
    """Return the sum of halves that passed, less the mean of all."""
    count = len(setting.honest)
    order, noise, share = rng.random(count), rng.random(count), 1.0
    halves, passed = [], []
    for _ in range(tries):
        half = rng.choice([-1.0, 1.0], size=len(chosen))
        changed = np.where(order < share, noise, setting.honest)
        changed[chosen] = 0.5 + 1.5 * half
        before = channel.shown or 0.0
        answer = channel.ask(changed)
        halves.append(half)
        passed.append(answer if not channel.how.startswith("ladder") else float(answer > before))
        share = max(0.0, share - TURN * float(answer <= before))
    found: Array = np.array(halves).T @ (np.array(passed) - np.mean(passed))
    return found


def pool_edge(setting: Setting, how: str, rng: np.random.Generator) -> Attempt:
    """Add up noise that was told to be better, each time from the edge of the rounding."""
    total = _at_edge(setting, how, rng, lambda: rng.choice([-1.0, 1.0], size=len(setting.honest)))
    return Attempt(_added(setting.honest, total))


def pool_nodes(setting: Setting, how: str, rng: np.random.Generator) -> Attempt:
    """Add up a bonus for each node instead: what is true of public pairs may be true of private ones."""
    count = int(setting.pairs.max()) + 1
    total = _at_edge(
        setting, how, rng, lambda: rng.choice([-1.0, 1.0], size=count)[setting.pairs].sum(axis=1)
    )
    return Attempt(_added(setting.honest, total))


def pool_decode(setting: Setting, how: str, rng: np.random.Generator) -> Attempt:
    """Ask about random halves of 200 labels from the edge of the rounding."""
    chosen, truth = asked_labels(setting.secret, rng)

    def half() -> Array:
        found = np.zeros(len(setting.honest))
        found[chosen] = 2.0 * rng.choice([-1.0, 1.0], size=len(chosen)) / NOISE
        return found

    guesses = _at_edge(setting, how, rng, half)[chosen]
    scores = setting.honest.copy()
    scores[chosen] += np.sign(guesses)
    return Attempt(scores, decoded=accuracy(guesses, truth, rng))


def pool_ranks(setting: Setting, how: str, rng: np.random.Generator) -> Attempt:
    """Give one account of a pair noise and the other its opposite, and see only which one ranks higher."""
    board, total = setting.board(how), np.zeros_like(setting.honest)
    for _ in range(POOLED // 2):
        noise = rng.choice([-1.0, 1.0], size=len(total))
        told = [
            Channel(setting.secret, how, board).ask(setting.honest + sign * NOISE * noise)
            for sign in (1.0, -1.0)
        ]
        total += (float(told[0] > told[1]) - float(told[0] < told[1])) * noise
    return Attempt(_added(setting.honest, total))


def _at_edge(setting: Setting, how: str, rng: np.random.Generator, draw: Draw) -> Array:
    """Return the sum of perturbations, each with the sign that the answers of new accounts gave it.

    A share of the scores is replaced by chance, more after a high answer and less after a low one, so that
    half of the answers are high (Robbins and Monro). The middle is the mean of the latest answers.
    """
    board, share, told = setting.board(how), 0.05, []
    total = np.zeros(len(setting.honest))
    for turn in range(POOLED):
        direction = draw()
        submission = _spoiled(setting.honest, share, rng) + NOISE * direction
        answer = Channel(setting.secret, how, board).ask(submission)
        told.append(answer)
        sign = float(np.sign(told[-1] - np.mean(told[-20:])))
        total += sign * direction
        share = float(np.clip(share + 0.05 * sign / np.sqrt(1 + turn), 0.0, 0.9))
    return total


def _spoiled(honest: Array, share: float, rng: np.random.Generator) -> Array:
    return np.where(rng.random(len(honest)) < share, rng.random(len(honest)), honest)


def _added(honest: Array, total: Array) -> Array:
    spread = total.std()
    return honest + (NOISE * total / spread if spread else 0.0)


NEW_ATTACKS: dict[str, Attack] = {
    "flips": flip_blocks,
    "bandit": bandit,
    "memory": remember,
    "ratchet": ratchet,
    "pool-edge": pool_edge,
    "pool-nodes": pool_nodes,
    "pool-decode": pool_decode,
    "pool-ranks": pool_ranks,
    "pool-sixteen": pool_sixteen,
}
