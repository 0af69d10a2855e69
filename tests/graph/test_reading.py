"""Edge lists in files: every format that is read, and the sentence for every one that is not."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from trueedge.errors import InputError
from trueedge.files.columns import read_columns
from trueedge.files.text import open_text
from trueedge.graph import EdgeList, Graph, read_edges, read_pairs
from trueedge.graph.reading import read_pair_files

pytestmark = pytest.mark.usefixtures("way")

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a file and returns its path."""

    def write(content: str | bytes, name: str = "net.txt") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def named(listed: EdgeList) -> list[tuple[str, str]]:
    """The edges by the nodes' ids in the file."""
    labels = listed.labels or tuple(map(str, range(listed.num_nodes)))
    return [(labels[u], labels[v]) for u, v in listed.edges.tolist()]


SAME_GRAPH = {
    "spaces": "0 1\n2 1\n0 3\n",
    "no last line end": "0 1\n2 1\n0 3",
    "aligned": "  0   1 \n  2 \t 1\n  0   3\n",
    "tabs": "0\t1\n2\t1\n0\t3\n",
    "tabs and spaces": "0 \t 1\n2\t1 \n 0\t3\n",
    "commas": "0,1\n2,1\n0,3\n",
    "commas and spaces": "0, 1\n2 ,1\n 0,3 \n",
    "semicolons": "0;1\n2;1\n0;3\n",
    "line ends of Windows": "0 1\r\n2 1\r\n0 3\r\n",
    "line ends of old Macs": "0 1\r2 1\r0 3\r",
    "byte order mark": "\ufeff0 1\n2 1\n0 3\n",
    "comments on top": "# nodes: 4\n% and more\n\n0 1\n2 1\n0 3\n",
    "comments within": "0 1\n  # here\n2 1\n\n% there\n0 3\n# end",
    "blank lines": "\n\n0 1\n   \n2 1\n\t\n0 3\n\n",
    "a usual header": "source,target\n0,1\n2,1\n0,3\n",
    "a header of any words": "Person Friend\n0 1\n2 1\n0 3\n",
    "a header in quotes": '"from","to"\n0,1\n2,1\n0,3\n',
    "ids in quotes": '"0","1"\n"2","1"\n"0","3"\n',
    "ids in quotes with spaces": '"0"  "1"\n"2" "1"\n"0" "3"\n',
    "a comment, then a header": "# made by hand\nu\tv\n0\t1\n2\t1\n0\t3\n",
    "weights": "0 1 0.5\n2 1 1e-3\n0 3 7\n",
    "weights with a comma": "0;1;0,5\n2;1;1,5\n0;3;0,1\n",
    "columns that are partly empty": "u,v,w,note\n0,1,,x\n2,1,3,\n0,3,,\n",
    "dictionaries": "0 1 {}\n2 1 {}\n0 3 {}\n",
    "leading zeros": "00 01\n2 1\n0 003\n",
}


@pytest.mark.parametrize("content", SAME_GRAPH.values(), ids=SAME_GRAPH.keys())
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_every_spelling_of_an_edge_list_is_the_same_graph(content: str, packed: bool, write: Write) -> None:
    data = content.encode()
    listed = read_edges(write(gzip.compress(data) if packed else data))
    assert listed.edges.tolist() == [[0, 1], [2, 1], [0, 3]]
    assert listed.edges.dtype == np.int64
    assert (listed.num_nodes, listed.labels, listed.name) == (4, None, "net")


def test_a_header_is_taken_for_one_and_said(write: Write) -> None:
    assert read_edges(write("id1,id2\n0,1\n")).notes == ("the first line was read as a header: id1, id2",)
    assert read_edges(write("# x\n\nSource Target\na b\n")).notes == (
        "line 3 was read as a header: Source, Target",
    )


