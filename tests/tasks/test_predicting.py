"""Scores of new pairs: by name, by number, from frames, for every kind of task with links."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import trueedge as te
from small_interactions import small_interactions
from trueedge.methods import create
from typed_graphs import small_graph


def ring(labels=None):
    """A ring of twelve nodes with some chords."""
    edges = [(i, (i + 1) % 12) for i in range(12)] + [(i, (i + 4) % 12) for i in range(12)]
    return te.Graph.from_edges(np.array(edges), 12, labels=labels, name="ring")


@pytest.fixture(scope="module")
def named():
    task = te.task(ring([f"town-{i}" for i in range(12)]), "uniform", seed=0)
    return task, create("katz").fit(task)


def test_names_and_numbers_mean_the_same_nodes(named):
    _, scorer = named
    by_name = te.predict(scorer, [("town-0", "town-5"), ("town-7", "town-2")])
    assert by_name.dtype == np.float64
    assert by_name.tolist() == te.predict(scorer, [(0, 5), ("town-7", 2)]).tolist()
    assert by_name.tolist() == te.predict(scorer, np.array([[0, 5], [7, 2]])).tolist()
    assert by_name.tolist() == scorer.score(np.array([[0, 5], [2, 7]])).tolist()


def test_the_direction_of_a_pair_does_not_matter(named):
    _, scorer = named
    assert te.predict(scorer, [(9, 4)]) == te.predict(scorer, [(4, 9)])


def test_anything_that_can_be_evaluated_can_predict_with_its_task(named):
    task, _ = named
    assert te.predict(lambda pairs: pairs[:, 1] / 10, [("town-3", "town-4")], task).tolist() == [0.4]
    with pytest.raises(te.InputError, match="does not know whose nodes"):
        te.predict(lambda pairs: pairs[:, 1], [(0, 1)])


@pytest.mark.parametrize(
    ("pairs", "match"),
    [
        ([("town-0", "twon-1")], "did you mean 'town-1'"),
        ([(0, 12)], "there is no node 12"),
        ([(0, 1, 2)], r"row 0 of the pairs must be \(node, node\)"),
        (["town-0"], "row 0 of the pairs"),
        ("town-0", "pairs must be rows"),
        (7, "pairs must be rows"),
        ([(0, 1.5)], "a node is a number or a name"),
    ],
)
def test_a_wrong_pair_is_named(named, pairs, match):
    with pytest.raises(te.InputError, match=match):
        te.predict(named[1], pairs)


def test_a_method_must_be_fitted(named):
    with pytest.raises(te.InputError, match="has not been fitted"):
        te.predict(create("cn"), [(0, 1)])


def test_names_that_are_numbers_are_never_mistaken_for_numbers():
    task = te.task(ring([str(11 - i) for i in range(12)]), "uniform", seed=0)
    scorer = create("katz").fit(task)
    by_text = te.predict(scorer, [("0", "5")])
    assert by_text == scorer.score(np.array([[6, 11]]))
    with pytest.raises(te.InputError, match="give names as text"):
        te.predict(scorer, [(0, 5)])
    # The numbers of a data frame come from a file, where they are names.
    frame = SimpleNamespace(itertuples=lambda index, name: iter([(0, 5)]))
    assert te.predict(scorer, frame) == by_text


@pytest.fixture(scope="module")
def bought():
    """A bipartite graph whose columns share the ids 1 to 9."""
    pairs = np.array([(u, i) for u in range(1, 10) for i in range(1, 10) if (u * 5 + i) % 3])
    graph = te.Graph.from_edges(pairs, bipartite=True, name="bought")
    task = te.task(graph, "uniform", seed=0)
    return task, create("ppr").fit(task)


def test_an_id_of_both_columns_is_read_by_its_column(bought):
    task, scorer = bought
    place = {name: node for node, name in enumerate(task.graph.labels)}
    expected = scorer.score(np.array([[place["source 1"], place["target 1"]]]))
    assert te.predict(scorer, [("1", "1")]) == expected
    assert te.predict(scorer, [("target 1", "source 1")]) == expected
    frame = SimpleNamespace(itertuples=lambda index, name: iter([(1, 1)]))
    assert te.predict(scorer, frame) == expected


def test_a_number_that_is_the_id_of_another_node_is_refused(bought):
    with pytest.raises(te.InputError, match=r"node 1 is node number 0 by its name: .* \('source 1'\)"):
        te.predict(bought[1], [(1, 12)])


def test_a_node_has_no_score_with_itself(named):
    with pytest.raises(te.InputError, match="row 1 of the pairs is node town-4 with itself"):
        te.predict(named[1], [(0, 1), (4, 4)])


def test_pairs_on_one_side_of_a_bipartite_graph_are_mentioned(bought):
    with pytest.warns(te.ScoreWarning, match=r"1 of 2 pairs .* \(source 2, source 3\)"):
        te.predict(bought[1], [("source 2", "source 3"), ("source 2", "target 3")])


def test_digits_are_no_number_of_a_node_that_is_called_by_another():
    task = te.task(ring([f"town-{i + 1}" for i in range(12)]), "uniform", seed=0)
    with pytest.raises(te.InputError, match="no node is called '3'"):
        te.predict(create("katz").fit(task), [("3", "town-7")])


def test_no_pair_has_no_score(named):
    assert te.predict(named[1], []).shape == (0,)


def test_items_are_scored_for_users():
    task = te.task(small_interactions(named=True), seed=0)
    scorer = create("popularity").fit(task)
    found = te.predict(scorer, [("reader-5", "book-3"), ("reader-0", "book-39"), (5, 3)])
    table = scorer.score_candidates(np.array([5, 0, 5]))
    assert found.tolist() == [table[0, 3], table[1, 39], table[2, 3]]


def test_triples_are_scored():
    rng = np.random.default_rng(0)
    triples = np.unique(np.column_stack([rng.integers(0, n, 120) for n in (20, 2, 20)]), axis=0)
    names = [f"thing-{i}" for i in range(20)]
    graph = te.KnowledgeGraph.from_triples(triples, entities=names, relations=["is", "has"])
    scorer = create("relation-frequency").fit(te.task(graph, "filtered", seed=0))
    found = te.predict(scorer, [("thing-4", "has", "thing-9"), ("thing-0", "is", "thing-1")])
    table = np.asarray(scorer.score_tails(np.array([4, 0]), np.array([1, 0])))
    assert found.tolist() == [table[0, 9], table[1, 1]]


def test_typed_links_are_scored():
    task = te.task(small_graph(), "typed-links", seed=0)
    scorer = create("target-degree").fit(task)
    links = task.questions("test")[:5].astype(np.int64)
    assert te.predict(scorer, links.tolist()).tolist() == scorer.score_links(links).tolist()


def test_classes_of_nodes_are_no_links():
    task = te.task(small_graph(), "node-classification", seed=0)
    with pytest.raises(te.InputError, match="predict scores links"):
        te.predict(create("majority").fit(task), [(0, 1)])


def test_the_best_new_links_of_a_node_leave_its_neighbours_out(named, tmp_path):
    task, scorer = named
    loaded = te.load_scorer(te.save(scorer, tmp_path / "model"))
    found = te.recommend(loaded, "town-3", k=20).of("town-3")
    known = set(task.graph.neighbors(3).tolist()) | {3}
    if "valid" in task.part_names:
        pairs = task.part("valid").positives
        known |= {int(a + b - 3) for a, b in pairs.tolist() if 3 in (a, b)}
    assert set(found.items.tolist()) == set(range(12)) - known
    scores = te.predict(loaded, [("town-3", name) for name in found.names])
    assert scores.tolist() == found.scores.tolist() == sorted(scores.tolist(), reverse=True)


def test_the_columns_of_a_frame_are_taken_by_their_usual_names() -> None:
    pandas = pytest.importorskip("pandas")
    task = te.task("bookshop")
    scorer = te.methods.create("item-knn").fit(task)
    pairs = [(task.graph.users[user], task.graph.items[user + 1]) for user in range(5)]
    frame = pandas.DataFrame([(item, 1, user) for user, item in pairs], columns=["item_id", "n", "user_id"])
    assert te.predict(scorer, frame).tolist() == te.predict(scorer, pairs).tolist()
