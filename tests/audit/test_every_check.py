"""Every check catches a planted fault and passes a clean benchmark, from memory and from a user's files."""

from __future__ import annotations

from pathlib import Path

import pytest
from faults import FAULTS, clean, write
from planted import run

from trueedge.audit import Finding, audit, catalogue

# These benchmarks have no times: test_future_edges.py has its own.
NAMES = [check.name for check in catalogue("link") if check.name != "future-edges"]


def test_there_is_a_fault_for_every_check() -> None:
    assert sorted(FAULTS) == sorted(NAMES)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> tuple[object, object]:
    """What the checks say of the clean benchmark, from memory and from files."""
    return audit(clean()), audit(**write(clean(), tmp_path_factory.mktemp("clean")))


@pytest.mark.parametrize("name", NAMES)
def test_a_check_passes_the_clean_benchmark(name: str, sound) -> None:
    for found in sound:
        assert found[name].verdict == "ok", found[name].sentence


@pytest.mark.parametrize("name", NAMES)
def test_a_check_catches_its_fault_in_memory_and_in_files(name: str, tmp_path: Path) -> None:
    task = FAULTS[name]()
    planted = run(name, task)
    assert isinstance(planted, Finding)
    assert planted.verdict in ("look", "broken"), planted.sentence
    read = audit(**write(task, tmp_path))[name]
    assert read.verdict == planted.verdict
    assert read.numbers == pytest.approx({**planted.numbers, **_only_of_files(name)})


def _only_of_files(name: str) -> dict[str, float]:
    """With the whole graph beside the split, edges of no part are counted too."""
    return {"other edges": 0.0} if name == "false-negatives" else {}
