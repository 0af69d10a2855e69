"""Runners: the same records from each, one store that the driver writes, nothing run twice."""

from __future__ import annotations

import math
import multiprocessing
import os
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest
from tests.runs.engine_methods import Endless

import trueedge as te
from trueedge.errors import InputError
from trueedge.runs import Cell, InProcess, Outcome, Processes, Runner, drive, run_cells, runner_for
from trueedge.runs.processes import NO_TIME, too_long


def cells(*names: str, seeds: int = 2) -> list[Cell]:
    return [
        Cell("karate", "existing", te.methods.create(name), seed) for seed in range(seeds) for name in names
    ]


def in_order(runner: Runner, asked: list[Cell], store: te.Store | None = None, **settings) -> list:
    done = dict(drive(asked, store, runner, **settings))
    assert sorted(done) == list(range(len(asked)))
    return [done[place] for place in range(len(asked))]


@pytest.mark.rotating(4, group="processes")
def test_several_processes_make_the_records_that_one_makes(tmp_path: Path) -> None:
    asked = cells("cn", "cosine", "katz", "fastrp")
    alone = list(run_cells(asked))
    store = te.Store(tmp_path)
    with Processes(2) as several:
        together = in_order(several, asked, store)
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
    monkeypatch.setattr(Processes, "_start", lambda self: pytest.fail("a process was started"))
    with Processes(2) as several:
        found = in_order(several, asked, store)
    assert [outcome.record.to_dict() for outcome in found] == [record.to_dict() for record in first]
    assert not any(outcome.fresh for outcome in found)
    assert len(store) == len(asked)


@pytest.mark.rotating(4, group="processes")
def test_again_and_kept_scores_go_to_the_workers_too(tmp_path: Path) -> None:
    store = te.Store(tmp_path)
    asked = cells("ra", seeds=1)
    for times, settings in enumerate([{}, {"again": True}, {"keep_scores": True}, {"keep_scores": True}], 1):
        with Processes(2) as several:
            (outcome,) = in_order(several, asked, store, **settings)
        assert outcome.fresh is (times < 4)
    assert len(store) == 3
    assert outcome.record.provenance["kept"] is not None
    assert any((tmp_path / "scores").iterdir())


@pytest.mark.rotating(4, group="processes")
def test_cells_are_taken_one_by_one_as_processes_are_free() -> None:
    taken, ahead = [], []

    def made():
        for cell in cells("cn", "ra", "aa", seeds=4):
            taken.append(cell)
            yield cell

    with Processes(2) as several:
        for number, _ in enumerate(several.run(made()), 1):
            ahead.append(len(taken) - number)
    assert len(taken) == 12
    # Two that are run, and two that are looked at ahead.
    assert max(ahead) <= 4


@pytest.mark.rotating(4, group="processes")
def test_the_driver_alone_writes_the_store_and_before_the_next_outcome(tmp_path: Path, monkeypatch) -> None:
    store, append, written = te.Store(tmp_path), te.Store.append, []
    monkeypatch.setattr(
        te.Store, "append", lambda self, record: (written.append(record), append(self, record))
    )
    for number, outcome in enumerate(run_cells(cells("cn", "ra"), store, jobs=2), 1):
        assert outcome.record is written[-1]
        assert len(store) == len(written) == number


class Backwards(Runner):
    """An engine of one's own: it takes two cells at a time and runs the second one first."""

    def run(self, cells, look_up=lambda cell: None, scores_to=None):
        left = []
        for position, cell in enumerate(cells):
            known = look_up(cell)
            if known is not None:
                yield position, known
                continue
            left.append((position, cell))
            if len(left) == 2:
                yield from self._run(left, scores_to)
        yield from self._run(left, scores_to)

    def _run(self, left, scores_to):
        while left:
            position, cell = left.pop()
            yield position, InProcess().run_one(cell, scores_to)


