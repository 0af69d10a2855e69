"""Boards that several files test: one with two entries, and a served one with a hidden task."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from trueedge.leaderboard.board import Board

# The benchmarks are tested too.
sys.path.insert(0, str(Path(__file__).parents[2]))

if TYPE_CHECKING:
    from tests.leaderboard.served_board import Served


@pytest.fixture(scope="session")
def made(tmp_path_factory) -> Path:
    """Return a folder with a board of two entries (``board``), and their certificates (``made``)."""
    from tests.leaderboard.boards import board_with

    folder = tmp_path_factory.mktemp("made")
    board_with(folder, "ra", "cn")
    return folder


@pytest.fixture
def board(made: Path, tmp_path: Path) -> Board:
    """Return a copy of the board for one test."""
    shutil.copytree(made / "board", tmp_path / "board")
    return Board.open(tmp_path / "board")


@pytest.fixture(scope="session")
def prepared(tmp_path_factory) -> Path:
    """Return a folder with certificates and a hidden task, to be copied by :func:`make_served`."""
    from tests.leaderboard.served_board import make_certificates, make_hidden

    folder = tmp_path_factory.mktemp("prepared")
    make_certificates(folder)
    make_hidden(folder)
    return folder


@pytest.fixture
def served(tmp_path: Path, prepared: Path) -> Served:
    """Return a board with a server for one test."""
    from tests.leaderboard.served_board import make_served

    return make_served(tmp_path, prepared)
