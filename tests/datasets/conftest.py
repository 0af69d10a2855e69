"""Folders a test of data sets may fill, and nothing of the machine it runs on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and no data folder."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("TRUEEDGE_CACHE", str(folder))
    monkeypatch.delenv("TRUEEDGE_DATA", raising=False)
    return folder


@pytest.fixture
def own_data(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty data folder of the test's own, with an empty cache."""
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("TRUEEDGE_DATA", str(folder))
    return folder


class Forged:
    """An object whose pickle calls a function when it is read."""

    def __init__(self, function: Callable[..., Any], *arguments: Any) -> None:
        self.call = (function, arguments)

    def __reduce__(self) -> Any:
        return self.call


@pytest.fixture
def forged(tmp_path: Path) -> object:
    """An object whose pickle, when it is obeyed, leaves the file ``owned`` behind."""
    return Forged(Path.touch, tmp_path / "owned")


def write(path: Path, content: bytes | str) -> Path:
    """Write a file, with the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.fixture
def put() -> Callable[[Path, bytes | str], Path]:
    """The function ``put(path, content)`` writes a file and the folders above it."""
    return write
