"""Commands read folders with saved graphs of every kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import trueedge as te

METHODS = {
    "karate": "ra",
    "nations": "relation-frequency",
    "bibliography:authors=60": "majority",
    "bookshop:users=30,items=40": "popularity",
}


@pytest.mark.parametrize("name", METHODS)
def test_run_audit_and_task_read_a_saved_graph(name: str, trueedge: Any) -> None:
    graph: Any = te.load(name)
    graph.save("saved")
    status, out, _ = trueedge("run", "saved", "-m", METHODS[name], "--seeds", "1")
    assert (status, METHODS[name] in out) == (0, True)
    assert trueedge("audit", "saved")[1].startswith(graph.name)
    trueedge("task", "saved", "-o", "made")
    assert te.load_task("made").hash == te.task(Path("saved")).hash


def test_judge_and_pairs_read_a_saved_graph(trueedge: Any) -> None:
    te.load("karate").save("saved")
    assert "Verdict on ppr" in trueedge("judge", "saved", "ppr", "--seeds", "1")[1]
    trueedge("pairs", "saved", "-o", "pairs.csv")
    assert Path("pairs.csv").is_file()
