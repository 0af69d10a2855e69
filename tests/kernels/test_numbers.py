"""Columns of numbers: the compiled reader reads what Python reads, or leaves it to Python."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from trueedge.kernels.text.numbers import read_numbers

PLAIN = st.one_of(
    st.integers(-(10**15), 10**15).map(str),
    st.decimals(-(10**6), 10**6, places=4).map(str),
    st.sampled_from(["0", "-0", "+5", ".5", "5.", "007", "-.25", "0.1", "9007199254740992"]),
)
ODD = st.sampled_from(
    ["1e5", "nan", "inf", "", "x", "1.2.3", "1-2", "--1", "9" * 20, "0." + "1" * 30, "1_0", "."]
)
SEPARATORS = st.sampled_from([",", ";", "\t", None])


def text(columns: list[list[str]], separator: str | None) -> bytes:
    return "\n\n".join((separator or "  ").join(row) for row in zip(*columns, strict=True)).encode() + b"\n"


@settings(max_examples=400)
@given(st.lists(st.tuples(PLAIN, PLAIN, PLAIN), min_size=1, max_size=12), SEPARATORS, st.integers(0, 2))
def test_plain_numbers_are_those_that_python_reads(rows, separator: str | None, place: int) -> None:
    columns = [list(column) for column in zip(*rows, strict=True)]
    found = read_numbers(text(columns, separator), 0, separator, place, len(rows))
    assert found is not None
    assert found.tolist() == [float(value) for value in columns[place]]


@settings(max_examples=200)
@given(st.lists(PLAIN, min_size=1, max_size=5), ODD, st.sampled_from([",", ";", "\t"]), st.integers(0, 5))
def test_other_values_are_left_to_python(values: list[str], odd: str, separator: str, at: int) -> None:
    column = [*values[:at], odd, *values[at:]]
    data = text([["0"] * len(column), column], separator)
    assert read_numbers(data, 0, separator, 1, len(column)) is None


def test_a_start_and_white_space_around_numbers_are_allowed() -> None:
    data = b"source,target\n0, 1 , 2.5\n\n1,2,-3 \n"
    found = read_numbers(data, data.index(b"\n") + 1, ",", 2, 2)
    assert found is not None
    assert found.tolist() == [2.5, -3.0]
    assert read_numbers(b"0 1  2.5\n1\t2 7", 0, None, 2, 2) is not None
