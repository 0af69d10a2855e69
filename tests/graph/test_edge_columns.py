"""The columns of an edge list: found by their names or values, named by the user, or asked about."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trueedge as te
from trueedge.errors import InputError
from trueedge.graph import Graph, read_edges

Write = Callable[..., Path]
ASKED = "asked"


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a file and returns its path."""

    def write(content: str, name: str = "net.csv") -> Path:
        path = tmp_path / name
        path.write_text(content)
        return path

    return write


NAMES = ["ann", "bob", "cid", "dan", "eve", "fay", "gus", "hal"]
# A ring of names with a chord, and a ring of 40 numbers; both with a weight and a time.
NAMED = [(NAMES[row], NAMES[(row + 1) % 8], row % 3 + 1, 1_500_000_000 + 7 * row) for row in range(8)]
NUMBERED = [(row, (row * 7 + 1) % 40, row % 4 + 1, 1_500_000_000 + 7 * row) for row in range(40)]


def lines(form: str, rows: list[tuple[Any, ...]], header: str = "") -> str:
    """A line per row: {u}, {v}, {w}, {t}, {n} (its number) and {f} (a fraction) are filled in."""
    body = [
        form.format(u=u, v=v, w=w, t=t, n=number, f=w / 8, d=f"2020-01-{number % 28 + 1:02}")
        for number, (u, v, w, t) in enumerate(rows)
    ]
    return "\n".join([*([header] if header else []), *body]) + "\n"


STYLES: dict[str, tuple[str, list[tuple[Any, ...]], str]] = {
    "source,target": (lines("{u},{v}", NAMED, "source,target"), NAMED, ""),
    "weight first": (lines("{w},{u},{v}", NAMED, "weight,source,target"), NAMED, "weight"),
    "weight first, numbers": (lines("{w},{u},{v}", NUMBERED, "weight,source,target"), NUMBERED, "weight"),
    "weight between": (lines("{u},{w},{v}", NUMBERED, "src,weight,dst"), NUMBERED, "weight"),
    "target before source": (lines("{v};{u};{w}", NUMBERED, "target;source;count"), NUMBERED, "weight"),
    "time first": (lines("{t}\t{u}\t{v}", NUMBERED, "timestamp\tfrom\tto"), NUMBERED, "time"),
    "u v w": (lines("{u} {v} {w}", NUMBERED, "u v w"), NUMBERED, "weight"),
    "ids of nodes": (lines("{u}\t{v}", NUMBERED, "FromNodeId\tToNodeId"), NUMBERED, ""),
    "a header in a comment": (lines("{w} {u} {v}", NUMBERED, "# weight source target"), NUMBERED, "weight"),
    "node1,node2": (lines("{n},{u},{v}", NUMBERED, "edge_id,node1,node2"), NUMBERED, ""),
    "marks": (lines("{u},{f},{v}", NAMED, "protein_A,score,protein_B"), NAMED, "weight"),
    "Gephi": (
        lines("{u},{v},Undirected,{n},,{w}", NUMBERED, "Source,Target,Type,Id,Label,Weight"),
        NUMBERED,
        "weight",
    ),
    "triples": (lines("{u},likes,{v}", NAMED, "head,relation,tail"), NAMED, ""),
    "MovieLens": (
        lines("{u},{v},{f},{t}", NUMBERED, "userId,movieId,rating,timestamp"),
        [(f"user {u}", f"movie {v}", w, t) for u, v, w, t in NUMBERED],
        "weight time",
    ),
    "customers": (
        lines("{d},{u},{v}", NAMED, "date,customer_id,product_id"),
        [(f"customer {u}", f"product {v}") for u, v, *_ in NAMED],
        "time",
    ),
    "words that no list has": (lines("{u},{v},{d}", NAMED, "person,friend,since"), NAMED, "time"),
    "pandas' index": (lines("{n},{u},{v}", NUMBERED, ",source,target"), NUMBERED, ""),
    "pandas' index, other names": (lines("{n},{u},{v}", NUMBERED, ",alpha,beta"), NUMBERED, ""),
    "pandas' index, no names": (lines("{n},{u},{v}", NAMED, ",0,1"), NAMED, ""),
    "pandas' index, read again": (
        lines("{n},{w},{u},{v}", NAMED, "Unnamed: 0,weight,u,v"),
        NAMED,
        "weight",
    ),
    "no header, fractions": (lines("{u} {v} {f}5", NUMBERED), NUMBERED, ""),
    "no header, fractions first": (lines("{f}5 {u} {v}", NUMBERED), NUMBERED, ""),
    "no header, names and a number": (lines("{u}\t{v}\t{w}", NAMED), NAMED, ""),
    "no header, index and names": (lines("{n},{u},{v}", NAMED), NAMED, ""),
    "no header, small weights": (lines("{u} {v} {w}", NUMBERED), NUMBERED, ""),
    "no header, times": (lines("{u} {v} {t}", NUMBERED), NUMBERED, "time"),
    "no header, MovieLens 100k": (lines("{u}\t{v}\t{w}\t{t}", NUMBERED), NUMBERED, "time"),
    "no header, weight first": (lines("{w} {u} {v}", NUMBERED), [], ASKED),
    "no header, few numbers": (lines("{u} {v} {w}", NUMBERED[:4]), [], ASKED),
    "no header, a number for each row": (lines("{n} {u} {v}", NUMBERED), [], ASKED),
    "no header, names and a first number": (lines("{w},{u},{v}", NAMED), [], ASKED),
    "no header, triples": (lines("{u},likes,{v}", NAMED), [], ASKED),
    "no header, triples of numbers": (lines("{u} {w} {v}", NUMBERED), [], ASKED),
    "three unknown names": (lines("{w},{u},{v}", NUMBERED, "alpha,beta,gamma"), [], ASKED),
    "a,b,c": (lines("{w},{u},{v}", NUMBERED, "a,b,c"), [], ASKED),
    "two pairs of ends": (lines("{u},{v},{u},{v}", NUMBERED, "source,target,from,to"), [], ASKED),
    "one end": (lines("{u},{w}", NUMBERED, "source,weight"), [], ASKED),
    "an unknown header above names": (lines("{u},{v}", NAMED, "person,friend"), [], ASKED),
    "numbers of columns": (lines("{u},{v}", NAMED, "0,1"), [], ASKED),
    "an adjacency matrix": (",a,b,c\na,0,1,0\nb,1,0,1\nc,0,1,0\n", [], ASKED),
    "dictionaries": (lines("{u} {v} {{'weight': {w}}}", NUMBERED), [], ASKED),
}


