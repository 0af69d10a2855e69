"""What strangers may put into a board's folder, and what the check says about it."""

from __future__ import annotations

import io
import json
import pickle
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest
from tests.leaderboard.boards import card, certificates, frozen, perfect, reproduced, reseal

from trueedge.errors import InputError
from trueedge.leaderboard.board import Board, EntryCard
from trueedge.leaderboard.board.standings import standing_of
from trueedge.leaderboard.board.text_fields import folder_name, folder_name_of

TASK = "karate-existing"


@pytest.fixture
def entry(board: Board) -> Path:
    return board.folder / TASK / "ra"


def sentences(board: Board) -> str:
    found = board.check()
    assert found
    return "\n".join(map(str, found))


def write_arrays(path: Path, **arrays: np.ndarray) -> None:
    with path.open("wb") as file:
        np.savez(file, **arrays)


def test_a_forged_perfect_certificate_is_consistent_and_unranked(board: Board, made, tmp_path) -> None:
    for path in (made / "made").glob("ra-*.*"):
        shutil.copy(path, tmp_path)
    forged = [perfect(path) for path in sorted(tmp_path.glob("ra-?.json"))]
    added = board.add(forged, card(name="Perfect"))
    assert board.check() == []
    assert added.tier == "consistent"
    row = next(
        one for one in standing_of(board.task(TASK), board.entries(TASK)).rows if one.entry.name == "perfect"
    )
    assert row.value == 1.0
    assert row.places is None
    assert row.unranked == "not reproduced yet"


def test_a_replayed_seal_is_refused_and_found(board: Board, made) -> None:
    with pytest.raises(InputError, match=r"ra-0\.json is already a certificate of karate-existing/ra"):
        board.add(sorted((made / "made").glob("ra-?.json")), card(name="Mine"))
    shutil.copytree(board.folder / TASK / "ra", board.folder / TASK / "thief")
    assert "thief/seed-0.json: it has the seal of a certificate of karate-existing/ra" in sentences(board)


@pytest.mark.parametrize("name", ["../cn/seed-0.scores.npz", "/etc/passwd", "..", "a/b.npz", "", "\\..\\x"])
def test_a_path_in_the_name_of_the_scores_is_refused(board: Board, entry: Path, name: str) -> None:
    content = json.loads((entry / "seed-0.json").read_text())
    reseal(entry / "seed-0.json", scores={**content["scores"], "file": name})
    found = sentences(board)
    assert "seed-0.json" in found
    assert "passwd" not in found or "not the name of a file in its folder" in found


def test_pickled_scores_are_never_loaded(board: Board, entry: Path, tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self):
            return (Path.touch, (tmp_path / "run",))

    packed = io.BytesIO()
    np.save(packed, np.array([Trap()], dtype=object), allow_pickle=True)
    with zipfile.ZipFile(entry / "seed-0.scores.npz", "w") as archive:
        archive.writestr("positive.npy", packed.getvalue())
        archive.writestr("negative.npy", pickle.dumps(Trap()))
    assert "seed-0" in sentences(board)
    assert not (tmp_path / "run").exists()


def test_an_array_that_lies_about_its_shape_takes_no_memory(board: Board, entry: Path) -> None:
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": "<f8", "fortran_order": False, "shape": (2**40,)})
    with zipfile.ZipFile(entry / "seed-0.scores.npz", "w") as archive:
        archive.writestr("positive.npy", head.getvalue())
        archive.writestr("negative.npy", head.getvalue())
    assert "its head announces" in sentences(board)


def test_an_archive_that_unpacks_to_far_more_than_it_claims_is_refused(board: Board, entry: Path) -> None:
    with zipfile.ZipFile(entry / "seed-0.scores.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("positive.npy", b"\0" * 50_000_000)
        archive.writestr("negative.npy", b"\0" * 50_000_000)
    assert (entry / "seed-0.scores.npz").stat().st_size < 200_000
    assert "unpacks to" in sentences(board)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_scores_that_are_not_finite_are_refused(board: Board, entry: Path, value: float) -> None:
    held = dict(np.load(entry / "seed-0.scores.npz"))
    held["positive"] = np.full_like(held["positive"], value)
    write_arrays(entry / "seed-0.scores.npz", **held)
    assert "seed-0.json: scores" in sentences(board)


def test_fewer_negatives_than_the_task_has_are_found(board: Board, entry: Path) -> None:
    from trueedge import metrics
    from trueedge.metrics import PairScores
    from trueedge.results.kept_scores import describe

    held = dict(np.load(entry / "seed-0.scores.npz"))
    scores = PairScores.check(held["positive"].astype(float), held["negative"][:5])
    write_arrays(entry / "seed-0.scores.npz", positive=scores.positive, negative=scores.negative)
    content = json.loads((entry / "seed-0.json").read_text())
    kept = describe(scores)
    names = [name for name in content["metrics"] if metrics.get(name).fits(scores)]
    reseal(
        entry / "seed-0.json",
        metrics={name: metrics.get(name).value(scores) for name in names},
        hashes={**content["hashes"], "scores": kept["scores"]},
        scores={**content["scores"], "shapes": kept["shapes"]},
    )
    assert "the task has negative scores of the shape [7], the certificate of (5,)" in sentences(board)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"task_seed": 7}, "it is of the task's seed 7"),
        ({"dataset": "cora"}, "its dataset is 'cora'"),
        ({"headline": "auc"}, "its headline is 'auc'"),
        ({"seed": 1}, "two certificates of one seed"),
        ({"method": "cn"}, "has other method than"),
        ({"settings": {"x": 1}}, "has other settings than"),
    ],
)
def test_a_certificate_of_something_else_is_found(board: Board, entry: Path, changes, sentence: str) -> None:
    reseal(entry / "seed-0.json", **changes)
    assert sentence in sentences(board)


