"""A board: entries are verified, added whole or not at all, and never vanish silently."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tests.leaderboard.boards import card, certificates, frozen, reproduced, reseal

import trueedge as te
from trueedge.errors import InputError
from trueedge.leaderboard.board import Board, BoardTask, EntryCard
from trueedge.leaderboard.board.reproducing import add_certificate, keep_rerun, run_again
from trueedge.leaderboard.board.standings import standing_of
from trueedge.leaderboard.board.unit_files import headline_values, write_units


@pytest.fixture
def paths(made: Path, tmp_path: Path) -> list[Path]:
    """Certificates of Katz's index, in a folder of their own."""
    if not (made / "made" / "katz-0.json").exists():
        certificates(made / "made", "katz")
    for path in (made / "made").glob("katz-*"):
        shutil.copy(path, tmp_path)
    return sorted(tmp_path.glob("katz-*.json"))


def test_an_entry_keeps_its_certificates_byte_by_byte_and_verifies_there(board: Board, paths) -> None:
    added = board.add(paths, card(name="Katz"))
    assert (added.task, added.name, added.tier) == ("karate-existing", "katz", "consistent")
    for seed, path in enumerate(paths):
        assert added.paths[seed].read_bytes() == path.read_bytes()
        assert te.verify(added.paths[seed], "karate").ok
    assert board.check() == []
    assert [one.name for one in board.entries("karate-existing")] == ["cn", "katz", "ra"]


def test_the_same_entry_again_changes_nothing_and_further_seeds_are_added(board: Board, paths) -> None:
    first = board.add(paths[:1], card(name="Katz"))
    assert list(first.paths) == [0]
    assert list(board.add(paths[:1], card(name="Katz")).paths) == [0]
    assert list(board.add(paths, card(name="Katz")).paths) == [0, 1, 2]
    assert board.check() == []


def test_an_entry_that_is_refused_leaves_nothing_behind(board: Board, paths) -> None:
    before = sorted(board.folder.rglob("*"))
    paths[2].with_suffix(".scores.npz").write_bytes(b"PK\x03\x04 no archive")
    with pytest.raises(InputError, match="scores"):
        board.add(paths, card(name="Katz"))
    assert sorted(board.folder.rglob("*")) == before


def test_the_task_is_found_by_its_hash_or_the_sentence_says_how_to_add_it(board: Board, tmp_path) -> None:
    other = certificates(tmp_path / "other", "ra", protocol="uniform")
    with pytest.raises(
        InputError, match=r"no task of this board has the hash .*'trueedge leaderboard task' adds"
    ):
        board.add(other, card(name="other"))
    with pytest.raises(InputError, match="no task of this board is called 'karate-exiting'; did you mean"):
        board.task("karate-exiting")
    with pytest.raises(InputError, match="no entry of this task is called 'raa'"):
        board.entry("karate-existing", "raa")


def test_another_card_of_the_same_name_is_refused(board: Board, paths) -> None:
    board.add(paths, card(name="Katz"))
    with pytest.raises(InputError, match="has an entry katz, which has another card"):
        board.add(paths, card(name="Katz", authors=("Somebody Else",)))


def test_a_withdrawn_entry_leaves_a_tombstone(board: Board) -> None:
    gone = board.withdraw("karate-existing", "ra", "trained on test edges", keep=False, date="2026-02-01")
    assert gone.withdrawn
    assert sorted(path.name for path in gone.folder.iterdir()) == ["entry.toml"]
    assert "trained on test edges" in (gone.folder / "entry.toml").read_text()
    assert board.check() == []
    with pytest.raises(InputError, match="was withdrawn already"):
        board.withdraw("karate-existing", "ra", "again")
    kept = board.withdraw("karate-existing", "cn", "a mistake", date="2026-02-01")
    assert len(kept.paths) == 3
    with pytest.raises(InputError, match="was withdrawn already"):
        board.withdraw("karate-existing", "cn", "a mistake")


def test_certificates_of_a_withdrawn_entry_can_be_removed_later(board: Board) -> None:
    board.withdraw("karate-existing", "cn", "a mistake", date="2026-02-01")
    gone = board.withdraw("karate-existing", "cn", "its scores are secret", keep=False)
    assert sorted(path.name for path in gone.folder.iterdir()) == ["entry.toml"]
    assert (gone.card.withdrawn.reason, gone.card.withdrawn.date) == ("its scores are secret", "2026-02-01")
    assert board.check() == []


