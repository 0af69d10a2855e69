"""Interactions and knowledge graphs as models see them."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.planted_interactions import planted, tangled  # noqa: E402

from trueedge.graph.interactions import Interactions  # noqa: E402
from trueedge.training.recommend.inputs import INTERACTS, RecommendInputs, joint_graph  # noqa: E402


def plain(pairs=((0, 0), (0, 2), (2, 1))):
    return Interactions.from_pairs(np.array(pairs), 3, 4)


def test_known_pairs_are_exactly_the_training_interactions():
    data = tangled()
    inputs = RecommendInputs(data)
    users, items = np.indices((data.num_users, data.num_items)).reshape(2, -1)
    known = inputs.is_known(torch.tensor(users), torch.tensor(items)).numpy()
    assert np.array_equal(np.column_stack([users, items])[known], data.pairs)


def test_pairs_and_starts_list_the_items_of_each_user():
    inputs = RecommendInputs(plain())
    assert inputs.starts.tolist() == [0, 2, 2, 3]
    assert inputs.pairs.tolist() == [[0, 0], [0, 2], [2, 1]]


def test_users_come_before_entities_in_the_joint_graph():
    data = planted(users=4, items=8, groups=2, each=3)
    graph = joint_graph(data)
    assert graph.starts.tolist() == [0, 4, 4 + data.num_entities]
    assert [relation.name for relation in graph.relations] == [INTERACTS, "0: 0", "1: 1"]
    assert np.array_equal(graph.edges[0], data.pairs + [0, 4])
    facts = data.knowledge.triples
    assert np.array_equal(graph.edges[2], facts[facts[:, 1] == 1][:, [0, 2]] + 4)


def test_arcs_have_both_directions_and_a_loop_at_each_node():
    data = tangled()
    inputs = RecommendInputs(data)
    arcs = set(zip(inputs.arcs.source.tolist(), inputs.arcs.target.tolist(), strict=True))
    expected = {(node, node) for node in range(inputs.num_nodes)}
    for user, item in data.pairs + [0, data.num_users]:
        expected |= {(user, item), (item, user)}
    for head, _, tail in data.knowledge.triples:
        head, tail = head + data.num_users, tail + data.num_users
        expected |= {(head, tail), (tail, head)}
    assert arcs == expected
    assert inputs.arcs.num_kinds == 2 * inputs.num_relations + 1 == 9


def test_triples_are_all_facts_in_both_directions_sorted_by_relation():
    data = tangled()
    inputs = RecommendInputs(data)
    shift, relations = data.num_users, inputs.num_relations
    facts = [(user, 0, item + shift) for user, item in data.pairs]
    facts += [(head + shift, relation + 1, tail + shift) for head, relation, tail in data.knowledge.triples]
    facts += [(tail, relation + relations, head) for head, relation, tail in facts]
    found = inputs.triples.numpy()
    assert sorted(map(tuple, found.tolist())) == sorted(tuple(map(int, fact)) for fact in facts)
    assert (np.diff(found[:, 1]) >= 0).all()


def test_messages_join_users_and_items_alone():
    inputs = RecommendInputs(tangled())
    users, items = inputs.num_users, inputs.num_items
    adjacency = inputs.messages.adjacency.to_dense().numpy()
    expected = np.zeros((users, items))
    expected[tuple(inputs.data.pairs.T)] = 1
    assert np.array_equal(adjacency[:users, users:], expected)
    assert np.array_equal(adjacency[users:, :users], expected.T)
    assert not adjacency[:users, :users].any()
    assert not adjacency[users:, users:].any()


def test_without_a_knowledge_graph_the_items_are_the_entities():
    inputs = RecommendInputs(plain())
    assert (inputs.num_entities, inputs.num_nodes, inputs.num_relations) == (4, 7, 1)
    assert len(inputs.triples) == 6
    assert len(inputs.neighborhoods.members.nodes) == 0
    assert inputs.neighborhoods.starts.tolist() == [0] * 5


def test_neighbours_are_both_ends_of_each_fact_by_the_same_relation():
    data = tangled()
    near = RecommendInputs(data).neighborhoods
    found = []
    for entity in range(data.num_entities):
        for group in range(near.starts[entity], near.starts[entity + 1]):
            members = near.members.nodes[near.members.rows == group].tolist()
            assert len(members) == near.sizes[group]
            found += [(entity, int(near.relation[group]), member) for member in members]
    facts = {tuple(map(int, fact)) for fact in data.knowledge.triples}
    assert found == sorted(facts | {(tail, relation, head) for head, relation, tail in facts})


def test_places_of_neighbours_and_groups_of_entities_may_repeat():
    near = RecommendInputs(tangled()).neighborhoods
    entities = torch.tensor([3, 8, 0, 3])
    arcs, groups = near.arcs(entities), near.groups(entities)
    for row, entity in enumerate(entities.tolist()):
        owned = range(int(near.starts[entity]), int(near.starts[entity + 1]))
        assert groups.nodes[groups.rows == row].tolist() == list(owned)
        places = [place for place, group in enumerate(near.members.rows.tolist()) if group in owned]
        assert arcs.nodes[arcs.rows == row].tolist() == places


def test_a_neighbour_by_several_relations_is_counted_from_its_first_place():
    near = RecommendInputs(tangled()).neighborhoods
    assert len(set(near.first_arc.tolist())) < len(near.first_arc)
    for entity in range(len(near.starts) - 1):
        block = slice(int(near.arc_starts[entity]), int(near.arc_starts[entity + 1]))
        nodes = near.members.nodes[block].tolist()
        assert near.first_arc[block].tolist() == [nodes.index(node) for node in nodes]
