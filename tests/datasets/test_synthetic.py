"""Generated graphs: what they promise of their degrees, and the settings they take."""

from __future__ import annotations

import re
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from trueedge import datasets
from trueedge.datasets import barabasi_albert, erdos_renyi, power_law_configuration, price, stochastic_block
from trueedge.datasets.random_graphs import _citations, _triangle, power_law_of_mean
from trueedge.errors import InputError

EXAMPLES = {
    "erdos-renyi": "erdos-renyi:nodes=50,edges=100,seed=3",
    "barabasi-albert": "barabasi-albert:nodes=50,attach=3,seed=3",
    "price": "price:nodes=50,edges=120,exponent=2.5,seed=3",
    "power-law-configuration": "power-law-configuration:nodes=50,exponent=2.2,max_degree=20,seed=3",
    "stochastic-block": "stochastic-block:sizes=20+30,p_in=0.3,p_out=0.05,seed=3",
}
# The same seed gives the same graph on every machine, and with every later version.
HASHES = {
    "erdos-renyi": "e20690183d3507bd7679a0782bf664d079a4d9185dc39cd27d2fcb2d2859d63c",
    "barabasi-albert": "e1e87aa18343cd614d091b1a1697cd0bd99487618891494aad45bcce11fef8f4",
    "price": "01c2c8e7a787a54b69d428c954340ca9f2c9115f638020adf103303952486b1a",
    "power-law-configuration": "5b31ac49d92c14fd5cb3681e7b0ea40982c467b406ea9120fcabe83be23decab",
    "stochastic-block": "6a09fd4ab8e35e239b1a6b43c9378a51d94d1ca254f31ec4dfff0fc19709979f",
}


def test_every_generated_family_has_an_example_here() -> None:
    assert set(EXAMPLES) == {card.name for card in datasets.cards() if card.family == "synthetic"}


@pytest.mark.parametrize("family", EXAMPLES)
def test_a_seed_gives_the_same_graph_for_ever(family: str) -> None:
    graph = datasets.load(EXAMPLES[family])
    assert graph.hash == HASHES[family]
    assert graph.name == EXAMPLES[family] == datasets.get(EXAMPLES[family]).name
    assert graph.hash != datasets.load(EXAMPLES[family].replace("seed=3", "seed=4")).hash
    assert graph.num_nodes == 50


@pytest.mark.parametrize("family", EXAMPLES)
def test_the_bare_name_is_a_graph_of_defaults(family: str) -> None:
    graph = datasets.load(family)
    assert graph.num_edges > 100
    assert graph.hash == datasets.load(f"{family}:seed=0").hash == datasets.load(graph.name).hash


