"""What tests of studies may use: small networks under published names."""

from __future__ import annotations

from pathlib import Path

import pytest

from small_networks import write_networks


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A data folder with three networks of ours under published names, and made-up numbers."""
    write_networks(tmp_path)
    monkeypatch.setenv("TRUEEDGE_DATA", str(tmp_path))
    monkeypatch.setenv("TRUEEDGE_CACHE", str(tmp_path / "cache"))
    return tmp_path