@pytest.mark.rotating(60)
@pytest.mark.parametrize("style", STYLES)
def test_every_style_is_read_right_or_asked_about(style: str, write: Write) -> None:
    content, rows, kept = STYLES[style]
    path = write(content)
    if kept == ASKED:
        with pytest.raises(InputError, match=r"source and target|header=True|networkx.read_edgelist"):
            Graph.from_edges(path, self_loops="drop", repeats="drop")
        return
    listed = read_edges(path, self_loops="drop", repeats="drop")
    labels = listed.labels or tuple(map(str, range(listed.num_nodes)))
    found = {frozenset((labels[u], labels[v])) for u, v in listed.edges.tolist()}
    assert found == {frozenset((str(u), str(v))) for u, v, *_ in rows}
    assert set(listed.edge_data) == set(kept.split())
    if "weight" in kept:
        weights = {frozenset((str(u), str(v))): w for u, v, w, _ in reversed(rows)}
        first = listed.edges[0].tolist()
        asked = weights[frozenset(labels[node] for node in first)]
        assert listed.edge_data["weight"][0] in (asked, asked / 8)


def test_at_least_25_styles_are_tested() -> None:
    assert len(STYLES) >= 25


@pytest.mark.parametrize(
    ("options", "edges", "data"),
    [
        ({"source": 1, "target": 2}, [("1", "5"), ("2", "6")], {}),
        ({"source": "b", "target": "c"}, [("1", "5"), ("2", "6")], {}),
        ({"source": "C", "target": "a"}, [("5", "0"), ("6", "3")], {}),
        ({"source": "2", "target": "0"}, [("5", "0"), ("6", "3")], {}),
        ({"weight": "a"}, [("1", "5"), ("2", "6")], {"weight": [0.0, 3.0]}),
        ({"source": "c", "target": "b", "time": 0}, [("5", "1"), ("6", "2")], {"time": [0.0, 3.0]}),
    ],
)
def test_the_user_names_columns(
    options: dict[str, Any], edges: list[tuple[str, str]], data: dict[str, Any], write: Write
) -> None:
    listed = read_edges(write("a,b,c\n0,1,5\n3,2,6\n"), **options)
    assert listed.labels is not None
    assert [(listed.labels[u], listed.labels[v]) for u, v in listed.edges.tolist()] == edges
    assert {role: column.tolist() for role, column in listed.edge_data.items()} == data


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"source": "x", "target": "b"}, "net.csv has no column 'x' for source: it has the columns a, b, c"),
        ({"source": 0, "target": 7}, "net.csv has no column 7 for target"),
        ({"source": 0}, "source= is given, but target= is not: give both columns, or neither"),
        ({"target": 0}, "target= is given, but source= is not: give both columns, or neither"),
        ({"source": 1, "target": 1}, "source and target are the same column, 1"),
        ({"source": "a", "target": "b", "time": "b"}, "target and time are the same column, b"),
        ({"source": -1, "target": 1}, "source must be a column's name, or its number from 0, got -1"),
        ({"source": True, "target": 1}, "source must be a column's name, or its number from 0, got True"),
        ({"source": "b", "target": "c", "weight": "a"}, "line 3: the weight is 'x', not a number"),
        ({"source": "b", "target": "c", "time": "a"}, "line 3: the time is 'x', not a number or a date"),
    ],
)
def test_bad_columns_are_named(options: dict[str, Any], sentence: str, write: Write) -> None:
    with pytest.raises(InputError) as caught:
        read_edges(write("a,b,c\n0,1,5\nx,2,6\n"), **options)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_columns_are_for_files_and_not_for_arrays() -> None:
    with pytest.raises(InputError, match="weight is for a file, not for an array"):
        Graph.from_edges([(0, 1)], weight=2)


