"""The benchmark of large boards makes real certificates, and its site is the same when it is rebuilt."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks import leaderboard_build


def test_a_small_board_is_measured_and_its_entries_verify(tmp_path: Path) -> None:
    board = leaderboard_build.make_board(tmp_path / "board", entries=3, tasks=1, seeds=1, units=10)
    assert board.check() == []
    output = tmp_path / "found.json"
    sizes = ["--entries", "70", "--tasks", "1", "--units", "10", "--jobs", "1", "--scores", "5000"]
    assert leaderboard_build.main([*sizes, "--output", str(output)]) == 0
    found = json.loads(output.read_text())
    assert found["site"]["same_bytes_when_rebuilt"]
    assert found["site"]["pages"] > 70
    assert found["certificate"]["scores"] == 5000
