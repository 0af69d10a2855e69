"""Graphs of known communities: what they promise of degrees, sizes and mixing, on the published grid."""

from __future__ import annotations

import re
from itertools import product

import networkx
import numpy as np
import pytest
from scipy import optimize, stats

from trueedge import datasets
from trueedge.datasets.lfr import lfr, lfr_communities, mixing_of
from trueedge.errors import InputError
from trueedge.graph import Graph

SMALL = {"mean_degree": 6.0, "max_degree": 30, "min_community": 15, "max_community": 50}
NAME = (
    "lfr:nodes=200,mixing=0.2,mean_degree=6.0,max_degree=30,degree_exponent=2.5,community_exponent=3.0,"
    "min_community=15,max_community=50,seed=3"
)
# The same seed gives the same graph on every machine, and with every later version.
HASH = "820d1e4cdc2c4f875b4711fd4d2b460f2827e552ffac7d57d6a396dec34fff15"


def test_a_seed_gives_the_same_graph_for_ever() -> None:
    graph, communities = lfr(200, 0.2, seed=3, **SMALL)
    assert graph.hash == HASH
    assert graph.name == NAME == datasets.get(NAME).name
    assert datasets.load(NAME).hash == HASH
    assert (lfr_communities(NAME) == communities).all()
    assert lfr(200, 0.2, seed=4, **SMALL)[0].hash != HASH
    assert communities.dtype == np.int32
    assert not communities.flags.writeable


def test_the_bare_name_is_the_graph_of_the_defaults() -> None:
    graph, communities = lfr()
    assert datasets.load("lfr").hash == graph.hash == datasets.load("lfr:seed=0").hash
    assert (lfr_communities("lfr") == communities).all()
    assert datasets.get("lfr:mixing=0.5").name == graph.name.replace("0.3", "0.5")


@pytest.mark.rotating(3)
@pytest.mark.parametrize(("exponent", "mean", "bound"), list(product((2.5, 3.0), (25, 50), (500, 1000))))
def test_graphs_of_the_published_grid_are_what_was_asked_for(exponent: float, mean: int, bound: int) -> None:
    for mixing in np.round(np.arange(1, 10) / 10, 1):
        graph, communities = lfr(
            3000,
            float(mixing),
            mean_degree=mean,
            degree_exponent=exponent,
            max_degree=bound,
            max_community=bound,
            seed=1,
        )
        sizes = np.bincount(communities)
        assert sizes.sum() == 3000
        assert 100 <= sizes.min() <= sizes.max() <= bound
        assert abs(mixing_of(graph, communities) - mixing) < 0.02
        assert not any("left out" in note for note in graph.notes)
        # Four standard deviations of the mean of so many draws.
        assert abs(graph.degrees.mean() - mean) < 4 * graph.degrees.std() / np.sqrt(3000)
        assert graph.degrees.max() <= bound
        # Graph.from_edges refuses self-loops and repeats; the edges are counted once more here.
        assert (graph.edges[:, 0] < graph.edges[:, 1]).all()
        assert len(np.unique(graph.edges, axis=0)) == graph.num_edges


@pytest.mark.parametrize("mixing", [0.0, 0.05, 1.0])
def test_the_ends_of_the_mixing_can_be_had(mixing: float) -> None:
    graph, communities = lfr(600, mixing, mean_degree=10, max_degree=60, min_community=50, max_community=200)
    assert mixing_of(graph, communities) == pytest.approx(mixing, abs=0.02)


def fitted_exponent(degrees: np.ndarray, low: int, high: int) -> float:
    """The likeliest exponent of a discrete power law between two bounds."""
    values, logs = np.arange(low, high + 1), np.log(degrees[degrees >= low])

    def loss(exponent: float) -> float:
        return exponent * logs.mean() + np.log((values**-exponent).sum())

    return float(optimize.minimize_scalar(loss, bounds=(1.1, 6), method="bounded").x)


