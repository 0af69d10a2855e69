from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from split_checks import check, fingerprint, graphs, keys, numbered_graph

from trueedge import InputError, splits
from trueedge.graph import Graph


def cycle(*nodes: int) -> list[tuple[int, int]]:
    return list(zip(nodes, (*nodes[1:], nodes[0]), strict=True))


def same_components(first: Graph, second: Graph) -> bool:
    return bool((first.components() == second.components()).all())


@settings(max_examples=400, deadline=None)
@given(
    graphs(),
    st.integers(0, 2**63),
    st.sampled_from([0.1, 0.25, 0.5, 1.0]),
    st.sampled_from([0.0, 0.1]),
    st.booleans(),
)
def test_the_parts_are_disjoint_and_train_keeps_the_components(
    graph: Graph, seed: int, share: float, valid: float, keep_connected: bool
) -> None:
    num_test, num_valid = (int(part * graph.num_edges + 1e-9) for part in (share, valid))
    off_tree = graph.num_edges - graph.num_nodes + len(set(graph.components().tolist()))
    room = off_tree if keep_connected else graph.num_edges
    if num_test == 0 or share + valid > 1 or num_test + num_valid > room:
        with pytest.raises(InputError):
            splits.fraction(graph, share, seed, keep_connected, valid)
        return
    split = splits.fraction(graph, share, seed, keep_connected, valid)
    check(split, graph)
    assert (len(split.test), len(split.valid)) == (num_test, num_valid)
    if keep_connected:
        assert same_components(split.train, graph)


def test_without_the_tree_train_can_fall_apart() -> None:
    graph = numbered_graph()
    apart = [
        not same_components(splits.fraction(graph, 0.5, seed, keep_connected=False).train, graph)
        for seed in range(10)
    ]
    assert any(apart)


def test_the_tree_is_random() -> None:
    """Holding out all that a tree can spare leaves the tree itself."""
    graph = numbered_graph()
    share = (graph.num_edges - graph.num_nodes + 1) / graph.num_edges
    trees = {splits.fraction(graph, share, seed).train.hash for seed in range(20)}
    assert len(trees) == 20
    assert all(
        splits.fraction(graph, share, seed).train.num_edges == graph.num_nodes - 1 for seed in range(3)
    )


def test_every_edge_of_a_cycle_is_as_likely_held_out(thorough: bool) -> None:
    graph = Graph.from_edges(np.array(cycle(0, 1, 2, 3, 4, 5)))
    counts = np.zeros(6)
    for seed in range(1200 if thorough else 400):
        (row,) = np.flatnonzero((graph.edges == splits.fraction(graph, 0.2, seed).test[0]).all(axis=1))
        counts[row] += 1
    assert stats.chisquare(counts).pvalue > 0.001


def test_an_edge_off_the_tree_is_as_likely_in_a_short_cycle_as_in_a_long_one(thorough: bool) -> None:
    """Taking the edges off the tree in the order that made it would choose the triangle in 4 of 5 cases."""
    graph = Graph.from_edges(np.array(cycle(0, 1, 2) + cycle(0, *range(3, 14))))
    seeds = range(1000 if thorough else 300)
    in_triangle = sum(max(splits.fraction(graph, 0.07, seed).test[0].tolist()) <= 2 for seed in seeds)
    assert stats.binomtest(in_triangle, len(seeds)).pvalue > 0.001


def test_too_few_edges_off_the_tree_says_how_many_there_are_and_the_way_out() -> None:
    star = Graph.from_edges(np.array([(0, i) for i in range(1, 9)] + [(1, 2)]), name="star")
    with pytest.raises(InputError, match=r"2 of the 9 edges of star.*only 1 can.*keep_connected=False"):
        splits.fraction(star)
    check(splits.fraction(star, keep_connected=False), star)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fraction": 1.5}, "fraction must be a number from 0 to 1, got 1.5"),
        ({"fraction": "x"}, "fraction must be"),
        ({"fraction": 0}, "% is empty"),
        ({"valid": float("nan")}, "valid must be"),
        ({"fraction": 0.8, "valid": 0.3}, "sum to more than 1"),
        ({"keep_connected": "no"}, "keep_connected must be True or False"),
    ],
)
def test_wrong_settings_are_named(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        splits.fraction(numbered_graph(), **options)  # type: ignore[arg-type]


def test_a_seed_repeats_and_another_differs() -> None:
    graph = numbered_graph()
    first, again, other = (splits.fraction(graph, seed=seed) for seed in (3, 3, 4))
    assert first.hash == again.hash != other.hash
    assert set(keys(first.test)) != set(keys(other.test))


def test_the_split_of_a_seed_never_changes() -> None:
    graph = numbered_graph()
    assert fingerprint(splits.fraction(graph, seed=11, valid=0.05)) == PINNED
    assert fingerprint(splits.fraction(graph, seed=11, keep_connected=False)) == PINNED_ANY


def test_the_name_says_how_it_was_made() -> None:
    graph = numbered_graph()
    assert splits.fraction(graph).name == "fraction 0.25, spanning forest kept, seed 0"
    named = splits.fraction(graph, 0.2, 5, keep_connected=False, valid=0.1).name
    assert named == "fraction 0.2, valid 0.1, any edges, seed 5"


PINNED = "a96621f513b845b85bcb344d71d7975707363bf542f485c39244652e2483ef63"
PINNED_ANY = "3c07adce885fe0a60874322f871b31744790b0b82351a6525e419caf9291798c"
