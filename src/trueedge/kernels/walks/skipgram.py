"""Skip-gram: a vector for each node such that nodes near each other in walks have large dot products.

Updates are made one after the other in the order of the walks, in one thread, so a key gives the same bits
whatever the number of threads. Rows are asked for ahead of their turn and worked on sixteen numbers at a
time, which makes up for the threads that race for the same rows elsewhere.

Mikolov, Sutskever, Chen, Corrado, Dean: Distributed Representations of Words and Phrases and their
Compositionality, NeurIPS 2013.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from trueedge.kernels.arrays.alias import alias_table, drawn
from trueedge.kernels.arrays.dtypes import Bools, Float32s, Float64s, Int32s, Int64s, UInt32s
from trueedge.kernels.arrays.huffman import huffman_paths
from trueedge.kernels.arrays.keyed_draws import draw_key
from trueedge.kernels.arrays.lanes import LANES, lane_dot, lane_steps
from trueedge.kernels.arrays.prefetch import prefetch

# Where the logistic function is 0 or 1 to two digits, nothing is learned: as word2vec has it.
FAR = 6.0
_CELLS = 4096
_PAIRS_AHEAD = 2
_FLOATS_IN_A_LINE = 16
_HIGH = np.uint64(32)


class Model(NamedTuple):
    """What the compiled loops need of a :class:`SkipGram`; rows lie one behind the other.

    Attributes:
        inputs: float32 array (n * size,), the nodes' vectors.
        outputs: float32 array (n * size,), what they are multiplied with where a node is predicted.
        inner: float32 array ((n - 1) * size,), the same for the inner nodes of the tree; empty without one.
        threshold, other: see :class:`trueedge.kernels.arrays.alias.Alias`.
        starts, on_path, left: see :class:`trueedge.kernels.arrays.huffman.Paths`.
        keep: float64 array (n,), the share of a node's occurrences that is kept.
        logistic: float32 array, the logistic function in cells from -FAR to FAR.
        window: how far apart in a walk two nodes may be.
        negatives: nodes drawn against each pair.
        size: numbers in a row, a multiple of LANES.
    """

    inputs: Float32s
    outputs: Float32s
    inner: Float32s
    threshold: UInt32s
    other: Int32s
    starts: Int64s
    on_path: Int32s
    left: Bools
    keep: Float64s
    logistic: Float32s
    window: int
    negatives: int
    size: int


class SkipGram:
    """Vectors that learn from walks.

    Args:
        counts: int64 array (n,), how often each node occurs in the walks.
        dim: numbers in a vector.
        window: how far apart in a walk two nodes may be; for each node a reach of 1 to ``window`` is drawn.
        negatives: nodes drawn against each pair, in proportion to count to the power of ``exponent``.
        hierarchical: predict the way to the node in a Huffman tree too (instead, where negatives is 0).
        exponent: see negatives.
        sample: occurrences of nodes that are more frequent than this share are left out at random; 0: none.
        key: what all draws depend on.
    """

    def __init__(
        self,
        counts: Int64s,
        dim: int,
        window: int,
        negatives: int,
        hierarchical: bool,
        exponent: float,
        sample: float,
        key: int,
    ) -> None:
        nodes = len(counts)
        self.dim, self.window, self.negatives, self.key = dim, window, negatives, np.uint64(key)
        # Zeros behind a vector stay zeros.
        self.size = -(-dim // LANES) * LANES
        self.inputs = np.zeros((nodes, self.size), dtype=np.float32)
        _start(self.inputs, dim, np.uint64(draw_key(self.key, 0, 1)))
        self.outputs = np.zeros((nodes if negatives else 0) * self.size, dtype=np.float32)
        self.alias = alias_table(counts.astype(np.float64) ** exponent)
        self.paths = huffman_paths(counts if hierarchical else counts[:0])
        self.inner = np.zeros(max(0, nodes - 1) * self.size if hierarchical else 0, dtype=np.float32)
        self.keep = _kept_shares(counts, sample)
        cells = (np.arange(_CELLS) + 0.5) * (2 * FAR / _CELLS) - FAR
        self.logistic = (1.0 / (1.0 + np.exp(-cells))).astype(np.float32)

    def learn(self, walks: Int32s, first: int, rate: float, last_rate: float) -> None:
        """Learn from walks, in their order.

        Args:
            walks: int32 array (walks, length); negative numbers are nobody.
            first: the number of the first walk, by which draws are keyed.
            rate: the learning rate at the first walk.
            last_rate: the one after the last; it falls in even steps.
        """
        model = Model(
            self.inputs.reshape(-1),
            self.outputs,
            self.inner,
            self.alias.threshold,
            self.alias.other,
            self.paths.starts,
            self.paths.inner,
            self.paths.left,
            self.keep,
            self.logistic,
            self.window,
            self.negatives,
            self.size,
        )
        _learn(walks, first, rate, last_rate, np.uint64(draw_key(self.key, 0, 2)), model)

    @property
    def vectors(self) -> Float32s:
        """The vectors so far, float32 (n, dim)."""
        return np.ascontiguousarray(self.inputs[:, : self.dim])


def _kept_shares(counts: Int64s, sample: float) -> Float64s:
    """Return the share of each node's occurrences that is kept, as word2vec has it."""
    allowed = sample * counts.sum()
    if allowed == 0:
        return np.ones(len(counts))
    frequency = np.maximum(counts, 1) / allowed
    shares: Float64s = np.minimum(1.0, (np.sqrt(frequency) + 1.0) / frequency)
    return shares


