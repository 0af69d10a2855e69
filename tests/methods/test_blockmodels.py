"""Block models find what was planted, and score pairs as their formulas say."""

from __future__ import annotations

import csv
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.metrics import normalized_mutual_info_score as nmi

import trueedge as te
from trueedge.errors import InputError
from trueedge.graph import Graph
from trueedge.methods import create
from trueedge.methods.blockmodels.description import description_length
from trueedge.methods.blockmodels.fitting import fit_partition

BOTH = ("sbm", "dc-sbm")


def planted(seed: int, blocks: np.ndarray, joined: np.ndarray, weight: np.ndarray | None = None) -> Graph:
    """Each pair an edge with the probability of its two groups, times the weights of its nodes."""
    rng = np.random.default_rng(seed)
    chance = joined[blocks][:, blocks]
    if weight is not None:
        chance = np.minimum(chance * weight[:, None] * weight, 1.0)
    return Graph.from_edges(np.argwhere(np.triu(rng.random(chance.shape) < chance, 1)), len(blocks))


def fitted(name: str, graph: Graph, seed: int = 0, **settings):
    return create(name, settings).fit(SimpleNamespace(graph=graph), seed=seed)


def all_pairs(nodes: int) -> np.ndarray:
    return np.stack(np.meshgrid(np.arange(nodes), np.arange(nodes)), axis=-1).reshape(-1, 2)


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("seed", range(3))
def test_communities_are_found_and_so_is_their_number(name, seed):
    truth = np.repeat(np.arange(4), [30, 40, 50, 60])
    graph = planted(seed, truth, np.full((4, 4), 0.02) + 0.28 * np.eye(4))
    scorer = fitted(name, graph, seed)
    assert scorer.num_blocks == 4
    assert nmi(truth, scorer.blocks) > 0.97
    assert scorer.description_length == pytest.approx(
        description_length(graph, scorer.blocks, scorer.corrected), rel=1e-9
    )
    assert scorer.description_length <= description_length(graph, truth, scorer.corrected) + 1e-6


@pytest.mark.parametrize("name", BOTH)
def test_groups_that_are_joined_to_others_and_not_within_are_found(name):
    truth = np.repeat([0, 1, 2, 3], 40)
    joined = np.full((4, 4), 0.01) + 0.3 * np.eye(4)[[1, 0, 3, 2]]
    scorer = fitted(name, planted(1, truth, joined))
    assert scorer.num_blocks == 4
    assert nmi(truth, scorer.blocks) > 0.97
    across, within = scorer.score(np.array([[0, 60], [0, 1]]))
    assert across > 10 * within


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("chance", [0.02, 0.1, 0.5])
def test_a_graph_without_groups_is_one_group(name, chance):
    graph = planted(2, np.zeros(150, dtype=int), np.array([[chance]]))
    scorer = fitted(name, graph)
    assert scorer.num_blocks == 1
    if name == "sbm":
        assert len(set(scorer.score(all_pairs(20)).tolist())) == 1


def test_only_the_corrected_model_sees_groups_through_unequal_degrees():
    truth = np.repeat([0, 1], 150)
    weight = np.tile(np.geomspace(0.15, 3.0, 150), 2)
    graph = planted(3, truth, np.array([[0.16, 0.02], [0.02, 0.16]]), weight)
    plain, corrected = fitted("sbm", graph), fitted("dc-sbm", graph)
    busy = graph.degrees >= 5
    assert corrected.num_blocks == 2
    assert nmi(truth[busy], corrected.blocks[busy]) > 0.95
    assert plain.num_blocks > 2
    by_degree = graph.degrees > np.median(graph.degrees)
    assert nmi(by_degree, plain.blocks) > 0.2 > nmi(by_degree, corrected.blocks)


@pytest.mark.parametrize("name", BOTH)
def test_scores_are_the_expected_numbers_of_edges(name, random_graph):
    graph = random_graph(4, nodes=30, edges=70)
    scorer = fitted(name, graph, blocks=4)
    assert scorer.num_blocks == 4
    member = np.eye(4)[scorer.blocks]
    edges = member.T @ graph.adjacency() @ member
    size, ends = member.sum(axis=0), member.T @ graph.degrees
    expected = member @ (edges / np.outer(size, size)) @ member.T
    if name == "dc-sbm":
        expected = member @ (edges / np.outer(ends, ends)) @ member.T * np.outer(graph.degrees, graph.degrees)
        np.testing.assert_allclose(expected.sum(axis=1), graph.degrees)
    np.testing.assert_allclose(scorer.score(all_pairs(30)), expected.ravel(), rtol=1e-12)
    assert expected.sum() == pytest.approx(2 * graph.num_edges)


