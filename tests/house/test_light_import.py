"""Importing trueedge loads little, and nothing heavy."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import sys
before = set(sys.modules)
import trueedge
names = ("torch", "torch_geometric", "scipy", "numba", "networkx", "pandas")
heavy = [name for name in names if name in sys.modules]
print(len(set(sys.modules) - before), *heavy)
"""

# 31 when this was written; scipy alone would bring hundreds.
MOST_MODULES = 60


def run(script: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_importing_loads_few_modules_and_none_that_is_heavy() -> None:
    count, *heavy = run(SCRIPT)
    assert heavy == []
    assert int(count) < MOST_MODULES


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