@njit(cache=True, nogil=True)
def _start(vectors: Float32s, dim: int, key: np.uint64) -> None:
    """Small numbers around zero."""
    for node in range(len(vectors)):
        for j in range(dim):
            unit = float(draw_key(key, node, j) >> _HIGH) / 4294967296.0
            vectors[node, j] = (2.0 * unit - 1.0) / dim


@njit(cache=True, nogil=True)
def _learn(walks: Int32s, first: int, rate: float, last_rate: float, key: np.uint64, model: Model) -> None:
    tokens = np.empty(walks.shape[1], dtype=np.int64)
    # Where the output rows start that a window's pairs, or a way down the tree, are multiplied with.
    rows = np.empty(max(2 * model.window * (model.negatives + 1), len(model.starts)), dtype=np.int64)
    labels = np.zeros(len(rows), dtype=np.float32)
    weights = np.zeros(len(rows), dtype=np.float32)
    for i in range(len(walks)):
        own = draw_key(key, first + i, 0)
        step = np.float32(rate + (last_rate - rate) * (i / len(walks)))
        length = _kept_tokens(walks[i], model.keep, own, tokens)
        for at in range(length):
            reach = 1 + _below(draw_key(own, 1, at), model.window)
            low, high = max(0, at - reach), min(length, at + reach + 1)
            if len(model.inner) > 0:
                _learn_way(tokens, at, low, high, step, model, rows, labels, weights)
            if model.negatives > 0:
                _learn_apart(tokens, at, low, high, own, step, model, rows, labels, weights)


@njit(cache=True, nogil=True)
def _learn_way(tokens, at, low, high, step, model, rows, labels, weights):  # type: ignore[no-untyped-def]
    """Teach the nodes near a place the way to the node there."""
    begin, end = model.starts[tokens[at]], model.starts[tokens[at] + 1]
    for k in range(end - begin):
        rows[k] = model.on_path[begin + k] * model.size
        labels[k] = np.float32(model.left[begin + k])
    for near in range(low, high):
        if near != at:
            _move(tokens[near], model.inner, rows, labels, step, end - begin, model, weights)


@njit(cache=True, nogil=True)
def _learn_apart(tokens, at, low, high, own, step, model, rows, labels, weights):  # type: ignore[no-untyped-def]
    """Teach the nodes near a place to tell the node there from others."""
    group, pairs = model.negatives + 1, high - low - 1
    labels[0] = np.float32(1.0)
    labels[1:group] = np.float32(0.0)
    for pair in range(pairs):
        rows[pair * group] = tokens[at] * model.size
        for k in range(pair * group + 1, (pair + 1) * group):
            word = draw_key(own, 2 + at, k)
            rows[k] = drawn(model.threshold, model.other, word) * model.size
    for pair in range(pairs):
        near = low + pair
        ahead = (pair + _PAIRS_AHEAD) * group
        for k in range(ahead, min(ahead + group, pairs * group)):
            for line in range(0, model.size, _FLOATS_IN_A_LINE):
                prefetch(model.outputs, rows[k] + line)
        chosen = rows[pair * group : (pair + 1) * group]
        _move(tokens[near + (near >= at)], model.outputs, chosen, labels, step, group, model, weights)


@njit(cache=True, nogil=True)
def _move(
    node: int,
    outputs: Float32s,
    rows: Int64s,
    labels: Float32s,
    step: np.float32,
    many: int,
    model: Model,
    weights: Float32s,
) -> None:
    """Move a node's row and some output rows so that their products come nearer to their labels."""
    source, size = node * model.size, model.size
    for k in range(many):
        product = lane_dot(model.inputs, source, outputs, rows[k], size)
        weights[k] = np.float32(0.0)
        # What was drawn against itself is passed over.
        if -FAR < product < FAR and (k == 0 or rows[k] != rows[0]):
            cell = int((product + np.float32(FAR)) * np.float32(_CELLS / (2 * FAR)))
            weights[k] = (labels[k] - model.logistic[min(cell, _CELLS - 1)]) * step
    lane_steps(model.inputs, source, outputs, rows, weights, many, size)


@njit(cache=True, nogil=True)
def _kept_tokens(walk: Int32s, keep: Float64s, own: np.uint64, tokens: Int64s) -> int:
    """Copy the nodes of a walk that are kept, and return how many they are."""
    length = 0
    for at in range(len(walk)):
        node = walk[at]
        if node < 0:
            break
        if keep[node] < 1.0:
            unit = float(draw_key(own, 0, at) >> _HIGH) / 4294967296.0
            if unit >= keep[node]:
                continue
        tokens[length] = node
        length += 1
    return length


@njit(cache=True, nogil=True)
def _below(word: np.uint64, bound: int) -> np.int64:
    # Without the width the compiler would mix signed and unsigned numbers to floats.
    return np.int64(((word >> _HIGH) * np.uint64(bound)) >> _HIGH)