@pytest.mark.parametrize("name", BOTH)
def test_the_published_runs_keep_the_positive_part_and_share_it_out_by_degree(name):
    truth = np.repeat([0, 1], 30)
    graph = planted(5, truth, np.array([[0.02, 0.4], [0.4, 0.02]]))
    scorer = fitted(name, graph, blocks=2, affinity="positive")
    member = np.eye(2)[scorer.blocks]
    ends = member.T @ graph.degrees
    values, vectors = np.linalg.eig((member.T @ graph.adjacency() @ member) / np.outer(ends, ends))
    nodes = (member @ (vectors * np.sqrt(np.maximum(values, 0.0)))) * graph.degrees[:, None]
    np.testing.assert_allclose(scorer.score(all_pairs(60)), (nodes @ nodes.T).ravel(), rtol=1e-9)
    pairs = np.array([[0, 40], [0, 1]])
    kept, lost = fitted(name, graph, blocks=2).score(pairs), scorer.score(pairs)
    assert kept[0] / kept[1] > 5 > lost[0] / lost[1]


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("affinity", ["counted", "positive"])
@pytest.mark.parametrize(("nodes", "edges"), [(1, 0), (2, 0), (2, 1), (3, 2), (12, 0), (40, 30)], ids=str)
def test_small_empty_and_scattered_graphs_get_finite_scores(name, affinity, nodes, edges, random_graph):
    scorer = fitted(name, random_graph(6, nodes=nodes, edges=edges), affinity=affinity)
    pairs = all_pairs(nodes)
    scores = scorer.score(pairs)
    assert scores.shape == (len(pairs),)
    assert scores.dtype == np.float64
    assert np.isfinite(scores).all()
    assert scorer.score(pairs[:, ::-1]).tobytes() == scores.tobytes()
    assert scorer.score(np.empty((0, 2), dtype=np.int64)).shape == (0,)
    assert edges > 0 or not scores.any()


@pytest.mark.parametrize("name", BOTH)
def test_a_seed_decides_everything_and_groups_are_numbered_by_their_first_node(name, random_graph):
    graph = random_graph(7, nodes=80, edges=300)
    first, again = fitted(name, graph, 3, blocks=9), fitted(name, graph, 3, blocks=9)
    assert first.blocks.tobytes() == again.blocks.tobytes()
    assert first.description_length == again.description_length
    found = {fitted(name, graph, seed, blocks=9).description_length for seed in range(4)}
    assert len(found) > 1
    _, place = np.unique(first.blocks, return_index=True)
    assert (np.diff(place) > 0).all()
    assert first.blocks[0] == 0


def test_more_starts_never_give_a_longer_description(random_graph):
    graph = random_graph(8, nodes=80, edges=250)
    lengths = [fit_partition(graph, corrected=True, blocks=8, starts=n).description_length for n in (1, 2, 4)]
    assert lengths == sorted(lengths, reverse=True)


@pytest.mark.parametrize("many", [1, 2, 17, 40])
def test_the_number_of_groups_can_be_given(many, random_graph):
    graph = random_graph(9, nodes=40, edges=60)
    assert sorted(set(fitted("sbm", graph, blocks=many).blocks.tolist())) == list(range(many))


def test_edges_of_another_graph_are_counted_in_the_same_groups(random_graph):
    graph = random_graph(10, nodes=30, edges=60)
    more = graph.with_edges([[0, 1], [0, 2], [1, 2]])
    for affinity in ("counted", "positive"):
        scorer = fitted("dc-sbm", graph, blocks=3, affinity=affinity)
        moved = scorer.with_graph(more)
        assert moved.blocks is scorer.blocks
        assert moved.score(np.array([[0, 1]])) != scorer.score(np.array([[0, 1]]))


def test_wrong_input_is_named(random_graph):
    graph = random_graph(11, nodes=20, edges=30)
    with pytest.raises(InputError, match="blocks is 21, but random-11 has only 20 nodes"):
        fitted("sbm", graph, blocks=21)
    with pytest.raises(InputError, match="fit takes a task"):
        create("dc-sbm").fit(graph)
    with pytest.raises(InputError, match="blocks"):
        create("sbm", {"blocks": 2.5})
    with pytest.raises(InputError, match="affinity"):
        create("sbm", {"affinity": "negative"})
    with pytest.raises(InputError, match="blocks must be 20 whole numbers"):
        description_length(graph, np.zeros(19, dtype=int), False)
    with pytest.raises(InputError, match="node id 20"):
        fitted("sbm", graph, blocks=2).score(np.array([[0, 20]]))


@pytest.mark.data
@pytest.mark.parametrize("network", ["polbooks", "netscience", "foodweb-baydry"])
def test_the_published_auc_is_met_with_the_settings_of_the_published_runs(network, data_folder):
    with (data_folder / "networks" / "published_auc.csv").open(newline="") as file:
        published = {
            row["method"]: float(row["auc"])
            for row in csv.DictReader(file)
            if (row["network"], row["negatives"]) == (network, "uniform") and row["auc"]
        }
    tasks = [te.task(network, "uniform", seed=seed, redraw="target") for seed in range(3)]
    for ours, theirs in (("sbm", "SBM"), ("dc-sbm", "dcSBM")):
        settings = {"blocks": min(128, tasks[0].graph.num_nodes // 5), "affinity": "positive"}
        found = [
            task.evaluate(create(ours, settings).fit(task, seed=task.seed), "test")["auc"] for task in tasks
        ]
        assert np.mean(found) == pytest.approx(published[theirs], abs=0.05)
