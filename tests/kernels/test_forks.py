"""Compiled loops also run in a process that was forked after they ran, and with any threading layer."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "src" / "trueedge" / "kernels"

SCRIPT = """
import os
import numpy as np
from trueedge.kernels.arrays.rows import row_products
from trueedge.kernels.ranking.ranking import count_above

table = np.random.default_rng(0).random((50, 2000), dtype=np.float32)
pairs = np.stack(np.meshgrid(np.arange(50), np.arange(50)), axis=-1).reshape(-1, 2)

def work():
    return row_products(table, pairs).tobytes() + count_above(np.ones(500), table[:, :500].T)[0].tobytes()

here = work()
child = os.fork()
if child == 0:
    os._exit(0 if work() == here else 3)
print(os.waitpid(child, 0)[1])
"""


@pytest.mark.compiled
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("layer", ["omp", "unheard-of"])
def test_a_forked_process_computes_the_same(layer: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**os.environ, "NUMBA_THREADING_LAYER": layer, "NUMBA_NUM_THREADS": "2"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("0\n", "")


def test_no_kernel_starts_threads_of_the_compiler() -> None:
    started = ("parallel=True", "prange", "set_num_threads(")
    found = [
        f"{path.name}: {word}"
        for path in SOURCES.rglob("*.py")
        for word in started
        if word in path.read_text("utf-8")
    ]
    assert found == []
