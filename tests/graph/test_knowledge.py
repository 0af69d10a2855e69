"""Knowledge graphs: how they are made, indexed, saved and read."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueedge.errors import InputError
from trueedge.graph import KnowledgeGraph
from trueedge.graph.triples import TailIndex, contained

TRIPLES = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 2), st.integers(0, 6)), min_size=1, max_size=60
)


@given(TRIPLES)
@settings(max_examples=60, deadline=None)
def test_a_graph_holds_each_triple_once_whatever_their_order(rows) -> None:
    graph = KnowledgeGraph.from_triples(rows, 7, 3, repeats="drop")
    assert list(map(tuple, graph.triples.tolist())) == sorted(set(rows))
    assert graph.hash == KnowledgeGraph.from_triples(rows[::-1], 7, 3, repeats="drop").hash
    both = set(map(tuple, graph.both_directions.tolist()))
    assert both == set(rows) | {(t, r + 3, h) for h, r, t in rows}
    assert graph.in_degrees.tolist() == [sum(t == one for _, _, t in set(rows)) for one in range(7)]
    assert graph.out_degrees.tolist() == [sum(h == one for h, _, _ in set(rows)) for one in range(7)]


@given(TRIPLES)
@settings(max_examples=60, deadline=None)
def test_the_index_finds_the_tails_of_every_query(rows) -> None:
    index = TailIndex.of(np.array(rows, dtype=np.int32), 3)
    asked = np.array([(h, r) for h in range(7) for r in range(6)])
    indptr, tails = index.rows(asked[:, 0], asked[:, 1])
    both = set(rows) | {(t, r + 3, h) for h, r, t in rows}
    for place, (head, relation) in enumerate(asked.tolist()):
        expected = sorted(t for h, r, t in both if (h, r) == (head, relation))
        assert tails[indptr[place] : indptr[place + 1]].tolist() == expected
    answers = np.arange(len(asked)) % 7
    found = index.contains(asked, answers)
    assert found.tolist() == [(h, r, a) in both for (h, r), a in zip(asked.tolist(), answers, strict=True)]


@given(TRIPLES, TRIPLES)
@settings(max_examples=60, deadline=None)
def test_contained_tells_which_triples_are_among_others(some, others) -> None:
    found = contained(np.array(some, dtype=np.int32), np.array(others, dtype=np.int32))
    assert found.tolist() == [one in set(others) for one in some]


def test_names_are_taken_in_the_order_of_their_appearance() -> None:
    graph = KnowledgeGraph.from_triples([("b", "likes", "a"), ("a", "knows", "c")])
    assert graph.entities == ("b", "a", "c")
    assert graph.relations == ("likes", "knows")
    assert graph.triples.tolist() == [[0, 0, 1], [1, 1, 2]]


def test_a_file_an_array_and_rows_give_the_same_graph(tmp_path) -> None:
    rows = [("b", "likes", "a"), ("a", "knows", "c")]
    path = tmp_path / "g.tsv"
    path.write_bytes("".join("\t".join(row) + "\r\n" for row in rows).encode())
    assert KnowledgeGraph.from_triples(path).hash == KnowledgeGraph.from_triples(rows).hash
    ids = KnowledgeGraph.from_triples(
        np.array([[0, 0, 1], [1, 1, 2]]), entities=["b", "a", "c"], relations=["likes", "knows"]
    )
    assert ids.hash == KnowledgeGraph.from_triples(rows).hash


def test_a_saved_graph_is_the_same_after_loading(tmp_path) -> None:
    graph = KnowledgeGraph.from_triples([("ü", "mag", "b"), ("b", "kennt", "☃")], name="klein")
    graph.save(tmp_path)
    read = KnowledgeGraph.load(tmp_path)
    assert (read.hash, read.name, read.entities) == (graph.hash, "klein", graph.entities)


def test_an_altered_graph_is_refused(tmp_path) -> None:
    KnowledgeGraph.from_triples([(0, 0, 1), (1, 1, 2), (2, 0, 0)]).save(tmp_path)
    np.save(tmp_path / "triples.npy", np.array([[0, 0, 1], [1, 1, 2], [2, 0, 1]], dtype=np.int32))
    with pytest.raises(InputError, match="the hash differs"):
        KnowledgeGraph.load(tmp_path)
    np.save(tmp_path / "triples.npy", np.array([[1, 1, 2], [0, 0, 1], [2, 0, 0]], dtype=np.int32))
    with pytest.raises(InputError, match="sorted"):
        KnowledgeGraph.load(tmp_path)


def test_arrays_of_a_graph_cannot_be_changed() -> None:
    graph = KnowledgeGraph.from_triples([(0, 0, 1), (1, 1, 2)])
    for array in (graph.triples, graph.both_directions):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_names_may_come_from_iterators() -> None:
    graph = KnowledgeGraph.from_triples([(0, 0, 1)], entities=iter(["a", "b"]), relations=iter(["r"]))
    assert (graph.entities, graph.relations) == (("a", "b"), ("r",))
