"""Which tests run, and in what surroundings: quick or all, one thread, the data that is there."""

from __future__ import annotations

import gc
import hashlib
import os
import zlib
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# Set before numpy is imported, and inherited by every process a test starts: tests run on all cores already.
# Our own loops keep two threads, so that blocks really run side by side; no thread spins while it waits.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"
os.environ |= {"NUMBA_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "0"}

ROTATION = os.environ.setdefault("TRUEEDGE_ROTATION", datetime.now(UTC).date().isoformat())
QUICK_EXAMPLES = 15
# Of a test with more cases than these, the quick run takes some, others every day.
QUICK_CASES = 2
# Kernels as plain Python are there to have their lines counted: a few cases of each test do that.
UNCOMPILED = os.environ.get("NUMBA_DISABLE_JIT") == "1"
UNCOMPILED_CASES = 2

# A busy machine is no reason to fail, and CI draws the same examples every time.
settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("house"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "house")

# Measuring slows a test down by half, and more cases of a test seldom reach more lines. The quick run
# measures two tests in three, always the same ones: what it reports is a lower bound.
MEASURED_CASES = 2
MEASURED_TESTS, OF_TESTS = 2, 3
measured: Any = None
to_measure: set[str] = set()
worker = os.environ.get("PYTEST_XDIST_WORKER")
if os.environ.get("TRUEEDGE_COVERAGE") and worker:
    import coverage

    # Each worker measures its tests. All of them import the package: one of them measures that.
    measured = coverage.Coverage(data_suffix=True)
    measured.set_option("run:disable_warnings", ["module-not-measured"])
    if worker == "gw0":
        measured.start()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--all``."""
    parser.addoption("--all", action="store_true", help="every case and every example, also the long ones")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Spare the garbage collector what stays to the end: the modules and thousands of tests.

    Every full collection would walk through millions of objects that are never garbage.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what the quick run does without, unless a test is asked for by its own name."""
    _leave_out(config, items)
    cases: dict[str, int] = defaultdict(int)
    share = OF_TESTS if config.option.all or UNCOMPILED else MEASURED_TESTS
    for item in items:
        test = item.nodeid.split("[")[0]
        cases[test] += 1
        if cases[test] <= MEASURED_CASES and zlib.crc32(test.encode()) % OF_TESTS < share:
            to_measure.add(item.nodeid)
    if measured is not None and worker == "gw0":
        measured.stop()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Measure the coverage of a few cases of some tests."""
    if measured is None or item.nodeid not in to_measure:
        return (yield)
    measured.start()
    try:
        return (yield)
    finally:
        measured.stop()


def _leave_out(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.option.all or any("::" in argument for argument in config.args):
        return
    never = ["exhaustive", *(["compiled"] if UNCOMPILED else [])]
    left_out = {item for item in items if any(map(item.get_closest_marker, never))} | set(_resting(items))
    for item in items:
        _limit_examples(item)
    if left_out:
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=sorted(left_out, key=lambda item: item.nodeid))


def _resting(items: list[pytest.Item]) -> Iterator[pytest.Item]:
    """The cases of rotating tests whose turn it is not."""
    cases: dict[tuple[str, int], list[pytest.Item]] = defaultdict(list)
    for item in items:
        marker = item.get_closest_marker("rotating")
        test = item.nodeid.split("[")[0]
        if marker is not None:
            cases[marker.kwargs.get("group", test), marker.args[0]].append(item)
        else:
            cases[test, UNCOMPILED_CASES if UNCOMPILED else QUICK_CASES].append(item)
    for (_, count), members in cases.items():
        yield from sorted(members, key=_turn)[count:]


def _turn(item: pytest.Item) -> bytes:
    return hashlib.sha256(f"{ROTATION} {item.nodeid}".encode()).digest()


def _limit_examples(item: pytest.Item) -> None:
    """Let a property be tested on a few dozen examples, whatever number its test asks for."""
    function = getattr(item, "obj", None)
    asked = getattr(function, "_hypothesis_internal_use_settings", None)
    if asked is not None and asked.max_examples > QUICK_EXAMPLES:
        limited = settings(asked, max_examples=QUICK_EXAMPLES)
        getattr(function, "__func__", function)._hypothesis_internal_use_settings = limited


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say that this was the quick part, and how to run the same again."""
    if not terminalreporter.config.option.all:
        terminalreporter.write_line(f"the quick part (TRUEEDGE_ROTATION={ROTATION}); --all runs every case")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test marked ``data("ogb", "heart/citeseer")`` where one of these is absent."""
    asked = [part for marker in item.iter_markers("data") for part in marker.args]
    folder = os.environ.get("TRUEEDGE_DATA")
    if asked and (not folder or not Path(folder).is_dir()):
        pytest.skip("the development data is not here: TRUEEDGE_DATA names no folder")
    absent = [part for part in asked if not (Path(str(folder)) / part).exists()]
    if absent:
        pytest.skip(f"not in the development data here: {', '.join(absent)}")


def pytest_sessionfinish() -> None:
    """Write down what this worker has measured; later than this it may be interrupted."""
    if measured is not None:
        measured.save()
