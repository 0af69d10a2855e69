"""Graphs of one's own: splits by time, and negatives between the two sides, in every protocol that splits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import trueedge as te
from trueedge import methods, tasks
from trueedge.errors import InputError
from trueedge.splits import by_time

LINKS = ("existing", "heart", "uniform", "degree-corrected", "triplet")
FIRST = 25


def purchases(components: int = 1) -> te.Graph:
    """Users 0 to 24 and items 25 to 59, with times; the items are not numbered apart from a second copy."""
    rng = np.random.default_rng(3)
    pairs = np.column_stack([rng.integers(0, FIRST, 260), rng.integers(FIRST, 60, 260)])
    pairs = np.unique(pairs, axis=0)
    edges = np.concatenate([pairs + 60 * copy for copy in range(components)])
    times = rng.permutation(len(edges))
    return te.Graph.from_edges(edges, 60 * components, edge_data={"time": times}, name="shop")


def users(pairs: np.ndarray) -> np.ndarray:
    return (pairs.reshape(-1, 2) % 60 < FIRST).sum(axis=1)


@pytest.mark.parametrize("protocol", LINKS)
def test_negatives_join_the_sides_of_a_bipartite_graph(protocol: str) -> None:
    made = te.task(purchases(), protocol, seed=2)
    for part in made.parts.values():
        assert (users(part.negatives) == 1).all()
        assert not made.graph.has_edges(part.negatives.reshape(-1, 2)).any()
    assert made.settings["bipartite"] == "yes"
    assert "shop is bipartite (25 and 35 nodes)" in made.settings["notes"][0]
    assert "cn, aa, ra and jaccard are 0" in made.settings["notes"][0]
    among_all = te.task(purchases(), protocol, seed=2, bipartite="no")
    assert (users(among_all.test.negatives) != 1).any()
    assert "bipartite" not in among_all.settings


@pytest.mark.parametrize("method", ["cn", "aa", "ra", "jaccard"])
def test_what_counts_common_neighbours_is_zero_across_and_longer_paths_are_not(method: str) -> None:
    made = te.task(purchases(), "uniform")
    pairs = made.pairs("test")
    assert not np.asarray(methods.create(method).fit(made).score(pairs)).any()
    for other in ("katz", "lpi", "lrw", "ppr"):
        assert np.asarray(methods.create(other).fit(made).score(pairs)).any()


@pytest.mark.parametrize("protocol", [*LINKS, "recommendation"])
def test_a_split_by_time_holds_out_the_latest_edges(protocol: str) -> None:
    graph = purchases()
    made = te.task(graph, protocol, split="time")
    positives = made.hidden["test"] if protocol == "recommendation" else made.test.positives
    when = {
        tuple(pair): time for pair, time in zip(graph.edges.tolist(), graph.edge_data["time"], strict=True)
    }
    assert min(when[tuple(sorted(pair))] for pair in positives.tolist()) > made.graph.edge_data["time"].max()
    assert made.settings["split"].startswith("time ")
    assert "keep_connected" not in made.settings
    late = te.task(graph, protocol, split="time", cut=200)
    held = late.hidden["test"] if protocol == "recommendation" else late.test.positives
    assert len(held) == (graph.edge_data["time"] >= 200).sum()


def test_a_split_by_time_needs_times_and_a_cut_needs_the_split() -> None:
    plain = te.Graph.from_edges(purchases().edges)
    with pytest.raises(InputError, match="have no times"):
        te.task(plain, "existing", split="time")
    with pytest.raises(InputError, match="cut is for splits by time"):
        te.task(purchases(), "existing", cut=3)
    with pytest.raises(InputError, match="split must be one of 'random', 'time'"):
        te.task(purchases(), "existing", split="later")
    with pytest.raises(InputError, match="keep_connected is for random splits"):
        te.task(purchases(), "uniform", split="time", keep_connected=True)


def test_a_graph_that_is_not_bipartite_is_refused_only_if_it_is_asked_for() -> None:
    with pytest.raises(InputError, match="karate is not bipartite"):
        te.task("karate", "existing", bipartite="yes")
    known = te.task(te.load("karate"), "existing", seed=4)
    assert known.hash == te.task("karate", "existing", seed=4).hash
    assert known.settings == te.task("karate", "existing", seed=4, bipartite="no").settings


def test_several_components_have_no_known_sides() -> None:
    made = te.task(purchases(components=2), "existing")
    assert "may be bipartite, but its edges are in 2 components" in made.settings["notes"][0]
    assert (users(made.test.negatives) != 1).any()
    # The largest component has sides.
    assert te.task(purchases(components=2), "uniform").settings["bipartite"] == "yes"


def test_each_node_ranks_the_other_side(tmp_path: Path) -> None:
    made = te.task(purchases(), "recommendation", valid=0.1)
    scorer = methods.create("ppr").fit(made)
    for part in ("valid", "test"):
        lists = made.lists(part)
        starts, known = lists.known.rows(0, len(lists.queries))
        graph = made.known(part)
        for row, query in enumerate(lists.queries.tolist()):
            own = {node for node in range(60) if (node < FIRST) == (query < FIRST)}
            found = known[starts[row] : starts[row + 1]].tolist()
            assert found == sorted(own | set(graph.neighbors(query).tolist()))
        counts = made.scores(scorer, part).sizes.candidates
        assert counts.tolist() == (60 - np.diff(starts)).tolist()
    made.save(tmp_path / "task")
    loaded = tasks.load(tmp_path / "task")
    assert loaded.hash == made.hash
    assert dict(loaded.evaluate(scorer)) == dict(made.evaluate(scorer))


def test_an_own_split_is_a_source_and_knows_its_sides() -> None:
    graph = purchases()
    split = by_time(graph)
    made = te.task(split, "existing", seed=1)
    assert made.settings["bipartite"] == "yes"
    assert made.settings["split"] == split.name
    assert np.array_equal(made.test.positives, split.test)
    with pytest.raises(InputError, match="split controls the split"):
        te.task(split, "existing", split="time")


def test_a_file_of_users_and_items_is_read_as_the_option_says(tmp_path: Path) -> None:
    path = tmp_path / "visits.txt"
    edges = [(u, v) for u in range(1, 9) for v in range(1, 7) if (u * 5 + v) % 3]
    path.write_text("".join(f"{u} {v}\n" for u, v in edges))
    made = te.task(path, "existing", bipartite="yes")
    assert made.num_nodes == 14
    assert made.graph.sides is not None
    assert made.graph.sides.tolist() == [0] * 8 + [1] * 6
    assert te.task(edges, "existing", bipartite="yes").hash == made.hash
    assert te.task(path, "existing").num_nodes == 8
    made.save(tmp_path / "task")
    loaded = tasks.load(tmp_path / "task")
    assert loaded.graph.sides.tolist() == made.graph.sides.tolist()
    record = te.run(edges, "existing", "ppr", bipartite="yes")
    assert record.test["auc"] == made.evaluate(methods.create("ppr").fit(made))["auc"]


def test_recommendations_are_on_the_other_side() -> None:
    made = te.task(purchases(), "existing", seed=2)
    for scorer in (methods.create("ppr").fit(made), lambda pairs: pairs.sum(axis=1) * 1.0):
        found = te.recommend(scorer, [0, 3, 30], k=100, task=made)
        known = made.graph.with_edges(made.valid.positives)
        for one in found:
            other = {node for node in range(60) if (node < FIRST) != (one.user < FIRST)}
            assert set(one.items.tolist()) == other - set(known.neighbors(one.user).tolist())


def test_a_file_of_scores_names_users_and_items_as_the_data_does(tmp_path: Path) -> None:
    edges = [(u, v) for u in range(1, 9) for v in range(1, 7) if (u * 5 + v) % 3]
    made = te.task(edges, "existing", bipartite="yes")
    names = [[made.graph.labels[node] for node in pair] for pair in made.pairs("test").tolist()]
    expected = made.evaluate(lambda pairs: pairs[:, 0] * 7.0 + pairs[:, 1] * 11.0)["auc"]
    values = [7 * u + 11 * v for u, v in made.pairs("test").tolist()]
    for form in ("{0},{1}", "{0[7]},{1[7]}"):
        path = tmp_path / "scores.csv"
        lines = [f"{form.format(u, v)},{value}" for (u, v), value in zip(names, values, strict=True)]
        path.write_text("user,item,score\n" + "\n".join(lines) + "\n")
        assert made.evaluate(path)["auc"] == expected


def test_users_and_items_of_a_split_in_files_are_told_apart(tmp_path: Path) -> None:
    for part, pairs in {"train": "1,1\n1,2\n2,1\n3,3\n", "valid": "3,1\n", "test": "2,2\n"}.items():
        (tmp_path / f"{part}.txt").write_text(pairs)
    files = {part: tmp_path / f"{part}.txt" for part in ("train", "valid", "test")}
    split = te.splits.from_files(**files, bipartite=True)
    assert split.train.labels == ("source 1", "source 2", "source 3", "target 1", "target 2", "target 3")
    assert (split.train.num_edges, split.valid.tolist(), split.test.tolist()) == (4, [[2, 3]], [[1, 4]])
    assert split.train.sides is not None
    assert te.task(split, "existing").settings["bipartite"] == "yes"
    with pytest.raises(InputError, match=r"lists the edge \(2, 1\) again"):
        te.splits.from_files(**files)
