"""Write the files of an entry so that a power cut leaves each of them whole or absent."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from trueedge.leaderboard.board.entry import SCORES, UNITS
from trueedge.leaderboard.board.entry_card import FILE, EntryCard
from trueedge.leaderboard.board.unit_files import certified_values, write_units

# Git hosts warn of larger files.
LARGEST_SCORES = 50_000_000
# Where larger ones go, by their hash; like the record of the last build, it is not for git.
ELSEWHERE = ".scores"


def write_entry(
    board: Path,
    folder: Path,
    certificates: Sequence[tuple[Path, Mapping[str, Any]]],
    card: EntryCard | None,
) -> None:
    """Write an entry's files; a certificate appears after its scores, and the card first.

    Args:
        board: the folder of the board.
        folder: that of the entry.
        certificates: their files and contents.
        card: the entry's card; None if it has one.
    """
    if card is not None:
        _durably(folder / FILE, card.to_toml().encode())
    for path, content in certificates:
        named = path.parent / content["scores"]["file"]
        source = named if named.exists() else path.with_suffix(SCORES)
        stem = f"seed-{content['seed']}"
        if source.stat().st_size <= LARGEST_SCORES:
            _copy(source, folder / f"{stem}{SCORES}")
        else:
            # Too large for git: the values that ranks need stay, and the scores go elsewhere by their hash.
            (board / ELSEWHERE).mkdir(exist_ok=True)
            _copy(source, board / ELSEWHERE / f"{content['hashes']['scores']}.npz")
            write_units(folder / f"{stem}{UNITS}", {content["headline"]: certified_values(path, content)})
        _durably(folder / f"{stem}.json", path.read_bytes())
    sync_folder(folder)


def _copy(source: Path, target: Path) -> None:
    draft = target.with_name(f".{target.name}.draft")
    shutil.copyfile(source, draft)
    with draft.open("rb") as file:
        os.fsync(file.fileno())
    os.replace(draft, target)


def _durably(path: Path, content: bytes) -> None:
    draft = path.with_name(f".{path.name}.draft")
    with draft.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(draft, path)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder outlast a power cut."""
    place = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(place)
    finally:
        os.close(place)
