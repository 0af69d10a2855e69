"""Files and folders that :func:`trueedge.load` does not read, although the package does."""

from __future__ import annotations

import os
from pathlib import Path

from trueedge.errors import InputError
from trueedge.graph.hgb_content import MARKS
from trueedge.graph.hgb_files import is_hgb
from trueedge.graph.interaction_files import folder_format
from trueedge.graph.triple_files import folder_files

# The file of a store of records.
RECORDS = "records.sqlite"
_TASK = "te.task or 'trueedge run' makes a task of it"


def refuse_other_kinds(path: str | os.PathLike[str]) -> None:
    """Raise an InputError for a path that holds no plain graph; it says what reads it.

    Args:
        path: a file or a folder; one that holds nothing that is known is left to others.
    """
    # An empty name is not the folder one is in.
    held = _held(Path(path)) if os.fspath(path) else None
    if held is not None:
        raise InputError(f"{os.fspath(path)} {held}")


def typed_folder_of(path: str | os.PathLike[str]) -> str:
    """Say that a file belongs to a folder in HGB's format, and what reads that; empty if it does not.

    Args:
        path: a file.
    """
    place = Path(path)
    if place.name not in MARKS or not (place.parent / "link.dat").is_file():
        return ""
    return (
        f"{place.name} belongs to the typed graph in {place.resolve().parent.name}: te.HeteroGraph.from_hgb"
        " reads the folder"
    )


def holds_nothing(folder: str | os.PathLike[str]) -> str:
    """Say of a folder without any known data what it holds.

    Args:
        folder: the folder.
    """
    if (Path(folder) / RECORDS).is_file():
        return f"{os.fspath(folder)} holds records of runs and no graph: te.Store reads it"
    return f"there is no edge list and no saved graph at {os.fspath(folder)}, a folder without known files"


def _held(place: Path) -> str | None:
    """Return what a path holds and how it is read, or None for an edge list and for what is not known."""
    if is_hgb(place):
        if place.is_file():
            return (
                f"is a zip archive: if it is in HGB's format, te.HeteroGraph.from_hgb reads it, and {_TASK}"
            )
        return f"holds a typed graph in HGB's format: te.HeteroGraph.from_hgb reads it, and {_TASK}"
    if not os.path.isdir(place):
        return None
    if (place / "task.json").is_file():
        return "is a saved task: te.load_task reads it"
    found = folder_format(place)
    if found == "undecided":
        return (
            "holds triples or interactions: te.task or 'trueedge run' makes a task of it, with the protocol"
            " filtered for triples or full-ranking for interactions"
        )
    if found is not None:
        return f"holds interactions of users with items: te.Interactions.from_path reads it, and {_TASK}"
    if folder_files(place) is not None:
        return (
            f"holds the parts of a knowledge graph: {_TASK}, and te.KnowledgeGraph.from_triples reads a file"
        )
    return None