def test_another_task_under_the_same_name_is_found(board: Board, entry: Path) -> None:
    content = json.loads((entry / "seed-0.json").read_text())
    reseal(entry / "seed-0.json", hashes={**content["hashes"], "task": "0" * 64})
    assert "it is of another task" in sentences(board)


def test_a_changed_metric_or_seal_is_found(board: Board, entry: Path) -> None:
    content = json.loads((entry / "seed-0.json").read_text())
    (entry / "seed-0.json").write_text(json.dumps({**content, "device": "cuda"}))
    assert "seed-0.json: seal" in sentences(board)
    reseal(entry / "seed-0.json", device="cpu", metrics={**content["metrics"], "mrr": 0.99})
    assert "the scores give mrr" in sentences(board)


def test_strange_files_links_and_forged_scores_of_a_judge_are_found(board: Board, entry: Path) -> None:
    (entry / "run.sh").write_text("#!/bin/sh")
    (entry / "link.json").symlink_to("/etc/passwd")
    (entry / "folder").mkdir()
    (entry / "scored.json").write_text('{"value": 1.0}')
    (entry / "seed-9.scores.npz").write_bytes(b"")
    (board.folder / "stray").mkdir()
    (board.folder / TASK / "note.txt").write_text("x")
    found = sentences(board)
    for said in (
        "run.sh: no such file belongs to an entry",
        "link.json: it is a link",
        "folder: it is not a regular file",
        "only the judge of a hidden task scores an entry",
        "there is no certificate seed-9.json",
        "stray: it has no task.toml",
        "note.txt: no such file belongs beside",
    ):
        assert said in found


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", "\u202eevil"),
        ("name", "a\u200bb"),
        ("name", "tab\there"),
        ("name", "x" * 81),
        ("name", "  "),
        ("name", "z" + "\u0301" * 9),
        ("name", 3),
        ("authors", ()),
        ("authors", ("\u2066x",)),
        ("authors", "A. Person"),
        ("authors", ("王", "王")),
        ("authors", ("A. Person", "B. Person", "a.  person")),
        ("licence", "mine"),
        ("licence", "MIT AND"),
        ("code", "javascript:alert(1)"),
        ("code", "http://example.org"),
        ("code", "https://user:secret@example.org/x"),
        ("code", 'https://example.org/"onclick="x'),
        ("code", "https://localhost"),
        ("paper", "https://[bad"),
        ("commit", "not a hash"),
        ("submitted", "yesterday"),
        ("submitted", "2026-13-01"),
    ],
)
def test_texts_that_could_deceive_or_run_are_refused(field: str, value: object) -> None:
    given = {"code": "https://example.org/x"} if field == "commit" else {}
    with pytest.raises(InputError, match=field):
        card(**given, **{field: value})


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "A", "nul", "con.txt", "-a", "a.", "x" * 81, "ä", 3])
def test_names_of_folders_are_plain(name: object) -> None:
    with pytest.raises(InputError, match="lower-case letters"):
        folder_name(name, "the name")


def test_a_folders_name_is_made_of_a_title() -> None:
    assert folder_name_of("My GCN (deep) ü") == "my-gcn-deep-u"
    assert folder_name(folder_name_of("compgcn+focal"), "x") == "compgcn+focal"
    assert folder_name(folder_name_of("NUL"), "x") == "nul-entry"
    assert folder_name(folder_name_of("+ -team-"), "x") == "team"
    assert card(licence="mit OR apache-2.0").licence == "MIT OR Apache-2.0"


def test_a_damaged_card_is_one_problem_that_names_the_file_once(board: Board, entry: Path) -> None:
    (entry / "entry.toml").write_text(EntryCard.from_toml(entry / "entry.toml").to_toml() + "[seeds]\n")
    (problem,) = board.check()
    assert str(problem).startswith("karate-existing/ra/entry.toml: no field of an entry's card is called")
    (board.folder / TASK / "task.toml").write_bytes(b"\xff")
    assert [str(one) for one in board.check()] == ["karate-existing/task.toml: it is not UTF-8 text"]


