"""te.recommend: the lists themselves."""

from __future__ import annotations

import csv
import gc
import json
import pickle
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import trueedge as te
from small_interactions import Neighbours, small_interactions
from trueedge.errors import InputError
from trueedge.scorers import fitted
from trueedge.tasks import recommending


@pytest.fixture(scope="module")
def task() -> te.ItemTask:
    return te.task(small_interactions())


@pytest.fixture(scope="module")
def named() -> te.ItemTask:
    return te.task(small_interactions(named=True, knowledge=True))


def naive(task: te.ItemTask, scores: np.ndarray, user: int, k: int) -> list[int]:
    """The best items of a user by sorting, where no scores are equal."""
    both = np.concatenate([task.graph.pairs, task.hidden["valid"]])
    known = set(both[both[:, 0] == user, 1].tolist())
    return [item for item in np.argsort(-scores).tolist() if item not in known][:k]


def test_the_lists_are_the_best_items_that_a_user_is_not_known_to_have(task) -> None:
    table = np.random.default_rng(0).random((task.num_users, task.num_items))
    found = te.recommend(table, k=7, task=task)
    assert len(found) == task.num_users
    for one in found:
        expected = naive(task, table[one.user], one.user, 7)
        assert one.items.tolist() == expected
        assert one.scores.tolist() == table[one.user, expected].tolist()


def test_the_lists_are_those_of_the_evaluation_even_where_items_tie(task) -> None:
    scorer = te.methods.create("popularity").fit(task)
    users = task.questions("test")
    found = te.recommend(scorer, users.tolist(), 10)
    assert np.array_equal(np.stack(found.items), task.scores(scorer, top=10).top)


def test_blocks_of_users_do_not_change_the_lists(task, monkeypatch) -> None:
    scorer = Neighbours().fit(task)
    whole = te.recommend(scorer)
    monkeypatch.setattr(recommending._ItemLists, "scores_in_a_block", 3 * task.num_items)
    blocks = te.recommend(scorer).columns()
    expected = whole.columns()
    # The matrix product of this scorer may round a block of other rows differently.
    assert blocks.pop("score") == pytest.approx(expected.pop("score"), rel=1e-12)
    assert blocks == expected


def test_a_list_is_shorter_where_there_are_fewer_items_and_holds_nothing_else(task) -> None:
    found = te.recommend(te.methods.create("random").fit(task), k=1000)
    known = np.diff(task.known("test").starts)
    assert [len(one) for one in found] == (task.num_items - known).tolist()
    assert all((row >= 0).all() for row in found.items)


def test_users_are_named_or_numbered_one_or_many(named) -> None:
    scorer = Neighbours().fit(named)
    (one,) = te.recommend(scorer, "reader-3", 5)
    assert (one.user, one.name, len(one)) == (3, "reader-3", 5)
    assert te.recommend(scorer, 3, 5).columns() == te.recommend(scorer, ["3"], 5).columns()
    assert [one.user for one in te.recommend(scorer, [9, "reader-2", np.int64(9)])] == [9, 2, 9]
    assert te.recommend(scorer, [9, 2]).of("reader-2").user == 2


def test_items_have_their_names_and_what_the_knowledge_graph_calls_them(named) -> None:
    one = te.recommend(Neighbours().fit(named), 0, 4).of(0)
    assert one.names == tuple(f"book-{item}" for item in one.items)
    assert one.titles == tuple(f"The Book of {item}" for item in one.items)
    assert "The Book of" in repr(one)


@pytest.mark.parametrize("pattern", ["{}", "m.0{}k", "/m/0{}_x", "Q{}", "http://dbpedia.org/resource/{}"])
def test_ids_of_entities_are_no_titles(pattern) -> None:
    data = small_interactions(knowledge=True)
    names = [pattern.format(number) for number in range(data.knowledge.num_entities)]
    plain = te.KnowledgeGraph.from_triples(data.knowledge.triples, entities=names)
    task = te.task(te.Interactions.from_pairs(data.pairs, knowledge=plain))
    assert "title" not in te.recommend(te.methods.create("popularity").fit(task)).columns()


