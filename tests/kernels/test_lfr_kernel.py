"""Communities and their edges: what is drawn, how often, and that rewiring loses nobody's half-edge."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from trueedge.kernels.generators.lfr import draw_communities, draw_sizes, even_out, has_room, join_communities
from trueedge.kernels.generators.rewiring import dice, join_half_edges, rewire, throw, throw_unit

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")


def ints(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def reaching(internal: np.ndarray, length: int = 12) -> np.ndarray:
    return np.array([(internal >= x).sum() for x in range(length)], dtype=np.int64)


def fair(seen: Counter, expected: dict) -> bool:
    """Whether counts are those of a law, none of them impossible."""
    total = sum(seen.values())
    assert set(seen) <= set(expected)
    return bool(
        stats.chisquare([seen[key] for key in expected], [p * total for p in expected.values()]).pvalue > 1e-3
    )


def test_throws_are_uniform_and_the_key_s_own() -> None:
    cube = dice(3)
    seen = Counter(throw(cube, 7) for _ in range(700))
    assert fair(seen, dict.fromkeys(range(7), 1 / 7))
    assert [throw(dice(3), 1000) for _ in range(3)] == [throw(dice(3), 1000)] * 3
    assert throw(dice(3), 10**9) != throw(dice(4), 10**9)
    cube = dice(5)
    assert stats.kstest([throw_unit(cube) for _ in range(300)], "uniform").pvalue > 1e-3


def test_sizes_have_their_law_given_that_they_fill_the_graph() -> None:
    # All sequences of 2, 3, 4 that sum to 7, each in proportion to the product of its parts' chances.
    law = {2: 0.5, 3: 0.3, 4: 0.2}
    weights: Counter = Counter()

    def extend(parts: tuple[int, ...], chance: float) -> None:
        if sum(parts) == 7:
            weights[tuple(sorted(parts, reverse=True))] += chance
        elif sum(parts) < 7:
            for size, share in law.items():
                extend((*parts, size), chance * share)

    extend((), 1.0)
    total = sum(weights.values())
    cube, nobody = dice(0), np.zeros(12, dtype=np.int64)
    cumulative = np.cumsum(list(law.values()))
    seen = Counter(tuple(draw_sizes(cumulative, 2, 4, 7, nobody, 10**6, cube).tolist()) for _ in range(600))
    assert fair(seen, {sizes: weight / total for sizes, weight in weights.items()})


def test_sizes_have_room_for_the_node_with_most_neighbours_inside() -> None:
    cube, uniform = dice(1), np.array([0.25, 0.5, 0.75, 1.0])
    for _ in range(20):
        sizes = draw_sizes(uniform, 2, 5, 12, reaching(ints(4, 1, 1)), 10**6, cube)
        assert sizes.sum() == 12
        assert sizes[0] == 5
        assert (np.diff(sizes) <= 0).all()
        assert draw_sizes(uniform, 2, 4, 12, reaching(ints(1)), 10**6, cube).max() <= 4


def test_sizes_that_cannot_be_are_given_up() -> None:
    cube, uniform = dice(1), np.array([0.5, 1.0])
    assert len(draw_sizes(uniform, 4, 5, 11, reaching(ints(1)), 500, cube)) == 0
    assert len(draw_sizes(uniform, 4, 5, 9, reaching(ints(5)), 500, cube)) == 0
    assert draw_sizes(uniform, 4, 5, 9, reaching(ints(4)), 500, cube).tolist() == [5, 4]


def ways(sizes: tuple[int, ...], internal: tuple[int, ...]) -> set[tuple[int, ...]]:
    """Every assignment of nodes to communities larger than their internal degree."""
    places = [community for community, size in enumerate(sizes) for _ in range(size)]
    return {
        way
        for way in permutations(places)
        if all(sizes[community] > degree for community, degree in zip(way, internal, strict=True))
    }


@pytest.mark.parametrize(
    ("sizes", "internal"),
    [
        ((3, 2), (2, 1, 0, 2, 1)),
        ((3, 2), (2, 2, 2, 2, 0)),
        ((2, 2, 1), (1, 0, 1, 1, 1)),
        ((3, 2), (3, 0, 0, 0, 0)),
    ],
)
def test_every_assignment_is_equally_likely_and_room_is_known(
    sizes: tuple[int, ...], internal: tuple[int, ...]
) -> None:
    possible = ways(sizes, internal)
    assert has_room(ints(*sizes), reaching(ints(*internal))) == bool(possible)
    if possible:
        cube = dice(2)
        seen = Counter(
            tuple(draw_communities(ints(*sizes), ints(*internal), cube).tolist()) for _ in range(500)
        )
        assert fair(seen, dict.fromkeys(sorted(possible), 1 / len(possible)))


def test_odd_communities_are_made_even_by_one_link_each() -> None:
    degrees, members, bounds = ints(3, 3, 2, 4, 4, 4, 1), np.arange(7), ints(0, 3, 6, 7)
    for key in range(20):
        internal = ints(1, 2, 0, 2, 2, 1, 0)
        before = internal.copy()
        even_out(internal, degrees, members, bounds, dice(key))
        change = internal - before
        assert [internal[:3].sum() % 2, internal[3:6].sum() % 2, internal[6]] == [0, 0, 0]
        assert sorted(np.abs(change).tolist()) == [0, 0, 0, 0, 0, 1, 1]
        # One community gives a link away and the next one takes one in, where it can.
        assert change.sum() == 0
        assert ((internal >= 0) & (internal <= np.minimum(degrees, 2))).all()
    # Where everybody has all neighbours inside, a link can only go out.
    for key in range(6):
        internal = ints(1, 1, 1)
        even_out(internal, ints(1, 1, 1), np.arange(3), ints(0, 3), dice(key))
        assert internal.sum() == 2


def test_half_edges_are_joined_within_their_group_every_way_alike() -> None:
    cube, seen = dice(4), Counter()
    for _ in range(300):
        pairs = join_half_edges(np.array([0, 1, 2, 3, 7, 8], dtype=np.int32), ints(0, 4, 6), cube).tolist()
        assert sorted(pairs[2]) == [7, 8]
        seen[tuple(sorted(tuple(sorted(pair)) for pair in pairs[:2]))] += 1
    assert fair(seen, dict.fromkeys((((0, 1), (2, 3)), ((0, 2), (1, 3)), ((0, 3), (1, 2))), 1 / 3))


def degrees_of(edges: np.ndarray, nodes: int) -> list[int]:
    return np.bincount(edges.ravel(), minlength=nodes).tolist()


def is_simple(edges: np.ndarray) -> bool:
    pairs = {tuple(sorted(edge)) for edge in edges.tolist()}
    return len(pairs) == len(edges) and all(u != v for u, v in pairs)


@pytest.mark.parametrize("key", range(10))
def test_rewiring_removes_loops_and_repeats_and_keeps_degrees(key: int) -> None:
    rng = np.random.default_rng(key)
    edges = rng.integers(0, 12, (18, 2)).astype(np.int32)
    # A second group, of other nodes, that starts as loops and one edge thrice.
    edges = np.concatenate([edges, [[12, 12], [13, 13], [14, 15], [15, 14], [14, 15], [16, 17]]]).astype(
        np.int32
    )
    before = degrees_of(edges, 18)
    stuck = rewire(edges, ints(0, 18, 24), np.zeros(18, dtype=np.int32), False, dice(key))
    assert degrees_of(edges, 18) == before
    assert is_simple(edges[~stuck])
    assert not stuck[:18].any()
    assert (edges[:18] < 12).all()
    assert (edges[18:] >= 12).all()


@pytest.mark.parametrize("key", range(10))
def test_rewiring_parts_communities(key: int) -> None:
    rng = np.random.default_rng(key)
    communities = np.repeat(np.arange(4), 5).astype(np.int32)
    edges = rng.permutation(np.repeat(np.arange(20), 2)).reshape(-1, 2).astype(np.int32)
    stuck = rewire(edges, ints(0, 20), communities, True, dice(key))
    assert not stuck.any()
    assert degrees_of(edges, 20) == [2] * 20
    assert is_simple(edges)
    assert (communities[edges[:, 0]] != communities[edges[:, 1]]).all()


def test_what_cannot_be_rewired_is_returned_and_nothing_else() -> None:
    one = np.zeros(4, dtype=np.int32)
    loop = np.array([[0, 0]], dtype=np.int32)
    assert rewire(loop, ints(0, 1), one, False, dice(0)).tolist() == [True]
    # Of the same edge thrice one can stay; loops of two nodes would become one edge twice.
    thrice = np.array([[0, 1], [1, 0], [0, 1]], dtype=np.int32)
    assert rewire(thrice, ints(0, 3), one, False, dice(0)).sum() == 2
    loops = np.array([[0, 0], [1, 1]], dtype=np.int32)
    assert rewire(loops, ints(0, 2), one, False, dice(0)).all()
    triangle = np.array([[0, 1], [1, 2], [2, 0]], dtype=np.int32)
    assert not rewire(triangle.copy(), ints(0, 3), one, False, dice(0)).any()
    assert rewire(triangle, ints(0, 3), one, True, dice(0)).all()
    assert rewire(triangle[:0], ints(0, 0), one, False, dice(0)).shape == (0,)


def test_joined_communities_have_their_degrees_inside_and_outside() -> None:
    degrees = np.full(24, 5, dtype=np.int64)
    internal = np.full(24, 3, dtype=np.int64)
    communities = np.repeat(np.arange(3), 8).astype(np.int32)
    joined = join_communities(degrees, internal, communities, dice(6))
    same = communities[joined.edges[:, 0]] == communities[joined.edges[:, 1]]
    assert (joined.moved, joined.dropped) == (0, 0)
    assert is_simple(joined.edges)
    assert degrees_of(joined.edges[same], 24) == [3] * 24
    assert degrees_of(joined.edges[~same], 24) == [2] * 24


def test_edges_without_a_place_inside_go_outside_and_are_counted() -> None:
    # Three nodes have at most three edges among them; a degree of 4 inside leaves three more.
    internal = np.repeat(ints(4, 0), (3, 6))
    degrees = np.repeat(ints(4, 1), (3, 6))
    communities = np.repeat(np.arange(2), (3, 6)).astype(np.int32)
    joined = join_communities(degrees, internal, communities, dice(1))
    same = communities[joined.edges[:, 0]] == communities[joined.edges[:, 1]]
    assert (joined.moved, joined.dropped) == (3, 0)
    assert same.sum() == 3
    assert degrees_of(joined.edges, 9) == degrees.tolist()
    # With nobody outside they have no place at all.
    alone = join_communities(ints(4, 4, 4), ints(4, 4, 4), np.zeros(3, dtype=np.int32), dice(1))
    assert (alone.moved, alone.dropped, len(alone.edges)) == (3, 3, 3)
