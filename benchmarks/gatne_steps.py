"""Training steps of GATNE in numba: one thread, and Adam on long rows only where a step reads them.

Adam as the published code runs it moves every weight in every step, also those without a gradient: what is
left of earlier gradients still moves them. Here a row is moved when it is read next. Without a gradient, its
two means shrink by fixed factors, so that the steps it missed are a geometric sum (``_catch_up``); epsilon
alone is taken as it was at the last gradient. Edge embeddings are short, and a step reads a fifth of them:
all are moved.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float32]
FIRST_BETA, SECOND_BETA, EPSILON = 0.9, 0.999, 1e-8
RATIO = FIRST_BETA / math.sqrt(SECOND_BETA)


def shrinkage(steps: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return how far a row moves without a gradient, and by what its means shrink.

    Args:
        steps: the largest number of steps.

    Returns:
        float64 (steps + 1,), how far a row would move from each step on, for ever, over a mean of one and a
        root of one; and float64 (steps + 1, 3), the powers of the ratio and of the two betas.
    """
    number = np.arange(1, steps + 2, dtype=np.float64)
    corrections = np.sqrt(1 - SECOND_BETA**number) / (1 - FIRST_BETA**number)
    ahead = np.empty(steps + 1)
    rest = corrections[-1] / (1 - RATIO) * RATIO
    for step in range(steps, -1, -1):
        # From step on: the next step, and what comes after it.
        ahead[step] = rest = RATIO * (corrections[step] + rest)
    powers = np.power([RATIO, FIRST_BETA, SECOND_BETA], np.arange(steps + 1)[:, None])
    # What is below the smallest float32 would only be slow to multiply with.
    powers[powers < 1e-30] = 0
    return ahead, powers