@pytest.mark.parametrize(
    "content",
    [
        "customer_id,product_id\nc1,p1\nc2,p1\n",
        "customerId\tproductId\nann\tsoap\nbob\tsoap\n",
        "User,Item\nann,soap\nbob,soap\n",
        "userid itemid\n1 7\n2 7\n",
        "KEY;to\nann;7\nbob;7\n",
    ],
)
def test_column_names_above_names_are_a_header(content: str, write: Write) -> None:
    graph = Graph.from_edges(write(content))
    names = ", ".join(re.split("[,;\t ]", content.partition("\n")[0]))
    assert graph.num_edges == 2
    assert graph.notes[0] == f"the first line was read as a header: {names}"


@pytest.mark.parametrize(
    "content",
    [
        "user_a,item_b\nuser_a,item_c\n",  # the names of other lines look like columns too
        "user_id,item_id\nann,item_id\n",  # the name comes again
        "user_7,item_8\nann,bob\n",  # a number makes it a name
        "ann,item_id\nbob,soap\n",
    ],
)
def test_names_that_resemble_column_names_are_an_edge(content: str, write: Write) -> None:
    assert Graph.from_edges(write(content)).num_edges == 2


def test_the_user_decides_on_a_header(write: Write) -> None:
    names = write("customer_id,product_id\nc1,p1\nc2,p1\n")
    assert Graph.from_edges(names, header=False).labels == ("customer_id", "product_id", "c1", "p1", "c2")
    assert Graph.from_edges(names, header=True).labels == ("c1", "p1", "c2")
    listed = read_edges(write("ann bob\nbob cyd\n"), header=True)
    assert listed.labels == ("bob", "cyd")
    assert listed.notes == ("the first line was read as a header: ann, bob",)
    numbers = write("# counts\n5 9\n0 1\n1 2\n")
    assert Graph.from_edges(numbers, header=True).num_nodes == 3
    assert Graph.from_edges(numbers, header=True).notes == ("line 2 was read as a header: 5, 9",)
    assert Graph.from_edges(numbers, header=False).num_nodes == 5
    with pytest.raises(InputError, match="has no edges"):
        Graph.from_edges(write("0 1\n"), header=True)
    with pytest.raises(InputError, match="header must be True, False or None, got 'yes'"):
        Graph.from_edges(names, header="yes")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="header is for a file"):
        Graph.from_edges([(0, 1)], header=True)


@pytest.mark.parametrize("content", ["a r b\nb s c\n", "head,relation,tail,score\na,r,b,1\nb,s,c,1\n"])
def test_three_columns_of_ids_can_be_read(content: str, write: Write) -> None:
    found = read_columns(open_text(write(content)), names_only=True, width=3)
    assert found.names is not None
    assert [[found.names[i] for i in row] for row in found.ids.tolist()] == [["a", "r", "b"], ["b", "s", "c"]]
    with pytest.raises(InputError, match="a line needs 3 ids, this one has 2"):
        read_columns(open_text(write("a b\n")), width=3)


@pytest.mark.parametrize("rows", ["0 1 0.5\n1 2 7\n", "a b x y\nb c x y\n", "0,1,\n1,2,\n"])
def test_columns_that_are_not_read_are_said(rows: str, write: Write) -> None:
    assert Graph.from_edges(write(rows)).notes == ("only the first 2 columns are read",)
    listed = read_edges(write("source,target,weight,x\n0,1,5,6\n"))
    assert listed.notes == (
        "the first line was read as a header: source, target, weight, x",
        "not read: x",
        "the column weight is kept as the weight of each edge",
    )
    assert listed.edge_data["weight"].tolist() == [5.0]


@pytest.mark.parametrize(
    ("content", "edges"),
    [
        ("ann bob\nbob cyd\n", [("ann", "bob"), ("bob", "cyd")]),
        ("u v\nv w\n", [("u", "v"), ("v", "w")]),
        ("from to\n", None),
        ("ann bob\n", [("ann", "bob")]),
        ("ann 7\n8 9\n", [("ann", "7"), ("8", "9")]),
    ],
)
def test_names_on_the_first_line_are_an_edge_unless_they_are_column_names(
    content: str, edges: list[tuple[str, str]] | None, write: Write
) -> None:
    path = write(content)
    if edges is None:
        with pytest.raises(InputError, match="has no edges"):
            read_edges(path)
    else:
        assert named(read_edges(path)) == edges


