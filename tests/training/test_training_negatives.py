"""What a training batch's negatives are: by degree, without edges, hard."""

from __future__ import annotations

import numpy as np
import pytest

import trueedge as te
from trueedge.errors import InputError
from trueedge.graph.pairs import pair_keys
from trueedge.methods.classifiers.examples import degrees, folds
from trueedge.negatives import heart
from trueedge.training import Messages, Schedule
from trueedge.training.links import barred_edges
from trueedge.training.links.hard_negatives import HardPartners
from trueedge.training.links.objectives import PairObjective


@pytest.fixture(scope="module")
def graph() -> te.Graph:
    """Hubs that are joined to one another, so that pairs drawn by degree are often edges."""
    return te.load("barabasi-albert:nodes=300,attach=6,seed=1")


def negatives(graph: te.Graph, step, seed: int = 0, **settings):
    objective = PairObjective(graph, Messages.of(graph), Schedule(**settings))
    return objective.negatives_of(np.asarray(step), np.random.default_rng(seed))


EVERY = np.tile(np.arange(1500), 60)


def test_negatives_by_degree_have_the_degrees_of_the_positives(graph) -> None:
    drawn = negatives(graph, EVERY, negatives="degree-corrected")
    degrees = graph.degrees
    ours, theirs = (np.sort(degrees[pairs].ravel()) for pairs in (drawn, graph.edges))
    tenths = np.linspace(0, 1, 41)
    # Quantiles of the degree distribution, both of whole numbers.
    np.testing.assert_allclose(np.quantile(ours, tenths[1:-1]), np.quantile(theirs, tenths[1:-1]), atol=2)
    uniform = degrees[negatives(graph, EVERY, negatives="uniform")]
    assert uniform.mean() < 0.7 * ours.mean()


@pytest.mark.parametrize("sampler", ["uniform", "degree-corrected"])
def test_rejected_edges_leave_the_other_pairs_as_likely_as_they_were(graph, sampler: str) -> None:
    drawn = negatives(graph, EVERY, negatives=sampler, reject_edges=True)
    assert drawn.shape == (len(EVERY), 2)
    assert not graph.has_edges(drawn).any()
    assert (drawn[:, 0] != drawn[:, 1]).all()
    # The exact law: the product of both ends' chances, without edges and the diagonal.
    chance = graph.degrees / graph.degrees.sum() if sampler == "degree-corrected" else np.full(300, 1 / 300)
    law = np.outer(chance, chance) * (graph.adjacency().toarray() == 0) * (1 - np.eye(300))
    expected = law.sum(axis=1) / law.sum()
    share = np.bincount(drawn.ravel(), minlength=300) / drawn.size
    np.testing.assert_allclose(share, expected, atol=6 * np.sqrt(expected.max() / drawn.size))


def test_without_rejection_many_negatives_by_degree_are_edges_and_nothing_else_changes(graph) -> None:
    plain = negatives(graph, EVERY, negatives="degree-corrected")
    cleaned = negatives(graph, EVERY, negatives="degree-corrected", reject_edges=True)
    bad = graph.has_edges(plain) | (plain[:, 0] == plain[:, 1])
    assert 0.05 < bad.mean() < 0.5
    assert (plain[~bad] == cleaned[~bad]).all()


def test_unlinked_negatives_are_pairs_without_a_message_and_may_be_hidden_edges(graph) -> None:
    batch = np.arange(0, 600)
    hidden = set(graph.edge_keys[batch].tolist())
    objective = PairObjective(graph, Messages.of(graph), Schedule(negatives="unlinked"))
    rng = np.random.default_rng(0)
    for step in (np.arange(900, 1500), batch):
        drawn = np.concatenate([objective.negatives_of(step, rng) for _ in range(100)])
    assert (drawn[:, 0] != drawn[:, 1]).all()
    keys = pair_keys(drawn, 300)[graph.has_edges(drawn)]
    assert set(keys.tolist()) <= hidden
    # Each ordered pair that is left has the same chance.
    left = 300 * 299 - 2 * (graph.num_edges - len(batch))
    expected = 2 * len(batch) / left
    assert len(keys) / len(drawn) == pytest.approx(expected, abs=5 * (expected / len(drawn)) ** 0.5)


@pytest.mark.parametrize("settings", [{"hide_positives": False}, {"fixed_negatives": True}])
def test_unlinked_negatives_are_no_edges_where_none_is_hidden(graph, settings: dict) -> None:
    drawn = negatives(graph, np.arange(graph.num_edges), negatives="unlinked", **settings)
    assert not graph.has_edges(drawn).any()


@pytest.mark.parametrize("settings", [{"reject_edges": True}, {"negatives": "unlinked"}])
def test_edges_are_left_out_alike_by_a_table_and_by_searches(graph, settings: dict, monkeypatch) -> None:
    steps = np.array_split(np.arange(graph.num_edges), 3)

    def drawn() -> list[np.ndarray]:
        objective = PairObjective(graph, Messages.of(graph), Schedule(**settings))
        return [objective.negatives_of(step, np.random.default_rng(3)) for step in steps]

    by_table = drawn()
    monkeypatch.setattr(barred_edges, "MOST_PAIRS", 0)
    assert all(np.array_equal(*both) for both in zip(by_table, drawn(), strict=True))