@dataclass
class Table:
    """Weights with Adam's two means; rows are moved when they are read.

    Attributes:
        rows: float32 (n, d), the weights.
    """

    rows: Floats
    first: Floats = field(init=False)
    second: Floats = field(init=False)
    gradient: Floats = field(init=False)
    moved: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        self.rows = np.ascontiguousarray(self.rows, dtype=np.float32)
        self.first, self.second, self.gradient = (np.zeros_like(self.rows) for _ in range(3))
        # The step after which each row was moved last.
        self.moved = np.zeros(len(self.rows), dtype=np.int64)

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The arrays, as the kernel takes them."""
        return self.rows, self.first, self.second, self.gradient, self.moved

    def catch_up(self, step: int, rate: float, shrunk: Any) -> None:
        """Move all rows as far as they are after a step."""
        _catch_up_all(self.arrays, step, rate, shrunk)


class Weights:
    """The weights of GATNE-T as the published code draws them.

    Args:
        near: int32 (nodes, relations, k), the neighbours that a node is computed from.
        dim, edge_dim, attention_dim: sizes of vectors, edge embeddings and attention.
        steps: the largest number of steps.
        rng: draws the weights.
    """

    def __init__(
        self,
        near: NDArray[np.int32],
        dim: int,
        edge_dim: int,
        attention_dim: int,
        steps: int,
        rng: np.random.Generator,
    ) -> None:
        nodes, kinds = near.shape[:2]
        std = 1 / math.sqrt(dim)
        self.shrunk = shrinkage(steps)
        self.near, self.steps = np.ascontiguousarray(near), 0
        self.base = Table(rng.uniform(-1, 1, (nodes, dim)))
        self.edge = Table(rng.uniform(-1, 1, (nodes * kinds, edge_dim)))
        self.context = Table(rng.normal(0, std, (nodes, dim)))
        # A row for each relation; these are read in every step or not at all.
        self.spread = Table(rng.normal(0, std, (kinds, edge_dim * dim)))
        self.hidden = Table(rng.normal(0, std, (kinds, edge_dim * attention_dim)))
        self.score = Table(rng.normal(0, std, (kinds, attention_dim)))

    @property
    def tables(self) -> tuple[Table, ...]:
        """All tables, as the kernel takes them."""
        return self.base, self.edge, self.context, self.spread, self.hidden, self.score

    def train(
        self, pairs: NDArray[np.int32], drawn: NDArray[np.int32], batch_size: int, rate: float
    ) -> NDArray[np.float64]:
        """Take a step for each batch of pairs, and return the loss of each.

        Args:
            pairs: int32 (m, 3): a node, a node near it in a walk, and the relation that is walked along.
            drawn: int32 (m, negatives), nodes drawn against each pair.
            batch_size, rate: pairs of a step, and the learning rate.
        """
        arrays = tuple(one.arrays for one in self.tables)
        losses = _train(self.near, arrays, pairs, drawn, batch_size, rate, self.steps, self.shrunk)
        self.steps += len(losses)
        return losses

    def vectors(self, relation: int, rate: float) -> Floats:
        """Return the vectors of all nodes for a relation, float32 (nodes, dim), of length one."""
        for one in self.tables:
            one.catch_up(self.steps, rate, self.shrunk)
        return vectors_of(self.near, *(one.rows for one in self.tables), relation)


def vectors_of(
    near: NDArray[np.int32],
    base: Floats,
    edge: Floats,
    context: Floats,
    spread: Floats,
    hidden: Floats,
    score: Floats,
    relation: int,
) -> Floats:
    """Return the vectors of all nodes for a relation, written with numpy alone."""
    del context
    kinds, size = near.shape[1], edge.shape[1]
    gathered = np.stack([edge[near[:, kind] * kinds + kind].sum(1) for kind in range(kinds)], axis=1)
    logits = np.tanh(gathered @ hidden[relation].reshape(size, -1)) @ score[relation]
    weights = np.exp(logits - logits.max(1, keepdims=True))
    weights /= weights.sum(1, keepdims=True)
    mixed = (weights[:, :, None] * gathered).sum(1)
    found = base + mixed @ spread[relation].reshape(size, -1)
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), dtype=np.float32)


@njit(cache=True, nogil=True, fastmath=True)
def _catch_up(table: Any, row: int, step: int, rate: float, shrunk: Any) -> None:
    """Move a row through the steps without a gradient, up to ``step``."""
    rows, first, second, _, moved = table
    missed = step - moved[row]
    if missed <= 0:
        return
    moved[row] = step
    if step == missed:
        # Never had a gradient: both means are zero.
        return
    ahead, powers = shrunk
    total = ahead[step - missed] - powers[missed, 0] * ahead[step]
    far = np.float32(rate * total)
    epsilon = np.float32(EPSILON)
    lesser, weaker = np.float32(powers[missed, 1]), np.float32(powers[missed, 2])
    for place in range(rows.shape[1]):
        rows[row, place] -= far * first[row, place] / (np.sqrt(second[row, place]) + epsilon)
        first[row, place] *= lesser
        second[row, place] *= weaker


@njit(cache=True, nogil=True)
def _catch_up_all(table: Any, step: int, rate: float, shrunk: Any) -> None:
    for row in range(len(table[0])):
        _catch_up(table, row, step, rate, shrunk)


@njit(cache=True, nogil=True, fastmath=True)
def _update(table: Any, row: int, step: int, rate: float) -> None:
    """Take Adam's step ``step``, counted from one, with the gradient of a row, which is then zero."""
    rows, first, second, gradient, moved = table
    moved[row] = step
    wide = math.sqrt(1 - SECOND_BETA**step)
    far = np.float32(rate * wide / (1 - FIRST_BETA**step))
    epsilon = np.float32(EPSILON * wide)
    for place in range(rows.shape[1]):
        slope = gradient[row, place]
        gradient[row, place] = np.float32(0)
        one = np.float32(FIRST_BETA) * first[row, place] + np.float32(1 - FIRST_BETA) * slope
        two = np.float32(SECOND_BETA) * second[row, place] + np.float32(1 - SECOND_BETA) * slope * slope
        first[row, place], second[row, place] = one, two
        rows[row, place] -= far * one / (np.sqrt(two) + epsilon)