def test_an_engine_of_ones_own_is_one_class(tmp_path: Path) -> None:
    store, asked = te.Store(tmp_path), cells("cn", "ra", "cosine")
    list(run_cells(asked[:1], store))
    with Backwards() as engine:
        positions = [position for position, _ in drive(asked, store, engine)]
        found = in_order(engine, asked, store)
    assert positions == [0, 2, 1, 4, 3, 5]
    assert [outcome.fresh for outcome in found] == [False] * 6
    assert [outcome.record is None for outcome in found] == [False, False, True] * 2
    assert len(store) == 4


def test_one_job_is_this_process_and_several_are_processes() -> None:
    assert isinstance(runner_for(1), InProcess)
    assert isinstance(runner_for(2), Processes)
    assert (InProcess.in_process, Processes.in_process) == (True, False)


def test_outcomes_from_the_store_do_not_wait_for_the_next_cell(tmp_path: Path, monkeypatch) -> None:
    store, asked = te.Store(tmp_path), cells("cn", "ra", seeds=1)
    list(run_cells(asked[:1], store))
    monkeypatch.setattr(InProcess, "run_one", lambda *_: pytest.fail("the next cell was run first"))
    first = next(run_cells(asked, store))
    assert isinstance(first, Outcome)
    assert not first.fresh


def test_the_same_cell_twice_is_run_once_in_one_process(tmp_path: Path) -> None:
    (cell,) = cells("ra", seeds=1)
    assert [outcome.fresh for outcome in run_cells([cell, cell], te.Store(tmp_path))] == [True, False]


def test_a_task_is_made_once_for_calls_that_follow_each_other(monkeypatch) -> None:
    made, make = [], te.tasks.task
    monkeypatch.setattr(te.tasks, "task", lambda *a, **k: made.append(a) or make(*a, **k))
    with InProcess() as runner:
        for cell in cells("cn", "ra", "aa", seeds=1):
            assert runner.run_one(cell).record is not None
        assert len(made) == 1
        runner.stop()
        runner.run_one(cell)
    assert len(made) == 2


@pytest.mark.rotating(4, group="processes")
def test_the_former_name_warns_and_works(tmp_path: Path) -> None:
    from trueedge import runs

    store = te.Store(tmp_path)
    with pytest.warns(DeprecationWarning, match="run_cells"):
        kind = runs.Workers
    with kind(2, store) as several:
        ((position, outcome),) = several.run(cells("ra", seeds=1))
    assert (position, outcome.fresh, len(store)) == (0, True, 1)
    with pytest.raises(AttributeError):
        _ = runs.Nothing


@pytest.mark.parametrize("jobs", [0, -1, 1.5, "2"])
def test_a_number_of_processes_that_cannot_be_is_refused(jobs) -> None:
    with pytest.raises(InputError, match="jobs"):
        runner_for(jobs)


@pytest.mark.rotating(4, group="processes")
def test_a_process_that_was_killed_is_followed_by_another() -> None:
    asked = cells("cn", "ra", seeds=1)
    with Processes(1) as several:
        (place, first), *_ = several.run(asked[:1])
        assert (place, first.fresh) == (0, True)
        (idle,) = several._idle
        idle.process.kill()
        idle.process.join()
        found = in_order(several, asked)
    assert all(outcome.record is not None for outcome in found)


@pytest.mark.rotating(4, group="processes")
def test_a_cell_that_takes_longer_than_the_limit_is_ended_and_the_others_run() -> None:
    asked = [*cells("cn", seeds=1), Cell("karate", "existing", Endless()), *cells("ra", seeds=1)]
    with Processes(1, limit=600.0) as several:
        first = in_order(several, asked[:1])
        several._limit = 0.5
        ((_, slow),) = several.run(asked[1:2])
        assert (slow.record, slow.reason) == (None, "it takes longer than the limit of 0.5 seconds")
        assert not several._busy
        assert not several._idle
        several._limit = 600.0
        last = in_order(several, asked[2:])
    assert all(outcome.record is not None for outcome in [*first, *last])


