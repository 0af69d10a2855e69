"""The commands ``pairs`` and ``score``: to another program and back."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import numpy as np
import pytest

import trueedge as te


def read(path: Path) -> tuple[str, list[list[str]]]:
    first, *rest = path.read_text(encoding="utf-8").splitlines()
    return first, list(csv.reader(rest))


def test_pairs_are_written_below_a_line_that_says_of_which_task(trueedge, tmp_path: Path) -> None:
    status, out, err = trueedge("pairs", "karate", "-p", "existing", "--seed", "3", "-o", "out/pairs.csv")
    assert (status, out) == (0, "")
    task = te.task("karate", "existing", seed=3)
    first, rows = read(tmp_path / "out" / "pairs.csv")
    assert first == f"# trueedge pairs: karate existing seed 3 test {task.hash[:16]}"
    assert rows[0] == ["source", "target"]
    assert rows[1:] == [[str(u), str(v)] for u, v in task.distinct_pairs().tolist()]
    # How many are positives would tell something, and is not needed.
    count, reading = err.splitlines()
    assert count == f"out/pairs.csv: {len(rows) - 1} distinct pairs"
    assert reading.endswith("with pandas: pd.read_csv('out/pairs.csv', comment='#')")


def test_scores_go_to_another_program_and_back(trueedge, tmp_path: Path) -> None:
    trueedge("task", "karate", "-p", "existing", "-o", "made")
    trueedge("pairs", "made", "-o", "pairs.csv")
    first, rows = read(tmp_path / "pairs.csv")
    values = [str(int(u) * 100 + int(v)) for u, v in rows[1:]]
    Path("scores.txt").write_text("\n".join([first, *values]))
    status, in_order, _ = trueedge("score", "made", "scores.txt", "--no-baselines")
    assert status == 0
    table = [",".join([*pair, value]) for pair, value in zip(rows[1:], values, strict=True)]
    Path("table.csv").write_text("\n".join(reversed(table)))
    assert trueedge("score", "made", "table.csv", "--no-baselines") == (0, in_order, "")
    status, out, err = trueedge("score", "karate", "-p", "existing", "--seed", "1", "scores.txt")
    assert (status, out) == (1, "")
    assert "holds scores of karate existing seed 0 test" in " ".join(err.split())
    assert "not of karate existing seed 1 test" in " ".join(err.split())
    Path("bare.txt").write_text("\n".join(values))
    status, out, err = trueedge("score", "made", "bare.txt")
    assert (status, out) == (1, "")
    assert "bare.txt holds scores but does not say of which pairs" in " ".join(err.split())


def test_names_that_begin_like_a_comment_come_back(trueedge, tmp_path: Path) -> None:
    names = ['#one, "two"', "%three", *(f"p{node}" for node in range(2, 34))]
    rows = [[names[u], names[v]] for u, v in te.load("karate").edges.tolist()]
    with Path("graph.csv").open("w", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([["source", "target"], *rows])
    assert trueedge("pairs", "graph.csv", "-p", "existing", "-o", "pairs.csv")[0] == 0
    first, pairs = read(tmp_path / "pairs.csv")
    with Path("scores.csv").open("w", newline="") as file:
        file.write(f"{first}\n")
        scored = [[u, v, str(len(u) + len(v))] for u, v in pairs[1:]]
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([["source", "target", "score"], *scored])
    assert any(name in ("#one", "%three") or name == names[0] for pair in pairs for name in pair)
    assert trueedge("score", "graph.csv", "-p", "existing", "scores.csv")[0] == 0


def test_pairs_that_cannot_be_written_leave_nothing(trueedge, tmp_path: Path) -> None:
    (tmp_path / "taken.csv").mkdir()
    for target, sentence in (
        ("pairs.txt", "write the list of pairs to a .csv file"),
        ("taken.csv", "it is a folder"),
    ):
        status, _, err = trueedge("pairs", "karate", "-p", "existing", "-o", target)
        assert (status, sentence in err) == (1, True)
    assert os.listdir(tmp_path) == ["taken.csv"]


@pytest.mark.parametrize("words", [(), ("--part", "valid")])
def test_scores_of_a_part_are_for_that_part(trueedge, words: tuple[str, ...], tmp_path: Path) -> None:
    part = "valid" if words else "test"
    assert trueedge("pairs", "karate", "-p", "existing", *words, "-o", "pairs.csv")[0] == 0
    first, rows = read(tmp_path / "pairs.csv")
    task = te.task("karate", "existing")
    assert first.endswith(f" {part} {task.hash[:16]}")
    np.savetxt("scores.txt", np.arange(len(rows) - 1.0), header=first.removeprefix("# "))
    assert trueedge("score", "karate", "-p", "existing", "scores.txt", "--part", part)[0] == 0
    other = "test" if words else "valid"
    status, _, err = trueedge("score", "karate", "-p", "existing", "scores.txt", "--part", other)
    assert (status, f"{part} ({task.hash[:16]}), not of" in " ".join(err.split())) == (1, True)
