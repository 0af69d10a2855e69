"""What every test may use: the development data where it is there, and small random graphs."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator
from pathlib import Path

import numpy as np
import pytest

import trueedge.graph as tg
from trueedge.datasets import MissingFile


@pytest.fixture(scope="session")
def thorough(pytestconfig: pytest.Config) -> bool:
    """Whether everything is asked for (``--all``), or the quick part."""
    return bool(pytestconfig.option.all)


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of the development data; the test is skipped where it is absent.

    Which parts of it a test needs is said by a mark: ``@pytest.mark.data("ogb", "heart/citeseer")``.
    """
    folder = os.environ.get("TRUEEDGE_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("the development data is not here: TRUEEDGE_DATA names no folder")
    return Path(folder)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Skip a test that reads the development data where the files it needs are not there."""
    try:
        return (yield)
    except (MissingFile, FileNotFoundError) as error:
        if "data_folder" in getattr(item, "fixturenames", ()):
            pytest.skip(f"this part of the development data is not here: {error}")
        raise


@pytest.fixture
def trueedge(monkeypatch, capsys, tmp_path) -> Callable[..., tuple[int, str, str]]:
    """Run a command in an empty folder: status, stdout, stderr."""
    from trueedge.cli.app import main
    from trueedge.cli.progress_lines import Talk

    monkeypatch.chdir(tmp_path)
    # Otherwise the first command of a fresh clone says that it compiles, and which test runs it is chance.
    monkeypatch.setattr(Talk, "warned", True)

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["trueedge", *words])
        try:
            main()
            status = 0
        except SystemExit as stop:
            status = int(stop.code or 0)
        out, err = capsys.readouterr()
        return status, out, err

    return run


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
