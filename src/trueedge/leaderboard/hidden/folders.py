"""Check where a hidden task is to be written, before anything is drawn or written."""

from __future__ import annotations

from pathlib import Path

from trueedge.errors import InputError
from trueedge.files.writing import check_target
from trueedge.leaderboard.board import Board
from trueedge.leaderboard.board.board import FILE as BOARD


def check_folders(public: Path, secret: Path, board: Board | None) -> None:
    """Refuse folders that would publish labels, or that hold something already.

    Args:
        public: the folder for participants.
        secret: the folder for the judge.
        board: the board that gets the task, if any.
    """
    shared, kept = public.resolve(), secret.resolve()
    if kept.is_relative_to(shared):
        raise InputError(f"SECRET must not be in PUBLIC: {secret} is in {public}, which participants get")
    if shared.is_relative_to(kept):
        raise InputError(f"PUBLIC must not be in SECRET: {public} is in {secret}, which nobody else may read")
    named = [] if board is None else [board.folder]
    for folder in (*named, *boards_above(kept, shared)):
        check_beside_board(public, secret, folder)
    if secret.exists() or secret.is_symlink():
        raise InputError(f"{secret} exists: labels are written into a new folder")
    if public.is_file():
        raise InputError(f"{public} is a file, not a folder")
    if public.is_dir() and any(public.iterdir()):
        raise InputError(f"the folder {public} is not empty: the hidden task is saved into a new one")
    check_target(secret / "secret.json", "the labels")
    # An empty folder is replaced, so the one above must be writable too.
    check_target(public.with_name(f".{public.name}.draft"), "the hidden task")


def boards_above(*places: Path) -> list[Path]:
    """Return the folders above some places that are boards."""
    above = dict.fromkeys(folder for place in places for folder in place.parents)
    return [folder for folder in above if (folder / BOARD).is_file()]


def check_beside_board(public: Path, secret: Path, board: Path) -> None:
    """Refuse folders inside that of a board."""
    if secret.resolve().is_relative_to(board.resolve()):
        raise InputError("hidden labels must not be in the folder of the board, which is published")
    if public.resolve().is_relative_to(board.resolve()):
        raise InputError(
            f"PUBLIC must not be in the folder of the board, which holds tasks and entries alone: {public} is"
            f" in {board}"
        )
