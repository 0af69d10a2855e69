"""A browser, where this machine has one, and the pages it opens."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import Browser, executable

import trueedge as te
from trueedge.report import write

sys.path.append(str(Path(__file__).parents[1] / "report"))


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A headless Chromium; the test is skipped where there is none."""
    path = executable()
    if path is None:
        pytest.skip("no browser here: neither chromium nor google-chrome is installed")
    with Browser(path) as opened:
        yield opened


@pytest.fixture(scope="session")
def report_file(tmp_path_factory) -> Path:
    """A report with every part in it."""
    from made_up import record

    found = [
        te.run("karate", protocol, method, seed=seed)
        for protocol in ("existing", "uniform", "degree-corrected")
        for method in ("cn", "ra", "pa", "katz", "ppr")
        for seed in (0, 1, 2)
    ]
    found += [record(method="gcn", seed=seed, curve=30, shift=-0.5) for seed in range(3)]
    found += [record(method="a method with <b>a long</b> name", seed=seed, curve=20) for seed in range(3)]
    names = ("ra", "gcn", "sage", "gin (negatives=degree-corrected, epochs=120)", "buddy")
    found += [
        record(f"made-{place}", method=name, shift=0.4 * shift)
        for place in range(5)
        for shift, name in enumerate(names)
    ]
    return write(found, tmp_path_factory.mktemp("pages") / "report.html", source="runs")


@pytest.fixture(scope="session")
def verdict_file(tmp_path_factory) -> Path:
    """A verdict without doubts."""
    from made_up import verdict

    return verdict().page(tmp_path_factory.mktemp("pages") / "verdict.html")


@pytest.fixture(scope="session")
def doubtful_file(tmp_path_factory) -> Path:
    """A verdict with more doubts than fit into the first screen."""
    from made_up import verdict

    from trueedge.verdict.suspicions import Suspicion

    reasons = (
        "every test edge has the score 1, every other pair 0: these are the edges of the whole graph",
        "fitted again on the same graph with its nodes renumbered, its AUC falls from 1.00 to 0.50: it knows"
        " the nodes from outside of the task",
        "MRR is 100.00, and the best baseline, ppr, 42.93: no predictor is that good without the answers",
    )
    found = verdict([Suspicion(str(place), reason) for place, reason in enumerate(reasons)])
    return found.page(tmp_path_factory.mktemp("pages") / "doubtful.html")