def test_the_functions_and_the_names_give_the_same_graphs() -> None:
    made = {
        "erdos-renyi": erdos_renyi(50, 100, seed=3),
        "barabasi-albert": barabasi_albert(50, 3, seed=3),
        "price": price(50, 120, 2.5, seed=3),
        "power-law-configuration": power_law_configuration(50, 2.2, max_degree=20, seed=3),
        "stochastic-block": stochastic_block([20, 30], 0.3, 0.05, seed=3),
    }
    assert {family: graph.hash for family, graph in made.items()} == HASHES


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("price:node=10", "no setting of price is called 'node'; did you mean 'nodes'?"),
        ("price:nodes", "price: settings look like nodes=…, got 'nodes'"),
        ("price:nodes=10,nodes=20", "the setting nodes is given twice"),
        ("price:nodes=ten", "price: nodes must be a whole number, got 'ten'"),
        ("price:nodes=10.5", "price: nodes must be a whole number, got '10.5'"),
        ("price:exponent=steep", "price: exponent must be a number, got 'steep'"),
        ("price:nodes=10,edges=46", "price: edges must be a whole number from 0 to 45, got 46"),
        ("price:nodes=10,edges=20,exponent=2", "exponent must be a number above 2, got 2.0"),
        ("price:nodes=10,edges=20,exponent=nan", "exponent must be a number above 2, got nan"),
        ("price:nodes=10,edges=20,exponent=inf", "exponent must be a number above 2, got inf"),
        ("price:nodes=0", "nodes must be a whole number, 1 or more, got 0"),
        ("price:seed=-1", "seed must be a whole number, 0 or more, got -1"),
        ("erdos-renyi:nodes=10,edges=46", "edges must be a whole number from 0 to 45, got 46"),
        ("erdos-renyi:nodes=10,edges=-1", "edges must be a whole number from 0 to 45, got -1"),
        ("barabasi-albert:nodes=5,attach=5", "nodes must be a whole number, 6 or more, got 5"),
        ("barabasi-albert:attach=0", "attach must be a whole number, 1 or more, got 0"),
        ("power-law-configuration:exponent=1", "exponent must be a number above 1, got 1.0"),
        ("power-law-configuration:max_degree=1000", "max_degree must be a whole number from 1 to 999"),
        ("power-law-configuration:min_degree=0", "min_degree must be a whole number from 1 to 999"),
        ("power-law-configuration:mean_degree=1", "mean_degree must be from 1."),
        ("power-law-configuration:mean_degree=-1", "mean_degree must be a number above 0"),
        ("power-law-configuration:mean_degree=4,min_degree=2", "give mean_degree or min_degree, not both"),
        ("stochastic-block:sizes=10+x", "sizes must be whole numbers joined by +, got '10+x'"),
        ("stochastic-block:sizes=10+0", "sizes must be a whole number, 1 or more, got 0"),
        ("stochastic-block:p_in=1.5", "p_in must be a probability, got 1.5"),
        ("stochastic-block:p_out=nan", "p_out must be a probability, got nan"),
    ],
)
def test_wrong_settings_are_named(text: str, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        datasets.load(text)


def test_wrong_arguments_are_named() -> None:
    for call, said in (
        (lambda: erdos_renyi(10.0, 5), "nodes must be a whole number"),  # type: ignore[arg-type]
        (lambda: erdos_renyi(True, 0), "nodes must be a whole number"),
        (lambda: price(10, 5, "3"), "exponent must be a number above 2"),  # type: ignore[arg-type]
        (lambda: stochastic_block([]), "sizes must be a list of at least one block"),
        (lambda: stochastic_block([5, 5]), "p_in must be a probability, got None"),
        (
            lambda: stochastic_block([5, 5], 0.1, 0.1, matrix=[[1]]),
            "give matrix, or p_in and p_out, not both",
        ),
        (lambda: stochastic_block([5, 5], matrix=[[1]]), "matrix must be of shape (2, 2)"),
        (lambda: stochastic_block([5, 5], matrix=[[0.1, 0.2], [0.3, 0.4]]), "matrix must be symmetric"),
        (lambda: stochastic_block([5, 5], matrix=[[0.1, np.nan], [np.nan, 0.4]]), "matrix must be symmetric"),
        (lambda: stochastic_block([5], matrix=[["a"]]), "matrix must be a table of probabilities"),
    ):
        with pytest.raises(InputError, match=re.escape(said)):
            call()


def test_a_uniform_graph_is_uniform(thorough: bool) -> None:
    # All 15 graphs of 4 nodes with 2 edges, each as often as the others.
    seeds = range(3000 if thorough else 600)
    seen = Counter(tuple(map(tuple, erdos_renyi(4, 2, seed=seed).edges.tolist())) for seed in seeds)
    assert len(seen) == 15
    assert stats.chisquare(list(seen.values())).pvalue > 1e-3


@pytest.mark.parametrize("edges", [0, 1, 22, 23, 44, 45])
def test_a_uniform_graph_has_exactly_its_edges(edges: int) -> None:
    assert erdos_renyi(10, edges, seed=0).num_edges == edges
    assert erdos_renyi(1, 0).num_edges == 0


def test_degrees_of_a_uniform_graph_are_hypergeometric() -> None:
    graph = erdos_renyi(20_000, 60_000, seed=1)
    expected = stats.poisson(6).pmf(np.arange(14)) * 20_000
    found = np.bincount(graph.degrees, minlength=14)[:14]
    assert (np.abs(found - expected) < 5 * np.sqrt(expected) + 5).all()


def test_places_in_the_triangle_are_pairs() -> None:
    pairs = _triangle(np.arange(45))
    assert sorted(map(tuple, pairs.tolist())) == sorted(combinations(range(10), 2))
    large = 2**31 - 2
    last = large * (large + 1) // 2 - 1
    assert _triangle(np.array([last, last - 1, last - large])).tolist() == [
        [large - 1, large],
        [large - 2, large],
        [large - 2, large - 1],
    ]


def test_preferential_attachment_has_its_exact_degree_law() -> None:
    # p(k) = 2 m (m + 1) / (k (k + 1) (k + 2)), Dorogovtsev et al. 2000.
    nodes, m = 50_000, 3
    graph = barabasi_albert(nodes, m, seed=2)
    assert graph.num_edges == m * (nodes - m)
    assert graph.degrees[m:].min() == m
    degrees = np.arange(m, 15)
    expected = 2 * m * (m + 1) / (degrees * (degrees + 1.0) * (degrees + 2)) * nodes
    found = np.bincount(graph.degrees, minlength=15)[m:15]
    assert (np.abs(found - expected) < 5 * np.sqrt(expected) + 0.01 * expected).all()
    assert graph.components().max() == 0


def tail_exponent(degrees: np.ndarray, start: int) -> float:
    """The maximum likelihood estimate for a discrete power law (Clauset et al. 2009, equation 3.7)."""
    tail = degrees[degrees >= start]
    return float(1 + len(tail) / np.log(tail / (start - 0.5)).sum())


@pytest.mark.parametrize(("exponent", "tolerance"), [(2.5, 0.15), (3.0, 0.2), (4.0, 0.5)])
def test_price_s_graph_follows_its_power_law(exponent: float, tolerance: float) -> None:
    graph = price(100_000, 400_000, exponent, seed=5)
    assert (graph.num_nodes, graph.num_edges) == (100_000, 400_000)
    assert abs(tail_exponent(graph.degrees, 40) - exponent) < tolerance


@pytest.mark.parametrize("exponent", [2.5, 3.0])
def test_price_s_graph_leaves_the_exact_share_of_nodes_uncited(exponent: float) -> None:
    # p_0 = (1 + a/m) / (a + 1 + a/m) with a = (exponent - 2) m (Newman, Networks, 2nd edition, 13.1).
    nodes, m = 100_000, 4
    graph = price(nodes, nodes * m, exponent, seed=6)
    uncited = (graph.degrees == m).sum() / nodes
    a = (exponent - 2) * m
    expected = (1 + a / m) / (a + 1 + a / m)
    assert abs(uncited - expected) < 0.005


@pytest.mark.parametrize(
    ("nodes", "edges"), [(1, 0), (2, 1), (10, 0), (10, 7), (10, 44), (10, 45), (300, 1000)]
)
def test_price_s_graph_has_exactly_its_edges(nodes: int, edges: int) -> None:
    quotas = _citations(nodes, edges)
    assert quotas.sum() == edges
    assert (quotas >= 0).all()
    assert (quotas <= np.arange(nodes)).all()
    assert price(nodes, edges, seed=1).num_edges == edges


def test_the_published_price_graph_is_made_in_seconds() -> None:
    graph = datasets.load("price:nodes=100000,edges=1000000,seed=0")
    assert (graph.num_nodes, graph.num_edges) == (100_000, 1_000_000)
    assert abs(tail_exponent(graph.degrees, 100) - 3) < 0.2


def test_a_configuration_graph_follows_its_power_law() -> None:
    graph = power_law_configuration(100_000, 2.5, min_degree=3, max_degree=1000, seed=7)
    law = np.arange(3, 1001) ** -2.5
    expected = law / law.sum() * 100_000
    found = np.bincount(graph.degrees, minlength=1001)[3:1001]
    # Erasure takes from the hubs, so only small degrees are compared.
    assert (np.abs(found - expected)[:10] < 5 * np.sqrt(expected[:10]) + 0.02 * expected[:10]).all()
    assert abs(tail_exponent(graph.degrees, 10) - 2.5) < 0.1
    assert any("self-loop" in note for note in graph.notes)
    assert any("repeated" in note for note in graph.notes)


@pytest.mark.parametrize("mean", [2.5, 6.0, 19.3])
def test_a_configuration_graph_has_its_mean_degree(mean: float) -> None:
    law = power_law_of_mean(2.8, mean, 200)
    assert law.sum() == pytest.approx(1)
    assert law @ np.arange(201) == pytest.approx(mean)
    graph = power_law_configuration(50_000, 2.8, mean_degree=mean, max_degree=200, seed=8)
    assert 2 * graph.num_edges / 50_000 == pytest.approx(mean, rel=0.03)


def test_a_configuration_graph_has_bounds() -> None:
    graph = power_law_configuration(2000, 2.0, min_degree=4, max_degree=4, seed=0)
    assert graph.degrees.max() == 4
    assert 2 * graph.num_edges > 0.98 * 4 * 2000
    pair = power_law_configuration(2, 2.0, mean_degree=1)
    assert pair.num_edges == 1
    full = power_law_configuration(11, 2.0, mean_degree=10)
    assert full.degrees.max() <= 10


def test_blocks_have_their_densities() -> None:
    sizes, matrix = [300, 500, 200], [[0.1, 0.02, 0.0], [0.02, 0.05, 0.3], [0.0, 0.3, 1.0]]
    graph = stochastic_block(sizes, matrix=matrix, seed=9)
    block = np.repeat(np.arange(3), sizes)
    found = np.zeros((3, 3))
    np.add.at(found, (block[graph.edges[:, 0]], block[graph.edges[:, 1]]), 1)
    for a in range(3):
        for b in range(a, 3):
            possible = sizes[a] * (sizes[a] - 1) / 2 if a == b else sizes[a] * sizes[b]
            chance = matrix[a][b]
            spread = 5 * np.sqrt(possible * chance * (1 - chance))
            assert abs(found[a, b] - possible * chance) <= spread


def test_blocks_of_extremes() -> None:
    assert stochastic_block([4], 1.0, 0.0).num_edges == 6
    assert stochastic_block([1, 1, 1], 0.0, 1.0).num_edges == 3
    assert stochastic_block([5, 5], 0, 0).num_edges == 0
    joined = stochastic_block([2, 3], 0.0, 1.0)
    assert joined.edges.tolist() == [[u, v] for u in range(2) for v in range(2, 5)]


@pytest.mark.parametrize(
    "name",
    [
        "erdos-renyi:nodes=99999999999",
        "erdos-renyi:nodes=2000000,edges=999999999999",
        "barabasi-albert:nodes=99999999999",
        "barabasi-albert:nodes=2000000000,attach=1000000000",
        "price:nodes=99999999999",
        "price:nodes=100,edges=9999999999999",
        "power-law-configuration:nodes=99999999999",
        "stochastic-block:sizes=99999999999999",
        "stochastic-block:sizes=2000000000+2000000000",
        "stochastic-block:sizes=1000000+1000000",
        "stochastic-block:sizes=" + "+".join(["1"] * 20_000),
        "erdos-renyi:nodes=1000000000",
        "barabasi-albert:nodes=1000000000",
        "price:nodes=1000000000",
        "power-law-configuration:nodes=1000000000",
        "stochastic-block:sizes=1000000000,p_in=0,p_out=0",
    ],
)
def test_absurd_sizes_are_refused_before_anything_is_made(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trueedge.datasets.memory_check.free_memory", lambda: 2**35)
    family = name.split(":")[0]
    with pytest.raises(InputError, match=f"^{family}: .*(must be a whole number from|GB of memory|too many)"):
        datasets.load(name)


def test_a_graph_may_be_as_large_as_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trueedge.datasets.memory_check.free_memory", lambda: 40 * 100 + 72 * 500)
    assert erdos_renyi(100, 500).num_edges == 500
    with pytest.raises(
        InputError, match="100 nodes and 501 edges need about 0 MB of memory, but 0 MB are free"
    ):
        erdos_renyi(100, 501)
    monkeypatch.setattr("trueedge.datasets.memory_check.free_memory", lambda: None)
    assert erdos_renyi(100, 501).num_edges == 501


def test_sizes_are_a_list() -> None:
    for wrong in (5, "55", None, []):
        with pytest.raises(InputError, match="sizes must be a list of at least one block"):
            stochastic_block(wrong, 0.1, 0.1)  # type: ignore[arg-type]
    assert stochastic_block(np.array([3, 4]), 1.0, 0.0).num_nodes == 7
