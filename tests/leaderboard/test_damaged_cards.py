"""A card that cannot be read stops no other entry, frees no certificate, and is never passed over."""

from __future__ import annotations

import json
import shutil
import warnings
from pathlib import Path

import pytest
from tests.leaderboard.boards import card, certificates
from tests.leaderboard.served_board import HIDDEN, Served
from tests.leaderboard.served_board import TASK as SERVED_TASK

from trueedge.errors import InputError, StoreWarning
from trueedge.leaderboard.board import Board
from trueedge.leaderboard.pages import build
from trueedge.leaderboard.server.publishing import write_standings
from trueedge.leaderboard.server.scored_entries import write_standing
from trueedge.methods import get as get_method

TASK = "karate-existing"
DAMAGES = {
    "nonsense": b"name = [",
    "an unknown field": b'name = "CN"\nauthors = ["A"]\nlicence = "MIT"\nrank = 1\n',
    "no text": b"\xff\xfe",
    "nothing": b"",
    "no file": None,
}


def damage(entry: Path, how: str = "nonsense") -> None:
    """Damage the card of an entry."""
    content = DAMAGES[how]
    if content is None:
        (entry / "entry.toml").unlink()
    else:
        (entry / "entry.toml").write_bytes(content)


def held(folder: Path) -> dict[str, bytes]:
    return {one.name: one.read_bytes() for one in folder.iterdir()}


@pytest.fixture
def entry(board: Board) -> Path:
    return board.folder / TASK / "cn"


@pytest.fixture
def theirs(tmp_path: Path) -> list[Path]:
    """Return the certificates of a further method."""
    return certificates(tmp_path / "theirs", "pa")


@pytest.mark.parametrize("how", DAMAGES)
def test_a_damaged_card_stops_no_other_entry_and_is_named(
    board: Board, entry: Path, theirs: list[Path], how: str
) -> None:
    damage(entry, how)
    before = held(entry)
    with pytest.warns(StoreWarning) as told:
        added = board.add(theirs, card(name="PA"))
    (sentence,) = [str(one.message) for one in told]
    assert sentence.startswith(f"{TASK}/cn/entry.toml: ")
    assert sentence.endswith("the entry is left as it is, and fails the check until that is repaired")
    assert held(entry) == before
    assert sorted(added.paths) == [0, 1, 2]
    (problem,) = map(str, board.check())
    assert sentence.startswith(problem)