@pytest.mark.rotating(4, group="processes")
def test_cells_are_ended_and_no_more_are_started_when_the_time_for_all_is_over() -> None:
    asked = [Cell("karate", "existing", Endless()), *cells("ra", seeds=1)]
    with Processes(1, in_order=True) as several:
        several.until = time.monotonic() + 0.5
        found = in_order(several, asked)
        assert [outcome.reason for outcome in found] == [NO_TIME, NO_TIME]
        several.until = math.inf
        assert in_order(several, asked[1:])[0].record is not None


@pytest.mark.rotating(4, group="processes")
def test_an_error_of_a_method_can_be_the_reason_of_its_cell_alone(monkeypatch) -> None:
    failure = (None, "", "Traceback:\n  a line\nRuntimeError: CUDA error\n", False, ())
    with Processes(1, raises=False) as several:
        first = in_order(several, cells("cn", seeds=1))
        (worker,) = several._idle
        monkeypatch.setattr(worker.line, "recv", lambda: failure, raising=False)
        ((_, broken),) = several.run(cells("aa", seeds=1))
        assert (broken.record, broken.reason) == (None, "it failed: RuntimeError: CUDA error")
        assert not several._idle
        last = in_order(several, cells("ra", seeds=1))
    assert all(outcome.record is not None for outcome in [*first, *last])


@pytest.mark.parametrize("limit", [0, -1.0, "1", float("nan")])
def test_a_limit_that_cannot_be_is_refused(limit) -> None:
    with pytest.raises(InputError, match="limit"):
        Processes(1, limit)


@pytest.mark.rotating(4, group="processes")
def test_a_limit_may_be_longer_than_the_operating_system_can_wait() -> None:
    with Processes(1, limit=1e300) as several:
        (found,) = in_order(several, cells("cn", seeds=1))
    assert found.record is not None


def test_a_limit_is_said_in_seconds_or_minutes() -> None:
    assert too_long(90.0) == "it takes longer than the limit of 90 seconds"
    assert too_long(900.0) == "it takes longer than the limit of 15 minutes"


@pytest.mark.rotating(4, group="processes")
def test_what_nobody_waits_for_any_more_is_not_heard_of_later() -> None:
    with Processes(2) as several:
        abandoned = several.run(cells("ra", seeds=4))
        next(abandoned)
        abandoned.close()
        assert not several._busy
        places = [(place, outcome.cell.method.name) for place, outcome in several.run(cells("cn", seeds=2))]
    assert sorted(places) == [(0, "cn"), (1, "cn")]


@pytest.mark.rotating(4, group="processes")
def test_a_process_stays_with_the_task_it_has_made(monkeypatch) -> None:
    given: dict[int, list[str]] = {}
    give = Processes._give

    def watched(self, left, *others):
        give(self, left, *others)
        worker = self._busy[-1]
        given.setdefault(worker.process.pid, []).append(worker.task_key)

    monkeypatch.setattr(Processes, "_give", watched)
    asked = [
        Cell("karate", protocol, te.methods.create(name))
        for name in ("cn", "ra", "aa", "pa")
        for protocol in ("existing", "uniform")
    ]
    with Processes(2) as several:
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
    with Processes(jobs) as several, pytest.raises(InterruptedError):
        list(several.run(cells("ra", seeds=1)))
    assert seen["OMP_NUM_THREADS"] == expected
    assert os.environ.get("OMP_NUM_THREADS") == asked
    assert "OPENBLAS_NUM_THREADS" not in os.environ


SCRIPT = """
import trueedge as te
from trueedge.runs import Cell, run_cells
print(list(run_cells([Cell("karate", "existing", te.methods.create("ra"))], jobs=2)))
"""


@pytest.mark.rotating(4, group="processes")
def test_a_script_without_a_main_guard_gets_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    ran = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 1
    assert ran.stderr.rstrip().endswith('in several processes needs `if __name__ == "__main__"`'), ran.stderr