@pytest.mark.parametrize(
    ("users", "said"),
    [
        ("raeder-3", "no user is called 'raeder-3'; did you mean 'reader-3'?"),
        ("bob", "no user is called 'bob'; there are 60 users, the first are 'reader-0', 'reader-1'"),
        (60, "there is no user 60: users go from 0 to 59"),
        ([-1], "there is no user -1: users go from 0 to 59"),
        ([1.5], "a user is a number or a name, got float"),
        (2.5, "users are numbers or names, got float"),
    ],
)
def test_an_unknown_user_is_named(named, users, said) -> None:
    with pytest.raises(InputError, match=said.replace("?", r"\?")):
        te.recommend(Neighbours().fit(named), users)


def test_a_number_is_not_taken_for_the_place_of_a_user_whose_name_is_another_number() -> None:
    pairs = [[user, item] for user in range(2) for item in range(20)]
    task = te.task(te.Interactions.from_pairs(pairs, users=["7", "1"]))
    scorer = te.methods.create("popularity").fit(task)
    assert te.recommend(scorer, "1").users.tolist() == [1]
    with pytest.raises(InputError, match="no user is called '0'"):
        te.recommend(scorer, "0")


def test_a_number_that_is_the_name_of_another_node_is_refused() -> None:
    edges = [(i, (i + step) % 12) for i in range(12) for step in (1, 2)]
    graph = te.Graph.from_edges(np.array(edges), 12, labels=[str(i + 1) for i in range(12)])
    scorer = te.methods.create("ppr").fit(te.task(graph, "uniform"))
    assert te.recommend(scorer, "1").of("1").user == 0
    with pytest.raises(InputError, match="node 1 is node number 0 by its name: give names as text"):
        te.recommend(scorer, 1)


def test_an_id_of_both_columns_is_a_node_of_the_first() -> None:
    pairs = np.array([(u, i) for u in range(1, 10) for i in range(1, 10) if (u * 5 + i) % 3])
    graph = te.Graph.from_edges(pairs, bipartite=True)
    scorer = te.methods.create("ppr").fit(te.task(graph, "uniform"))
    (one,) = te.recommend(scorer, "1")
    assert one.name == "source 1"
    assert all(name.startswith("target ") for name in one.names)
    assert te.recommend(scorer, "target 1").of("target 1").name == "target 1"


def test_own_scorers_need_their_task(task) -> None:
    with pytest.raises(InputError, match="whose users and items the lambda scores: give its task="):
        te.recommend(lambda users: np.ones((len(users), task.num_items)))
    with pytest.raises(InputError, match="must score 40 items for each of 60 users"):
        te.recommend(lambda users: np.ones((len(users), 3)), task=task)
    with pytest.raises(InputError, match="40 of 2400 scores of the lambda are NaN"):
        te.recommend(lambda users: np.where(users[:, None] == 7, np.nan, np.ones(40)), task=task)
    with pytest.raises(InputError, match="'popularity' has not been fitted"):
        te.recommend(te.methods.create("popularity"))
    with pytest.raises(InputError, match="task must be a task, got Interactions"):
        te.recommend(Neighbours().fit(task), task=task.graph)
    with pytest.raises(InputError, match="k must be a whole number"):
        te.recommend(Neighbours().fit(task), k=0)


def test_a_scorer_fitted_on_other_data_is_refused(task) -> None:
    other = te.task(small_interactions(seed=1))
    with pytest.raises(InputError, match="was fitted on small-shop under full-ranking"):
        te.recommend(Neighbours().fit(other), task=task)


def test_what_a_scorer_knows_of_its_task_holds_no_test_part_and_is_not_pickled(task) -> None:
    scorer = Neighbours().fit(task)
    assert fitted.task_of(scorer).part_names == ("valid",)
    again = pickle.loads(pickle.dumps(scorer))
    with pytest.raises(InputError, match="whose users and items neighbours scores"):
        te.recommend(again)
    assert te.recommend(again, task=task).columns() == te.recommend(scorer).columns()


