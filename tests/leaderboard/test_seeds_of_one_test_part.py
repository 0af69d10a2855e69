"""A board counts seeds with one published test part as seeds of one sample, as tables do."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.leaderboard.boards import card, dated, reseal
from tests.small_interactions import small_interactions
from tests.typed_graphs import small_graph

import trueedge as te
from trueedge.analysis.comparison import compare
from trueedge.graph import Graph
from trueedge.leaderboard.board import Board
from trueedge.leaderboard.board.reproducing import run_again
from trueedge.leaderboard.board.standings import Standing, standing_of
from trueedge.leaderboard.pages import build
from trueedge.methods import create
from trueedge.results import Record
from trueedge.splits.typed import TypedData

SEEDS = range(4)
NODES = ("label-propagation", "majority")


def _items() -> te.Interactions:
    data = small_interactions()
    return replace(data, test=np.arange(len(data.pairs)) % 4 == 0)


def _links() -> TypedData:
    graph = small_graph()
    rest = np.delete(graph.edges[0], np.s_[::7], axis=0)
    return TypedData(graph.with_edges((rest, *graph.edges[1:])), {0: graph.edges[0][::7]})


SOURCES = {
    "node-classification": (small_graph, NODES),
    "full-ranking": (_items, ("popularity", "random")),
    "typed-links": (_links, ("target-degree", "gcn-hetero")),
}
QUICK = {"gcn-hetero": {"epochs": 2, "dim": 8}}


def _board(
    folder: Path, source: Graph, protocol: str, methods: tuple[str, ...]
) -> tuple[Board, list[Record], list[te.Task]]:
    """Return a board of one task with an entry of each method, their records and the frozen tasks."""
    store, board = te.Store(folder / "runs"), Board.create(folder / "board")
    frozen = [te.task(source, protocol, seed) for seed in SEEDS]
    task, records = board.add_task(frozen, "task"), []
    for method in methods:
        chosen = create(method, QUICK.get(method, {}))
        made = [te.run(source, protocol, chosen, seed, store=store, keep_scores=True) for seed in SEEDS]
        paths = [dated(te.certify(one, folder / f"{method}-{one.seed}.json", store)) for one in made]
        board.add(paths, card(name=method), task.name)
        records += made
    return board, records, frozen


def _standing(board: Board) -> Standing:
    return standing_of(board.task("task"), board.entries("task"))


def _name(label: str) -> str:
    return label.partition(" (")[0]


@pytest.mark.parametrize("protocol", SOURCES)
def test_ranks_and_intervals_are_those_of_a_table(protocol: str, tmp_path: Path) -> None:
    make, methods = SOURCES[protocol]
    board, records, frozen = _board(tmp_path, make(), protocol, methods)
    assert len({one.hash for one in frozen}) == len(SEEDS)
    assert board.check() == []
    found = _standing(board)
    assert found.over == "units and seeds"
    (table,) = compare(records)
    assert table.one_test_part
    rows = {row.entry.name: row for row in found.rows}
    for one in table.methods:
        row, wanted = rows[_name(one.label)], one.estimate
        assert (row.value, row.low, row.high) == pytest.approx((wanted.value, wanted.low, wanted.high))
    (pair,) = table.pairs
    gap, low, high, p = found.difference(_name(pair.first), _name(pair.second))
    wanted = pair.difference
    assert (gap, low, high) == pytest.approx((wanted.value, wanted.low, wanted.high))
    assert p == pytest.approx(wanted.p, rel=1e-6)


@pytest.fixture
def board(tmp_path: Path) -> Board:
    return _board(tmp_path, small_graph(), "node-classification", NODES)[0]


def test_pages_say_what_intervals_are_over(board: Board, tmp_path: Path) -> None:
    for entry in board.entries("task"):
        run_again(entry, board.task("task"), "B. Person", "2026-01-06", source=small_graph())
    build(board, tmp_path / "site")
    text = (tmp_path / "site" / "task" / "index.html").read_text()
    assert (
        "the mean over 4 seeds with the same test nodes, with 95 % intervals over these nodes and seeds"
        in text
    )
    assert "over splits" not in text
    first = {one.name: one.read_bytes() for one in (tmp_path / "site" / "task").rglob("*.html")}
    build(board, tmp_path / "again")
    assert {one.name: one.read_bytes() for one in (tmp_path / "again" / "task").rglob("*.html")} == first


def test_a_task_without_the_hash_of_its_test_part_gets_it_when_it_is_added_again(board: Board) -> None:
    path = board.folder / "task" / "task.toml"
    written = path.read_text()
    older = re.sub(r"^test_part = .*\n", "", written, flags=re.MULTILINE)
    assert older != written
    path.write_text(older)
    assert _standing(board).over == "tasks"
    board.add_task([te.task(small_graph(), "node-classification", seed) for seed in SEEDS], "task")
    assert path.read_text() == written
    assert board.check() == []


def test_a_certificate_that_tells_another_test_part_is_found(board: Board) -> None:
    path = board.folder / "task" / NODES[0] / "seed-1.json"
    hashes = json.loads(path.read_text())["hashes"]
    reseal(path, hashes={**hashes, "test_nodes": "0" * 64})
    (problem,) = board.check()
    assert problem.sentence == "seed-1.json: its hashes of the test part are not those of task, seed 1"
    reasons = {row.entry.name: row.unranked for row in _standing(board).rows}
    assert reasons[NODES[0]].startswith("fails the check")
