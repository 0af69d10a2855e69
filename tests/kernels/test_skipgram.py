"""Skip-gram against its plain formulas, and against word2vec where gensim is there."""

from __future__ import annotations

import heapq

import numba
import numpy as np
import pytest
from numba import njit

from trueedge.kernels.arrays.alias import alias_table, drawn
from trueedge.kernels.arrays.huffman import huffman_paths
from trueedge.kernels.arrays.keyed_draws import draw_key
from trueedge.kernels.arrays.lanes import LANES, lane_dot, lane_steps
from trueedge.kernels.walks.skipgram import SkipGram

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")


@njit
def dot(left, i, right, j, size):
    return lane_dot(left, i, right, j, size)


@njit
def steps(source, i, targets, rows, weights, count, size):
    lane_steps(source, i, targets, rows, weights, count, size)


def learner(nodes: int = 6, dim: int = 5, **changes) -> SkipGram:
    chosen = {"window": 3, "negatives": 2, "hierarchical": False, "exponent": 0.75, "sample": 0.0, "key": 9}
    counts = np.arange(1, nodes + 1)
    return SkipGram(counts, dim, **{**chosen, **changes})


def some_walks(count: int = 12, length: int = 7, nodes: int = 6) -> np.ndarray:
    walks = np.random.default_rng(4).integers(0, nodes, (count, length)).astype(np.int32)
    walks[1, 3:] = -1
    walks[2, 1:] = -1
    return walks


def high(word: int, bound: int) -> int:
    return ((int(word) >> 32) * bound) >> 32


def slow_learn(model: SkipGram, walks: np.ndarray, first: int, rate: float, last: float) -> np.ndarray:
    """The slow twin: gradients of the log-likelihood in float64, a pair at a time."""
    vectors = model.inputs[:, : model.dim].astype(np.float64)
    outputs, inner = (np.zeros((len(vectors), model.dim)) for _ in range(2))
    key = np.uint64(draw_key(model.key, 0, 2))

    def teach(node: int, table: np.ndarray, rows: list[int], labels: list[float], step: float) -> None:
        errors = np.array(labels) - 1 / (1 + np.exp(-table[rows] @ vectors[node]))
        errors *= [k == 0 or row != rows[0] for k, row in enumerate(rows)]
        before = vectors[node].copy()
        for row, error in zip(rows, errors, strict=True):  # one after the other: a row may be there twice
            vectors[node] += step * error * table[row]
            table[row] += step * error * before

    for i, walk in enumerate(walks):
        own = np.uint64(draw_key(key, first + i, 0))
        step = rate + (last - rate) * i / len(walks)
        tokens = walk[walk >= 0].tolist()
        for at, node in enumerate(tokens):
            reach = 1 + high(draw_key(own, 1, at), model.window)
            around = [
                near for near in range(at - reach, at + reach + 1) if 0 <= near < len(tokens) and near != at
            ]
            if len(model.inner):
                way = slice(model.paths.starts[node], model.paths.starts[node + 1])
                rows, labels = model.paths.inner[way].tolist(), model.paths.left[way].astype(float).tolist()
                for near in around:
                    teach(tokens[near], inner, rows, labels, step)
            group = model.negatives + 1
            for pair, near in enumerate(around if model.negatives else []):
                words = [np.uint64(draw_key(own, 2 + at, pair * group + k)) for k in range(1, group)]
                rows = [node, *(drawn(*model.alias, word) for word in words)]
                teach(tokens[near], outputs, rows, [1.0] + [0.0] * model.negatives, step)
    return vectors