def test_the_task_is_forgotten_with_its_scorer(task) -> None:
    scorer = Neighbours().fit(task)
    number = id(scorer)
    assert number in fitted._fits
    del scorer
    gc.collect()
    assert number not in fitted._fits


def test_a_saved_file_evaluates_like_the_scorer(named, tmp_path) -> None:
    scorer = Neighbours().fit(named)
    path = te.recommend(scorer, k=20).save(tmp_path / "lists.csv")
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert list(rows[0]) == ["user", "place", "item", "score", "title"]
    assert rows[0]["user"] == "reader-0"
    assert [row["place"] for row in rows[:20]] == [str(place) for place in range(1, 21)]
    whole = named.evaluate(scorer, metrics=["recall@20", "ndcg@10", "coverage@20"])
    # The items below the twentieth are tied, which recall@20 and ndcg@10 do not see.
    assert named.evaluate(path, metrics=["recall@20", "ndcg@10", "coverage@20"]) == pytest.approx(whole)


def test_lists_are_written_as_json_and_float32_scores_in_their_own_digits(task, tmp_path) -> None:
    table = np.full((task.num_users, task.num_items), 0.1, dtype=np.float32)
    path = te.recommend(table, [4], 2, task).save(tmp_path / "lists.json")
    rows = json.loads(path.read_text())
    assert [(row["user"], row["place"], row["score"]) for row in rows] == [(4, 1, 0.1), (4, 2, 0.1)]


def test_other_files_are_refused(task, tmp_path) -> None:
    found = te.recommend(te.methods.create("popularity").fit(task), 0)
    with pytest.raises(
        InputError, match=r"write the list of recommendations to a .csv, .json or .parquet file"
    ):
        found.save(tmp_path / "lists.txt")


def test_data_frames_and_parquet_files_need_their_packages(task, tmp_path, monkeypatch) -> None:
    found = te.recommend(te.methods.create("popularity").fit(task), 0)
    for name in ("pandas", "polars", "pyarrow"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(InputError, match="to_pandas needs pandas"):
        found.to_pandas()
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(InputError, match="parquet files need pyarrow"):
        found.save(tmp_path / "lists.parquet")
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=dict))
    assert found.to_pandas() == found.columns()


def test_a_printed_result_shows_the_first_lists(task) -> None:
    found = te.recommend(te.methods.create("popularity").fit(task), k=3)
    said = "Recommendations(small-shop, full-ranking, seed 0: up to 3 items for 60 users)"
    assert repr(found) == said
    assert str(found).splitlines()[0] == said
    assert len(str(found).splitlines()) == 5
    assert "up to 1 item for 1 user)" in repr(te.recommend(te.methods.create("popularity").fit(task), 3, k=1))


@pytest.mark.parametrize("protocol", ["existing", "recommendation"])
def test_nodes_of_a_plain_graph_get_new_neighbours(protocol) -> None:
    task = te.task("karate", protocol)
    scorer = te.methods.create("ra").fit(task)
    found = te.recommend(scorer, k=5)
    known = task.graph
    if "valid" in task.part_names:
        valid = task.hidden["valid"] if protocol == "recommendation" else task.part("valid").positives
        known = known.with_edges(valid)
    for one in found:
        others = [v for v in range(34) if v != one.user and v not in known.neighbors(one.user)]
        pairs = np.array([[one.user, v] for v in others])
        best = np.sort(scorer.score(pairs))[::-1][:5]
        assert set(one.items.tolist()) <= set(others)
        assert one.scores.tolist() == pytest.approx(best.tolist())
    assert list(found.columns()) == ["node", "place", "partner", "score"]


def test_other_kinds_of_tasks_are_refused() -> None:
    task = te.task("umls")
    with pytest.raises(InputError, match="recommend needs a task on interactions or on a plain graph"):
        te.recommend(te.methods.create("entity-degree").fit(task))
