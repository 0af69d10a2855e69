"""Columns of triples: others between them, an order that the values contradict, a header of unusual names."""

from __future__ import annotations

from pathlib import Path

import pytest

import trueedge as te
from trueedge import KnowledgeGraph
from trueedge.errors import InputError

TRIPLES = [(f"e{n}", ("knows", "likes")[n % 2], f"e{(n + step) % 9}") for step in (1, 2) for n in range(9)]


def put(folder: Path, rows: list[tuple[str, ...]], name: str = "mine.tsv") -> Path:
    path = folder / name
    path.write_text("".join("\t".join(row) + "\n" for row in rows))
    return path


def triples_of(graph: KnowledgeGraph) -> set[tuple[str, str, str]]:
    return {(graph.entities[h], graph.relations[r], graph.entities[t]) for h, r, t in graph.triples.tolist()}


def test_columns_between_the_three_of_a_triple_are_not_read(tmp_path: Path) -> None:
    rows = [("object", "id", "predicate", "subject"), *((t, "7", r, h) for h, r, t in TRIPLES)]
    graph = KnowledgeGraph.from_triples(put(tmp_path, rows))
    assert triples_of(graph) == set(TRIPLES)
    assert graph.notes[1] == "not read: id"
    with pytest.raises(InputError, match="line 3: the header has 4 columns, this line has 3 columns"):
        KnowledgeGraph.from_triples(put(tmp_path, [*rows[:2], TRIPLES[0]]))
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(rows[1:], columns=rows[0])
    assert triples_of(KnowledgeGraph.from_triples(frame)) == set(TRIPLES)


@pytest.mark.parametrize(
    ("order", "said"), [((0, 2, 1), "head, tail, relation"), ((1, 0, 2), "relation, head, tail")]
)
def test_an_order_that_the_names_contradict_is_refused(
    order: tuple[int, ...], said: str, tmp_path: Path
) -> None:
    rows = [tuple(row[place] for place in order) for row in TRIPLES]
    with pytest.raises(InputError, match=f"so the columns may be {said}"):
        KnowledgeGraph.from_triples(put(tmp_path, rows))
    assert KnowledgeGraph.from_triples(put(tmp_path, rows), header=False).num_triples == len(rows)
    named = [tuple(("head", "relation", "tail")[place] for place in order), *rows]
    assert triples_of(KnowledgeGraph.from_triples(put(tmp_path, named))) == set(TRIPLES)
    (tmp_path / "parts").mkdir()
    put(tmp_path / "parts", rows[:-2], "train.txt")
    put(tmp_path / "parts", rows[-2:], "test.txt")
    with pytest.raises(InputError, match=f"train.txt: .* so the columns may be {said}"):
        te.task(tmp_path / "parts")


def test_a_first_line_of_names_that_do_not_come_again_may_be_a_header(trueedge, tmp_path: Path) -> None:
    path = put(tmp_path, [("from node", "edge", "to node"), *TRIPLES])
    with pytest.raises(InputError, match="line 1: 'from node edge to node' may be a header"):
        KnowledgeGraph.from_triples(path)
    words = ("task", "mine.tsv", "-p", "filtered", "-o")
    assert trueedge(*words, "a")[0] == 1
    assert trueedge(*words, "a", "--header")[0] == 0
    assert te.load_task("a").graph.num_relations == 2
    assert trueedge(*words, "b", "--no-header")[0] == 0
    assert te.load_task("b").graph.num_relations == 3


def test_a_file_of_triples_that_is_read_as_edges_says_how_to_read_it_as_triples(
    trueedge, tmp_path: Path
) -> None:
    put(tmp_path, [("head", "relation", "tail"), *TRIPLES])
    status, _, err = trueedge("task", "mine.tsv", "-p", "uniform", "-o", "edges")
    assert status == 0
    assert "mine.tsv: read as edges; for a knowledge graph, use the protocol filtered" in err
