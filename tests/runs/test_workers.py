"""Cells in several processes: the same records, one store, nothing run twice."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

import trueedge as te
from trueedge.errors import InputError
from trueedge.runs import Cell, Workers, run_cells


def cells(*names: str, seeds: int = 2) -> list[Cell]:
    return [
        Cell("karate", "existing", te.methods.create(name), seed) for seed in range(seeds) for name in names
    ]


def in_order(several: Workers, asked: list[Cell]) -> list:
    done = dict(several.run(asked))
    assert sorted(done) == list(range(len(asked)))
    return [done[place] for place in range(len(asked))]


def test_several_processes_make_the_records_that_one_makes(tmp_path: Path) -> None:
    asked = cells("cn", "cosine", "katz", "fastrp")
    alone = list(run_cells(asked))
    store = te.Store(tmp_path)
    with Workers(2, store) as several:
        together = in_order(several, asked)
    for one, other in zip(alone, together, strict=True):
        assert one.reason == other.reason
        if one.record is None:
            assert "features" in other.reason
            continue
        assert other.fresh
        assert other.record.key == one.record.key
        assert other.record.metrics == one.record.metrics
        assert other.record.units == one.record.units
    assert len(store) == sum(one.record is not None for one in alone)


def test_what_is_in_the_store_starts_no_process(tmp_path: Path, monkeypatch) -> None:
    store = te.Store(tmp_path)
    asked = cells("cn", "ra")
    first = [outcome.record for outcome in run_cells(asked, store)]
    monkeypatch.setattr(Workers, "_start", lambda self: pytest.fail("a process was started"))
    with Workers(2, store) as several:
        found = in_order(several, asked)
    assert [outcome.record.to_dict() for outcome in found] == [record.to_dict() for record in first]
    assert not any(outcome.fresh for outcome in found)
    assert len(store) == len(asked)


def test_again_and_kept_scores_go_to_the_workers_too(tmp_path: Path) -> None:
    store = te.Store(tmp_path)
    asked = cells("ra", seeds=1)
    for times, settings in enumerate([{}, {"again": True}, {"keep_scores": True}, {"keep_scores": True}], 1):
        with Workers(2, store, **settings) as several:
            (outcome,) = in_order(several, asked)
        assert outcome.fresh is (times < 4)
    assert len(store) == 3
    assert outcome.record.provenance["kept"] is not None
    assert any((tmp_path / "scores").iterdir())


def test_cells_are_taken_one_by_one_as_processes_are_free() -> None:
    taken, ahead = [], []

    def made():
        for cell in cells("cn", "ra", "aa", seeds=4):
            taken.append(cell)
            yield cell

    with Workers(2) as several:
        for number, _ in enumerate(several.run(made()), 1):
            ahead.append(len(taken) - number)
    assert len(taken) == 12
    # Two that are run, and two that are looked at ahead.
    assert max(ahead) <= 4


def test_a_store_that_a_worker_cannot_use_is_one_sentence(tmp_path: Path) -> None:
    store = te.Store(tmp_path / "runs")
    # Where it would be by the time a worker opens it.
    store.folder = tmp_path / "file"
    store.folder.write_text("not a folder")
    with Workers(1, store) as several, pytest.raises(InputError, match="file is a file, but runs are kept"):
        list(several.run(cells("ra", seeds=1)))


@pytest.mark.parametrize("jobs", [0, -1, 1.5, "2"])
def test_a_number_of_processes_that_cannot_be_is_refused(jobs) -> None:
    with pytest.raises(InputError, match="jobs"):
        Workers(jobs)


def test_a_process_that_was_killed_is_followed_by_another() -> None:
    asked = cells("cn", "ra", seeds=1)
    with Workers(1) as several:
        (place, first), *_ = several.run(asked[:1])
        assert (place, first.fresh) == (0, True)
        (idle,) = several._idle
        idle.process.kill()
        idle.process.join()
        found = in_order(several, asked)
    assert all(outcome.record is not None for outcome in found)


def test_what_nobody_waits_for_any_more_is_not_heard_of_later() -> None:
    with Workers(2) as several:
        abandoned = several.run(cells("ra", seeds=4))
        next(abandoned)
        abandoned.close()
        assert not several._busy
        places = [(place, outcome.cell.method.name) for place, outcome in several.run(cells("cn", seeds=2))]
    assert sorted(places) == [(0, "cn"), (1, "cn")]


def test_a_process_stays_with_the_task_it_has_made(monkeypatch) -> None:
    given: dict[int, list[str]] = {}
    give = Workers._give

    def watched(self, left):
        give(self, left)
        worker = self._busy[-1]
        given.setdefault(worker.process.pid, []).append(worker.task_key)

    monkeypatch.setattr(Workers, "_give", watched)
    asked = [
        Cell("karate", protocol, te.methods.create(name))
        for name in ("cn", "ra", "aa", "pa")
        for protocol in ("existing", "uniform")
    ]
    with Workers(2) as several:
        in_order(several, asked)
    assert sum(len(keys) for keys in given.values()) == 8
    # Each task is made by one process, but for the last cells, with which an idle one may help.
    changes = sum(one != other for keys in given.values() for one, other in pairwise(keys))
    assert changes <= 2


@pytest.mark.parametrize(("asked", "jobs", "expected"), [(None, 2, "4"), ("1", 2, "1"), ("64", 4, "2")])
def test_processes_share_the_cores_and_keep_to_what_the_user_asked_for(
    asked, jobs, expected, monkeypatch
) -> None:
    from trueedge.runs import processes as workers

    for name in workers.THREADS:
        monkeypatch.delenv(name, raising=False)
    if asked is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", asked)
    monkeypatch.setattr(workers, "_cores", lambda: 8)
    seen = {}

    def start(self):
        seen.update({name: os.environ[name] for name in workers.THREADS})
        raise InterruptedError

    monkeypatch.setattr(multiprocessing.get_context("spawn").Process, "start", start)
    with Workers(jobs) as several, pytest.raises(InterruptedError):
        list(several.run(cells("ra", seeds=1)))
    assert seen["OMP_NUM_THREADS"] == expected
    assert os.environ.get("OMP_NUM_THREADS") == asked
    assert "OPENBLAS_NUM_THREADS" not in os.environ


SCRIPT = """
import trueedge as te
from trueedge.runs import Cell, Workers
with Workers(2) as several:
    print(list(several.run([Cell("karate", "existing", te.methods.create("ra"))])))
"""


def test_a_script_without_its_main_is_told_what_it_needs(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    ran = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 1
    assert ran.stderr.rstrip().endswith('a script that starts some needs its `if __name__ == "__main__"`'), (
        ran.stderr
    )