@pytest.mark.parametrize("exponent", [2.5, 3.0])
def test_degrees_follow_their_power_law_with_their_mean(exponent: float) -> None:
    settings = {"mean_degree": 12, "max_degree": 200, "max_community": 300}
    degrees = lfr(20_000, 0.3, degree_exponent=exponent, **settings)[0].degrees
    lowest = int(degrees.min())
    assert fitted_exponent(degrees, lowest + 1, 200) == pytest.approx(exponent, abs=0.08)
    assert degrees.mean() == pytest.approx(12, abs=4 * degrees.std() / np.sqrt(20_000))


def test_community_sizes_follow_their_power_law() -> None:
    # Many communities and small degrees: neither the sum nor the hubs say much about a size.
    communities = lfr(
        60_000, 0.5, mean_degree=3, max_degree=10, min_community=20, max_community=200, community_exponent=2.0
    )[1]
    sizes = np.bincount(communities)
    law = np.arange(20, 201) ** -2.0
    expected = np.cumsum(law / law.sum())
    found = np.searchsorted(np.sort(sizes), np.arange(20, 201), side="right") / len(sizes)
    # 1.63 / sqrt(n) is the distance that one sample of a hundred has from its law.
    assert np.abs(found - expected).max() < 1.63 / np.sqrt(len(sizes))
    assert fitted_exponent(sizes, 20, 200) == pytest.approx(2.0, abs=0.1)


def test_every_node_has_its_share_of_neighbours_outside() -> None:
    graph, communities = lfr(3000, 0.4, degree_exponent=3.0, max_degree=100, max_community=500, seed=2)
    outside = np.zeros(3000)
    for ends in (graph.edges, graph.edges[:, ::-1]):
        np.add.at(outside, ends[:, 0], communities[ends[:, 0]] != communities[ends[:, 1]])
    # Rounding takes less than one link, and evening out one of one node in a community.
    off = np.abs(outside - 0.4 * graph.degrees)
    assert not any("go outside" in note for note in graph.notes)
    assert (off >= 1).sum() <= communities.max() + 1
    assert off.max() < 2


def test_sizes_are_distributed_as_in_networkx_and_mean_and_mixing_are_nearer() -> None:
    settings = {"average_degree": 5, "max_degree": 30, "min_community": 20, "max_community": 60}
    theirs, ours = [], []
    their_mixing, our_mixing, their_degrees, our_degrees = [], [], [], []
    for seed in range(15):
        other = networkx.LFR_benchmark_graph(250, 3, 1.5, 0.1, **settings, seed=seed)
        groups = {frozenset(other.nodes[node]["community"]) for node in other}
        label = {node: i for i, group in enumerate(groups) for node in group}
        theirs += [len(group) for group in groups]
        their_mixing.append(np.mean([label[u] != label[v] for u, v in other.edges]))
        their_degrees.append(np.mean([degree for _, degree in other.degree]))
        graph, communities = lfr(
            250,
            0.1,
            mean_degree=5,
            max_degree=30,
            degree_exponent=3,
            community_exponent=1.5,
            min_community=20,
            max_community=60,
            seed=seed,
        )
        ours += np.bincount(communities).tolist()
        our_mixing.append(mixing_of(graph, communities))
        our_degrees.append(graph.degrees.mean())
    assert stats.ks_2samp(theirs, ours).pvalue > 0.01
    # networkx stops adding links as soon as a node has its share from others too: 4.1 and 0.06.
    assert abs(np.mean(our_mixing) - 0.1) < min(0.005, abs(np.mean(their_mixing) - 0.1))
    assert abs(np.mean(our_degrees) - 5) < min(0.2, abs(np.mean(their_degrees) - 5))


