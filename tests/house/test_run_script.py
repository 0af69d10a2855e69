"""``tests/run`` measures coverage where the whole suite runs, and only there."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# It writes down what it is asked to do, and says so many tests were found.
STUB = """#!/usr/bin/env bash
echo "$*" >> "$CALLS"
case "$*" in *pytest*) exit ${STATUS:-0} ;; esac
"""


def run(folder: Path, *words: str, status: int = 0) -> tuple[int, str, list[str]]:
    """Run the script with a python that runs nothing: its status, its output and what it was asked."""
    (folder / "python").write_text(STUB)
    (folder / "python").chmod(0o755)
    done = subprocess.run(
        ["bash", "tests/run", *words],
        cwd=ROOT,
        env={**os.environ, "BIN": str(folder), "CALLS": str(folder / "calls"), "STATUS": str(status)},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, (folder / "calls").read_text().splitlines()


@pytest.mark.parametrize("words", [(), ("--all",)])
def test_the_whole_suite_is_measured(tmp_path: Path, words: tuple[str, ...]) -> None:
    status, out, calls = run(tmp_path, *words)
    assert status == 0
    assert [call.split()[1] for call in calls] == ["coverage", *["pytest"] * 3, "coverage", "coverage"]
    assert all(word in call for word in words for call in calls if "pytest" in call)
    assert "passed after" in out


@pytest.mark.parametrize("words", [("-k", "ties"), ("-k", "docs"), ("-m", "data", "--all"), ("-x",)])
def test_chosen_tests_are_not_measured(tmp_path: Path, words: tuple[str, ...]) -> None:
    status, out, calls = run(tmp_path, *words)
    assert status == 0
    assert [call.split()[1] for call in calls] == ["pytest", "pytest"]
    assert all(call.endswith(" ".join(words)) for call in calls)
    assert "coverage is measured only by the whole suite" in out


def test_paths_are_run_alone(tmp_path: Path) -> None:
    words = ("tests/metrics", "-k", "auc", "tests/house/test_cycles.py::test_x")
    _, _, (call,) = run(tmp_path, *words)
    assert "tests/metrics tests/house/test_cycles.py::test_x" in call
    assert call.endswith("-k auc")
    assert "tests/kernels" not in call


def test_words_that_choose_nothing_and_tests_that_fail_are_failures(tmp_path: Path) -> None:
    status, out, _ = run(tmp_path, "-k", "nothing", status=5)
    assert status == 1
    assert "no test was chosen by: -k nothing" in out
    assert run(tmp_path, "-k", "ties", status=1)[0] == 1
