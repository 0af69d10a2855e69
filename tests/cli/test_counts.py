"""Absurd numbers of seeds, trials, processes and negatives are refused at once, or begun at once."""

from __future__ import annotations

from itertools import islice

import pytest

from trueedge import negatives
from trueedge.cli import running
from trueedge.cli.requests import MOST_CELLS, Cells
from trueedge.errors import InputError
from trueedge.files import bounds
from trueedge.graph import Graph
from trueedge.methods import create
from trueedge.runs import Cell
from trueedge.search import tune
from trueedge.search.space import Space
from trueedge.studies import Plan

ABSURD = 10**8


@pytest.mark.parametrize("seeds", [ABSURD, 10**20])
def test_very_many_seeds_are_refused(trueedge, seeds: int) -> None:
    said = f"trueedge: {seeds:,} runs are too many at once: at most 1,000,000 are possible, with fewer"
    status, out, err = trueedge("run", "karate", "-m", "cn", "--seeds", str(seeds))
    assert (status, out) == (1, "")
    assert err.startswith(said)


def test_many_seeds_are_begun_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = Cells(
        "karate", ["existing"], range(MOST_CELLS // 2), [create("cn"), create("ra")], {"existing": {}}
    )
    checked = []
    monkeypatch.setattr(Cell, "check", lambda cell: checked.append(cell))
    cells.check()
    assert {(cell.seed, cell.method.name) for cell in checked} == {
        (seed, name) for seed in (0, MOST_CELLS // 2 - 1) for name in ("cn", "ra")
    }
    assert cells.number == MOST_CELLS
    asked = running._ahead(cells)
    assert not isinstance(asked, list)
    assert [(cell.seed, cell.method.name) for cell in islice(asked, 3)] == [(0, "cn"), (0, "ra"), (1, "cn")]


def test_cells_come_by_protocol_then_seed_then_method() -> None:
    options = {"existing": {}, "heart": {"k": 10}}
    cells = Cells("karate", list(options), range(3, 5), [create("cn"), create("ra")], options, "cpu", True)
    asked = running._ahead(cells)
    assert isinstance(asked, list)
    assert [(one.protocol, one.seed, one.method.name) for one in asked] == [
        (protocol, seed, name) for protocol in options for seed in (3, 4) for name in ("cn", "ra")
    ]
    assert {one.task_seed for one in asked} == {3}
    assert asked[-1].options == {"k": 10}


def test_very_many_processes_are_refused(trueedge) -> None:
    for command in ("run", "tune"):
        status, _, err = trueedge(command, "karate", "--jobs", "100000")
        assert status == 2
        assert "100000 processes are too many" in " ".join(err.split())


def test_very_many_seeds_of_a_search_or_a_study_are_refused() -> None:
    with pytest.raises(
        InputError, match="tune: 100,000,002 runs are too many: at most 1,000,000 are possible"
    ):
        tune("karate", "existing", "katz", trials=2, seeds=ABSURD)
    with pytest.raises(InputError, match="seeds must be a whole number from 1 to 10000, got 100000000"):
        Plan(seeds=ABSURD)


def test_more_points_than_can_be_numbered_are_refused() -> None:
    values = {
        name: [(i + 1) / 1000 for i in range(400)] for name in ("learning_rate", "dropout", "weight_decay")
    } | {name: range(8, 400) for name in ("dim", "epochs", "patience", "batch_size", "evaluate_every")}
    with pytest.raises(InputError, match=r"gcn: .* combinations of values are too many to search"):
        Space.of(create("gcn"), values)


@pytest.mark.parametrize(
    ("sampler", "many"),
    [
        ("uniform", {"ratio": 900}),
        ("degree_corrected", {"ratio": 900}),
        ("triplet", {"k": 900}),
        ("heart", {"k": 900}),
    ],
)
def test_more_negatives_than_memory_holds_are_refused(monkeypatch, sampler: str, many) -> None:
    graph = Graph.from_edges([(i, (i + 1) % 2000) for i in range(2000)])
    monkeypatch.setattr(bounds, "free_memory", lambda: 10**6)
    monkeypatch.setattr(bounds, "LITTLE_MEMORY", 10**6)
    with pytest.raises(InputError, match=f"^{sampler}: a list of 900,000 negatives needs"):
        getattr(negatives, sampler)(graph, [(i, (i + 5) % 2000) for i in range(1000)], **many)


def test_what_memory_cannot_hold_is_one_sentence(trueedge, monkeypatch: pytest.MonkeyPatch) -> None:
    def too_much(*_: object, **__: object) -> None:
        raise MemoryError("Unable to allocate 1.09 TiB")

    monkeypatch.setattr("trueedge.tasks.task", too_much)
    said = "trueedge: there is not enough memory: Unable to allocate 1.09 TiB\n"
    assert trueedge("task", "karate", "-o", "made") == (1, "", said)
