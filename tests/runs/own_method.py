"""A method of a user's own, as a file whose code and data a test may change."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

CODE = """
{imports}
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from trueedge.methods import Method, setting


@dataclass(frozen=True)
class Mine(Method):
    name: ClassVar[str] = "mine"
    title: ClassVar[str] = "Mine"
    family: ClassVar[str] = "own"
    citation: ClassVar[str] = "none"
    path: str = setting("", "a file")

    def fit(self, task, seed=0, device="cpu"):
        {body}
        factor = float({weight})
        return lambda pairs: np.log1p(pairs).sum(axis=1) * factor
"""
ONLY = ("run", "karate", "-p", "existing", "-m", "mine.py:Mine")


def write(imports: str = "", body: str = "pass", weight: str = "1", path: str = "mine.py") -> None:
    """Write the file of a method."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(CODE.format(imports=imports, body=body, weight=weight))


def forget(*names: str) -> None:
    """Let Python import modules again, as a new process does."""
    for name in [one for one in sys.modules if one.partition(".")[0] in names]:
        del sys.modules[name]


@pytest.fixture
def ran(trueedge, monkeypatch) -> Iterator[Callable[..., str]]:
    """Run the method as a new process would, and return how many records are new and cached."""
    from trueedge.methods import method

    method.METHODS.discover()
    monkeypatch.setattr(method.METHODS, "_entries", dict(method.METHODS._entries))
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def run(*words: str, alone: bool = True) -> str:
        forget("own_helper", "own_package", *(("mine",) if alone else ()))
        status, _, err = trueedge(*(words or ONLY))
        assert status == 0, err
        found = re.search(r"\d+ new, \d+ cached", err)
        assert found is not None
        return found[0]

    yield run
    forget("own_helper", "own_package", "mine")
