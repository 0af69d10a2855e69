"""Users and items in one edge list: two kinds of nodes, told apart by column."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import trueedge as te
from trueedge.errors import InputError
from trueedge.graph.bipartite import names_by_side
from trueedge.graph.two_kinds import prefixes, two_kinds

PURCHASES = """user_id,item_id,rating
1,1,3
1,2,4
2,1,5
2,2,1
3,1,1
"""


def written(folder: Path, text: str, name: str = "mine.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("first", "second", "kinds", "called"),
    [
        ("user_id", "item_id", True, ("user", "item")),
        ("userId", "movieId", True, ("user", "movie")),
        ("userid", "asin", True, ("user", "asin")),
        ("product", "Customer ID", True, ("product", "customer")),
        ("users", "books", True, ("user", "book")),
        ("author_name", "paper", True, ("author", "paper")),
        ("user_id", "friend_id", False, ("user", "friend")),
        ("source", "target", False, ("source", "target")),
        ("user1", "user2", False, ("user1", "user2")),
        ("from id", "to id", False, ("from", "to")),
        ("id", "key", False, ("id", "key")),
        ("a b", "a b", False, ("source", "target")),
    ],
)
def test_names_of_columns_say_whether_they_hold_two_kinds(
    first: str, second: str, kinds: bool, called: tuple[str, str]
) -> None:
    assert two_kinds(first, second) is kinds
    assert prefixes((first, second)) == called


def test_user_1_and_item_1_are_two_nodes(tmp_path: Path) -> None:
    graph = te.load(written(tmp_path, PURCHASES))
    assert graph.labels == ("user 1", "user 2", "user 3", "item 1", "item 2")
    assert graph.sides is not None
    assert graph.sides.tolist() == [0, 0, 0, 1, 1]
    assert graph.num_edges == 5
    assert graph.edge_data["weight"].tolist() == [3, 4, 5, 1, 1]
    assert graph.notes[-1].startswith(
        "bipartite: 3 user nodes and 2 item nodes; some ids are in both columns"
    )


def test_one_kind_is_read_where_the_user_says_so(tmp_path: Path) -> None:
    graph = te.load(written(tmp_path, PURCHASES), bipartite=False)
    assert graph.labels == ("1", "2", "3")
    assert graph.sides is None
    assert "dropped 2 self-loops" in graph.notes


def test_ids_of_one_column_only_keep_their_numbers(tmp_path: Path) -> None:
    graph = te.load(written(tmp_path, "0 2\n0 3\n1 2\n1 3\n4 6\n4 7\n5 6\n"))
    assert graph.labels is None
    assert graph.sides is not None
    assert graph.sides.tolist() == [0, 0, 1, 1, 0, 0, 1, 1]
    assert graph.notes[0].startswith("bipartite: 4 source nodes and 4 target nodes")


def test_a_forest_is_bipartite_only_if_names_or_the_user_say_so(tmp_path: Path) -> None:
    star = written(tmp_path, "0 1\n0 2\n0 3\n")
    assert te.load(star).sides is None
    assert te.load(star).notes == ()
    assert te.load(star, bipartite=True).sides is not None
    assert te.load(written(tmp_path, "user,item\nann,pen\nann,cup\n")).sides is not None


def test_ids_in_both_of_two_columns_of_unknown_kinds_are_noted(tmp_path: Path) -> None:
    graph = te.load(written(tmp_path, "planet_id,moon_id\n1,2\n2,3\n3,1\n"))
    assert graph.sides is None
    assert any("which are read as one kind of nodes: if they are two kinds" in note for note in graph.notes)
    plain = te.load(written(tmp_path, "source,target\n1,2\n2,3\n3,1\n"))
    assert not any("kind" in note for note in plain.notes)


def test_lists_arrays_and_frames_are_told_apart_as_files_are() -> None:
    pandas = pytest.importorskip("pandas")
    pairs = [(1, 1), (1, 2), (2, 1), (2, 2)]
    named = ("source 1", "source 2", "target 1", "target 2")
    assert te.Graph.from_edges(pairs, bipartite=True).labels == named
    assert te.Graph.from_edges(np.array(pairs), bipartite=True).labels == named
    texts = te.Graph.from_edges([("a", "a"), ("a", "b")], bipartite=True)
    assert texts.labels == ("source a", "target a", "target b")
    frame = pandas.DataFrame(pairs, columns=["user", "item"])
    assert te.Graph.from_pandas(frame).labels == ("user 1", "user 2", "item 1", "item 2")
    assert te.Graph.from_pandas(frame, bipartite=False, self_loops="drop", repeats="drop").num_nodes == 2


def test_numbers_that_must_stay_cannot_be_told_apart() -> None:
    with pytest.raises(InputError, match="node 1 is in both columns, so they are not the two sides"):
        te.Graph.from_edges([(0, 1), (1, 2)], 3, bipartite=True)
    graph = te.Graph.from_edges([(0, 2), (1, 2)], 4, bipartite=True)
    assert graph.sides is not None
    assert graph.sides.tolist() == [0, 0, 1, -1]
    with pytest.raises(InputError, match="bipartite must be True, False or None, got 'yes'"):
        te.Graph.from_edges([(0, 2)], bipartite="yes")  # type: ignore[arg-type]


def test_sides_stay_with_subgraphs_pickles_and_folders_and_are_in_the_hash(tmp_path: Path) -> None:
    graph = te.Graph.from_edges([(1, 1), (1, 2), (2, 1), (3, 3)], bipartite=True)
    folder = tmp_path / "graph"
    graph.save(folder)
    for same in (te.Graph.load(folder), pickle.loads(pickle.dumps(graph)), graph.with_edges([])):
        assert same.sides is not None
        assert same.sides.tolist() == [0, 0, 0, 1, 1, 1]
        assert not same.sides.flags.writeable
    part = graph.largest_component()
    assert part.sides is not None
    assert part.sides.tolist() == [0, 0, 1, 1]
    assert graph.hash != te.Graph.from_edges(graph.edges, labels=graph.labels).hash


def test_bare_names_mean_the_nodes_of_their_column() -> None:
    graph = te.Graph.from_edges([(1, 1), (2, 1), (2, 7)], bipartite=True)
    assert names_by_side(graph) == ({"1": 0, "2": 1}, {"1": 2, "7": 3})
    assert names_by_side(te.Graph.from_edges([("a b", "c d")], bipartite=False)) is None


def test_networkx_marks_sides_as_it_always_does() -> None:
    networkx = pytest.importorskip("networkx")
    women = networkx.davis_southern_women_graph()
    graph = te.Graph.from_networkx(women)
    assert graph.sides is not None
    assert (int((graph.sides == 0).sum()), int((graph.sides == 1).sum())) == (18, 14)
    assert dict(graph.to_networkx().nodes(data="bipartite")) == dict(women.nodes(data="bipartite"))
    women.add_edge("E1", "E2")
    assert te.Graph.from_networkx(women).sides is None


@pytest.mark.parametrize(
    ("lines", "hinted"),
    [
        ("1 1\n1 2\n2 3\n3 1\n", True),  # a self-loop
        ("1 2\n2 1\n3 1\n2 3\n", True),  # both directions of one edge
        ("1 2\n2 1\n1 3\n3 1\n", False),  # both directions of all edges
        ("1 2\n2 3\n3 1\n", False),
        ("0 0\n0 1\n1 2\n", False),
        ("source target\n1 1\n1 2\n2 3\n", False),
    ],
)
def test_a_file_that_may_list_users_and_items_from_1_asks_for_bipartite(
    tmp_path: Path, lines: str, hinted: bool
) -> None:
    path = tmp_path / "pairs.txt"
    path.write_text(lines)
    read = te.load(path)
    assert any("users and items, pass --bipartite" in note for note in read.notes) == hinted
    read = te.load(path, bipartite=True)
    assert not any("pass --bipartite" in note for note in read.notes)
