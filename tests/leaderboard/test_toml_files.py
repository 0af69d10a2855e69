"""Cards are read as TOML says, quickly where they are plain."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueedge.errors import InputError
from trueedge.leaderboard.board.toml_files import _read_plain, read_toml, toml_text

TEXTS = st.text(st.characters(codec="utf-8"), max_size=12) | st.sampled_from(["a = b", '"', "\\n", "#", "'"])


@given(
    st.dictionaries(st.sampled_from(["name", "licence", "x-1", "a_b"]), TEXTS | st.lists(TEXTS, max_size=3))
)
def test_what_is_read_quickly_is_what_toml_says(values) -> None:
    text = toml_text(values)
    found = _read_plain(text)
    assert found in (None, tomllib.loads(text))


def test_a_plain_card_is_read_quickly() -> None:
    assert _read_plain('name = "A b"\nauthors = ["C", "D"]\n') == {"name": "A b", "authors": ["C", "D"]}


@pytest.mark.parametrize(
    "text",
    [
        'a = "x"\na = "y"\n',
        'a = "\\n"\n',
        "a = 1\n",
        'a = "x" # y\n',
        '[t]\na = "x"\n',
        'a.b = "x"\n',
        'a = "x"',
    ],
)
def test_anything_else_is_left_to_the_general_reader(text: str) -> None:
    assert _read_plain(text) is None


def test_errors_name_the_file(tmp_path: Path) -> None:
    for name, content, said in (
        ("a.toml", b'a = "x"\na = "y"\n', "is not TOML"),
        ("b.toml", b"\xff", "is not UTF-8"),
        ("c.toml", b"a" * ((1 << 20) + 1), "too large for a card"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=f"{name}.*{said}"):
            read_toml(tmp_path / name)
    with pytest.raises(InputError, match="there is no such file"):
        read_toml(tmp_path / "none.toml")
    with pytest.raises(InputError, match="is a folder"):
        read_toml(tmp_path)