def test_numbers_with_gaps_are_renumbered_in_their_order_and_kept_as_labels(write: Write) -> None:
    listed = read_edges(write("30 7\n7 1000000000000\n100 30\n"))
    assert listed.edges.tolist() == [[1, 0], [0, 3], [2, 1]]
    assert listed.labels == ("7", "30", "100", "1000000000000")


def test_names_are_numbered_as_they_appear(write: Write) -> None:
    listed = read_edges(write("New York\tSão Paulo\nZürich\tNew York\n"))
    assert listed.labels == ("New York", "São Paulo", "Zürich")
    assert listed.edges.tolist() == [[0, 1], [2, 0]]


def test_a_field_in_quotes_may_hold_the_separator(write: Write) -> None:
    listed = read_edges(write('"Smith, J","Doe, ""A"""\nx,"Smith, J"\n', "net.csv"))
    assert listed.labels == ("Smith, J", 'Doe, "A"', "x")


def test_numbers_among_names_are_names_and_that_is_said(write: Write) -> None:
    listed = read_edges(write("1 2\n2 bob\n12e5 01\n"))
    assert listed.labels == ("1", "2", "bob", "12e5", "01")
    assert listed.notes == ("ids are read as names: line 2 has 'bob'",)


def test_with_num_nodes_ids_are_used_as_they_are(write: Write) -> None:
    listed = read_edges(write("7 3\n"), num_nodes=10)
    assert (listed.edges.tolist(), listed.num_nodes, listed.labels) == ([[7, 3]], 10, None)


def test_a_node_with_only_a_self_loop_is_still_a_node(write: Write) -> None:
    listed = read_edges(write("0 1\n2 2\n"), self_loops="drop")
    assert (listed.num_nodes, listed.labels) == (3, None)
    assert listed.notes == ("dropped 1 self-loop",)