def test_a_board_without_damage_warns_of_nothing(board: Board, theirs: list[Path]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        board.add(theirs, card(name="PA"))


def test_whoever_damages_a_card_does_not_free_its_certificates(board: Board, entry: Path, made: Path) -> None:
    damage(entry)
    with pytest.raises(InputError, match=r"cn-0\.json is already a certificate of karate-existing/cn"):
        board.add(sorted((made / "made").glob("cn-?.json")), card(name="Mine"))
    shutil.copytree(board.folder / TASK / "ra", board.folder / TASK / "thief")
    damage(board.folder / TASK / "thief")
    found = "\n".join(map(str, board.check()))
    # The card does not say whose the certificates are, so that both are named.
    assert f"{TASK}/thief/entry.toml: " in found
    assert f"{TASK}/thief/seed-0.json: it has the seal of a certificate of {TASK}/ra" in found
    assert f"{TASK}/ra/seed-0.json: it has the seal of a certificate of {TASK}/thief" in found


@pytest.mark.parametrize("how", DAMAGES)
def test_a_damaged_entry_is_not_written_over(board: Board, entry: Path, made: Path, how: str) -> None:
    damage(entry, how)
    before = held(entry)
    with pytest.raises(InputError, match=r"^karate-existing/cn/entry\.toml: .* choose another name than cn"):
        board.add(sorted((made / "made").glob("cn-?.json")), card(name="CN"))
    assert held(entry) == before


def test_a_certificate_that_cannot_be_read_stops_others_since_a_copy_could_not_be_found(
    board: Board, entry: Path, theirs: list[Path]
) -> None:
    (entry / "seed-1.json").write_text("{")
    with pytest.raises(InputError, match=r"cn/seed-1\.json.*a copy of it cannot be recognised"):
        board.add(theirs, card(name="PA"))
    assert not (board.folder / TASK / "pa").exists()


def test_entries_with_a_damaged_card_are_an_error_unless_they_are_asked_for(
    board: Board, entry: Path
) -> None:
    damage(entry)
    with pytest.raises(InputError, match=r"cn/entry\.toml is not TOML"):
        board.entries(TASK)
    cn, ra = board.entries(TASK, damaged=True)
    assert (str(cn.damage).startswith(f"{TASK}/cn/entry.toml: it is not TOML"), ra.damage) == (True, None)
    assert (cn.card.name, cn.card.authors, cn.card.licence, cn.withdrawn) == ("cn", (), "", False)


def test_the_pages_show_a_damaged_entry_as_invalid_with_the_reason(
    board: Board, entry: Path, tmp_path: Path
) -> None:
    damage(entry)
    (board.folder / TASK / "No Entry").mkdir()
    found = build(board, tmp_path / "site")
    assert found.problems == tuple(map(str, board.check()))
    assert [one.split(":")[0] for one in found.problems] == [
        f"{TASK}/No Entry/entry.toml",
        f"{TASK}/cn/entry.toml",
    ]
    site = tmp_path / "site" / TASK
    rows = {one["entry"]: one for one in json.loads((site / "standing.json").read_text())["entries"]}
    assert sorted(rows) == ["No Entry", "cn", "ra"]
    for name in ("No Entry", "cn"):
        assert (rows[name]["tier"], rows[name]["rank"], rows[name]["value"]) == (None, None, None)
        assert rows[name]["unranked"].startswith("fails the check: entry.toml: ")
    assert rows["ra"]["unranked"] == "not reproduced yet"
    assert "cn" in (site / "standing.csv").read_text()
    ranking, page = (site / "index.html").read_text(), (site / "entries" / "cn.html").read_text()
    assert "0 ranked of 3 entries" in ranking
    assert ranking.count(">invalid<") == 2
    assert 'href="entries/cn.html"' in ranking
    assert sorted(one.name for one in (site / "entries").iterdir()) == ["cn.html", "ra.html"]
    assert "fails the check: entry.toml: it is not TOML" in page
    assert "it cannot be read" in page
    assert "none declared" not in page
    assert str(tmp_path) not in ranking + page


def test_the_commands_add_name_the_damage_and_fail_only_where_they_should(
    board: Board, entry: Path, theirs: list[Path], trueedge
) -> None:
    damage(entry)
    words = ("--board", str(board.folder), "--name", "PA", "--author", "A. Person", "--licence", "MIT")
    status, _, err = trueedge("leaderboard", "add", *map(str, theirs), *words)
    told = " ".join(err.split())
    assert status == 0
    assert f"{TASK}/pa has 3 certificates" in told
    assert f"{TASK}/cn/entry.toml: it is not TOML" in told
    assert "Warning" not in told
    status, out, _ = trueedge("leaderboard", "check", str(board.folder))
    assert (status, out.startswith(f"{TASK}/cn/entry.toml: it is not TOML")) == (1, True)
    status, _, err = trueedge("leaderboard", "build", str(board.folder), "-o", "site")
    assert (status, "the board has 1 problem" in " ".join(err.split())) == (1, True)
    assert Path("site", TASK, "entries", "pa.html").is_file()


def test_a_server_takes_submissions_beside_a_damaged_card_and_lists_it(served: Served, capsys) -> None:
    from trueedge.leaderboard.server.logs import configure_logs

    served.post(served.certificate_body("ra", name="First"))
    served.worker.work()
    damage(served.board.folder / SERVED_TASK / "first")
    configure_logs()
    number = served.post(served.certificate_body("katz", name="Second")).json()["id"]
    served.worker.work()
    assert served.status(number)["status"] == "done"
    logged = [json.loads(line) for line in capsys.readouterr().err.splitlines() if line.startswith("{")]
    (said,) = [one["message"] for one in logged if one["event"] == "board"]
    assert said.startswith(f"{SERVED_TASK}/first/entry.toml: it is not TOML")
    address = f"/api/v1/boards/{SERVED_TASK}"
    assert served.ask("GET", f"{address}/entries").json() == {"entries": ["first", "second"]}
    rows = {one["entry"]: one for one in served.ask("GET", address).json()["entries"]}
    assert rows["first"]["unranked"].startswith("fails the check: entry.toml: it is not TOML")
    assert rows["second"]["value"] is not None
    answer = served.ask("GET", f"{address}/entries/first")
    assert answer.status_code == 404
    assert answer.json()["error"].startswith(f"{SERVED_TASK}/first/entry.toml is not TOML")
    again = served.post(served.certificate_body("ra", name="Thief", team="two"), team="two")
    assert (again.status_code, "was submitted already" in again.json()["error"]) == (409, True)


def test_a_judged_value_stays_while_the_card_of_its_entry_is_damaged(served: Served) -> None:
    hidden, place = served.hidden, served.board.folder / HIDDEN
    served.submit_scores(hidden.scores(get_method("cn")().fit(hidden.task)), name="First")
    served.worker.work()
    whole, standing = (place / "first" / "entry.toml").read_bytes(), (place / "standing.json").read_bytes()
    damage(place / "first")
    write_standing(served.board, HIDDEN)
    assert (place / "standing.json").read_bytes() == standing
    write_standings(served.board, served.service.places)
    (row,) = served.ask("GET", f"/api/v1/boards/{HIDDEN}").json()["entries"]
    assert (row["value"], row["unranked"].startswith("fails the check")) == (None, True)
    # Whether the best entry was withdrawn cannot be read: nothing is judged, and nothing counts.
    better = hidden.scores(get_method("ppr")().fit(hidden.task))
    number = served.submit_scores(better, "two", "Second").json()["id"]
    served.worker.work()
    found = served.status(number, "two")
    assert (found["status"], "first/entry.toml is not TOML" in found["sentence"]) == ("failed", True)
    (place / "first" / "entry.toml").write_bytes(whole)
    number = served.submit_scores(better, "two", "Second").json()["id"]
    served.worker.work()
    assert served.status(number, "two")["status"] == "done"
    assert served.board.check() == []
