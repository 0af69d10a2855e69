"""Tables of numbers in text files, and what is said when they are not."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import numpy as np
import pytest

from forged_files import memory_below, zeros
from trueedge.datasets.tables import read_table
from trueedge.errors import InputError
from trueedge.files import bounds


def test_plain_gzip_commas_headers_and_comments_are_read(tmp_path: Path) -> None:
    plain = tmp_path / "plain.txt"
    plain.write_text("# a comment\n0\t1\n2 3\n")
    assert read_table(plain, 2).tolist() == [[0, 1], [2, 3]]
    packed = tmp_path / "packed.csv.gz"
    packed.write_bytes(gzip.compress(b"id1,id2\n0,1\n2,3\n"))
    table = read_table(packed, 2, separator=",", header=True)
    assert table.tolist() == [[0, 1], [2, 3]]
    assert table.dtype == np.int64
    numbers = tmp_path / "numbers.csv"
    numbers.write_text("0.5,1e-3\n")
    assert read_table(numbers, 2, np.float32, separator=",").dtype == np.float32


@pytest.mark.parametrize("text", ["", "# nothing\n", "a,b\n"])
def test_a_file_without_rows_is_an_empty_table(tmp_path: Path, text: str) -> None:
    path = tmp_path / "empty.csv"
    path.write_text(text)
    assert read_table(path, 2, separator=",", header="a" in text).shape == (0, 2)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0 1\n2 x\n", "line 2 has 'x', which is not a whole number here"),
        ("0 1\n2 3.5\n", "line 2 has '3.5', which is not a whole number here"),
        ("0 1\n2 nan\n", "line 2 has 'nan', which is not a whole number here"),
        ("0 1\n\n2\n", "line 3 has 1 values, not 2"),
        ("0 1 2\n", "line 1 has 3 values, not 2"),
        ("0 99999999999999999999\n", "line 1 has '99999999999999999999', which is not a whole number here"),
    ],
)
def test_a_wrong_value_is_named_with_its_file_and_line(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "wrong.txt"
    path.write_text(text)
    with pytest.raises(InputError, match=re.escape(f"{path}: {said}")):
        read_table(path, 2)


def test_files_that_are_not_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "binary.txt"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match=r"binary\.txt is not a text file of whole numbers"):
        read_table(path, 2)


def test_a_damaged_or_absent_archive_is_refused(tmp_path: Path) -> None:
    whole = gzip.compress(b"0 1\n" * 10000)
    for name, content in {"cut.gz": whole[: len(whole) // 2], "not.gz": b"0 1\n"}.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=f"{name} cannot be read"):
            read_table(tmp_path / name, 2)
    with pytest.raises(InputError, match=r"absent\.txt cannot be read|absent\.txt not found"):
        read_table(tmp_path / "absent.txt", 2)


def test_a_bomb_is_refused_without_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "SMALL", 1 << 25)
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(zeros(40))
    with (
        memory_below(4e7),
        pytest.raises(InputError, match=r"bomb\.csv\.gz unpacks to more than [\d,]+ bytes"),
    ):
        read_table(path, 2, separator=",")