@pytest.mark.parametrize("size", [LANES, 3 * LANES, 8 * LANES])
def test_lanes_give_the_bits_of_their_plain_description(size):
    rng = np.random.default_rng(size)
    left, right = (rng.standard_normal(5 * size + 3).astype(np.float32) for _ in range(2))
    lanes = np.zeros(LANES, dtype=np.float32)
    for at in range(0, size, LANES):
        lanes += left[3 + at : 3 + at + LANES] * right[size + at : size + at + LANES]
    while len(lanes) > 1:
        lanes = lanes[: len(lanes) // 2] + lanes[len(lanes) // 2 :]
    assert dot(left, 3, right, size, size) == lanes[0]
    assert dot(left, 3, right, size, size) == pytest.approx(
        left[3 : 3 + size] @ right[size : 2 * size], rel=1e-3
    )


@pytest.mark.parametrize("rows", [[0, 2, 1], [1], [], [2, 2, 0, 2]])
def test_steps_move_each_row_by_the_others(rows):
    size, rng = 2 * LANES, np.random.default_rng(1)
    source, targets = (rng.standard_normal(3 * size).astype(np.float32) for _ in range(2))
    weights = rng.standard_normal(4).astype(np.float32)
    one, others = source.copy().reshape(3, size), targets.copy().reshape(3, size)
    for k, row in enumerate(rows):
        one[1] += weights[k] * others[row]
        others[row] += weights[k] * source[size : 2 * size]
    places = np.array([row * size for row in rows] + [0] * (4 - len(rows)), dtype=np.int64)
    steps(source, size, targets, places, weights, len(rows), size)
    assert source.tobytes() == one.tobytes()
    assert targets.tobytes() == others.tobytes()


@pytest.mark.parametrize("weights", [[1.0], [3.0, 1.0], [0.0, 5.0, 1.0, 1.0], list(range(1, 40))])
def test_the_alias_table_stands_for_its_weights(weights):
    table = alias_table(np.array(weights, dtype=np.float64))
    itself = np.where(table.other == np.arange(len(weights)), 1.0, table.threshold / 2.0**32)
    shares = itself.copy()
    np.add.at(shares, table.other, 1.0 - itself)
    np.testing.assert_allclose(shares / len(weights), np.array(weights) / np.sum(weights), atol=1e-8)
    words = np.random.default_rng(0).integers(0, 2**64, 200, dtype=np.uint64)
    assert all(weights[drawn(*table, word)] > 0 for word in words)


@pytest.mark.parametrize(
    "counts", [[1, 1], [5, 1, 1, 1], [7, 7, 7, 7, 7], [1, 2, 4, 8, 16, 32], [3, 0, 9, 2, 2, 2, 8]]
)
def test_the_tree_is_as_short_as_huffmans_and_no_code_begins_another(counts):
    paths = huffman_paths(np.array(counts))
    heap, shortest = sorted(counts), 0
    while len(heap) > 1:
        merged = heapq.heappop(heap) + heapq.heappop(heap)
        shortest += merged
        heapq.heappush(heap, merged)
    assert (np.array(counts) * np.diff(paths.starts)).sum() == shortest
    ways = [
        tuple(zip(paths.inner[a:b].tolist(), paths.left[a:b].tolist(), strict=True))
        for a, b in zip(paths.starts, paths.starts[1:], strict=False)
    ]
    assert len(set(ways)) == len(counts)
    assert all(one[: len(other)] != other for one in ways for other in ways if one is not other)
    assert {way[0][0] for way in ways} == {len(counts) - 2}


@pytest.mark.parametrize("counts", [[], [4]])
def test_a_tree_of_one_leaf_has_no_way(counts):
    assert huffman_paths(np.array(counts, dtype=np.int64)).starts.tolist() == [0] * (len(counts) + 1)


@pytest.mark.parametrize(("negatives", "hierarchical"), [(2, False), (0, True), (3, True)])
@pytest.mark.parametrize("dim", [1, 5, 16, 20])
def test_learning_follows_the_gradient(dim, negatives, hierarchical):
    model = learner(dim=dim, negatives=negatives, hierarchical=hierarchical)
    walks = some_walks()
    expected = slow_learn(model, walks, 3, 0.2, 0.05)
    before = model.vectors.copy()
    model.learn(walks, 3, 0.2, 0.05)
    assert model.vectors.shape == (6, dim)
    assert np.abs(model.vectors - before).max() > 0.01
    # The logistic function is read from a table of 4,096 cells.
    np.testing.assert_allclose(model.vectors, expected, atol=2e-3)
    assert not model.inputs[:, dim:].any()


def test_walks_in_two_parts_teach_what_they_teach_together():
    whole, parted = learner(), learner()
    walks = some_walks(20)
    whole.learn(walks, 0, 0.1, 0.1)
    parted.learn(walks[:7], 0, 0.1, 0.1)
    parted.learn(walks[7:], 7, 0.1, 0.1)
    assert whole.vectors.tobytes() == parted.vectors.tobytes()


def test_threads_change_no_bit_and_another_key_does():
    threads, found = numba.get_num_threads(), []
    try:
        for count, key in ((threads, 9), (1, 9), (1, 10)):
            numba.set_num_threads(count)
            model = learner(key=key)
            model.learn(some_walks(), 0, 0.1, 0.01)
            found.append(model.vectors.tobytes())
    finally:
        numba.set_num_threads(threads)
    assert found[0] == found[1] != found[2]


def test_frequent_nodes_are_left_out_as_often_as_asked_for():
    counts = np.array([900, 100, 1])
    keep = SkipGram(counts, 4, 2, 1, False, 0.75, 0.01, 1).keep
    allowed = 0.01 * counts.sum()
    np.testing.assert_allclose(keep[:2], np.sqrt(allowed / counts[:2]) + allowed / counts[:2])
    assert keep[2] == 1.0
    assert (SkipGram(counts, 4, 2, 1, False, 0.75, 0.0, 1).keep == 1.0).all()


def test_a_walk_of_which_nobody_is_left_teaches_nothing():
    model = learner()
    model.keep[:] = 0.0
    before = model.vectors.tobytes()
    model.learn(some_walks(), 0, 0.5, 0.5)
    model.learn(some_walks()[:0], 0, 0.5, 0.5)
    assert model.vectors.tobytes() == before


@pytest.mark.compiled
@pytest.mark.parametrize("hierarchical", [False, True])
def test_two_groups_that_never_meet_come_apart(hierarchical):
    rng = np.random.default_rng(2)
    walks = np.concatenate([rng.integers(0, 5, (40, 12)), rng.integers(5, 10, (40, 12))])
    walks = rng.permutation(walks).astype(np.int32)
    model = SkipGram(np.bincount(walks.ravel()), 16, 4, 0 if hierarchical else 3, hierarchical, 0.75, 0.0, 3)
    for part in range(3):
        model.learn(walks, part * len(walks), 0.2, 0.2)
    products = model.vectors @ model.vectors.T
    same = np.equal.outer(np.arange(10) < 5, np.arange(10) < 5) & ~np.eye(10, dtype=bool)
    apart = ~np.equal.outer(np.arange(10) < 5, np.arange(10) < 5)
    assert products[same].min() > products[apart].max()
