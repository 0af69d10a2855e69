"""A command, run in an empty folder."""

from __future__ import annotations

import sys

import pytest

from trueedge.cli.app import main


@pytest.fixture
def trueedge(monkeypatch, capsys, tmp_path):
    """Run a command in an empty folder: status, stdout, stderr."""
    monkeypatch.chdir(tmp_path)

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