def test_a_withdrawn_entry_is_not_reproduced(board: Board, monkeypatch) -> None:
    reproduced(board.entry("karate-existing", "ra"))
    entry = board.withdraw("karate-existing", "ra", "a mistake", date="2026-02-01")
    task = board.task("karate-existing")
    monkeypatch.setattr("trueedge.runs.rerun.rerun", lambda *_, **__: pytest.fail("it was run"))
    for call in (
        lambda: run_again(entry, task, "C. Person", "2026-02-02"),
        lambda: keep_rerun(entry, task, "C. Person", "2026-02-02", 0, 0.5),
        lambda: add_certificate(entry, task, entry.paths[0], "C. Person", "2026-02-02"),
    ):
        with pytest.raises(InputError, match=r"karate-existing/ra was withdrawn: it cannot be reproduced"):
            call()
    # A proof from before stays.
    assert board.check() == []


def test_a_task_is_added_once_and_another_of_its_name_is_refused(board: Board) -> None:
    tasks = list(frozen())
    assert board.add_task(tasks) == board.task("karate-existing")
    with pytest.raises(InputError, match="is another task on this board"):
        board.add_task(tasks[:2])
    again = BoardTask.from_toml(board.folder / "karate-existing" / "task.toml")
    assert again == board.task("karate-existing")
    assert again.seeds[1].task == tasks[1].hash
    with pytest.raises(InputError, match="seeds of one task must have the same protocol"):
        BoardTask.of([tasks[0], te.task("karate", "uniform", 1)])
    with pytest.raises(InputError, match="two of the tasks have the same seed"):
        BoardTask.of([tasks[0], tasks[0]])


