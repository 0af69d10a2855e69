"""Which worker runs which cells, and which of them a death is counted against."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

import trueedge as te
from trueedge.errors import InputError
from trueedge.runs import Cell
from trueedge.runs.engines.assignment import MOST_TOGETHER, Started, Waiting, Worker, choose
from trueedge.runs.engines.dask_runner import MOST_BYSTANDER, STARTS, DaskRunner
from trueedge.runs.engines.jobs import Job
from trueedge.runs.engines.notices import Notices
from trueedge.runs.engines.worker_list import WorkerList

A, B = "tcp://a:1", "tcp://b:1"


def waiting(count: int, task: str = "t", method: str = "cn", runs: str | None = None) -> list[Waiting]:
    kind = te.methods.create(method)
    job = Job("", "", "", "", b"", runs=runs)
    return [Waiting(n, Cell("karate", "existing", kind, n), task, job) for n in range(count)]


class Cluster:
    """A cluster of two workers that others use too; ``given`` is what the scheduler says of its workers."""

    own, address = False, "tcp://s:1"

    def __init__(self) -> None:
        self.given: dict[str, list[str]] = {}
        self.listed: dict[str, dict[str, Any]] = {A: {}, B: {}}
        self.restarted: list[str] = []
        scheduler = SimpleNamespace(
            identity=lambda n_workers: {"workers": self.listed}, processing=lambda workers: self.given
        )
        self.client = SimpleNamespace(
            status="running",
            scheduler=scheduler,
            sync=lambda asked, callback_timeout, **options: asked(**options),
            restart_workers=lambda addresses, **_: self.restarted.extend(addresses),
        )


@pytest.fixture
def workers(monkeypatch) -> WorkerList:
    monkeypatch.setattr("trueedge.runs.engines.worker_list.SECONDS_BETWEEN_LOOKS", 0.0)
    found = WorkerList(Cluster(), None, Notices(None))  # type: ignore[arg-type]
    assert list(found.look()) == []
    return found


def started(workers: WorkerList, address: str, cells: list[Waiting], begun: bool = True) -> Started:
    worker = next(one for one in workers if one.address == address)
    future = SimpleNamespace(key="mine", cancel=lambda: None)
    worker.running = Started(cells, worker, future, 0.0, begun)
    return worker.running


def test_only_short_cells_of_the_same_kind_travel_together() -> None:
    worker, other = Worker(A, False, False), Worker(B, False, False)
    asked = [*waiting(40), *waiting(40, method="ra")]
    assert choose(worker, asked, [worker, other], set()) == asked[:1]
    together = choose(worker, asked, [worker, other], {asked[0].kind})
    assert together == asked[:MOST_TOGETHER]
    assert choose(worker, asked[40:], [worker, other], {asked[0].kind}) == asked[40:41]
    # At the end, all workers have something to do.
    assert choose(worker, asked[:12], [worker, other], {asked[0].kind}) == asked[:3]
    assert choose(worker, asked[:2], [worker, other], {asked[0].kind}) == asked[:1]


def test_cells_with_scores_and_cells_after_a_death_travel_alone() -> None:
    worker = Worker(A, False, False)
    kept = waiting(20, runs="/runs")
    assert choose(worker, kept, [worker], {kept[0].kind}) == kept[:1]
    asked = waiting(40)
    for what in asked[:3]:
        what.alone = True
    assert choose(worker, asked, [worker], {asked[0].kind}) == asked[:1]
    assert choose(worker, asked[3:], [worker], {asked[0].kind}) == asked[3 : 3 + MOST_TOGETHER]


def test_a_worker_that_can_run_nothing_gets_nothing() -> None:
    worker = Worker(A, False, False, refused_all=True)
    assert choose(worker, waiting(3), [worker], set()) == []


def test_the_death_of_a_worker_with_several_cells_is_counted_against_none(workers: WorkerList) -> None:
    runner, left = DaskRunner(), list[Waiting]()
    together = waiting(5)
    assert list(runner._died(started(workers, A, together), left, "")) == []
    assert left == together
    assert all(what.alone and what.starts == 0 for what in together)


def test_a_cell_behind_that_of_another_driver_is_not_blamed_for_a_death(workers: WorkerList) -> None:
    runner, (what,) = DaskRunner(), waiting(1)
    for _ in range(MOST_BYSTANDER):
        assert list(runner._died(started(workers, A, [what], begun=False), [], "")) == []
    assert what.starts == 0
    # One that never gets any further is given up in the end.
    ends = [list(runner._died(started(workers, A, [what], begun=False), [], "")) for _ in range(STARTS)]
    assert [len(outcomes) for outcomes in ends] == [0] * (STARTS - 1) + [1]


def test_the_queue_of_a_worker_tells_whether_a_cell_has_begun(workers: WorkerList) -> None:
    cluster: Any = workers.cluster
    cell = started(workers, A, waiting(1), begun=False)
    cluster.given = {A: ["theirs", "mine"], B: ["theirs"]}
    workers.see_queues()
    assert not cell.begun
    assert all(worker.has_queue for worker in workers)
    # It has just been sent, and the scheduler does not know it yet.
    cluster.given = {A: []}
    workers.see_queues()
    assert not cell.begun
    assert not any(worker.has_queue for worker in workers)
    cluster.given = {A: ["mine", "theirs"]}
    workers.see_queues()
    assert cell.begun
    assert cell.since > 0


def test_time_runs_only_for_cells_that_have_begun(workers: WorkerList, monkeypatch) -> None:
    monkeypatch.setattr(workers, "_timeout", 1.0)
    cluster: Any = workers.cluster
    cluster.given = {A: ["theirs", "mine"], B: ["mine"]}
    queued, late = started(workers, A, waiting(1), begun=False), started(workers, B, waiting(1))
    assert list(workers.look()) == [(late, "it took longer than 1 s")]
    assert queued in workers.running()
    assert [worker.address for worker in workers] == [A]


def test_the_cell_of_a_worker_that_is_gone_is_returned(workers: WorkerList) -> None:
    lost = started(workers, A, waiting(1))
    del workers.cluster.listed[A]  # type: ignore[attr-defined]
    assert list(workers.look()) == [(lost, "")]
    assert [worker.address for worker in workers] == [B]


def test_a_scheduler_that_does_not_answer_is_lost(workers: WorkerList) -> None:
    workers.cluster.client.status = "closed"
    with pytest.raises(InputError, match=r"the scheduler at tcp://s:1 is lost; finished results are stored"):
        list(workers.look())