@njit(cache=True, nogil=True, fastmath=True)
def _update_all(table: Any, step: int, rate: float) -> None:
    """Take Adam's step ``step`` with the gradients of all rows, which are then zero."""
    rows, first, second, gradient, moved = table
    moved[:] = step
    wide = math.sqrt(1 - SECOND_BETA**step)
    far = np.float32(rate * wide / (1 - FIRST_BETA**step))
    epsilon = np.float32(EPSILON * wide)
    keep, add = np.float32(FIRST_BETA), np.float32(1 - FIRST_BETA)
    hold, join = np.float32(SECOND_BETA), np.float32(1 - SECOND_BETA)
    rows, first, second, gradient = rows.ravel(), first.ravel(), second.ravel(), gradient.ravel()
    for place in range(len(rows)):
        slope = gradient[place]
        one = keep * first[place] + add * slope
        two = hold * second[place] + join * slope * slope
        gradient[place] = np.float32(0)
        first[place], second[place] = one, two
        rows[place] -= far * one / (np.sqrt(two) + epsilon)


@njit(cache=True, nogil=True)
def _touch(
    table: Any, seen: Any, touched: Any, count: int, row: int, step: int, rate: float, shrunk: Any
) -> int:
    """Note a row that a step reads, and move it as far as it is before the step; return the new count."""
    if seen[row] == step:
        return count
    seen[row] = step
    _catch_up(table, row, step - 1, rate, shrunk)
    touched[count] = row
    return count + 1


@njit(cache=True, nogil=True)
def _train(
    near: Any, tables: Any, pairs: Any, drawn: Any, batch_size: int, rate: float, done: int, shrunk: Any
) -> Any:
    base, edge, context, spread, hidden, score = tables
    kinds = near.shape[1]
    nodes, negatives = len(near), drawn.shape[1]
    seen_base, seen_context = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    seen_kind = np.zeros(kinds, np.int64)
    touched_base = np.empty(batch_size, np.int64)
    touched_context = np.empty(batch_size * (1 + negatives), np.int64)
    touched_kind = np.empty(kinds, np.int64)
    batches = (len(pairs) + batch_size - 1) // batch_size
    losses = np.zeros(batches)
    for batch in range(batches):
        step = done + batch + 1
        begin, end = batch * batch_size, min((batch + 1) * batch_size, len(pairs))
        few = many = parts = 0
        for number in range(begin, end):
            node, other, relation = pairs[number]
            few = _touch(base, seen_base, touched_base, few, node, step, rate, shrunk)
            many = _touch(context, seen_context, touched_context, many, other, step, rate, shrunk)
            for place in range(negatives):
                many = _touch(
                    context, seen_context, touched_context, many, drawn[number, place], step, rate, shrunk
                )
            before = parts
            parts = _touch(spread, seen_kind, touched_kind, parts, relation, step, rate, shrunk)
            if parts > before:
                _catch_up(hidden, relation, step - 1, rate, shrunk)
                _catch_up(score, relation, step - 1, rate, shrunk)
        losses[batch] = _gradients(near, tables, pairs[begin:end], drawn[begin:end])
        for place in range(few):
            _update(base, touched_base[place], step, rate)
        for place in range(many):
            _update(context, touched_context[place], step, rate)
        _update_all(edge, step, rate)
        for place in range(parts):
            _update(spread, touched_kind[place], step, rate)
            _update(hidden, touched_kind[place], step, rate)
            _update(score, touched_kind[place], step, rate)
    return losses


