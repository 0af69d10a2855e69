"""Cells in several processes: the same records, one store, nothing run twice."""

from __future__ import annotations

from pathlib import Path

import pytest

import trueedge as te
from trueedge.errors import InputError
from trueedge.results import Cell, Workers, run_cells


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
        assert other.record.packed_ranks == one.record.packed_ranks
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
        for cell in cells("cn", "ra", "aa"):
            taken.append(cell)
            yield cell

    with Workers(2) as several:
        for number, _ in enumerate(several.run(made()), 1):
            ahead.append(len(taken) - number)
    assert len(taken) == 6
    assert max(ahead) <= 2


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
