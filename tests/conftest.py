"""What every test may use: the development data where it is there, and small random graphs."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

import trueedge.graph as tg

# A busy machine is no reason to fail, and CI draws the same examples every time.
settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("house"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "house")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of the development data; the test is skipped where it is absent."""
    folder = os.environ.get("TRUEEDGE_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("the development data is not here: TRUEEDGE_DATA names no folder")
    return Path(folder)


@pytest.fixture
def random_graph() -> Callable[..., tg.Graph]:
    """A function that makes a small random graph: ``random_graph(seed, nodes, edges, features=0)``."""
    return make_random_graph


def make_random_graph(seed: int, nodes: int = 30, edges: int = 60, features: int = 0) -> tg.Graph:
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, nodes, size=(edges * 2, 2))
    table = rng.random((nodes, features)) * (rng.random((nodes, features)) < 0.5) if features else None
    return tg.Graph.from_edges(
        pairs[:edges], nodes, table, self_loops="drop", repeats="drop", name=f"random-{seed}"
    )
