"""Names of authors: every script is welcome, and no letter of another one passes for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.leaderboard.boards import card, reproduced
from tests.leaderboard.served_board import ENTRY, Served

from trueedge.errors import InputError
from trueedge.leaderboard.board import Board
from trueedge.leaderboard.board.person_names import mixed_scripts
from trueedge.leaderboard.pages import build

TASK = "karate-existing"
# What looks like A. Person, with a Cyrillic А and a Cyrillic е.
CAPITAL, SMALL = "\u0410. Person", "A. P\u0435rson"


@pytest.mark.parametrize(
    "name",
    [
        "A. Person",
        "José Ñandú-Łoś",
        "Ka\u02bbahumanu",
        "\u0410. \u041f\u0435\u0442\u0440\u043e\u0432",
        "Ιωάννης Παπαδόπουλος",
        "Արամ Խաչատրյան",
        "王小明",
        "佐々木 ひろしー",
        "김민준 金民俊",
        "محمد عبد الله ۱۲",
        "दिव्या शर्मा १",
        "李明 (Ming Li)",
        "NTT研究所",
        "Muhammad (محمد)",
        "דנה Dana",
        "\uff21. Person",
        "Team 7",
        "123",
        "…",
    ],
)
def test_a_name_in_its_own_script_is_fine(name: str) -> None:
    assert card(authors=(name,)).authors == (name,)


@pytest.mark.parametrize(
    ("name", "scripts"),
    [
        (CAPITAL, ["Cyrillic", "Latin"]),
        (SMALL, ["Cyrillic", "Latin"]),
        ("\u0391lice", ["Greek", "Latin"]),
        ("\u0555wen", ["Armenian", "Latin"]),
        ("\ua4d3an", ["Latin", "Lisu"]),
        ("\u13aalice", ["Cherokee", "Latin"]),
        ("Pers\u0d20n", ["Latin", "Malayalam"]),
        ("Pers\u0966n", ["Devanagari", "Latin"]),
        ("\u041f. \u03a1\u03b9", ["Cyrillic", "Greek"]),
        ("\u738b \u0410\u043d\u043d\u0430", ["Cyrillic", "East Asian"]),
        ("\U0001d400. P\u0435rson", ["Cyrillic", "Latin"]),
        ("Li \u674e \u0645", ["Arabic", "East Asian", "Latin"]),
    ],
)
def test_letters_that_pass_for_those_of_another_script_are_refused(name: str, scripts: list[str]) -> None:
    assert mixed_scripts(name) == scripts
    said = f"authors, number 2 has {', '.join(scripts[:-1])} and {scripts[-1]} letters"
    with pytest.raises(InputError, match=said) as error:
        card(authors=("B. Person", name))
    assert "\n" not in str(error.value)
    assert str(error.value).endswith("could pass for another name: write it in one script")


def test_names_of_methods_may_have_greek_letters() -> None:
    assert card(name="β-VAE", extra_data=("vectors of μ-law",)).name == "β-VAE"


def test_an_author_cannot_reproduce_an_entry_under_a_name_that_looks_like_another(
    board: Board, tmp_path: Path
) -> None:
    entry = board.entry(TASK, "ra")
    for name in (CAPITAL, SMALL):
        with pytest.raises(InputError, match="by has Cyrillic and Latin letters"):
            reproduced(entry, by=name)
    reproduced(entry, by="Б. Петров")
    (path,) = entry.folder.glob("reproduced-*.json")
    proof = json.loads(path.read_text())
    path.write_text(json.dumps({**proof, "by": CAPITAL}))
    (problem,) = map(str, board.check())
    assert problem.startswith(f"{TASK}/ra/{path.name}: by has Cyrillic and Latin letters")
    (found,) = build(board, tmp_path / "site").problems
    assert found == problem


def test_a_card_on_the_board_with_such_an_author_fails_the_check(board: Board) -> None:
    path = board.folder / TASK / "ra" / "entry.toml"
    path.write_text(path.read_text().replace("A. Person", CAPITAL))
    (problem,) = map(str, board.check())
    assert problem.startswith(f"{TASK}/ra/entry.toml: authors, number 1 has Cyrillic and Latin letters")


def test_a_server_refuses_such_an_author_in_one_sentence(served: Served) -> None:
    body = served.certificate_body()
    answer = served.post({**body, "entry": {**ENTRY, "authors": [CAPITAL]}})
    assert answer.status_code == 422
    assert answer.json()["error"].startswith("authors, number 1 has Cyrillic and Latin letters")
    cyrillic = {**ENTRY, "name": "Mine", "authors": ["А. Петров"]}
    assert served.post({**body, "entry": cyrillic}).status_code == 202