def test_the_user_decides_where_we_ask(write: Write) -> None:
    path = write("5 0 1\n6 1 2\n")
    with pytest.raises(InputError, match=r"--source, --target"):
        Graph.from_edges(path)
    assert Graph.from_edges(path, source=1, target=2, weight=0).edge_data["weight"].tolist() == [5.0, 6.0]
    assert Graph.from_edges(path, weight=0).edges.tolist() == [[0, 1], [1, 2]]


def test_dates_are_kept_as_seconds(write: Write) -> None:
    rows = "a,b,2020-01-01\nb,c,1970-01-01T00:00:10\nc,d,1970-01-01 01:00:10+01:00\n"
    times = Graph.from_edges(write(f"source,target,date\n{rows}")).edge_data["time"]
    assert times.tolist() == [1577836800.0, 10.0, 10.0]


def test_of_repeated_edges_the_earliest_is_kept(write: Write) -> None:
    path = write("source,target,time,weight\n0,1,9,1\n1,2,5,2\n1,0,4,3\n0,1,6,4\n")
    graph = te.load(path)
    assert graph.edges.tolist() == [[0, 1], [1, 2]]
    assert graph.edge_data["time"].tolist() == [4.0, 5.0]
    assert graph.edge_data["weight"].tolist() == [3.0, 2.0]
    with pytest.raises(InputError, match="line 4: '1,0,4,3' repeats the edge of line 2"):
        Graph.from_edges(path)


def test_a_weight_that_is_not_a_number_is_left_out_unless_it_was_asked_for(write: Write) -> None:
    rows = "".join(f"{n},{n + 1},1\n" for n in range(3000))
    path = write(f"source,target,weight\n{rows}5,9,heavy\n")
    graph = Graph.from_edges(path)
    assert not graph.edge_data
    assert any("line 3002: the weight is 'heavy', not a number" in note for note in graph.notes)
    with pytest.raises(InputError, match="line 3002: the weight is 'heavy'"):
        Graph.from_edges(path, weight="weight")


@pytest.mark.usefixtures("way")
def test_many_numbers_are_read_the_fast_way_and_the_slow_way_alike(write: Write) -> None:
    rng = np.random.default_rng(0)
    rows = [(u, u + 1, round(float(w), 3)) for u, w in enumerate(rng.normal(size=500))]
    plain = "".join(f"{u},{v},{w}\n" for u, v, w in rows)
    fast = Graph.from_edges(write("source,target,weight\n" + plain))
    slow = Graph.from_edges(write("weight,source,target\n" + "".join(f"{w},{u},{v}\n" for u, v, w in rows)))
    assert fast.hash == slow.hash
    assert fast.edge_data["weight"].tolist() == [w for *_, w in rows]


@pytest.mark.parametrize(
    ("top", "said"),
    [
        ("# Directed graph (each unordered pair of nodes is saved once)", True),
        ("% asym unweighted", True),
        ("# Undirected graph", False),
        ("# an un-directed graph", False),
        ("% sym unweighted", False),
    ],
)
def test_direction_that_a_file_declares_is_said_to_be_ignored(top: str, said: bool, write: Write) -> None:
    notes = Graph.from_edges(write(f"{top}\n0 1\n1 2\n")).notes
    assert ("the edges are directed, but direction is ignored" in notes) == said


def test_direction_is_said_to_be_ignored_where_some_edges_go_both_ways(write: Write) -> None:
    some = te.load(write("0 1\n1 0\n1 2\n2 3\n"))
    assert "direction is ignored: 1 of 3 edges is listed in both directions" in some.notes
    every = te.load(write("0 1\n1 0\n1 2\n2 1\n"))
    assert every.notes == ("dropped 2 repeated edges",)


