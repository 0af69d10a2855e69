"""Cells on a cluster of Dask: the same records, deaths, refusals, and a sentence where nothing goes on."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import engine_methods
import pytest

import trueedge as te
from full_disks import files_of_at_most
from trueedge.errors import InputError, StoreWarning
from trueedge.runs import Cell, drive, run_cells
from trueedge.runs.engines import cluster as clusters
from trueedge.runs.engines import dask_runner, notices, worker_list
from trueedge.runs.engines.dask_runner import DaskRunner
from trueedge.runs.processes import THREADS

distributed = pytest.importorskip("distributed", reason="the extra trueedge[dask] is not installed")


def cells(*names: str, seeds: int = 2) -> list[Cell]:
    return [
        Cell("karate", "existing", te.methods.create(name), seed) for seed in range(seeds) for name in names
    ]


@pytest.fixture(scope="module")
def cluster() -> Iterator[DaskRunner]:
    with DaskRunner(jobs=2) as runner:
        yield runner


@pytest.fixture
def nobody() -> Iterator[distributed.LocalCluster]:
    """A scheduler without workers."""
    with distributed.LocalCluster(
        n_workers=0, dashboard_address="127.0.0.1:0", host="127.0.0.1"
    ) as scheduler:
        yield scheduler


def in_order(runner: DaskRunner, asked: list[Cell], store: te.Store | None = None, **settings) -> list:
    done = dict(drive(asked, store, runner, **settings))
    assert sorted(done) == list(range(len(asked)))
    return [done[place] for place in range(len(asked))]


def test_workers_make_the_records_that_one_process_makes(cluster: DaskRunner, tmp_path: Path) -> None:
    own = replace(cells("cn")[0], method=engine_methods.Sum())
    asked = [*cells("cn", "cosine", "katz"), own]
    alone, store = list(run_cells(asked)), te.Store(tmp_path)
    together = in_order(cluster, asked, store)
    for one, other in zip(alone, together, strict=True):
        assert one.reason == other.reason
        if one.record is not None:
            assert other.fresh
            assert other.record.key == one.record.key
            assert other.record.metrics == one.record.metrics
            assert other.record.units == one.record.units
    assert len(store) == 5
    again = in_order(cluster, asked, store)
    assert [outcome.fresh for outcome in again] == [False] * len(asked)
    assert len(store) == 5


def test_what_is_in_the_store_starts_no_cluster(tmp_path: Path, monkeypatch) -> None:
    store, asked = te.Store(tmp_path), cells("cn", "ra")
    list(run_cells(asked, store))
    monkeypatch.setattr(dask_runner, "Cluster", lambda *_: pytest.fail("a cluster was started"))
    with DaskRunner(jobs=2) as runner:
        assert not any(outcome.fresh for outcome in in_order(runner, asked, store))


def test_a_graph_travels_with_its_cells_and_scores_are_kept(cluster: DaskRunner, tmp_path: Path) -> None:
    graph = te.datasets.price(60, 200)
    asked = [Cell(graph, "existing", te.methods.create(name)) for name in ("cn", "ra", "aa")]
    store = te.Store(tmp_path)
    found = in_order(cluster, asked, store, keep_scores=True)
    assert [outcome.record.key for outcome in found] == [cell.key for cell in asked]
    assert len(list((tmp_path / "scores").iterdir())) == 3
    assert not any(outcome.fresh for outcome in in_order(cluster, asked, store, keep_scores=True))


def test_an_exception_of_the_users_code_is_a_reason_and_is_not_retried(cluster: DaskRunner) -> None:
    asked = [replace(cells("cn")[0], method=engine_methods.Raising()), *cells("cn", seeds=1)]
    first, second = in_order(cluster, asked)
    assert "its code raised ValueError: no" in first.reason
    assert second.record is not None


def test_records_that_another_driver_stored_in_the_meantime_are_used(
    cluster: DaskRunner, tmp_path: Path, monkeypatch
) -> None:
    asked, store, other = cells("cn", seeds=1), te.Store(tmp_path), te.Store(tmp_path)
    start, said = cluster._start, []

    def start_late(what, worker) -> None:
        list(run_cells(asked, other))
        start(what, worker)

    monkeypatch.setattr(cluster, "_start", start_late)
    monkeypatch.setattr(cluster, "_notices", notices.Notices(said.append))
    (outcome,) = in_order(cluster, asked, store)
    assert not outcome.fresh
    assert len(store) == 1
    assert said == ["another run on the same store has computed the same results: its are used"]


def test_a_full_disk_at_the_driver_costs_no_record(cluster: DaskRunner, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    store, asked = te.Store("runs"), cells("ra", seeds=1)
    with (
        files_of_at_most(store.path.stat().st_size),
        pytest.warns(StoreWarning, match=r"1 record could not be stored .*: written to|is lost"),
    ):
        (outcome,) = in_order(cluster, asked, store)
    assert outcome.record is not None


def test_without_workers_it_ends_with_a_sentence(nobody, monkeypatch) -> None:
    monkeypatch.setattr(worker_list, "SECONDS_WITHOUT_WORKERS", 0.5)
    address = nobody.scheduler_address
    with (
        DaskRunner(address) as runner,
        pytest.raises(InputError, match=rf"{address} has had no worker.*trueedge worker {address}"),
    ):
        in_order(runner, cells("cn"))


def test_a_lost_scheduler_ends_with_a_sentence(nobody) -> None:
    with DaskRunner(nobody.scheduler_address) as runner:
        coming = drive(cells("cn"), None, runner)
        assert runner._workers.cluster.client.status == "running"
        nobody.close()
        with pytest.raises(InputError, match=r"is lost; finished results are stored: run the same command"):
            next(coming)


def test_without_a_gpu_it_ends_with_a_sentence(cluster: DaskRunner, monkeypatch) -> None:
    monkeypatch.setattr(worker_list, "SECONDS_WITHOUT_FITTING", 0.5)
    asked = [replace(cell, device="cuda") for cell in cells("gcn", seeds=1)]
    with pytest.raises(InputError, match=r"none of the workers at .* has a GPU: start one with"):
        in_order(cluster, asked)


def test_workers_that_refuse_end_the_run_with_their_reason(cluster: DaskRunner, monkeypatch) -> None:
    monkeypatch.setattr(worker_list, "SECONDS_WITHOUT_FITTING", 0.5)
    sent = dask_runner.job_of
    monkeypatch.setattr(dask_runner, "job_of", lambda *given: replace(sent(*given), key="0" * 64))
    with pytest.raises(InputError, match=r"no worker can run the rest: worker tcp.* other code than"):
        in_order(cluster, cells("cn", seeds=1))
    for worker in cluster._workers:
        worker.refused.clear()
    cluster._refusals.clear()


@pytest.mark.parametrize("listens", [False, True])
def test_an_address_without_a_scheduler_is_named(monkeypatch, listens: bool) -> None:
    monkeypatch.setattr(clusters, "SECONDS_TO_CONNECT", 0.5)
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        if listens:
            # Whatever it is, it never says a word.
            one.listen()
        address = f"tcp://127.0.0.1:{one.getsockname()[1]}"
        with (
            DaskRunner(address) as runner,
            pytest.raises(InputError, match=rf"no scheduler answers at {address}: \w"),
        ):
            in_order(runner, cells("cn"))


def test_another_version_of_the_scheduler_is_named(nobody, monkeypatch) -> None:
    from distributed import versions

    compare = versions.error_message

    def with_an_old_scheduler(scheduler, *others):
        return compare({"packages": {**scheduler["packages"], "msgpack": "0.1"}}, *others)

    monkeypatch.setattr(versions, "error_message", with_an_old_scheduler)
    said: list[str] = []
    clusters.Cluster(nobody.scheduler_address, None, 1, said.append).close()
    assert f"the cluster at {nobody.scheduler_address} has other versions of msgpack" in said


def test_a_scheduler_that_cannot_read_cells_is_named(cluster: DaskRunner) -> None:
    next(drive(cells("cn", seeds=1), None, cluster))
    refusal = cluster._workers.cluster.refusal
    unread = refusal(RuntimeError("Error during deserialization of the task graph."))
    assert "it needs the same trueedge as the driver" in str(unread)
    assert refusal(RuntimeError("another")) is None


def test_a_scheduler_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with (
        DaskRunner(scheduler_file=tmp_path / "s.json") as runner,
        pytest.raises(InputError, match=r"there is no scheduler file .*s\.json"),
    ):
        in_order(runner, cells("cn"))


@pytest.mark.exhaustive
def test_poison_cells_fail_after_three_starts_and_good_ones_do_not(cluster: DaskRunner) -> None:
    poison = [replace(cell, method=engine_methods.Poison()) for cell in cells("cn", seeds=5)]
    good = cells("cn", "ra", seeds=5)
    found = in_order(cluster, [*poison, *good])
    assert [outcome.record is None for outcome in found] == [True] * 5 + [False] * 10
    assert {outcome.reason for outcome in found[:5]} == {
        "its worker died while it ran (out of memory?), in each of 3 starts"
    }


@pytest.mark.exhaustive
def test_one_bad_cell_among_short_ones_that_travel_together_fails_alone(cluster: DaskRunner) -> None:
    sent: list[int] = []
    send = cluster._sent.send

    def counted(workers, together, worker, shared) -> None:
        sent.append(len(together))
        send(workers, together, worker, shared)

    fragile = engine_methods.Fragile()
    asked = [Cell("karate", "existing", fragile, seed, task_seed=0) for seed in range(24)]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(cluster._sent, "send", counted)
        found = in_order(cluster, asked)
    assert max(sent) > 1
    assert [place for place, outcome in enumerate(found) if outcome.record is None] == [7]
    assert found[7].reason == "its worker died while it ran (out of memory?), in each of 3 starts"


@pytest.mark.exhaustive
def test_a_cell_that_takes_too_long_is_given_up(cluster: DaskRunner, monkeypatch) -> None:
    start = cluster._start

    def start_long_ago(what, worker) -> None:
        start(what, worker)
        if what[0].cell.method.name == "endless":
            worker.running.since -= 5000

    monkeypatch.setattr(cluster, "_start", start_long_ago)
    monkeypatch.setattr(cluster._workers, "_timeout", 4000)
    endless = replace(cells("cn")[0], method=engine_methods.Endless())
    first, *rest = in_order(cluster, [endless, *cells("cn")])
    assert first.reason == "it took longer than 4000 s, in each of 3 starts"
    assert all(outcome.record is not None for outcome in rest)


def test_where_no_bar_is_seen_the_progress_is_told(cluster: DaskRunner, monkeypatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(notices, "SECONDS_BETWEEN_LINES", 0.0)
    monkeypatch.setattr(cluster, "_notices", notices.Notices(said.append, tells=True))
    in_order(cluster, cells("cn"))
    # A worker that another test has ended may not be back yet.
    assert any(re.fullmatch(r"[01] of 2 cells done, [12] running", sentence) for sentence in said)


def test_the_threads_of_every_library_are_set_on_the_workers(cluster: DaskRunner) -> None:
    next(drive(cells("cn", seeds=1), None, cluster))
    seen = cluster._workers.cluster.client.run(lambda: [os.environ.get(name) for name in THREADS])
    assert all(value is not None and int(value) >= 1 for values in seen.values() for value in values)
