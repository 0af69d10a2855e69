"""Shares of cells, and the records of all shares merged: the same as those of one run."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

import trueedge as te
from trueedge.errors import InputError
from trueedge.results.merging import merge
from trueedge.runs import Cell, InProcess, drive, run_cells
from trueedge.runs.engines.share import OTHERS, OwnShare, Share

CELLS = [
    Cell("karate", "existing", te.methods.create(name), seed) for seed in range(3) for name in ("cn", "ra")
]


def content(store: te.Store) -> dict[str, tuple]:
    found = {record.key: (record.metrics, record.units, record.settings) for record in store.records()}
    assert len(found) == len(store)
    return found


def run_share(share: Share, folder: Path, cells=CELLS) -> None:
    with OwnShare(InProcess(), share) as runner:
        done = dict(drive(cells, te.Store(folder), runner))
    assert len(done) == len(CELLS)


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("shares")
    for number in range(1, 5):
        run_share(Share(number, 4), folder / f"part-{number}")
    return sorted(folder.iterdir())


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> te.Store:
    store = te.Store(tmp_path_factory.mktemp("whole"))
    list(run_cells(CELLS, store))
    return store


@pytest.mark.parametrize("count", [0, 1, 5, 64, 200, None])
def test_every_cell_is_in_exactly_one_of_64_shares(count: int | None) -> None:
    shares = [Share(number, 64) for number in range(1, 65)]
    for position in range(300 if count is None else count):
        assert sum(share.holds(position, count) for share in shares) == 1


def test_merged_shares_hold_what_one_run_holds_and_merging_again_changes_nothing(
    parts: list[Path], whole: te.Store, tmp_path: Path
) -> None:
    first = merge(parts, tmp_path)
    assert (first.new, first.known, first.problems) == (len(CELLS), 0, [])
    assert content(te.Store(tmp_path)) == content(whole)
    second = merge([*parts, parts[0]], tmp_path)
    assert (second.new, second.known, second.differing) == (0, len(CELLS) + len(te.Store(parts[0])), 0)
    assert content(te.Store(tmp_path)) == content(whole)


def test_a_generator_is_shared_too(whole: te.Store, tmp_path: Path) -> None:
    for number in (1, 2):
        run_share(Share(number, 2), tmp_path / str(number), iter(CELLS))
    merge([tmp_path / "1", tmp_path / "2"], tmp_path / "all")
    assert content(te.Store(tmp_path / "all")) == content(whole)


def test_cells_of_other_shares_have_no_record() -> None:
    with OwnShare(InProcess(), Share(1, 3)) as runner:
        done = dict(drive(CELLS, None, runner))
        assert [done[place].reason == OTHERS for place in range(6)] == [False] * 2 + [True] * 4
        assert runner.left_out == 4


def test_a_damaged_row_is_named_and_the_others_are_merged(parts: list[Path], tmp_path: Path) -> None:
    damaged = tmp_path / "damaged"
    store = te.Store(damaged)
    store.append_all([record for part in parts for record in te.Store(part).records()])
    with sqlite3.connect(store.path) as connection:
        connection.execute("DROP TRIGGER records_stay")
        connection.execute("UPDATE records SET value = value + 1 WHERE id = 3")
    found = merge([damaged], tmp_path / "runs")
    assert found.new == len(CELLS) - 1
    (problem,) = found.problems
    assert str(store.path) in problem
    assert "row 3" in problem


def test_a_folder_without_records_and_a_file_that_is_no_store_are_named(
    parts: list[Path], tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "noise").mkdir()
    (tmp_path / "noise" / "records.sqlite").write_bytes(b"noise" * 1000)
    found = merge([tmp_path / "empty", parts[0], tmp_path / "noise"], tmp_path / "runs")
    assert found.new == len(te.Store(parts[0]))
    assert len(found.problems) == 2
    assert "empty holds no records" in found.problems[0]
    assert "noise" in found.problems[1]


def test_a_record_with_other_metrics_is_counted_and_not_added(whole: te.Store, tmp_path: Path) -> None:
    from dataclasses import replace

    record = whole.records()[0]
    te.Store(tmp_path / "a").append(record)
    other = {**record.metrics, "valid": {"auc": 0.5}}
    te.Store(tmp_path / "b").append(replace(record, metrics=other))
    found = merge([tmp_path / "a", tmp_path / "b"], tmp_path / "runs")
    assert (found.new, found.known, found.differing) == (1, 1, 1)


def test_kept_scores_are_merged_too(tmp_path: Path) -> None:
    list(run_cells(CELLS[:1], te.Store(tmp_path / "a"), keep_scores=True))
    merge([tmp_path / "a"], tmp_path / "runs")
    (outcome,) = run_cells(CELLS[:1], te.Store(tmp_path / "runs"), keep_scores=True)
    assert not outcome.fresh


def test_damaged_scores_are_named_and_not_merged(tmp_path: Path) -> None:
    te.run("karate", store=te.Store(tmp_path / "a"), keep_scores=True)
    te.run("karate", seed=1, store=te.Store(tmp_path / "a"), keep_scores=True)
    cut, other = sorted((tmp_path / "a" / "scores").iterdir())
    cut.write_bytes(cut.read_bytes()[:-40])
    found = merge([tmp_path / "a"], tmp_path / "runs")
    assert found.new == 2
    (problem,) = found.problems
    assert str(cut) in problem
    assert problem.endswith("; it was not copied")
    assert [path.name for path in (tmp_path / "runs" / "scores").iterdir()] == [other.name]
    shutil.copyfile(other, cut)
    found = merge([tmp_path / "a"], tmp_path / "runs")
    assert found.problems == [
        f"{cut} is damaged: it does not hold the scores of its record; it was not copied"
    ]


def test_a_store_that_is_merged_into_itself_stays_as_it_is(tmp_path: Path) -> None:
    store = te.Store(tmp_path)
    te.run("karate", store=store, keep_scores=True)
    before = {path: path.read_bytes() for path in store.files()}
    found = merge([tmp_path, tmp_path / "." / "scores" / ".."], tmp_path)
    assert (found.new, found.known, found.problems) == (0, 2, [])
    assert {path: path.read_bytes() for path in store.files()} == before


@pytest.mark.parametrize("text", ["3", "0/4", "5/4", "a/b", "1/0", "1/4/2", "-1/4"])
def test_a_share_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="--share"):
        Share.parse(text)