def test_json_lines_are_read(write: Write) -> None:
    rows = [{"weight": 2, "source": "a", "target": "b"}, {"weight": 3.5, "source": "b", "target": "c"}]
    path = write("\n".join(map(json.dumps, rows)) + "\n", "net.jsonl")
    graph = Graph.from_edges(path)
    assert (graph.labels, graph.name) == (("a", "b", "c"), "net")
    assert graph.edge_data["weight"].tolist() == [2.0, 3.5]
    assert Graph.from_edges(path, source="target", target="source").edges.tolist() == [[0, 1], [0, 2]]


def test_numbers_in_json_lines_are_numbered_as_in_a_text_file(write: Write) -> None:
    rows = [(0, 2), (2, 1), (1, 0)]
    path = write("".join(f'{{"u": {u}, "v": {v}}}\n' for u, v in rows), "net.txt")
    assert Graph.from_edges(path).hash == Graph.from_edges(rows).hash
    assert Graph.from_edges(path, 5).num_nodes == 5


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ('{"source": 1, "target": 2}\n{"source": 1}\n', "line 2: an id is missing"),
        ('{"source": 1, "target": 2}\n{"source": 1, "target": 1.5}\n', "line 2: '1.5' is not a node id"),
        ('{"source": 1, "target": 2}\n{"source": 1, "target": -2}\n', "line 2: the id -2 is below 0"),
        ('{"source": 1, "target": 2}\n[1, 2]\n', "line 2: a JSON object is needed, got '[1, 2]'"),
        ('{"source": 1, "target": 2}\n{"sour\n', "line 2: this is not a JSON object"),
        ('[{"source": 1, "target": 2},\n', "line 2: the JSON list that begins with [ in"),
        ('{"source": 1}\n', "has one column, but an edge has two ends"),
        ('{"p": 1, "q": 2, "r": 3}\n', "name the two columns with source and target"),
        ('{"source": 1, "target": 1}\n', "line 1: ('1', '1') joins a node to itself"),
    ],
)
def test_what_is_wrong_with_json_lines_is_named(content: str, sentence: str, write: Write) -> None:
    with pytest.raises(InputError) as caught:
        Graph.from_edges(write(content, "net.jsonl"))
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_parquet_is_read_or_the_missing_library_is_named(tmp_path: Path) -> None:
    path = tmp_path / "net.parquet"
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        path.write_bytes(b"PAR1 and so on")
        with pytest.raises(InputError, match="is a Parquet file: install pyarrow"):
            Graph.from_edges(path)
        return
    table = pa.table({"weight": [0.5, 2.0], "source": ["a", "b"], "target": ["b", "c"]})
    parquet.write_table(table, path)
    graph = Graph.from_edges(path)
    assert (graph.labels, graph.edge_data["weight"].tolist()) == (("a", "b", "c"), [0.5, 2.0])
    path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(InputError, match="is a damaged Parquet file"):
        Graph.from_edges(path)


def test_a_parquet_file_without_its_first_bytes_is_not_read_as_text(tmp_path: Path) -> None:
    path = tmp_path / "net.parquet"
    path.write_text("a b\nb c\n")
    with pytest.raises(InputError) as caught:
        Graph.from_edges(path)
    assert str(caught.value) == f"{path} is no Parquet file: it does not begin with PAR1"


def test_an_end_whose_name_another_column_has_is_asked_about(write: Write) -> None:
    path = write(lines("{u},{v},{n}", NAMED, "source,target,Target"))
    with pytest.raises(InputError, match=r"several columns are called '.arget': .* by number"):
        read_edges(path)
    assert len(Graph.from_edges(path, source=0, target=1).edges) == len(NAMED)
    # What is not an end may be there twice.
    twice = write(lines("{u},{v},{n},{n}", NAMED, "source,target,note,note"))
    assert len(Graph.from_edges(twice).edges) == len(NAMED)


def test_a_list_of_json_objects_is_read_as_lines_of_them_are(write: Write) -> None:
    rows = [{"source": "ann", "target": "bob", "weight": 2}, {"source": "bob", "target": "cid", "weight": 1}]
    lines = Graph.from_edges(write("\n".join(map(json.dumps, rows)) + "\n", "net.jsonl"))
    whole = Graph.from_edges(write(json.dumps(rows, indent=1), "net.json"))
    assert (whole.hash, whole.notes) == (lines.hash, lines.notes)
    with pytest.raises(InputError, match=r"net.json, line 2: the JSON list that begins with"):
        Graph.from_edges(write('[{"source": "a",\n "target": ]', "net.json"))
    with pytest.raises(InputError, match=r"net.json, row 1: a JSON object is needed, got"):
        Graph.from_edges(write('[{"source": "a", "target": "b"}, 3]', "net.json"))
