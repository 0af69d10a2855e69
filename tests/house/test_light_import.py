"""Importing trueedge is quick and brings nothing heavy along."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import sys, time
start = time.perf_counter()
import trueedge
seconds = time.perf_counter() - start
names = ("torch", "torch_geometric", "scipy", "numba", "networkx", "pandas")
heavy = [name for name in names if name in sys.modules]
print(seconds, *heavy)
"""


def run(script: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_import_takes_less_than_three_tenths_of_a_second_and_brings_nothing_heavy() -> None:
    tries = [run(SCRIPT) for _ in range(3)]
    assert tries[0][1:] == []
    assert min(float(words[0]) for words in tries) < 0.3


def test_heuristics_run_without_torch() -> None:
    script = """
import sys
sys.modules["torch"] = None  # any import of torch fails
import trueedge as te
record = te.run("karate", "existing", "ra", seed=0)
print(0 <= record.test["auc"] <= 1, "torch_geometric" in sys.modules)
"""
    assert run(script) == ["True", "False"]


def test_all_public_names_are_there() -> None:
    import trueedge

    for name in trueedge.__all__:
        assert getattr(trueedge, name) is not None
    assert set(trueedge.__all__) <= set(dir(trueedge))
