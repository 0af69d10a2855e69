"""Files and folders of interactions: which format they have, and how they are read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Literal

from trueedge.errors import InputError
from trueedge.files.text import as_path, open_text
from trueedge.graph import interaction_kgat as kgat
from trueedge.graph.interaction_kgcn import MAP, TABLES, TRIPLES, read_kgcn
from trueedge.graph.interaction_recbole import ENDING, read_recbole
from trueedge.graph.interaction_tables import InteractionList, as_list, read_rows

Format = Literal["kgat", "recbole", "kgcn", "undecided"]
SEEN_LINES = 200
EXPECTED = (
    "train.txt and test.txt (KGAT), a .inter file (RecBole), or a file of interactions such as ratings.csv"
    " (KGCN)"
)


def read_path(
    path: str | os.PathLike[str], name: str | None = None, header: bool | None = None
) -> tuple[str, InteractionList]:
    """Read a file or a folder of interactions; return its name as well. See ``Interactions.from_path``."""
    place = as_path(path, "Interactions.from_path")
    called = name or _name(place)
    if place.suffix == ENDING and is_file_of_interactions(place):
        return called, read_recbole(_files(place.parent), place.stem, called)
    if not _is_folder(place):
        return called, as_list(read_rows(place, header=header))
    found = folder_format(place)
    if found is None:
        raise InputError(f"{place} is not a folder of interactions: it needs {EXPECTED}")
    return called, read_files(_files(place), "kgat" if found == "undecided" else found, called)


def read_files(files: Mapping[str, Path], format: str, name: str) -> InteractionList:
    """Read files of one format: ``kgat``, ``recbole`` or ``kgcn``.

    Args:
        files: the path of each file by its name.
        format: the format.
        name: the name of the data.
    """
    if format == "kgat":
        return kgat.read_kgat(files, name)
    tables = sorted(one for one in files if one.endswith(ENDING)) if format == "recbole" else []
    tables = tables or [one for one in TABLES if one in files]
    if len(tables) > 1:
        folder = files[tables[0]].parent
        raise InputError(f"{folder} has both {tables[0]} and {tables[1]}: give one of these files")
    if format == "recbole":
        return read_recbole(files, tables[0].removesuffix(ENDING), name)
    return read_kgcn(files, tables[0], name)


def _files(folder: Path) -> dict[str, Path]:
    try:
        return {name: folder / name for name in sorted(os.listdir(folder))}
    except OSError as error:
        raise InputError(f"{folder} cannot be read: {error.strerror or error}") from None


def folder_format(folder: Path) -> Format | None:
    """Return the format of a folder of interactions, or None if it is none.

    A folder with ``train.txt`` and ``test.txt`` may hold triples as well. It is in KGAT's format if it has
    KGAT's other files, or if its lines are numbers and not always three; ``undecided`` if it may be either.
    """
    if not _is_folder(folder):
        return None
    files = _files(folder)
    if any(name.endswith(ENDING) for name in files):
        return "recbole"
    if kgat.TRAIN in files and kgat.TEST in files:
        return _kgat_or_triples(files)
    if any(name in files for name in TABLES):
        return "kgcn"
    if TRIPLES in files and MAP in files:
        raise InputError(
            f"{folder} has {TRIPLES} and {MAP}, but no file of interactions, such as {TABLES[0]}"
        )
    marks = [mark for mark in kgat.MARKS if mark in files]
    for there, missing in ((kgat.TRAIN, kgat.TEST), (kgat.TEST, kgat.TRAIN)):
        if marks and there in files:
            raise InputError(f"{folder} has {there} and {marks[0]}, but no {missing}")
    return None


def _name(path: Path) -> str:
    try:
        return path.resolve().name.split(".")[0] or "interactions"
    except (OSError, ValueError):  # a name that is too long, or has a NUL in it
        return "interactions"


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):  # a name that is too long, or has a NUL in it
        return False


def is_file_of_interactions(path: Path) -> bool:
    """Return whether a file surely holds interactions: RecBole's ending says so."""
    return path.suffix == ENDING and path.is_file()


def undecided(folder: Path) -> InputError:
    """Return the error for a folder that may hold interactions or triples."""
    return InputError(
        f"{folder} may hold triples or interactions, since {kgat.TRAIN} has three numbers in each line: name"
        " the protocol, filtered for triples or full-ranking for interactions"
    )


def _kgat_or_triples(files: Mapping[str, Path]) -> Format | None:
    validated = any(name.startswith("valid.") for name in files)
    marked = any(mark in files for mark in kgat.MARKS)
    if validated and not marked:
        return None
    if marked and not validated:
        return "kgat"
    widths = _widths(files[kgat.TRAIN])
    if widths == {3}:
        return "undecided"
    return "kgat" if widths is not None else None


def _widths(path: Path) -> set[int] | None:
    """Return how many numbers the first lines of a file have; None if they hold tabs or anything else."""
    text = open_text(path)
    rows = [line for line in islice(text.data.split(b"\n", SEEN_LINES), SEEN_LINES) if line.strip()]
    fields = [row.split() for row in rows]
    numbers = all(field.isdigit() for row in fields for field in row)
    if not rows or not numbers or any(b"\t" in row for row in rows):
        return None
    return set(map(len, fields))
