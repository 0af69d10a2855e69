"""Documentation runs: every python block and every console command of README and docs."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from trueedge.cli.app import main

ROOT = Path(__file__).parents[2]
# torch_geometric uses what torch has deprecated.
FILTERS = ("error::DeprecationWarning", "ignore:`torch.jit.script` is deprecated:DeprecationWarning")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page: Path, language: str) -> list[str]:
    return [body for name, body in FENCE.findall(page.read_text()) if name == language]


def pages_with(language: str) -> list[Path]:
    return [page for page in PAGES if blocks(page, language)]


def environment() -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key != "TRUEEDGE_DATA"}
    return {**kept, "PATH": f"{Path(sys.executable).parent}:{kept.get('PATH', '')}", "NO_COLOR": "1"}


@pytest.mark.rotating(1, group="examples of pages")
@pytest.mark.parametrize("page", pages_with("python"), ids=lambda page: page.name)
def test_the_python_examples_of_a_page_run_top_to_bottom(page: Path, tmp_path: Path) -> None:
    script = tmp_path / "page.py"
    script.write_text("\n".join(blocks(page, "python")))
    done = subprocess.run(
        [sys.executable, *(f"-W{one}" for one in FILTERS), str(script)],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.rotating(1, group="examples of pages")
@pytest.mark.parametrize("page", pages_with("console"), ids=lambda page: page.name)
def test_the_commands_of_a_page_run(page: Path, tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TRUEEDGE_DATA", raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    lines = [
        line[2:] for body in blocks(page, "console") for line in body.splitlines() if line.startswith("$ ")
    ]
    commands = [line for line in lines if line.startswith("trueedge ")]
    assert commands, "a console block without a trueedge command"
    for command in commands:
        monkeypatch.setattr(sys, "argv", shlex.split(command, comments=True))
        with pytest.raises(SystemExit) as stop:
            main()
        assert not stop.value.code, f"{command}: {capsys.readouterr().err}"
