"""What a worker does with a cell: the same record, or a sentence on what differs."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import trueedge as te
from trueedge.results.kept_scores import HeldScores
from trueedge.runs import Cell, run_cells
from trueedge.runs.engines import jobs, worker
from trueedge.runs.engines.jobs import Answer, job_of, source_of, user_code
from trueedge.runs.opened_files import loaded
from trueedge.version import VERSION

HERE = "tcp://10.0.0.7:4000"
CELL = Cell("karate", "existing", te.methods.create("ra"), 1)


def answer(cell: Cell, runs: Path | None = None, token: str = "", **changes) -> Answer:
    job = replace(job_of(cell, runs, token), **changes)
    return worker._State().run(job, None, None, HERE)


def test_a_worker_makes_the_record_that_this_process_makes() -> None:
    (here,) = run_cells([CELL])
    there = answer(CELL)
    assert there.record.key == here.record.key
    assert there.record.metrics == here.record.metrics
    assert there.record.units == here.record.units


def test_another_version_is_refused_before_anything_is_read() -> None:
    job = replace(job_of(CELL, None, ""), version="0.0.9", cell=b"unreadable")
    found = worker.run_job(job, None, None, HERE)
    assert found.refused == f"worker {HERE} has trueedge {VERSION}, and the driver 0.0.9"
    assert found.refused_all


def test_other_data_is_refused_with_worker_version_and_hash() -> None:
    found = answer(CELL, key="0" * 64, source_key="karate 1234abcd")
    assert HERE in found.refused
    assert VERSION in found.refused
    assert "has other data of karate than the driver" in found.refused
    assert "1234abcd" in found.refused
    assert not found.refused_all


def test_other_code_is_refused() -> None:
    assert "with other code than the driver" in answer(CELL, key="0" * 64).refused


def test_data_that_is_not_there_is_refused(monkeypatch) -> None:
    asked = job_of(CELL, None, "")
    monkeypatch.setattr(
        Cell, "key", property(lambda cell: (_ for _ in ()).throw(te.InputError("there is no file x")))
    )
    found = worker._State().run(asked, None, None, HERE)
    assert found.refused == f"worker {HERE} cannot run karate: there is no file x"


def test_a_cell_that_cannot_run_has_a_reason() -> None:
    found = answer(replace(CELL, method=te.methods.create("cosine")))
    assert "features" in found.reason
    assert not found.refused


def test_a_graph_is_sent_once_and_asked_for_if_it_is_not_there() -> None:
    state, graph = worker._State(), te.datasets.price(60, 200)
    cells = [Cell(graph, "existing", te.methods.create(name)) for name in ("cn", "ra")]
    first, second = (job_of(cell, None, "") for cell in cells)
    assert state.run(first, None, None, HERE).missing == "source"
    assert state.run(first, source_of(cells[0], None), None, HERE).record is not None
    assert state.run(second, None, None, HERE).record.key == cells[1].key


def test_only_the_last_two_graphs_and_tasks_are_kept() -> None:
    state = worker._State()
    for seed in range(4):
        graph = te.datasets.price(60, 200, seed=seed)
        cell = Cell(graph, "existing", te.methods.create("cn"))
        state.run(job_of(cell, None, ""), source_of(cell, None), None, HERE)
        cell = replace(CELL, seed=seed)
        state.run(job_of(cell, None, ""), None, None, HERE)
    assert len(state.sources) == worker.KEPT
    assert len(state.runner._kept) == worker.KEPT


def test_a_large_graph_is_mapped_from_a_shared_folder(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(jobs, "MOST_BYTES", 100)
    cell = Cell(te.datasets.price(60, 200), "existing", te.methods.create("cn"))
    path = source_of(cell, tmp_path)
    assert path == str(tmp_path / "sources" / f"{cell.source.hash}.mapped")
    found = worker._State().run(job_of(cell, None, ""), path, None, HERE)
    assert found.record.key == cell.key
    lost = worker._State().run(job_of(cell, None, ""), str(tmp_path / "elsewhere"), None, HERE)
    assert "does not share the folder of the records" in lost.refused
    with pytest.raises(te.InputError, match="too much to be sent"):
        source_of(cell, None)


OWN = """
from dataclasses import dataclass
from typing import ClassVar
import {helper}
from trueedge.methods import Method

@dataclass(frozen=True)
class Own(Method):
    name: ClassVar[str] = "own"
    family: ClassVar[str] = "own"
    def fit(self, task, seed=0, device="cpu"):
        return {helper}.score
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch) -> Cell:
    """A cell with a method in a user's own file, which imports another one."""
    helper = "helper_of_own_method"
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "own.py").write_text(OWN.format(helper=helper))
    (tmp_path / "there" / f"{helper}.py").write_text("def score(pairs): return pairs.sum(1) * 1.0\n")
    monkeypatch.syspath_prepend(str(tmp_path / "there"))
    path = (tmp_path / "there" / "own.py").resolve()
    yield replace(CELL, method=loaded(str(path), path).Own())
    for name in (helper, str(path)):
        sys.modules.pop(name, None)


def test_the_users_code_travels_as_source(own: Cell, tmp_path: Path, monkeypatch) -> None:
    job, code, key = job_of(own, None, ""), user_code(own), own.key
    (here,) = run_cells([own])
    assert sorted(code.files) == ["helper_of_own_method.py", "own.py"]
    assert worker._State().run(job, None, None, HERE).missing == "code"
    # Another machine: neither the files nor the modules are there.
    shutil.rmtree(tmp_path / "there")
    for name in ("helper_of_own_method", type(own.method).__module__):
        sys.modules.pop(name, None)
    monkeypatch.setattr(sys, "path", list(sys.path))
    found = worker._State().run(job, None, code, HERE)
    assert found.refused == ""
    assert found.record.key == key
    assert found.record.metrics == here.record.metrics


def test_the_users_code_runs_in_its_own_place_if_it_is_there(own: Cell, monkeypatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    found = worker._State().run(job_of(own, None, ""), None, user_code(own), HERE)
    assert found.record.key == own.key
    assert not worker._is_copy(Path(type(own.method).__module__))


def test_scores_are_written_by_the_worker_if_the_folder_is_shared(tmp_path: Path) -> None:
    (tmp_path / "token").touch()
    found = answer(CELL, tmp_path, "token")
    assert (found.scores, found.complaint) == (None, "")
    assert [path.stem for path in (tmp_path / "scores").iterdir()] == [
        found.record.provenance["kept"]["scores"]
    ]


def test_scores_are_sent_if_the_folder_is_not_shared(tmp_path: Path, monkeypatch) -> None:
    found = answer(CELL, tmp_path, "token")
    assert not (tmp_path / "scores").exists()
    assert HeldScores(found.scores, tmp_path).save() == ""
    monkeypatch.setattr(worker, "MOST_SCORES", 10)
    found = answer(CELL, tmp_path, "token")
    assert found.scores is None
    assert "not shared with the worker" in found.record.warnings[-1]
    assert "kept" not in found.record.provenance
