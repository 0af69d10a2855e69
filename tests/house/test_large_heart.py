"""The command that measures hard negatives of large graphs, on a small one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from trueedge.graph import Graph
from trueedge.negatives.heart import heart
from trueedge.negatives.sharded import open_shards

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.rotating(1, group="large hard negatives")


def command(scratch: Path, *words: str) -> dict:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.large_heart", "tiny", "--scratch", str(scratch), *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_run_reports_time_and_memory_and_a_second_one_finds_all_done(tmp_path):
    first = command(tmp_path, "--output", str(tmp_path / "results"))
    assert json.loads((tmp_path / "results" / "large-heart-tiny.json").read_text()) == first
    assert first["stages"][0]["name"] == "make the graph"
    assert all(stage["peak_memory"] > 2**24 and stage["seconds"] > 0 for stage in first["stages"])
    assert first["peak_memory"] == max(stage["peak_memory"] for stage in first["stages"])
    assert first["bars"]["seconds"]["reached"] in (True, False)
    assert "extrapolated" not in first

    again = command(tmp_path)
    assert again["negatives"] == first["negatives"]
    assert again["shards_found"] == first["shards"] > 0
    assert again["bars"]["seconds"]["reached"] is None, "nothing was left to be timed"

    place = tmp_path / "tiny"
    graph, test, valid = (
        Graph.load(place / "graph"),
        np.load(place / "test.npy"),
        np.load(place / "valid.npy"),
    )
    assert graph.num_edges + len(test) + len(valid) == 20_000
    expected = heart(graph, test, k=20, eps=1e-4, known=valid)
    assert (open_shards(place / "negatives")[:] == expected).all()


def test_a_sample_is_extrapolated_by_end_nodes_and_meets_no_bar(tmp_path):
    some = command(tmp_path, "--sample", "50")
    ends = len(np.unique(np.load(tmp_path / "tiny" / "test.npy")))
    assert some["positives"] == 50
    assert some["extrapolated"]["ends"] == ends
    spent = next(stage for stage in some["stages"] if stage["name"] == "make the negatives")
    assert np.isclose(some["extrapolated"]["seconds"], spent["seconds"] * ends / some["ends"])
    assert some["bars"]["seconds"]["reached"] is None