def test_dropped_edges_are_counted(write: Write) -> None:
    listed = read_edges(write("0 1\n1 0\n2 2\n0 1\n1 2\n"), self_loops="drop", repeats="drop")
    assert listed.edges.tolist() == [[0, 1], [1, 2]]
    assert listed.notes == (
        "dropped 1 self-loop",
        "dropped 2 repeated edges",
        "direction is ignored: 1 of 2 edges is listed in both directions",
    )


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("0 1\n# x\n2 -3\n", "line 3: the id '-3' is below 0"),
        ("a,b\n\n,c\n", "line 3: an id is missing, the field is ''"),
        ("0,1\n2,\n", "line 2: an id is missing, the field is ''"),
        ("0\t1\n\t2\n", "line 2: an id is missing, the field is ''"),
        ("1\t\t2\n", "has 3 columns, 0 to 2, and no header"),
        ("0 1\n1 nan\n", "line 2: 'nan' is not a node id"),
        ("NaN 1\n1 2\n", "line 1: 'NaN' is not a node id"),
        ("nan nan\n1 2\n", "line 1: 'nan' is not a node id"),
        ("NA NA\n1 2\n", "line 1: an id is missing, the field is 'NA'"),
        ("0,1\n3 4,\n", "line 2: '3 4' is not a node id"),
        ("0,1\n,3 4\n", "line 2: an id is missing, the field is ''"),
        ("0 1\n1 NA\n", "line 2: an id is missing, the field is 'NA'"),
        ("0 1\n1 inf\n", "line 2: 'inf' is not a node id"),
        ("0 1\n1 1.5\n", "line 2: '1.5' is not a node id"),
        ("0.0 1.0\n1.0 2.0\n", "line 1: '0.0' is not a node id"),
        ("a b\nb 1.5\n", "line 2: '1.5' is not a node id"),
        ("0 1\n1 1e+05\n", "line 2: '1e+05' is not a node id"),
        ("0 1\n1 +2\n", "line 2: '+2' is not a node id"),
        ("0 1\n2 99999999999999999999\n", "line 2: the id '99999999999999999999' is too large"),
        ("0 1\n2 9223372036854775808\n", "line 2: the id '9223372036854775808' is too large"),
        ("0 1\n2 " + "9" * 5000 + "\n", f"line 2: the id '{'9' * 57}...' is too large"),
        ("0 1\n1 2 3\n", "line 2: 3 columns, where line 1 has 2: '1 2 3'"),
        ("# x\n0 1 0.5\n1 2\n", "line 3: 2 columns, where line 2 has 3: '1 2'"),
        ("0 1\n3\n", "line 2: 1 column, where line 1 has 2: '3'"),
        ("source,target\n0 1\n", "line 2: 1 column, where line 1 has 2: '0 1'"),
        ("5\n6\n", "line 1: a line needs 2 ids, this one has 1: '5'"),
        ("1 2\t7\n", "line 1: '1 2' is not a node id"),
        ("0 1\n\n# x\n2 2\n", "line 4: '2 2' joins a node to itself; self_loops='drop' would"),
        ("# x\n0 1\n1 2\n\n1,0\n", "line 5: 1 column, where line 2 has 2: '1,0'"),
        ("# x\n0 1\n1 2\n\n1 0\n", "line 5: '1 0' repeats the edge of line 2; repeats='drop' would"),
        ("ann bob 3\nbob ann 4\n", "line 2: 'bob ann 4' repeats the edge of line 1"),
        ('a,b\n"c,d\n', "line 2: the quotes do not match: '\"c,d'"),
        ("", " is empty: it has no edges"),
        ("\n  \n# nothing\n", " is empty: it has no edges"),
        (b"0 1\n1 \xe9\n", "line 2: the byte '0xe9' is not UTF-8 text"),
        (b"0 1\n1 2\0\n", "line 2: there is a NUL byte"),
        ("0 1\n".encode("utf-16"), "line 1: the byte '0xff' is not UTF-8 text; it seems to be UTF-16"),
        (gzip.compress(b"0 1\n" * 100, mtime=0)[:-9], " is a damaged gzip file"),
        (b"\x1f\x8bhello", " is a damaged gzip file"),
        (gzip.compress(b"0 1\n", mtime=0)[:-8] + b"12345678", " is a damaged gzip file"),
        ("%%MatrixMarket matrix coordinate\n3 3 1\n1 2 1\n", "is a Matrix Market file"),
    ],
)
def test_what_is_wrong_is_named_with_file_line_and_value(
    content: str | bytes, sentence: str, write: Write
) -> None:
    path = write(content)
    with pytest.raises(InputError) as caught:
        read_edges(path)
    assert str(caught.value).startswith(str(path))
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_ids_past_num_nodes_are_named_with_their_line(write: Write) -> None:
    path = write("u,v\n0,1\n# x\n1,5\n")
    with pytest.raises(InputError, match=r"net\.txt, line 4: the id '5' is outside 0\.\.4"):
        read_edges(path, num_nodes=5)


def test_names_are_refused_where_the_number_of_nodes_is_given(write: Write) -> None:
    with pytest.raises(InputError, match="line 2: 'bob' is not a whole number"):
        read_edges(write("0 1\n1 bob\n"), num_nodes=5)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.txt: there is no such file"):
        read_edges(tmp_path / "nowhere.txt")
    with pytest.raises(InputError, match="is a folder, not a file"):
        read_edges(tmp_path)
    with pytest.raises(InputError, match="cannot be read"):
        read_edges("a\0b")
    with pytest.raises(InputError, match="cannot be read"):
        read_edges("x" * 5000)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"num_nodes": 0}, "the graph is empty"),
        ({"num_nodes": "5"}, "read_edges: num_nodes must be a whole number, got '5'"),
        ({"self_loops": "keep"}, "read_edges: self_loops must be 'refuse' or 'drop', got 'keep'"),
        ({"repeats": None}, "read_edges: repeats must be 'refuse' or 'drop', got None"),
    ],
)
def test_bad_options_are_named(options: dict[str, object], sentence: str, write: Write) -> None:
    with pytest.raises(InputError) as caught:
        read_edges(write("0 1\n"), **options)  # type: ignore[arg-type]
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("file", "name"), [("a.edges.gz", "a"), ("b.txt", "b"), ("c", "c"), ("d.2007.csv", "d.2007")]
)
def test_the_name_is_the_files_without_its_endings(file: str, name: str, write: Write) -> None:
    assert read_edges(write("0 1\n", file)).name == name


