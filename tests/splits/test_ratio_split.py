from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from split_checks import check, fingerprint, graphs, keys, numbered_graph

import trueedge as te
from trueedge import InputError, splits
from trueedge.graph import Graph


@settings(max_examples=300, deadline=None)
@given(
    graphs(),
    st.integers(0, 2**63),
    st.sampled_from([(0.85, 0.05, 0.1), (0.5, 0.2, 0.3), (0, 0, 1), (0, 0.5, 0.5)]),
)
def test_the_parts_are_disjoint_and_together_the_graph(
    graph: Graph, seed: int, ratios: tuple[float, ...]
) -> None:
    num_valid, num_test = (int(share * graph.num_edges + 1e-9) for share in ratios[1:])
    if num_test == 0:
        with pytest.raises(InputError, match="% is empty"):
            splits.ratio(graph, ratios, seed)
        return
    split = splits.ratio(graph, ratios, seed)
    check(split, graph)
    assert (len(split.valid), len(split.test)) == (num_valid, num_test)


def test_the_counts_are_the_published_ones() -> None:
    """Cora's 5,278 edges become 4,488 / 263 / 527."""
    pairs = np.column_stack([np.arange(5278), np.arange(5278) + 1])
    split = te.split(Graph.from_edges(pairs))
    assert (split.train.num_edges, len(split.valid), len(split.test)) == (4488, 263, 527)
    assert split.name == "ratio 85/5/10, seed 0"


def test_a_whole_number_of_edges_is_not_missed_by_the_last_bit() -> None:
    pairs = np.column_stack([np.arange(100), np.arange(100) + 1])
    assert len(splits.ratio(Graph.from_edges(pairs), (0.71, 0, 0.29)).test) == 29


def test_every_edge_is_as_likely_in_each_part(thorough: bool) -> None:
    graph = Graph.from_edges(np.array([(u, v) for u in range(5) for v in range(u + 1, 5)]))
    place = {edge: i for i, edge in enumerate(keys(graph.edges))}
    counts = np.zeros((2, 10))
    for seed in range(2000 if thorough else 500):
        split = splits.ratio(graph, (0.6, 0.2, 0.2), seed)
        for part, pairs in enumerate((split.valid, split.test)):
            counts[part, [place[pair] for pair in keys(pairs)]] += 1
    for row in counts:
        # Edges of a part are drawn without repetition: the statistic is below chi-square, never above.
        assert stats.chisquare(row).pvalue > 0.001


def test_a_seed_repeats_and_another_differs() -> None:
    graph = numbered_graph()
    first, again, other = (splits.ratio(graph, seed=seed) for seed in (3, 3, 4))
    assert first.hash == again.hash != other.hash
    assert first.test.tolist() == again.test.tolist() != other.test.tolist()


def test_the_split_of_a_seed_never_changes() -> None:
    assert fingerprint(splits.ratio(numbered_graph(), seed=11)) == PINNED


def test_the_hash_sees_every_part_and_the_order() -> None:
    split = splits.ratio(numbered_graph(), (0.5, 0.2, 0.3))
    others = [
        te.Split(split.train, split.valid[::-1], split.test, ""),
        te.Split(split.train, split.valid, split.test[::-1], ""),
        te.Split(split.train, split.test, split.valid, ""),
        te.Split(split.train.only_edges(split.train.edges[1:]), split.valid, split.test, ""),
    ]
    assert len({split.hash, *(other.hash for other in others)}) == 5
    assert te.Split(split.train, split.valid, split.test, "another name").hash == split.hash


def test_edge_data_features_and_labels_stay_with_the_training_graph() -> None:
    pairs = np.array([(0, 1), (1, 2), (2, 3), (0, 3), (1, 3)])
    graph = Graph.from_edges(
        pairs, features=np.eye(4), labels=list("abcd"), edge_data={"year": pairs.sum(axis=1)}, name="years"
    )
    split = splits.ratio(graph, (0.6, 0.2, 0.2))
    check(split, graph)
    assert split.train.edge_data["year"].tolist() == split.train.edges.sum(axis=1).tolist()


def test_a_split_cannot_be_changed_and_says_what_it_is() -> None:
    split = splits.ratio(numbered_graph())
    with pytest.raises(ValueError, match="read-only"):
        split.test[0, 0] = 1
    assert repr(split).startswith("Split(numbered, ratio 85/5/10, seed 0: ")


@pytest.mark.parametrize(
    ("ratios", "message"),
    [
        ((0.5, 0.5), "three shares"),
        (0.5, "three shares"),
        ((0.8, 0.1, 0.2), "sum to 1"),
        ((1.2, -0.1, -0.1), "the share of train must be a number from 0 to 1, got 1.2"),
        ((float("nan"), 0.5, 0.5), "the share of train"),
        ((0.5, "a", 0.5), "the share of valid"),
        ((0.9, 0.1, 0.0), "% is empty"),
    ],
)
def test_wrong_ratios_are_named(ratios: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        splits.ratio(numbered_graph(), ratios)  # type: ignore[arg-type]


def test_a_graph_without_edges_cannot_be_split() -> None:
    with pytest.raises(InputError, match="graph has 0 edges, so a test part of 10 % is empty"):
        splits.ratio(Graph.from_edges([], num_nodes=1))


def test_a_wrong_seed_is_named() -> None:
    with pytest.raises(InputError, match="seed"):
        splits.ratio(numbered_graph(), seed=-1)


PINNED = "ce3053e1d9e037d3090d352a0ae4cc6a855654d7fc13df02e1ab68dc1703b48d"