def test_communities_are_drawn_anew_where_hubs_have_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"nodes": 3000, "mixing": 0.05, "max_degree": 500, "max_community": 500, "seed": 9}
    graph, communities = lfr(**settings)
    with monkeypatch.context() as patch:
        patch.setattr("trueedge.datasets.lfr.MOST_TRIES", 1)
        with pytest.raises(InputError, match=r"too small .* mixing came out as 0\.07.. in place of 0\.05"):
            lfr(**settings)
    assert abs(mixing_of(graph, communities) - 0.05) < 0.02 + 15 / graph.num_edges


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("lfr:node=10", "no setting of lfr is called 'node'; did you mean 'nodes'?"),
        ("lfr:nodes=ten", "lfr: nodes must be a whole number, got 'ten'"),
        ("lfr:nodes=1", "lfr: nodes must be a whole number, 2 or more, got 1"),
        ("lfr:mixing=1.5", "lfr: mixing must be a number from 0 to 1, got 1.5"),
        ("lfr:mixing=nan", "lfr: mixing must be a number from 0 to 1, got nan"),
        ("lfr:mean_degree=nan", "lfr: mean_degree must be a number above 0, got nan"),
        ("lfr:mean_degree=1", "lfr: mean_degree must be from 1.9"),
        ("lfr:mean_degree=1001", "lfr: mean_degree must be from 1.9"),
        ("lfr:degree_exponent=1", "lfr: degree_exponent must be a number above 1, got 1.0"),
        ("lfr:community_exponent=0", "lfr: community_exponent must be a number above 0, got 0.0"),
        ("lfr:nodes=500", "lfr: max_degree must be a whole number from 1 to 499, got 1000"),
        ("lfr:min_community=0", "lfr: min_community must be a whole number from 1 to 3000, got 0"),
        ("lfr:max_community=99", "lfr: max_community must be a whole number from 100 to 3000, got 99"),
        ("lfr:max_community=700", "max_degree 1000 has 700 neighbours in its community with mixing 0.3, but"),
        ("lfr:min_community=1500,max_community=1600,nodes=2900", "of 1500 to 1450 nodes sum to 2900 nodes"),
        (
            "lfr:nodes=109,mean_degree=2,max_degree=5,min_community=11,max_community=12",
            "no communities of 11 to 12 nodes sum to 109 nodes",
        ),
        ("lfr:seed=-1", "seed must be a whole number, 0 or more, got -1"),
        ("lfr:nodes=99999999999", "lfr: nodes must be a whole number from 2 to"),
    ],
)
def test_settings_that_no_graph_can_have_are_refused_in_one_sentence(text: str, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)) as problem:
        datasets.load(text)
    assert "\n" not in str(problem.value)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        # 29 communities, all but one of them of 30: one try in twenty million.
        (
            {"nodes": 869, "min_community": 29, "max_community": 30, "max_degree": 20, "mean_degree": 5},
            "no communities of 29 to 30 nodes were found that sum to 869",
        ),
        (
            {"nodes": 101, "min_community": 10, "max_community": 50, "max_degree": 5, "mean_degree": 5},
            "101 nodes of an",
        ),
        # Everybody has 15 neighbours outside, where there are 10 nodes.
        (
            {
                "nodes": 20,
                "min_community": 10,
                "max_community": 10,
                "max_degree": 19,
                "mean_degree": 19,
                "mixing": 0.8,
            },
            "communities of 10 to 10 nodes are too small for nodes with up to",
        ),
    ],
)
def test_what_turns_out_to_be_impossible_is_refused_too(settings: dict, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        lfr(**{"mixing": 0.3, **settings})


def test_a_graph_larger_than_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trueedge.datasets.memory_check.free_memory", lambda: 2**20)
    with pytest.raises(InputError, match=r"lfr: 3,000 nodes .* of memory"):
        lfr()


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(InputError, match=r"mixing must be a number from 0 to 1, got '0\.3'"):
        lfr(100, "0.3")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="that of a graph 'lfr:…', got 'cora'"):
        lfr_communities("cora")
    pair = Graph.from_edges([[0, 1]], 2)
    assert mixing_of(pair, [0, 1]) == 1.0
    with pytest.raises(InputError, match=r"of shape \(2,\), got \(3,\)"):
        mixing_of(pair, [0, 1, 1])
    with pytest.raises(InputError, match="has no edge"):
        mixing_of(Graph.from_edges(np.empty((0, 2), dtype=int), 2), [0, 1])
