"""Growth by attachment, against a twin that keeps every degree in a list."""

from __future__ import annotations

import numpy as np
import pytest

from trueedge.kernels.generators.growth import attach, grow
from trueedge.randomness import generator


def twin(quotas: list[int], extra: float, ends: int, fractions: list[float]) -> list[list[int]]:
    """Each earlier node is in an urn once for its constant and once for each edge; draw by its share."""
    edges: list[list[int]] = []
    for node, quota in enumerate(quotas):
        before = list(edges)
        chosen: list[int] = []
        while len(chosen) < quota:
            if quota == node:
                target = len(chosen)
            else:
                place = fractions.pop(0) * (extra * node + ends * len(before))
                urn = [(earlier, extra) for earlier in range(node)]
                urn += [(end, 1.0) for edge in before for end in ([edge[1], edge[0]][:ends])]
                target = draw(urn, place)
            if target not in chosen:
                chosen.append(target)
                edges.append([node, target])
    return edges


def draw(urn: list[tuple[int, float]], place: float) -> int:
    for node, weight in urn:
        if place < weight:
            return node
        place -= weight
    return urn[-1][0]


# With one end and no constant, nodes that nobody cites would never be cited.
@pytest.mark.parametrize(("ends", "extra"), [(1, 0.5), (1, 4.0), (2, 0.0), (2, 0.5), (2, 4.0)])
def test_growth_draws_what_the_twin_draws(ends: int, extra: float) -> None:
    quotas = np.array([0, 1, 2, 2, 1, 0, 3, 2, 2, 2, 2, 4, 2], dtype=np.int64)
    # Multiples of 1/1024 make the twin's subtractions exact.
    fractions = np.random.default_rng(0).integers(0, 1024, 200) / 1024
    edges = np.empty((int(quotas.sum()), 2), dtype=np.int32)
    edges[:, 0] = np.repeat(np.arange(len(quotas)), quotas)
    done = attach(edges, np.cumsum(quotas) - quotas, quotas, extra, ends, fractions, 0)
    assert done == len(edges)
    assert edges.tolist() == twin(quotas.tolist(), extra, ends, fractions.tolist())


def test_growth_goes_on_where_the_random_numbers_ran_out() -> None:
    quotas = np.minimum(np.arange(12), 2).astype(np.int64)
    starts = np.cumsum(quotas) - quotas
    fractions = np.random.default_rng(1).random(300)
    whole = np.zeros((int(quotas.sum()), 2), dtype=np.int32)
    whole[:, 0] = np.repeat(np.arange(12), quotas)
    pieces = whole.copy()
    assert attach(whole, starts, quotas, 1.0, 1, fractions, 0) == len(whole)
    done, at = 0, 0
    while done < len(pieces):
        done = attach(pieces, starts, quotas, 1.0, 1, fractions[at : at + 1], done)
        at += 1
    np.testing.assert_array_equal(whole, pieces)


@pytest.mark.parametrize("seed", range(5))
def test_every_node_has_its_number_of_distinct_earlier_neighbours(seed: int) -> None:
    quotas = np.minimum(np.arange(60), np.random.default_rng(seed).integers(0, 6, 60)).astype(np.int64)
    edges = grow(generator(seed, "test"), quotas, 1.5, 1)
    assert (edges[:, 1] < edges[:, 0]).all()
    assert (edges[:, 1] >= 0).all()
    assert len(np.unique(edges, axis=0)) == len(edges)
    np.testing.assert_array_equal(np.bincount(edges[:, 0], minlength=60), quotas)
    np.testing.assert_array_equal(edges, grow(generator(seed, "test"), quotas, 1.5, 1))


def test_a_node_draws_in_proportion_to_degree() -> None:
    # Node 1 joins 0, node 2 joins one of them, node 3 joins one of three: with both ends counted the chances
    # of node 3 are 1/2 for the middle of the path and 1/4 for each of its ends.
    quotas = np.array([0, 1, 1, 1], dtype=np.int64)
    middle = 0
    for seed in range(2000):
        edges = grow(generator(seed, "chance"), quotas, 0.0, 2)
        middle += edges[2, 1] == edges[1, 1]
    assert abs(middle / 2000 - 0.5) < 4 * np.sqrt(0.25 / 2000)