@njit(cache=True, nogil=True, fastmath=True)
def _gradients(near: Any, tables: Any, pairs: Any, drawn: Any) -> float:
    """Add the gradients of the mean loss of a batch, and return that loss."""
    base, edge, context, spread, hidden, score = tables
    kinds, sampled = near.shape[1], near.shape[2]
    dim, size, width = base[0].shape[1], edge[0].shape[1], score[0].shape[1]
    gathered, slopes = np.empty((kinds, size), np.float32), np.empty((kinds, size), np.float32)
    activity, weights = np.empty((kinds, width), np.float32), np.empty(kinds, np.float32)
    mixed, vector, slope = np.empty(size, np.float32), np.empty(dim, np.float32), np.empty(dim, np.float32)
    inner, pulls = np.empty(width, np.float32), np.empty(size, np.float32)
    share = np.float32(1 / len(pairs))
    total = 0.0
    for number in range(len(pairs)):
        node, other, relation = pairs[number]
        one_hidden = hidden[0][relation].reshape(size, width)
        one_score, one_spread = score[0][relation], spread[0][relation].reshape(size, dim)
        gathered[:] = 0
        highest = np.float32(-1e30)
        for kind in range(kinds):
            for place in range(sampled):
                row = near[node, kind, place] * kinds + kind
                for at in range(size):
                    gathered[kind, at] += edge[0][row, at]
            logit = np.float32(0)
            activity[kind] = 0
            for at in range(size):
                for unit in range(width):
                    activity[kind, unit] += gathered[kind, at] * one_hidden[at, unit]
            for unit in range(width):
                activity[kind, unit] = np.tanh(activity[kind, unit])
                logit += activity[kind, unit] * one_score[unit]
            weights[kind] = logit
            highest = max(highest, logit)
        mass = np.float32(0)
        for kind in range(kinds):
            weights[kind] = np.exp(weights[kind] - highest)
            mass += weights[kind]
        mixed[:] = 0
        for kind in range(kinds):
            weights[kind] /= mass
            for at in range(size):
                mixed[at] += weights[kind] * gathered[kind, at]
        for at in range(dim):
            vector[at] = base[0][node, at]
        for part in range(size):
            for at in range(dim):
                vector[at] += mixed[part] * one_spread[part, at]
        length = np.float32(0)
        for at in range(dim):
            length += vector[at] * vector[at]
        length = np.sqrt(length)
        for at in range(dim):
            vector[at] /= length
        slope[:] = 0
        for place in range(-1, drawn.shape[1]):
            row = other if place < 0 else drawn[number, place]
            dot = np.float32(0)
            for at in range(dim):
                dot += vector[at] * context[0][row, at]
            sign = np.float32(1 if place < 0 else -1)
            chance = np.float32(1) / (np.float32(1) + np.exp(-sign * dot))
            total -= np.log(chance)
            push = -sign * (np.float32(1) - chance) * share
            for at in range(dim):
                slope[at] += push * context[0][row, at]
                context[3][row, at] += push * vector[at]
        along = np.float32(0)
        for at in range(dim):
            along += slope[at] * vector[at]
        for at in range(dim):
            slope[at] = (slope[at] - along * vector[at]) / length
            base[3][node, at] += slope[at]
        one_spread_slope = spread[3][relation].reshape(size, dim)
        one_hidden_slope = hidden[3][relation].reshape(size, width)
        for part in range(size):
            pull = np.float32(0)
            for at in range(dim):
                pull += slope[at] * one_spread[part, at]
                one_spread_slope[part, at] += mixed[part] * slope[at]
            pulls[part] = pull
        mean = np.float32(0)
        for part in range(size):
            mean += pulls[part] * mixed[part]
        for kind in range(kinds):
            gain = np.float32(0)
            for at in range(size):
                gain += pulls[at] * gathered[kind, at]
                slopes[kind, at] = weights[kind] * pulls[at]
            gain = weights[kind] * (gain - mean)
            for unit in range(width):
                active = activity[kind, unit]
                score[3][relation, unit] += gain * active
                inner[unit] = gain * one_score[unit] * (np.float32(1) - active * active)
            for at in range(size):
                back = np.float32(0)
                for unit in range(width):
                    one_hidden_slope[at, unit] += gathered[kind, at] * inner[unit]
                    back += one_hidden[at, unit] * inner[unit]
                slopes[kind, at] += back
            for place in range(sampled):
                row = near[node, kind, place] * kinds + kind
                for at in range(size):
                    edge[3][row, at] += slopes[kind, at]
    return total * share
