"""Ranks are tie groups from paired differences, for every kind of task."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.leaderboard.boards import board_with, card, certificates, frozen, reproduced, reseal
from tests.typed_graphs import small_graph

import trueedge as te
from trueedge.leaderboard.board import Board, BoardTask
from trueedge.leaderboard.board.standings import standing_json, standing_of
from trueedge.leaderboard.board.unit_files import headline_values
from trueedge.statistics.significance import Sample, difference_over_tasks

KINDS = [
    ("karate", "existing", ("ra", "pa")),
    ("karate", "recommendation", ("katz", "pa")),
    ("nations", "filtered", ("entity-degree", "relation-frequency")),
    ("bookshop", "full-ranking", ("popularity", "random")),
    ("bibliography", "node-classification", ("majority", "label-propagation")),
]


@pytest.mark.parametrize(("dataset", "protocol", "methods"), KINDS, ids=[one[1] for one in KINDS])
def test_every_kind_of_task_is_certified_added_reproduced_and_ranked(
    tmp_path: Path, dataset: str, protocol: str, methods: tuple[str, ...]
) -> None:
    board = board_with(tmp_path, *methods, dataset=dataset, protocol=protocol)
    assert board.check() == []
    (task,) = board.tasks()
    assert [row.unranked for row in standing_of(task, board.entries(task)).rows] == ["not reproduced yet"] * 2
    for entry in board.entries(task):
        reproduced(entry)
    assert board.check() == []
    found = standing_of(task, board.entries(task))
    assert [row.tier for row in found.rows] == ["reproduced"] * 2
    assert all(row.places is not None and row.letters for row in found.rows)
    assert found.rows[0].value >= found.rows[1].value
    assert all(row.low <= row.value <= row.high for row in found.rows)
    assert all(row.seconds is not None and row.memory for row in found.rows)


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    board = board_with(folder, "ra", "cn", "katz")
    for entry in board.entries("karate-existing"):
        reproduced(entry)
    return folder


@pytest.fixture
def board(made: Path, tmp_path: Path) -> Board:
    shutil.copytree(made / "board", tmp_path / "board")
    return Board.open(tmp_path / "board")


def test_differences_are_paired_within_each_split(board: Board) -> None:
    task = board.task("karate-existing")
    entries = {one.name: one for one in board.entries(task)}
    found = standing_of(task, list(entries.values()))
    gap, low, high, _ = found.difference("ra", "cn")
    pairs = [
        tuple(Sample.of([headline_values(entries[name], seed)]) for name in ("ra", "cn")) for seed in range(3)
    ]
    expected = difference_over_tasks(pairs)
    assert (gap, low, high) == pytest.approx((expected.value, expected.low, expected.high))
    assert found.difference("cn", "ra")[0] == -gap
    assert found.difference("cn", "nobody") is None
    assert found.over == "tasks"


def test_entries_that_are_not_ranked_change_no_p_value_of_ranked_ones(board: Board, tmp_path: Path) -> None:
    task, pairs = board.task("karate-existing"), (("ra", "cn"), ("ra", "katz"), ("cn", "katz"))
    alone = standing_of(task, board.entries(task))
    for method in ("pa", "aa", "jaccard"):
        board.add(certificates(tmp_path / "made", method), card(name=method))
    found = standing_of(task, board.entries(task))
    assert [row.places for row in found.ranked] == [row.places for row in alone.ranked]
    for first, second in pairs:
        assert found.difference(first, second) == pytest.approx(alone.difference(first, second), rel=1e-9)
        assert found.is_corrected(first, second)
    assert not found.is_corrected("ra", "pa")
    entries = {one.name: one for one in board.entries(task)}
    values = [
        tuple(Sample.of([headline_values(entries[name], seed)]) for name in ("ra", "pa")) for seed in range(3)
    ]
    assert found.difference("ra", "pa")[3] == pytest.approx(difference_over_tasks(values).p)


def test_the_time_of_an_entry_is_the_median_without_the_first_run_that_compiles(board: Board) -> None:
    for seed, fit in enumerate((30.0, 1.0, 2.0)):
        path = board.folder / "karate-existing" / "ra" / f"seed-{seed}.json"
        for proof in path.parent.glob("reproduced-*"):
            proof.unlink()
        reseal(path, seconds={"task": 9.0, "fit": fit, "score": 0.25})
    rows = standing_of(board.task("karate-existing"), board.entries("karate-existing")).rows
    assert [row.seconds for row in rows if row.entry.name == "ra"] == [2.25]


def test_an_entry_without_all_seeds_or_whose_scores_are_damaged_is_not_ranked(board: Board) -> None:
    task, folder = board.task("karate-existing"), board.folder / "karate-existing"
    for path in (folder / "cn").glob("seed-2.*"):
        path.unlink()
    (folder / "katz" / "seed-0.scores.npz").write_bytes(b"nothing")
    found = standing_of(task, board.entries(task))
    reasons = {row.entry.name: row.unranked for row in found.rows}
    assert reasons["ra"] == ""
    assert reasons["cn"] == "2 of 3 seeds"
    assert reasons["katz"].startswith("fails the check: ")
    assert [row.entry.name for row in found.rows] == ["ra", "cn", "katz"]


def test_a_withdrawn_entry_stands_last_without_a_number(board: Board) -> None:
    board.withdraw("karate-existing", "katz", "a mistake", date="2026-03-01")
    found = standing_of(board.task("karate-existing"), board.entries("karate-existing"))
    assert found.rows[-1].entry.name == "katz"
    assert found.rows[-1].value is None
    assert found.rows[-1].unranked == "withdrawn"


def test_entries_with_the_same_scores_say_so(board: Board, tmp_path: Path) -> None:
    board.add(certificates(tmp_path / "again", "ra"), card(name="RA once more"))
    rows = standing_of(board.task("karate-existing"), board.entries("karate-existing")).rows
    same = {row.entry.name: row.same_scores for row in rows}
    assert same["ra"] == ("ra-once-more",)
    assert same["cn"] == ()


def test_one_split_is_compared_over_its_units_unless_positives_share_negatives(tmp_path: Path) -> None:
    for protocol, over in (("heart", "units"), ("existing", "")):
        board = Board.create(tmp_path / protocol)
        task = board.add_task(frozen("karate", protocol)[0])
        for method in ("ra", "pa"):
            board.add(
                certificates(tmp_path / f"{protocol}-made", method, protocol=protocol)[:1], card(name=method)
            )
        for entry in board.entries(task):
            reproduced(entry)
        found = standing_of(task, board.entries(task))
        assert found.over == over
        assert [row.places for row in found.rows if not over] == [(1, 2)] * (0 if over else 2)


def test_a_fixed_split_with_several_seeds_is_one_task(tmp_path: Path) -> None:
    tasks = [te.task("nations", "filtered", seed) for seed in range(3)]
    assert len({one.hash for one in tasks}) == 1
    board = board_with(tmp_path, "entity-degree", dataset="nations", protocol="filtered")
    assert standing_of(board.tasks()[0], board.entries("nations-filtered")).over == "units"


def test_seeds_with_one_published_test_part_are_over_its_units_and_seeds() -> None:
    made = [te.task(small_graph(), "node-classification", seed) for seed in range(2)]
    assert BoardTask.of(made).over == "units and seeds"
    own = replace(small_graph(), labels=replace(small_graph().labels, test=None))
    assert [BoardTask.of([te.task(own, seed=seed) for seed in range(count)]).over for count in (1, 2, 3)] == [
        "units",
        "",
        "tasks",
    ]


def test_a_hidden_task_shows_what_its_judge_wrote(tmp_path: Path) -> None:
    board = Board.create(tmp_path / "board")
    given = {"title": "Hidden", "dataset": "x", "protocol": "heart", "kind": "link", "headline": "mrr"}
    task = board.add_task(
        BoardTask(name="hidden", hidden={"season": "2026", "labels": "0" * 64, "shape": [9]}, **given)
    )
    folder = board.folder / "hidden"
    for name in ("one", "two", "three", "waiting"):
        (folder / name).mkdir()
        (folder / name / "entry.toml").write_text(card(name=name).to_toml())
        (folder / name / "scored.json").write_text('{"phase": "public"}')
    entries = {
        "one": {"value": 0.5, "low": 0.4, "high": 0.6, "letters": "a"},
        "two": {"value": 0.4, "low": 0.3, "high": 0.5, "letters": ["a", "b"]},
        "three": {"value": 0.2, "letters": "b"},
    }
    (folder / "standing.json").write_text(
        json.dumps({"phase": "public", "metric": "mrr", "entries": entries})
    )
    found = standing_of(task, board.entries(task), folder)
    assert [(row.entry.name, row.places) for row in found.rows] == [
        ("one", (1, 2)),
        ("two", (1, 3)),
        ("three", (2, 3)),
        ("waiting", None),
    ]
    assert found.phase == "public"
    assert {row.tier for row in found.rows} == {"scored"}
    told = json.loads(standing_json(found))
    assert told["entries"][0]["rank"] == [1, 2]
    assert np.isclose(told["entries"][1]["value"], 0.4)