def test_a_graph_is_built_from_a_file(write: Write) -> None:
    path = write("c a\na b\n")
    graph = Graph.from_edges(path, features=[[1], [2], [3]])
    assert (graph.name, graph.labels) == ("net", ("c", "a", "b"))
    assert graph.edges.tolist() == [[0, 1], [1, 2]]
    assert Graph.from_edges(str(path), name="mine").name == "mine"
    with pytest.raises(InputError, match="features have 2 rows, but the graph has 3 nodes"):
        Graph.from_edges(path, features=[[1], [2]])
    with pytest.raises(InputError, match="labels and edge_data belong to an array"):
        Graph.from_edges(path, labels=["a", "b", "c"])


def test_pairs_are_read_as_they_stand(write: Write) -> None:
    pairs = read_pairs(write("u\tv\n5\t5\n9\t0\n0\t9\n9\t0\n"))
    assert pairs.tolist() == [[5, 5], [9, 0], [0, 9], [9, 0]]
    assert pairs.dtype == np.int64
    assert read_pairs(write("1, 2, x y\n")).tolist() == [[1, 2]]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("0 1\n1 x\n", "line 2: 'x' is not a whole number"),
        ("0 1\n1 -1\n", "line 2: the id '-1' is below 0"),
        ("", "is empty"),
    ],
)
def test_pairs_that_are_no_numbers_are_named(content: str, sentence: str, write: Write) -> None:
    with pytest.raises(InputError, match=sentence):
        read_pairs(write(content))


def test_ids_of_nineteen_digits_are_read_exactly(write: Write) -> None:
    top = 2**63 - 1
    assert read_pairs(write(f"{top - 1} 1\n")).tolist() == [[top - 1, 1]]
    assert read_pairs(write(f"{top} 0000000000000000000000000007\n")).tolist() == [[top, 7]]


@pytest.mark.parametrize("template", ["{} {}", "{}, {}", "{}\t{}\t0.5"])
def test_a_hundred_thousand_lines_are_read(template: str, write: Write) -> None:
    pairs = np.random.default_rng(0).integers(0, 10**6, size=(10**5, 2))
    path = write("# top\n" + "\n".join(template.format(u, v) for u, v in pairs.tolist()))
    assert (read_pairs(path) == pairs).all()


@pytest.mark.data("heart/citeseer")
def test_the_released_files_hold_what_they_are_known_to_hold(data_folder: Path) -> None:
    wiki = data_folder / "wikipedia" / "chameleon"
    for file in ("chameleon_edges.csv", "out1_graph_edges.txt"):
        graph = Graph.from_edges(wiki / file, self_loops="drop", repeats="drop")
        assert (graph.num_nodes, graph.num_edges, graph.labels) == (2277, 31371, None)
    train = data_folder / "heart" / "citeseer" / "train_pos.txt"
    assert len(read_pairs(train)) == 3870 + 48
    graph = Graph.from_edges(train, num_nodes=3327, self_loops="drop")
    assert (graph.num_edges, graph.notes) == (3870, ("dropped 48 self-loops",))
    ddi = read_pairs(data_folder / "ogb" / "ogbl-ddi" / "raw" / "edge.csv.gz")
    assert (len(ddi), ddi.max()) == (1067911, 4266)


@pytest.mark.data("networks")
def test_every_network_is_connected_and_needs_no_tidying(data_folder: Path) -> None:
    paths = sorted((data_folder / "networks").glob("*.edges.gz"))
    assert len(paths) == 28
    for path in paths:
        graph = Graph.from_edges(path)
        assert (graph.labels, graph.notes) == (None, ())
        assert graph.largest_component() is graph