def test_a_board_is_made_in_an_empty_folder_and_opened_by_its_card(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a board"):
        Board.open(tmp_path)
    Board.create(tmp_path / "new", "Title")
    assert Board.open(tmp_path / "new").title == "Title"
    assert Board.open(tmp_path / "new").check() == []
    with pytest.raises(InputError, match="is not empty"):
        Board.create(tmp_path / "new")
    (tmp_path / "new" / "board.toml").write_text('format = "else"\n')
    with pytest.raises(InputError, match="does not say format"):
        Board.open(tmp_path / "new")


def test_running_it_again_lifts_an_entry(board: Board) -> None:
    entry = board.entry("karate-existing", "ra")
    assert entry.tier == "consistent"
    reproduced(entry)
    again = board.entry("karate-existing", "ra")
    assert again.tier == "reproduced"
    assert (again.reproductions[0].by, again.reproductions[0].how) == ("B. Person", "rerun")
    assert board.check() == []


@pytest.mark.parametrize("by", ["A. Person", " a.  PERSON ", "Ａ. Person"])
def test_an_author_cannot_reproduce_his_own_entry(board: Board, by: str, monkeypatch) -> None:
    task, entry = board.task("karate-existing"), board.entry("karate-existing", "ra")
    monkeypatch.setattr("trueedge.runs.rerun.rerun", lambda *_, **__: pytest.fail("it was run"))
    for call in (
        lambda: run_again(entry, task, by, "2026-01-06"),
        lambda: keep_rerun(entry, task, by, "2026-01-06", 0, 0.5),
        lambda: add_certificate(entry, task, entry.paths[0], by, "2026-01-06"),
    ):
        with pytest.raises(InputError, match="is an author of ra: another party has to reproduce it"):
            call()
    assert board.entry("karate-existing", "ra").tier == "consistent"


def test_a_proof_whose_name_is_changed_to_an_authors_is_found_and_not_ranked(board: Board) -> None:
    reproduced(board.entry("karate-existing", "ra"))
    (proof,) = (board.folder / "karate-existing" / "ra").glob("reproduced-*.json")
    proof.write_text(proof.read_text().replace("B. Person", "a. person"))
    assert board.entry("karate-existing", "ra").tier == "consistent"
    assert [one.sentence for one in board.check()] == [
        "a. person is an author of ra: another party has to reproduce it"
    ]
    rows = standing_of(board.task("karate-existing"), board.entries("karate-existing")).rows
    assert [row.places for row in rows] == [None, None]


def test_parties_whose_names_give_one_file_name_keep_a_proof_each(board: Board) -> None:
    task, entry = board.task("karate-existing"), board.entry("karate-existing", "ra")
    value = float(headline_values(entry, 0).mean())
    for by in ("张伟", "李娜", "B. Person", "B-Person", "+one", "张伟"):
        keep_rerun(entry, task, by, "2026-01-06", 0, value)
    found = board.entry("karate-existing", "ra").reproductions
    assert sorted(one.by for one in found) == ["+one", "B-Person", "B. Person", "张伟", "李娜"]
    assert board.check() == []


def test_another_partys_certificate_lifts_an_entry_but_not_its_own_or_an_authors(
    board: Board, paths, tmp_path: Path
) -> None:
    task, entry = board.task("karate-existing"), board.entry("karate-existing", "ra")
    theirs = certificates(tmp_path / "theirs", "ra")
    for path in theirs:
        reseal(path, machine={"system": "another"})
    with pytest.raises(InputError, match="is an author of ra"):
        add_certificate(entry, task, theirs[0], "a. person", "2026-01-06")
    with pytest.raises(InputError, match=r"does not reproduce ra: it is of katz, not of ra"):
        add_certificate(entry, task, paths[0], "B. Person", "2026-01-06")
    with pytest.raises(InputError, match="a certificate of the entry itself"):
        add_certificate(entry, task, entry.paths[0], "B. Person", "2026-01-06")
    proof = add_certificate(entry, task, theirs[0], "B. Person", "2026-01-06")
    assert proof.low <= proof.value <= proof.high
    assert board.entry("karate-existing", "ra").tier == "reproduced"
    assert board.check() == []
    path = entry.folder / "reproduced-b-person-0.json"
    content = json.loads(path.read_text())
    path.write_text(json.dumps({**content, "value": content["value"] + 1e-3}))
    assert [one.path for one in board.check()] == [str(path.relative_to(board.folder))]
    path.write_text(json.dumps({**content, "certificate": {**content["certificate"], "method": "katz"}}))
    assert any(one.sentence.endswith("it is of katz, not of ra") for one in board.check())
    path.write_text(json.dumps({**content, "low": 0.0}))
    assert "low end of the entry's interval" in board.check()[0].sentence
    path.write_text(json.dumps({**content, "value": 5.0}))
    assert "is not in the entry's interval" in board.check()[0].sentence


def test_scores_that_are_elsewhere_leave_values_per_unit(board: Board) -> None:
    entry = board.entry("karate-existing", "ra")
    values = headline_values(entry, 0)
    write_units(entry.units_path(0), {"mrr": values})
    entry.scores_path(0).unlink()
    entry = board.entry("karate-existing", "ra")
    assert headline_values(entry, 0).tolist() == values.tolist()
    assert board.check() == []
    write_units(entry.units_path(0), {"mrr": values + 0.01})
    assert any("the mean over units is mrr" in one.sentence for one in board.check())


def test_a_card_is_read_from_toml(tmp_path: Path) -> None:
    made = card(code="https://example.org/x", commit="0123ABC", extra_data=["word vectors"])
    path = tmp_path / "entry.toml"
    path.write_text(made.to_toml())
    assert EntryCard.from_toml(path) == made
    assert made.commit == "0123abc"
    path.write_text('name = "x"\nauthors = ["a"]\n')
    with pytest.raises(InputError, match=r"entry\.toml: licence is missing: give an SPDX identifier"):
        EntryCard.from_toml(path)
    path.write_text('name = "x"\nauthor = ["a"]\n')
    with pytest.raises(InputError, match="did you mean 'authors'"):
        EntryCard.from_toml(path)
    path.write_text("name = ")
    with pytest.raises(InputError, match="is not TOML"):
        EntryCard.from_toml(path)


def test_scores_too_large_for_git_are_put_elsewhere_by_their_hash(board: Board, paths, monkeypatch) -> None:
    monkeypatch.setattr("trueedge.leaderboard.board.entry_files.LARGEST_SCORES", 100)
    added = board.add(paths, card(name="Katz"))
    assert not added.scores_path(0).exists()
    assert added.units_path(0).is_file()
    kept = sorted(path.stem for path in (board.folder / ".scores").iterdir())
    assert kept == sorted(one["hashes"]["scores"] for one in added.certificates.values())
    assert board.check() == []
    assert (board.folder / ".gitignore").read_text().startswith(".scores/\n")


def test_a_name_without_latin_letters_asks_for_the_name_of_a_folder(board: Board, tmp_path: Path) -> None:
    theirs = certificates(tmp_path / "theirs", "pa")
    with pytest.raises(InputError, match=r"letters a-z and digits 0-9 .* '日本語' has none: name the folder"):
        board.add(theirs, card(name="日本語"))
    assert board.add(theirs, card(name="日本語"), name="nihongo").name == "nihongo"


def test_a_certificate_that_is_given_twice_is_named_by_its_file(board: Board, tmp_path: Path) -> None:
    theirs = certificates(tmp_path / "theirs", "pa")
    with pytest.raises(InputError, match=r"pa-0\.json is given twice"):
        board.add([theirs[0], theirs[0]], card(name="PA"))
    for path in tmp_path.glob("theirs/pa-0.*"):
        shutil.copy(path, path.with_name(path.name.replace("pa-0", "again")))
    with pytest.raises(InputError, match=r"1\. pa-0\.json and 2\. again\.json are the same certificate"):
        board.add([theirs[0], tmp_path / "theirs" / "again.json"], card(name="PA"))
