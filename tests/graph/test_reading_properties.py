"""Random files: what is read is what a naive reader reads, and what is refused is refused in a sentence."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from naive_reader import RefusedError, naive_read

from trueedge.errors import InputError
from trueedge.files.columns import _read_anything, _read_clean
from trueedge.files.text import TextFile
from trueedge.graph import Graph, read_edges, read_pairs

pytestmark = pytest.mark.usefixtures("way")

# The columns are given: tests of their own say which are found.
FIRST_TWO = {"source": 0, "target": 1}
HANDLING = st.sampled_from(["refuse", "drop", "drop"])
QUICK = {
    "deadline": None,
    "suppress_health_check": [
        HealthCheck.too_slow,
        HealthCheck.function_scoped_fixture,
        HealthCheck.too_slow,
    ],
}

SMALL = st.integers(0, 6).map(str)
NUMBERS = st.one_of(SMALL, SMALL, SMALL, st.integers(0, 2**64).map(str), st.sampled_from(["007", "0", "00"]))
NAMES = st.sampled_from(
    [
        "ann",
        "bob",
        "Zoë",
        "node 1",
        "u",
        "v",
        "source",
        "Target",
        "id1",
        "12e5",
        "infinity",
        "1_0",
        "٣",
        "x.y",
        '"q"',
    ]
)
ODD = st.sampled_from(
    [
        "",
        " ",
        "-3",
        "+4",
        "1.5",
        ".5",
        "2.",
        "1e+05",
        "nan",
        "NaN",
        "inf",
        "-inf",
        "NA",
        "null",
        "None",
        "-",
        "?",
    ]
    + [
        '"',
        '""',
        '"a,b"',
        "1 2",
        "a b",
        "#x",
        "%",
        "9" * 25,
        "0" * 5000,
        "\u00a0",
        "\x1c",
        "\x0c3",
        "\ufeff1",
    ]
)
COMMENTS = st.sampled_from(["", "  ", "\t", "# c", " % c,d", "#", "%%MatrixMarket", "# 1 2", "\u2028"])


@st.composite
def files(draw: st.DrawFn, *kinds: st.SearchStrategy[str]) -> bytes:
    """An edge list in some spelling, mostly a good one; its ids are of one of the kinds."""
    ids = draw(st.sampled_from(kinds))
    if draw(st.integers(0, 4)) == 0:
        ids = st.one_of(ids, ids, ids, ids, ODD)
    columns = draw(st.sampled_from([2, 2, 2, 2, 2, 3, 3, 3, 4, 4, 1]))
    separator = draw(st.sampled_from([" ", "  ", "\t", ",", ", ", ";", " \t", " , "]))
    header = draw(
        st.sampled_from([None, None, None, ("source", "target"), ("x", "y"), ("u", "V"), ("1", "y")])
    )
    further = (
        ["1", "0.5", "x", "", "a b", "%", "#", "é", '"q', '"p,q"']
        if separator.strip()
        else ["1", "0.5", '"y']
    )
    lines = draw(st.lists(COMMENTS, max_size=2))
    if header is not None:
        lines.append(separator.join([*header, "w", "z"][:columns]))
    for _ in range(draw(st.integers(0, 8))):
        row = [draw(ids), draw(ids), *(draw(st.sampled_from(further)) for _ in range(columns - 2))][:columns]
        lines.append(separator.join(row))
        if draw(st.integers(0, 7)) == 0:
            lines.append(draw(COMMENTS))
    if draw(st.integers(0, 19)) == 0:
        lines.append(draw(st.sampled_from(["5", "1 2 3 4 5", "1,2", "a\tb"])))
    end = draw(st.sampled_from(["\n", "\n", "\r\n", "\r"]))
    return (end.join(lines) + draw(st.sampled_from(["", end]))).encode()


@st.composite
def wrapped(draw: st.DrawFn, contents: st.SearchStrategy[bytes]) -> bytes:
    """The same content with a byte order mark or in gzip, sometimes damaged."""
    data = draw(contents)
    if draw(st.integers(0, 5)) == 0:
        data = b"\xef\xbb\xbf" + data
    if draw(st.integers(0, 4)) == 0:
        data = gzip.compress(data, mtime=0)
    if data and draw(st.integers(0, 9)) == 0:
        at = draw(st.integers(0, len(data) - 1))
        noise = draw(st.binary(max_size=3))
        data = data[:at] + noise + data[at + draw(st.integers(0, 2)) :]
    return data


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("random") / "net.txt"


def check_against_naive(
    path: Path, data: bytes, num_nodes: int | None, self_loops: str, repeats: str
) -> None:
    path.write_bytes(data)
    try:
        edges, count, labels = naive_read(data, num_nodes, self_loops, repeats)
    except RefusedError:
        with pytest.raises(InputError) as caught:
            read_edges(path, num_nodes, self_loops, repeats, **FIRST_TWO)  # type: ignore[arg-type]
        assert str(caught.value).startswith(str(path))
        assert len(str(caught.value).splitlines()) == 1
        return
    listed = read_edges(path, num_nodes, self_loops, repeats, **FIRST_TWO)  # type: ignore[arg-type]
    assert listed.edges.tolist() == [list(edge) for edge in edges]
    assert listed.num_nodes == count
    assert (None if listed.labels is None else list(listed.labels)) == labels
    options: Any = {"self_loops": self_loops, "repeats": repeats, **FIRST_TWO}
    graph = Graph.from_edges(path, num_nodes, **options)
    assert graph.edges.tolist() == sorted(sorted(edge) for edge in edges)
    assert (graph.num_nodes, graph.labels) == (count, listed.labels)


@settings(max_examples=2500, **QUICK)
@given(
    wrapped(files(SMALL, NUMBERS, NAMES, st.one_of(SMALL, NAMES))),
    st.sampled_from([None, None, 4, 7, 100]),
    HANDLING,
    HANDLING,
)
def test_a_file_is_read_as_the_naive_reader_reads_it(
    path: Path, data: bytes, num_nodes: int | None, self_loops: str, repeats: str
) -> None:
    check_against_naive(path, data, num_nodes, self_loops, repeats)


@settings(max_examples=700, **QUICK)
@given(wrapped(st.text('01239 ,;\t\n\r#%"-.eanu\u00a0', max_size=40).map(str.encode)))
def test_a_file_of_separators_and_digits_is_read_as_the_naive_reader_reads_it(
    path: Path, data: bytes
) -> None:
    check_against_naive(path, data, None, "drop", "drop")


@settings(max_examples=400, **QUICK)
@given(st.binary(max_size=60))
def test_noise_is_read_as_the_naive_reader_reads_it(path: Path, data: bytes) -> None:
    check_against_naive(path, data, None, "drop", "drop")


@settings(max_examples=700, **QUICK)
@given(files(SMALL, NUMBERS))
def test_the_fast_way_and_the_exact_way_find_the_same(data: bytes) -> None:
    text = TextFile(Path("net.txt"), data.replace(b"\r\n", b"\n").replace(b"\r", b"\n"))
    try:
        fast = _read_clean(text)
    except InputError as error:
        with pytest.raises(InputError, match=re.escape(str(error))):
            _read_anything(text, numbers_only=True)
        return
    if fast is not None:
        exact = _read_anything(text, numbers_only=True)
        assert fast.ids.tolist() == exact.ids.tolist()
        assert list(fast.lines) == list(exact.lines)
        assert fast.notes == exact.notes


@settings(max_examples=300, **QUICK)
@given(
    st.lists(st.tuples(st.integers(0, 2**63 - 1), st.integers(0, 9)), min_size=1, max_size=12),
    st.sampled_from([" ", "\t", ",", "; ", " , "]),
    st.booleans(),
)
def test_pairs_come_back_as_they_were_written(
    path: Path, pairs: list[tuple[int, int]], separator: str, packed: bool
) -> None:
    data = "".join(f"{u}{separator}{v}\n" for u, v in pairs).encode()
    path.write_bytes(gzip.compress(data) if packed else data)
    assert read_pairs(path).tolist() == [list(pair) for pair in pairs]