def test_a_quoted_field_of_any_length_is_named_where_it_is_too_long(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text('a,b\n"' + "x" * 131_073 + '",c\n')
    with pytest.raises(
        InputError, match=r"x.csv, line 2: a field in quotes is longer than 131,072 characters"
    ):
        read_edges(path)


COUNTS = {
    "ids from 0": ["5 6", "0 1", "1 2", "2 3", "3 4", "4 0", "0 2"],
    "ids from 1": ["5 6", "1 2", "2 3", "3 4", "4 5", "5 1", "1 3"],
    "a node without an edge": ["6 4", "0 1", "1 2", "2 3", "3 5"],
    "after a comment": ["# made by a program", "5 6", "0 1", "1 2", "2 3", "3 4", "4 0", "0 2"],
    "with commas": ["5,4", "0,1", "1,2", "2,3", "3,4"],
    "with a third column": ["5 4 1", "0 1 0.5", "1 2 0.7", "2 3 0.5", "3 4 0.7"],
}


@pytest.mark.parametrize("lines", COUNTS.values(), ids=COUNTS)
def test_a_first_line_with_the_numbers_of_nodes_and_edges_is_asked_about(
    lines: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "graph.txt"
    path.write_text("\n".join(lines) + "\n")
    line = next(number for number, text in enumerate(lines, start=1) if text[0] != "#")
    with pytest.raises(
        InputError, match=rf"line {line}: .* looks like the numbers of nodes and edges"
    ) as caught:
        Graph.from_edges(path)
    assert "pass header=True (--header) to skip the line, or header=False (--no-header)" in str(caught.value)
    skipped, kept = (Graph.from_edges(path, header=header) for header in (True, False))
    assert kept.num_edges == skipped.num_edges + 1


def test_an_edge_that_is_not_these_numbers_is_an_edge(tmp_path: Path) -> None:
    path = tmp_path / "graph.txt"
    for first in ("5 7", "7 6", "6 5"):
        path.write_text(f"{first}\n0 1\n1 2\n2 3\n3 4\n4 0\n0 2\n")
        assert Graph.from_edges(path).num_edges == 7


def test_files_of_pairs_with_such_a_line_get_a_note(tmp_path: Path) -> None:
    path = tmp_path / "pairs.txt"
    path.write_text("5 4\n0 1\n1 2\n2 3\n3 4\n")
    read = read_pair_files([path])
    assert len(read.pairs[0]) == 5
    assert "pairs.txt: '5 4' is read as a pair; put # before it" in read.notes[0]


@pytest.mark.parametrize(
    "content",
    [
        "*Vertices 2\n1 a\n2 b\n*Edges\n1 2\n",
        "% from a program\n*vertices 3\n*arcs\n1 2\n",
        "*Network friends\n*Vertices 2\n",
        "  *EDGES x\n1 2\n",
    ],
)
def test_pajek_files_are_refused_with_what_reads_them(content: str, tmp_path: Path) -> None:
    path = tmp_path / "graph.net"
    path.write_text(content)
    with pytest.raises(InputError, match=r"graph\.net is a Pajek file, .* networkx\.read_pajek"):
        Graph.from_edges(path)


def test_a_star_alone_may_be_a_name(tmp_path: Path) -> None:
    path = tmp_path / "graph.txt"
    path.write_text("*a b\nb *c\n")
    assert Graph.from_edges(path).labels == ("*a", "b", "*c")


def test_two_names_that_differ_in_a_number_alone_may_be_a_header(write: Write) -> None:
    people = "".join(f"{a},{b}\n" for a, b in zip("abcdabcd", "bcdacdab", strict=True))
    with pytest.raises(InputError, match="'person1,person2' may be a header"):
        Graph.from_edges(write(f"person1,person2\n{people}"), repeats="drop")
    # Other names of this kind say that these are nodes, too.
    assert Graph.from_edges(write(f"n1,n2\nn7,a\n{people}"), repeats="drop").num_nodes == 7