def test_an_audit_that_is_deleted_or_replaced_is_found(board: Board) -> None:
    board.add_audit(TASK, frozen()[0])
    assert board.check() == []
    path = board.folder / TASK / "audit.json"
    whole = path.read_text()
    path.write_text("[1]")
    assert sentences(board) == f"{TASK}/audit.json: it does not hold the findings of an audit"
    path.write_text(whole.replace('"findings": [', '"findings": [', 1).replace("karate", "cora"))
    assert sentences(board) == f"{TASK}/audit.json: it is not the audit that the task's card names"
    path.unlink()
    assert sentences(board) == f"{TASK}: it has no audit.json, although its card names one"
    # The task is the same one, whatever its audit.
    assert board.add_task(list(frozen())).audit


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"certificate": "x"}, "certificate must be an object, got str"),
        ({"certificate": None}, "certificate must be an object, got NoneType"),
        ({"certificate": {"a": 1}}, "certificate must be that of another party, or empty"),
        ({"how": "certificate"}, "certificate must be that of another party, or empty"),
        ({"versions": [1]}, "versions must be an object, got list"),
        ({"by": None}, "by must be a text"),
    ],
)
def test_a_proof_whose_fields_are_of_another_kind_is_found(
    board: Board, entry: Path, tmp_path: Path, changes, said: str
) -> None:
    reproduced(board.entry(TASK, "ra"))
    path = entry / "reproduced-b-person-0.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
    (problem,) = map(str, board.check())
    assert problem.startswith(f"{TASK}/ra/{path.name}: {said}")


def test_a_proof_without_a_field_and_scores_without_a_proof_are_found(board: Board, entry: Path) -> None:
    reproduced(board.entry(TASK, "ra"))
    path = entry / "reproduced-b-person-0.json"
    content = json.loads(path.read_text())
    del content["seal"]
    path.write_text(json.dumps(content))
    shutil.copy(entry / "seed-0.scores.npz", entry / "reproduced-c-person-0.scores.npz")
    assert sentences(board).splitlines() == [
        f"{TASK}/ra/reproduced-c-person-0.scores.npz: there is no proof reproduced-c-person-0.json",
        f"{TASK}/ra/{path.name}: seal is missing",
    ]


def test_a_unit_that_the_kind_of_task_does_not_have_is_found(board: Board) -> None:
    path = board.folder / TASK / "task.toml"
    path.write_text(path.read_text().replace('unit = "positive"', 'unit = "node"'))
    assert sentences(board) == f"{TASK}/task.toml: unit is 'node', that of a link task is 'positive'"


@pytest.mark.parametrize(
    ("submitted", "fine"), [("1999-01-01", False), ("2026-01-03", False), ("2026-01-04", True)]
)
def test_an_entry_is_not_submitted_before_its_certificates_were_created(
    board: Board, entry: Path, tmp_path: Path, submitted: str, fine: bool
) -> None:
    path = entry / "entry.toml"
    path.write_text(path.read_text().replace("2026-01-05", submitted))
    said = f"submitted is {submitted}, but the first certificate was created on 2026-01-05"
    assert [str(one) for one in board.check()] == [f"{TASK}/ra/entry.toml: {said}"] * (not fine)
    rows = standing_of(board.task(TASK), board.entries(TASK)).rows
    assert [row.failed for row in rows if row.entry.name == "ra"] == [not fine]
    theirs = certificates(tmp_path / "theirs", "pa")
    if fine:
        board.add(theirs, card(name="PA", submitted=submitted))
        return
    with pytest.raises(InputError, match=said):
        board.add(theirs, card(name="PA", submitted=submitted))
    assert not (board.folder / TASK / "pa").exists()


def test_a_certificate_without_a_day_is_found(board: Board, entry: Path) -> None:
    reseal(entry / "seed-1.json", created="tomorrow")
    assert [one.sentence for one in board.check()] == [
        "seed-1.json was created on 'tomorrow', which is no day"
    ]


def test_further_seeds_of_an_entry_may_follow_on_a_later_day(board: Board, tmp_path: Path) -> None:
    theirs = certificates(tmp_path / "theirs", "pa")
    for seed, path in enumerate(theirs):
        reseal(path, created=f"2026-02-0{1 + seed}T10:00:00+00:00")
        board.add([path], card(name="PA", submitted="2026-02-01"))
    assert board.check() == []


def test_days_to_come_are_found(board: Board, entry: Path) -> None:
    reproduced(board.entry(TASK, "ra"))
    proof = entry / "reproduced-b-person-0.json"
    for path in (entry / "entry.toml", proof):
        path.write_text(path.read_text().replace("2026-01-0", "2999-01-0"))
    assert sentences(board).splitlines() == [
        f"{TASK}/ra/entry.toml: submitted is 2999-01-05, a day to come",
        f"{TASK}/ra/reproduced-b-person-0.json: date is 2999-01-06, a day to come",
    ]
