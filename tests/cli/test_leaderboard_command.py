"""The commands of the leaderboard, from a run to the pages."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

import trueedge as te
from trueedge.leaderboard.board import own, own_runs

RUN = ("run", "karate", "-p", "existing", "-m", "ra", "--seeds", "1", "--keep-scores")
ADD = ("leaderboard", "add", "ra.json", "--board", "board")
CARD = ("--name", "RA", "--author", "A. Person", "--licence", "MIT")


@pytest.fixture
def board(trueedge) -> None:
    assert trueedge(*RUN)[0] == 0
    assert trueedge("certify", "-m", "ra", "-o", "ra.json")[0] == 0
    assert trueedge("leaderboard", "create", "board", "--title", "A title")[0] == 0
    made = trueedge("leaderboard", "task", "karate", "-p", "existing", "--seeds", "1", "--board", "board")
    assert made[0] == 0
    assert "karate-existing has 1 seed and is ranked by mrr" in made[2]


def test_from_a_run_to_the_pages(trueedge, board) -> None:
    status, _, err = trueedge(*ADD, *CARD)
    assert status == 0
    assert "karate-existing/ra has 1 certificate and is consistent" in err
    status, out, _ = trueedge("leaderboard", "check", "board")
    assert (status, out) == (0, "OK  1 task, 1 entry\n")
    status, _, err = trueedge(
        "leaderboard", "reproduce", "board", "karate-existing", "ra", "--by", "B. Person"
    )
    assert status == 0
    assert "karate-existing/ra is reproduced: mrr 0.513605, in [" in err
    assert trueedge("leaderboard", "build", "board", "-o", "pages")[0] == 0
    page = Path("pages/karate-existing/index.html").read_text()
    assert "1 ranked of 1 entry<" in page
    assert json.loads(Path("board/karate-existing/audit.json").read_text())["findings"]
    status, _, _ = trueedge(
        "leaderboard", "withdraw", "board", "karate-existing", "ra", "--reason", "a mistake"
    )
    assert status == 0
    assert "withdrawn" in Path("board/karate-existing/ra/entry.toml").read_text()
    assert trueedge("leaderboard", "check", "board")[1] == "OK  1 task, 0 entries, 1 withdrawn\n"


def test_a_problem_is_a_line_and_status_1(trueedge, board) -> None:
    assert trueedge(*ADD, *CARD)[0] == 0
    Path("board/karate-existing/ra/seed-0.scores.npz").write_bytes(b"nothing")
    status, out, err = trueedge("leaderboard", "check", "board")
    assert status == 1
    assert out.startswith("karate-existing/ra: seed-0.json: scores: ")
    assert "1 problem" in err


def test_a_build_of_a_board_with_problems_names_them_and_has_status_1(trueedge, board) -> None:
    assert trueedge(*ADD, *CARD)[0] == 0
    for number in range(6):
        Path(f"board/karate-existing/ra/note-{number}.txt").write_text("x")
    status, _, err = trueedge("leaderboard", "build", "board", "-o", "pages")
    assert status == 1
    assert "karate-existing/ra/note-4.txt: no such file belongs to an entry" in err
    assert "note-5.txt" not in err
    assert "the board has 6 problems, the first 5 above: what fails the check is not ranked" in " ".join(
        err.split()
    )
    assert "fails the check" in Path("pages/karate-existing/index.html").read_text()


def test_an_entry_is_described_by_a_file_or_by_options(trueedge, board) -> None:
    Path("entry.toml").write_text('name = "RA"\nauthors = ["A. Person"]\nlicence = "MIT"\n')
    status, _, err = trueedge(*ADD, "--entry", "entry.toml", *CARD)
    assert status == 1
    assert "either in a file (--entry) or by options" in err
    assert trueedge(*ADD, "--entry", "entry.toml")[0] == 0
    status, _, err = trueedge(*ADD, "--name", "RA")
    assert status == 1
    assert "authors is missing" in err


def test_the_own_board_has_built_in_methods_alone(monkeypatch) -> None:
    every = own.methods.catalogue()
    foreign = SimpleNamespace(name="foreign", family="counting", __module__="mine")
    monkeypatch.setattr(own.methods, "catalogue", lambda: (*every, foreign))
    found = own.wanted_methods(["counting"])
    assert found
    assert foreign not in found
    with pytest.raises(te.errors.InputError, match="foreign"):
        own.wanted_methods(["foreign"])


def test_the_own_board_can_have_some_protocols_alone(trueedge) -> None:
    words = ("leaderboard", "own", "-o", "own", "-d", "karate", "-m", "ra", "--seeds", "1", "-p")
    status, _, err = trueedge(*words, "uniform")
    assert status == 0
    assert "karate-uniform: 1 of 1 methods" in err
    assert [one.parent.name for one in Path("own/board").glob("*/task.toml")] == ["karate-uniform"]
    status, _, err = trueedge(*words, "uniforn")
    assert status == 1
    assert "uniforn" in err


def test_the_own_board_is_one_command(trueedge) -> None:
    status, _, err = trueedge(
        "leaderboard", "own", "-o", "own", "-d", "karate,nations", "-m", "ra,counting", "--seeds", "1"
    )
    assert status == 0
    assert "left out" not in err
    assert "karate-heart: 1 of 1 methods" in err
    assert trueedge("leaderboard", "check", "own/board")[0] == 0
    page = Path("own/site/index.html").read_text()
    assert "Knowledge graph completion" in page
    assert "karate · recommendation" in page
    standing = json.loads(Path("own/site/nations-filtered/standing.json").read_text())
    assert {one["tier"] for one in standing["entries"]} == {"reproduced"}


def test_methods_of_the_own_board_can_be_skipped_and_added_later(trueedge) -> None:
    words = ("leaderboard", "own", "-o", "own", "-d", "nations", "-m", "counting", "--seeds", "2")
    status, _, err = trueedge(*words, "--skip", "entity-degree")
    assert status == 0
    assert "left out: nations-filtered, entity-degree: skipped" in err
    place = Path("own/site/nations-filtered/standing.json")
    before = {one["entry"] for one in json.loads(place.read_text())["entries"]}
    assert "entity-degree" not in before
    status, _, err = trueedge(*words)
    assert status == 0
    entries = json.loads(place.read_text())["entries"]
    assert {one["entry"] for one in entries} == before | {"entity-degree"}
    assert {one["seeds"] for one in entries} == {2}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-m", "cnn"), "no method or family is called 'cnn'; did you mean"),
        (("-m", "cn", "--skip", "raa"), "no method is called 'raa'; did you mean"),
        (("-m", "cn", "-d", "karatee"), "no data set is called 'karatee'; did you mean 'karate'?"),
        (("-m", "cn", "-p", "filtered"), "filtered cannot be used with these data sets: karate has existing"),
        (("-m", "cn", "--device", "cudaa"), "must be 'cpu', 'cuda' or 'cuda:0'"),
    ],
)
def test_the_own_board_refuses_names_that_nothing_has(trueedge, words, said) -> None:
    status, _, err = trueedge("leaderboard", "own", "-o", "own", "-d", "karate", *words)
    assert status == 1
    assert said in " ".join(err.split())
    assert not Path("own").exists()


def test_an_entry_whose_rerun_fails_is_on_the_board_but_named(trueedge, monkeypatch) -> None:

    def refuse(*_: object) -> None:
        raise own.InputError("the value is outside the interval")

    monkeypatch.setattr(own_runs, "keep_rerun", refuse)
    words = ("-d", "nations", "-m", "entity-degree", "--seeds", "1", "--limit", "0")
    status, _, err = trueedge("leaderboard", "own", "-o", "own", *words)
    assert status == 0
    assert "nations-filtered: 1 of 1 methods" in err
    assert "not reproduced: nations-filtered, entity-degree: the value is outside the interval" in err
    assert "left out" not in err


def test_the_own_board_goes_on_where_it_was_stopped(trueedge, monkeypatch) -> None:
    from trueedge.leaderboard.board import Board

    words = ("leaderboard", "own", "-d", "nations", "-m", "counting", "--seeds", "2", "--limit", "0")
    assert trueedge(*words, "-o", "whole")[0] == 0
    add, kept, calls = Board.add, own_runs.keep_rerun, []

    def stopped(function, after):
        def instead(*arguments):
            calls.append(function)
            if calls.count(function) > after:
                raise KeyboardInterrupt
            return function(*arguments)

        return instead

    monkeypatch.setattr(Board, "add", stopped(add, 1))
    assert trueedge(*words, "-o", "own")[0] != 0
    monkeypatch.setattr(Board, "add", add)
    monkeypatch.setattr(own_runs, "keep_rerun", stopped(kept, 1))
    assert trueedge(*words, "-o", "own")[0] != 0
    monkeypatch.setattr(own_runs, "keep_rerun", kept)
    assert trueedge(*words, "-o", "own")[0] == 0
    shown = [Path(place, "site/nations-filtered/standing.json").read_text() for place in ("whole", "own")]
    listed = [
        [(one["entry"], one["value"], one["tier"]) for one in json.loads(text)["entries"]] for text in shown
    ]
    assert listed[0] == listed[1]
    assert {tier for _, _, tier in listed[0]} == {"reproduced"}


def test_the_own_board_keeps_entries_although_the_code_is_another_one(trueedge) -> None:
    words = ("leaderboard", "own", "-d", "nations", "-m", "counting", "--seeds", "1", "--limit", "0")
    assert trueedge(*words, "-o", "own")[0] == 0
    before = {path: path.read_bytes() for path in Path("own/board").rglob("*.json")}
    # As after another code: no record can be used again, and a new run has another certificate.
    shutil.rmtree("own/runs")
    status, _, err = trueedge(*words, "-o", "own")
    assert status == 0
    assert "2 entries on 1 task" in " ".join(err.split())
    assert "left out" not in err
    assert {path: path.read_bytes() for path in Path("own/board").rglob("*.json")} == before


def test_the_own_board_names_methods_that_take_too_long_and_does_not_try_them_again(
    trueedge, monkeypatch
) -> None:
    from trueedge.runs import Cell, InProcess, Outcome
    from trueedge.runs.processes import too_long

    tried: list[tuple[str, int]] = []

    class Limited(InProcess):
        def __init__(self, jobs: int, limit: float, **_: bool) -> None:
            super().__init__()
            self.limit = limit

        def run_one(self, cell: Cell, scores_to: Path | None = None) -> Outcome:
            tried.append((cell.method.name, cell.seed))
            if cell.method.name == "entity-degree" and self.limit < 600:
                return Outcome(cell, None, reason=too_long(self.limit))
            return super().run_one(cell, scores_to)

    monkeypatch.setattr("trueedge.leaderboard.board.own.Processes", Limited)
    words = ("leaderboard", "own", "-o", "own", "-d", "nations", "-m", "counting", "--seeds", "2")
    for _ in range(2):
        status, _, err = trueedge(*words, "--limit", "5")
        assert status == 0
        assert "left out: nations-filtered, entity-degree: it takes longer than the limit of 5 minutes" in err
        assert "nations-filtered: 1 of 2 methods" in err
        # Not its second seed, and not by the second command.
        assert [one for one in tried if one[0] == "entity-degree"] == [("entity-degree", 0)]
    status, _, err = trueedge(*words, "--limit", "10")
    assert "nations-filtered: 2 of 2 methods" in err
    assert "left out" not in err


@pytest.mark.rotating(4, group="processes")
def test_the_own_board_keeps_what_is_finished_when_the_time_for_all_runs_is_over(trueedge) -> None:
    words = ("leaderboard", "own", "-o", "own", "-d", "nations", "-m", "counting", "--seeds", "1")
    status, _, err = trueedge(*words, "--total", "0.0001")
    assert status == 0
    assert "nations-filtered: 0 of 2 methods" in err
    assert "entity-degree, relation-frequency: the time for all runs was over" in err
    status, _, err = trueedge(*words)
    assert "nations-filtered: 2 of 2 methods" in err
    assert "left out" not in err


def test_the_time_of_every_method_is_expected_by_its_family(tmp_path) -> None:
    assert {kind.family for kind in own.wanted_methods(["all"])} == set(own_runs.FAMILIES)
    cells = {name: [own.Cell("cora", "heart", te.methods.create(name))] for name in ("ra", "gcn", "seal")}
    filling = own_runs.Filling(None, None, cells, {}, te.Store(tmp_path))
    expected = {name: filling.expected(one[0]) for name, one in cells.items()}
    assert sorted(expected, key=expected.get) == ["ra", "gcn", "seal"]


def test_settings_of_the_own_board_are_stated_by_its_entries(trueedge) -> None:
    words = (
        "leaderboard",
        "own",
        "-o",
        "own",
        "-d",
        "nations",
        "-m",
        "distmult,entity-degree",
        "--seeds",
        "1",
    )
    status, _, err = trueedge(*words, "--set", "epochs=1", "--set", "distmult.dim=8")
    assert status == 0, err
    listed = json.loads(Path("own/site/nations-filtered/standing.json").read_text())["entries"]
    names = {one["entry"]: (one["name"], one["tier"]) for one in listed}
    assert names["distmult-epochs-1-dim-8"] == ("distmult (epochs = 1, dim = 8)", "reproduced")
    assert names["entity-degree"] == ("entity-degree", "reproduced")
    assert "epochs = 1" in Path("own/site/nations-filtered/entries/distmult-epochs-1-dim-8.html").read_text()
    status, _, err = trueedge(*words, "--set", "epoch=1")
    assert status == 1
    assert "did you mean 'epochs'" in err


def test_the_own_board_leaves_folders_of_others_alone(trueedge) -> None:
    words = ("leaderboard", "own", "-d", "karate", "-m", "ra", "-p", "uniform", "--seeds", "1")
    Path("mine").mkdir()
    Path("mine/notes.txt").write_text("x")
    assert trueedge("leaderboard", "create", "theirs/board", "--title", "Another")[0] == 0
    for folder in ("mine", "theirs"):
        before = sorted(Path(folder).rglob("*"))
        status, _, err = trueedge(*words, "-o", folder)
        assert status == 1
        assert f"the folder {folder} is not empty, and not one of" in " ".join(err.split())
        assert sorted(Path(folder).rglob("*")) == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-m", "paa"), "no method is called 'paa'; did you mean"),
        (("-m", "pa"), "the certificate is of the method ra, not of pa"),
        (("-m", ":pa"), "':pa' names no object: write FILE.py:NAME or MODULE:NAME"),
        (("--device", "cudaa"), "must be 'cpu', 'cuda' or 'cuda:0'"),
        (("--by", "a. person"), "a. person is an author of ra: another party has to reproduce it"),
    ],
)
def test_a_wrong_rerun_is_refused_in_one_sentence(trueedge, board, words, said) -> None:
    assert trueedge(*ADD, *CARD)[0] == 0
    rerun = ("leaderboard", "reproduce", "board", "karate-existing", "ra", "--by", "B. Person")
    status, _, err = trueedge(*rerun, *words)
    assert status == 1
    assert said in " ".join(err.split())
    assert trueedge(*rerun, "-m", "ra")[0] == 0


@pytest.mark.parametrize(
    "words", [("--seed", "1"), ("--task", "cora"), ("-m", "no-such-file.py:X"), ("--device", "cuda")]
)
def test_options_of_a_rerun_are_refused_with_a_certificate(trueedge, board, words) -> None:
    assert trueedge(*ADD, *CARD)[0] == 0
    reproduce = ("leaderboard", "reproduce", "board", "karate-existing", "ra", "--by", "B. Person")
    status, _, err = trueedge(*reproduce, "--certificate", "ra.json", *words)
    said = f"trueedge: {words[0]} is for running the method again: leave it out with --certificate"
    assert (status, " ".join(err.split())) == (1, said)


def test_a_device_that_is_not_used_is_said_by_every_command(trueedge, board) -> None:
    said = "the device cuda has no effect: ra uses no device"
    assert trueedge(*ADD, *CARD)[0] == 0
    for words in (
        ("run", "karate", "-p", "existing", "-m", "ra", "--seeds", "1"),
        ("verify", "ra.json", "--rerun"),
        ("recommend", "karate", "-m", "ra", "--user", "0"),
        ("leaderboard", "reproduce", "board", "karate-existing", "ra", "--by", "B. Person"),
    ):
        status, _, err = trueedge(*words, "--device", "cuda")
        assert (status, said in " ".join(err.split())) == (0, True), words
        assert "no effect" not in trueedge(*words)[2]
    status, _, err = trueedge("run", "karate", "-p", "existing", "--seeds", "1", "--device", "cuda")
    assert "the device cuda has no effect: none of the methods uses a device" in " ".join(err.split())


def test_an_audit_that_stays_is_named(trueedge, board) -> None:
    again = ("leaderboard", "task", "karate", "-p", "existing", "--seeds", "1", "--board", "board")
    status, _, err = trueedge(*again, "--no-audit")
    assert status == 0
    assert "--no-audit has no effect: karate-existing keeps the audit that it has" in " ".join(err.split())
    for _ in range(2):
        assert "no effect" not in trueedge(*again, "--name", "another", "--no-audit")[2]


def test_the_own_board_is_continued_with_its_seeds_alone(trueedge) -> None:
    words = ("leaderboard", "own", "-o", "own", "-d", "nations", "-m", "entity-degree", "--seeds")
    assert trueedge(*words, "2")[0] == 0
    before = {path: path.read_bytes() for path in Path("own").rglob("*") if path.is_file()}
    status, _, err = trueedge(*words, "1")
    said = "trueedge: own was begun with 2 seeds: give --seeds 2, or another folder"
    assert (status, " ".join(err.split())) == (1, said)
    assert {path: path.read_bytes() for path in Path("own").rglob("*") if path.is_file()} == before


def test_an_entry_can_have_a_folder_of_another_name(trueedge, board) -> None:
    about = ("--name", "日本語", "--author", "A. Person", "--licence", "MIT")
    status, _, err = trueedge(*ADD, *about)
    assert (status, "--folder" in err) == (1, True)
    assert trueedge(*ADD, *about, "--folder", "nihongo")[0] == 0
    assert Path("board/karate-existing/nihongo/entry.toml").is_file()
