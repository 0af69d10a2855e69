"""What the documentation shows of audits on the development data is what the commands print."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest

from trueedge.audit import audit
from trueedge.cli.app import main

PAGE = Path(__file__).parents[2] / "docs" / "audit.md"
SHOWN = re.findall(r"^```text\n\$ (trueedge audit .*)\n((?:.*\n)*?)```", PAGE.read_text(), re.MULTILINE)


def test_the_page_shows_the_released_negatives_and_those_made_as_described() -> None:
    commands = " ".join(command for command, _ in SHOWN)
    assert "citeseer -p heart-released" in commands
    assert "--negatives" in commands
    assert len(SHOWN) == 3


@pytest.mark.rotating(4, group="published audits")
@pytest.mark.data("planetoid", "heart/citeseer")
@pytest.mark.parametrize(("command", "lines"), SHOWN, ids=lambda value: value[:60])
def test_the_lines_shown_are_those_printed(command, lines, data_folder, monkeypatch, capsys) -> None:
    words = shlex.split(command.replace("$TRUEEDGE_DATA", str(data_folder)))
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as stop:
        main()
    assert not stop.value.code
    printed = capsys.readouterr().out.splitlines()
    shown = [line for line in lines.splitlines() if line != "…"]
    assert len(shown) >= 1
    for line in shown:
        assert line in printed


@pytest.mark.rotating(4, group="published audits")
@pytest.mark.data("ogb/ogbl-ddi")
def test_the_page_of_ogbl_ddi_is_small(tmp_path: Path) -> None:
    assert audit("ogbl-ddi").save(tmp_path / "audit.html").stat().st_size < 1_000_000
