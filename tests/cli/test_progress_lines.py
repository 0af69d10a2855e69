"""What is said about progress off a terminal."""

from __future__ import annotations

import io
import threading
from pathlib import Path

import pytest
from rich.console import Console

from trueedge.cli import progress_lines, showing
from trueedge.cli.progress_lines import LogLines, Talk, clock


@pytest.fixture(autouse=True)
def usual(monkeypatch):
    """The level of talk is put back."""
    monkeypatch.setattr(Talk, "level", "normal")
    monkeypatch.setattr(Talk, "warned", True)


def test_a_log_gets_a_line_now_and_then_until_the_work_ends() -> None:
    lines: list[str] = []
    seen = threading.Event()

    def say(line: str) -> None:
        lines.append(line)
        if line.endswith("existing · ppr"):
            seen.set()

    with LogLines(say, "making the task", 24, every=0.001) as log:
        log.report("existing · ppr", 3, 24)
        assert seen.wait(10)
    count = len(lines)
    assert lines[-1] == "[0:00] 3/24 existing · ppr"
    assert not any(one.name == "progress" for one in threading.enumerate())
    assert len(lines) == count


def test_times_are_written_as_on_a_clock() -> None:
    assert [clock(seconds) for seconds in (7.9, 65, 7384)] == ["0:07", "1:05", "2:03:04"]


def test_a_quick_command_says_nothing_about_progress(trueedge) -> None:
    status, _, err = trueedge("run", "karate", "-p", "existing", "-m", "cn,ra", "--seeds", "2")
    assert status == 0
    assert "1/4" not in err


def test_verbose_prints_a_line_for_each_finished_run(trueedge) -> None:
    words = ("-p", "existing", "-m", "cn,ra", "--seeds", "2", "--verbose")
    _, _, err = trueedge("run", "karate", *words)
    assert [line.rpartition(",")[0] for line in err.splitlines()[:4]] == [
        "1/4 existing · cn · seed 0",
        "2/4 existing · ra · seed 0",
        "3/4 existing · cn · seed 1",
        "4/4 existing · ra · seed 1",
    ]
    status, _, err = trueedge("run", "karate", *words, "--quiet")
    assert status == 1
    assert "--quiet and --verbose contradict each other" in err


@pytest.mark.parametrize("level", ["quiet", "normal"])
def test_a_bar_is_shown_on_a_terminal_unless_it_is_quiet(monkeypatch, level: str) -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=80)
    monkeypatch.setattr(showing, "STDERR", console)
    monkeypatch.setattr(Talk, "level", level)
    with showing.progress(2, "work") as report:
        report("half of it", 1, 2)
    assert ("1/2" in screen.getvalue()) is (level == "normal")


def test_the_first_compilation_is_announced_once(monkeypatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(Talk, "warned", False)
    monkeypatch.setattr(progress_lines, "is_compiled", lambda: False)
    progress_lines.warn_of_compiling(said.append)
    progress_lines.warn_of_compiling(said.append)
    assert said == ["Compiling kernels for the first time: about a minute, once"]


def test_compiled_code_is_found_where_the_compiler_keeps_it(monkeypatch, tmp_path: Path) -> None:

    def compiled(place: Path) -> bool:
        """Whether code is found after the compiler has put it there; it is taken away again."""
        assert not progress_lines.is_compiled()
        place.mkdir(parents=True, exist_ok=True)
        (place / "csr.count-1.py311.nbi").touch()
        found = progress_lines.is_compiled()
        (place / "csr.count-1.py311.nbi").unlink()
        return found

    monkeypatch.setattr(progress_lines, "__file__", str(tmp_path / "package" / "cli" / "progress_lines.py"))
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path / "temporary"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    (tmp_path / "package" / "kernels" / "arrays").mkdir(parents=True)
    assert compiled(tmp_path / "package" / "kernels" / "arrays" / "__pycache__")
    assert compiled(tmp_path / "home" / "numba" / "arrays_1f")
    assert not compiled(tmp_path / "home" / "numba" / "somebody_else_1f")
    assert compiled(tmp_path / "temporary" / "trueedge-compiled-7" / "arrays_1f")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    assert compiled(tmp_path / "cache" / "arrays_1f")
    assert not compiled(tmp_path / "package" / "kernels" / "arrays" / "__pycache__")