def test_a_graph_without_a_free_pair_is_refused_and_does_not_hang() -> None:
    full = te.Graph.from_edges(np.argwhere(np.triu(np.ones((5, 5)), 1)), 5, name="complete")
    with pytest.raises(InputError, match="complete has too few pairs without an edge"):
        negatives(full, [0, 1], reject_edges=True)
    with pytest.raises(InputError, match="complete: node 0 has an edge to every other"):
        negatives(full, [0, 1], negatives="heart")


@pytest.mark.parametrize("sampler", ["uniform", "degree-corrected", "heart"])
def test_negatives_join_the_sides_of_a_bipartite_graph(sampler: str) -> None:
    rng = np.random.default_rng(3)
    pairs = np.unique(np.column_stack([rng.integers(0, 20, 90), rng.integers(0, 30, 90) ** 2 // 30]), axis=0)
    shop = te.Graph.from_edges(pairs, bipartite=True)
    every = np.tile(np.arange(shop.num_edges), 40)
    drawn = negatives(shop, every, negatives=sampler, reject_edges=True)
    assert shop.sides is not None
    assert (shop.sides[drawn].sum(axis=1) == 1).all()
    assert not shop.has_edges(drawn).any()
    if sampler == "degree-corrected":
        on_first = np.bincount(drawn[shop.sides[drawn] == 0], minlength=shop.num_nodes)
        # Without rejection, the law is the degree; rejection bends it a little.
        assert np.corrcoef(on_first[shop.sides == 0], shop.degrees[shop.sides == 0])[0, 1] > 0.9


def test_a_node_joined_to_the_whole_other_side_has_no_hard_negatives() -> None:
    full = te.Graph.from_edges([(u, v) for u in range(2) for v in range(3)], bipartite=True, name="complete")
    with pytest.raises(InputError, match="has an edge to every other node on the other side"):
        negatives(full, [0, 1], negatives="heart")


def test_classifiers_learn_from_pairs_across() -> None:
    rng = np.random.default_rng(5)
    pairs = np.unique(rng.integers(0, 15, (70, 2)), axis=0)
    shop = te.Graph.from_edges(pairs, bipartite=True)
    for sampler in ("uniform", "degree-corrected"):
        for fold in folds(shop, degrees, sampler, seed=0):
            assert shop.sides is not None
            assert (shop.sides[fold.negatives].sum(axis=1) == 1).all()


def test_hard_negatives_are_those_heart_judges_the_edge_against(graph) -> None:
    wanted = heart(graph, graph.edges, k=80, seed=0)
    partners = HardPartners.of(graph, most=40)
    drawn = partners.draw(graph.edges[EVERY], np.random.default_rng(0))
    seen: dict[int, set[tuple[int, int]]] = {}
    for edge, pair in zip(EVERY, drawn, strict=True):
        seen.setdefault(int(edge), set()).add((int(pair[0]), int(pair[1])))
    for edge, pairs in seen.items():
        assert pairs <= {(int(u), int(v)) for u, v in wanted[edge]}
    # All of an edge's negatives come up, both ends' as often.
    some = partners.draw(np.repeat(graph.edges[:1], 20_000, axis=0), np.random.default_rng(1))
    assert {tuple(pair) for pair in some.tolist()} == {tuple(pair) for pair in wanted[0].tolist()}
    assert abs(np.mean(some[:, 0] == graph.edges[0, 0]) - 0.5) < 0.02


def test_hard_negatives_are_no_edges_and_as_many_as_asked_for(graph) -> None:
    drawn = negatives(graph, EVERY[:200], negatives="heart", negatives_per_positive=3)
    assert drawn.shape == (600, 2)
    assert not graph.has_edges(drawn).any()
    assert (drawn[:, 0] != drawn[:, 1]).all()
    positives = np.repeat(graph.edges[:200], 3, axis=0)
    assert ((drawn == positives).sum(axis=1) == 1).all()


def test_a_hub_s_few_free_nodes_limit_what_all_get() -> None:
    star = te.Graph.from_edges(np.array([[0, v] for v in range(1, 7)] + [[7, 8]]), 10, name="star")
    partners = HardPartners.of(star).partners
    assert partners.shape == (10, 3)
    assert set(partners[0]) == {7, 8, 9}
    named = te.Graph.from_edges(np.array([[0, 1], [0, 2]]), labels=["a", "b", "c"])
    with pytest.raises(InputError, match="node 'a' has an edge to every other"):
        HardPartners.of(named)


@pytest.mark.parametrize("settings", [{"negatives": "heart"}, {"reject_edges": True}])
def test_the_same_seed_trains_to_the_same_bits_with_other_negatives(settings) -> None:
    task = te.task("karate", "uniform", seed=0)
    short = {"epochs": 3, "dim": 8, "layers": 1, "inputs": "learned"}
    method = te.methods.create("gcn", {**short, **settings})
    first, same, other = (method.fit(task, seed=seed).embeddings() for seed in (1, 1, 2))
    assert first.shape == (task.num_nodes, 8)
    assert first.dtype == np.float32
    assert first.tobytes() == same.tobytes() != other.tobytes()
    plain = te.methods.create("gcn", short).fit(task, seed=1).embeddings()
    assert first.tobytes() != plain.tobytes()
