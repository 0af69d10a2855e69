"""Two columns of numbers in bytes, against splitting line by line."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

from trueedge.kernels.text import digits
from trueedge.kernels.text.digits import read_digits


def slow(data: bytes, start: int, separator: str | None, columns: int) -> tuple[list, list] | None:
    rows, lines = [], []
    blank = " " if separator == "\t" else " \t"
    for number, line in enumerate(data[start:].decode("latin-1").split("\n")):
        if not line.strip(blank):
            continue
        if re.search(r'[^\t -~]|"', line):
            return None
        fields = (
            line.split() if separator is None else [field.strip(blank) for field in line.split(separator)]
        )
        if len(fields) != columns or not all(re.fullmatch("[0-9]{1,18}", field) for field in fields[:2]):
            return None
        rows.append([int(field) for field in fields[:2]])
        lines.append(number)
    return (rows, lines) if rows else None


def check(data: bytes, start: int, separator: str | None, columns: int) -> bool:
    """Compare with the slow way; whether there was something to read."""
    found, expected = read_digits(data, start, separator, columns), slow(data, start, separator, columns)
    if expected is None:
        assert found is None, data
        return False
    assert found is not None, data
    numbers, lines = found
    assert numbers.dtype == np.int64
    assert numbers.tolist() == expected[0], data
    assert (list(range(len(numbers))) if lines is None else lines.tolist()) == expected[1], data
    return True


@pytest.fixture(autouse=True, params=[1, 1 << 20], ids=["many blocks", "one block"])
def block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digits, "LEAST_BYTES_PER_BLOCK", request.param)


@pytest.mark.parametrize("separator", [None, "\t", ",", ";"])
@pytest.mark.parametrize("columns", [2, 3, 4])
def test_regular_lines_are_read_as_they_are_split(separator: str | None, columns: int) -> None:
    rng = random.Random(columns)
    read = 0
    for _ in range(60):
        between = rng.choice([" ", "  ", " \t"]) if separator is None else separator
        lines = []
        for _ in range(rng.randrange(1, 12)):
            fields = [str(rng.randrange(10 ** rng.randrange(1, 18))) for _ in range(2)]
            fields += rng.choices(["0.5", "x y" if separator else "x", "#", "-1"], k=columns - 2)
            lines += [between.join(fields)] + ["", "  "][: rng.randrange(-8, 3) if rng.random() < 0.3 else 0]
        head = rng.choice(["", "source target\n"])
        text = (head + "\n".join(lines) + rng.choice(["", "\n", "\n\n"])).encode()
        read += check(text, len(head), separator, columns)
    assert read == 60


@pytest.mark.parametrize("separator", [None, "\t", ","])
def test_noise_is_read_or_refused_as_it_is_split(separator: str | None, thorough: bool) -> None:
    rng = random.Random(7)
    alphabet = "0019" + (separator or " ") * 2 + " \n\n"
    read = 0
    for trial in range(3_000 if thorough else 900):
        extra = '\t"a-,\x00\r\x7f\xe9.' if trial % 3 == 0 else ""
        text = "".join(rng.choices(alphabet + extra, k=rng.randrange(1, 14))).encode("latin-1")
        read += check(text, rng.choice([0, 0, 1]), separator, rng.choice([2, 2, 3]))
    assert read > (30 if thorough else 8)


@pytest.mark.parametrize("digits", [17, 18, 19, 25])
def test_numbers_that_may_not_fit_are_left_to_others(digits: int) -> None:
    for line in (b"9" * digits + b" 1", b"1 " + b"9" * digits, b" 1  " + b"9" * digits + b"\n"):
        assert check(line, 0, None, 2) == (digits <= 18)


def test_a_text_without_rows_is_left_to_others() -> None:
    for text in (b"", b"\n", b"  \n\n", b"1", b"1\n"):
        assert read_digits(text, 0, None, 2) is None
