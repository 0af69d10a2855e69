"""Save a task to a folder and load it, so that everybody evaluates on the same data."""

from __future__ import annotations

import hashlib
import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trueedge.datasets import refuse_shadowed
from trueedge.errors import InputError
from trueedge.files.arrays import read_array
from trueedge.files.cards import read_json
from trueedge.files.writing import new_folder
from trueedge.graph.storage import UNSEALED
from trueedge.negatives.shard_files import claimed, draft_of, publish
from trueedge.negatives.sharded import open_shards
from trueedge.registry import Registry

if TYPE_CHECKING:
    from trueedge.tasks.base import GraphTask, Task

PARTS = ("valid", "test")
KINDS: Registry[type[Task]] = Registry("kind of task", "trueedge.tasks")
FORMAT = 2
# The hash of this format did not cover the names of the nodes.
UNSEALED_FORMAT = 1
FIELDS: dict[str, type] = {
    **dict.fromkeys(("kind", "dataset", "protocol", "headline", "hash", "seal"), str),
    "seed": int,
    "parts": list,
    "metrics": list,
    "settings": dict,
}
SECONDS_BETWEEN_CHECKS = 0.1


def save(task: Task, folder: Path) -> Path:
    """Write a task to a new or empty folder: ``task.json``, ``graph/`` and a ``.npy`` file for each array."""
    folder = Path(os.path.realpath(folder))
    with new_folder(folder, "the task") as draft:
        if (graph := getattr(task, "graph", None)) is not None:
            graph.save(draft / "graph")
        for name, array in task.arrays().items():
            np.save(draft / f"{name}.npy", array, allow_pickle=False)
        (draft / "task.json").write_text(json.dumps(_card(task), indent=2, default=_plain) + "\n")
    return folder


def complete(task: GraphTask, folder: Path) -> None:
    """Complete a folder of sharded negatives to a saved task; several processes may do so at the same time.

    The folder gets everything that :func:`save` writes except the negatives; ``task.json`` comes last.
    """
    card = folder / "task.json"
    while not card.exists():
        with claimed(card) as file:
            if file is None:
                time.sleep(SECONDS_BETWEEN_CHECKS)
            elif card.exists():
                draft_of(card).unlink()
            else:
                task.graph.save(folder / "graph")
                for name, array in task.arrays().items():
                    if name.endswith(("_positives", "_times")):
                        np.save(folder / f"{name}.npy", array, allow_pickle=False)
                file.write((json.dumps(_card(task), indent=2, default=_plain) + "\n").encode())
                publish(file, card)
    if not _has_hash(task, _read_card(folder)):
        raise InputError(f"{folder} holds another task already")


def shards_of(folder: Path, part: str) -> Path:
    """Return the folder of a part's negatives in a task's folder, if they are in shards."""
    return folder / f"{part}_negatives"


def files_of(folder: Path) -> list[Path]:
    """Return the files that a saved task is read from."""
    below = [folder / "graph", *(shards_of(folder, part) for part in PARTS)]
    inner = [path for place in below for path in place.rglob("*") if path.is_file()]
    return [folder / "task.json", *folder.glob("*.npy"), *inner]


def refuse_foreign(folder: Path) -> None:
    """Refuse to write a task in shards into a folder that holds anything but an unfinished one."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file, not a folder")
    ours = {"graph", "task.json", draft_of(folder / "task.json").name}
    ours |= {f"{part}_{what}" for part in PARTS for what in ("negatives", "positives.npy", "times.npy")}
    foreign = sorted(set(os.listdir(folder)) - ours) if folder.exists() else []
    if foreign:
        raise InputError(f"{folder} is neither empty nor a task in shards: {foreign[0]!r} is in it")


def is_saved(thing: object) -> bool:
    """Return whether something names the folder of a saved task; refuse what is also a data set's name."""
    if not isinstance(thing, (str, os.PathLike)) or not str(thing).strip():
        return False
    refuse_shadowed(thing)
    return (Path(thing) / "task.json").is_file()


def load(folder: str | Path, *, fitting: bool = False) -> Task:
    """Read a saved task and compare its content with the hash it was saved under.

    Args:
        folder: the folder that :meth:`Task.save` wrote.
        fitting: whether it is what a method's ``fit`` got: a task without its test part.
    """
    folder = Path(folder)
    card = _read_card(folder, fitting)
    kind = KINDS.get(card["kind"])
    fields = {name: card[name] for name in ("dataset", "protocol", "seed", "headline", "settings")}
    fields["metrics"] = tuple(card["metrics"])
    if (graph_type := getattr(kind, "graph_type", None)) is not None:
        fields["graph"] = graph = graph_type.load(folder / "graph")
        if _format(card) == UNSEALED_FORMAT and getattr(graph, "labels", None) is not None:
            notes = (*card["settings"].get("notes", ()), UNSEALED)
            fields["settings"] = {**card["settings"], "notes": tuple(dict.fromkeys(notes))}
    fields |= {name: value for name, value in card.items() if name not in FIELDS and name != "format"}
    try:
        task = kind.from_arrays(_read_arrays(folder), **fields)
        same = _has_hash(task, card) and list(task.part_names) == card["parts"]
        same = same and _seal(card) == card["seal"]
        reason = "" if same else "its content does not have the hash it was saved under"
    except InputError as error:
        reason = str(error)
    except KeyError as error:
        reason = f"{error} is missing"
    except (TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        reason = f"it does not hold what a {kind.__name__} is made of ({error})"
    if reason:
        raise InputError(f"the task in {folder} is damaged: {reason}")
    return task.for_fitting() if fitting else task


def _has_hash(task: Task, card: dict[str, Any]) -> bool:
    """Return whether a task has the hash on a card, by the rule of the card's format."""
    unsealed = _format(card) == UNSEALED_FORMAT
    return bool(card["hash"] == (task.hash_without_labels if unsealed else task.hash))


def _format(card: dict[str, Any]) -> Any:
    return card.get("format", UNSEALED_FORMAT)


def _read_arrays(folder: Path) -> dict[str, NDArray[Any]]:
    """Return every array of a saved task by name; an array in shards has a folder of its own."""
    found = {path.stem: read_array(path) for path in sorted(folder.glob("*.npy"))}
    for part in PARTS:
        place = shards_of(folder, part)
        if place.is_dir():
            found[place.name] = open_shards(place).assemble()
    return found


def _card(task: Task) -> dict[str, Any]:
    card = {
        "format": FORMAT,
        "kind": task.kind,
        "dataset": task.dataset,
        "protocol": task.protocol,
        "seed": int(task.seed),
        "parts": list(task.part_names),
        **task.details(),
        "metrics": list(task.metrics),
        "headline": task.headline,
        "settings": dict(task.settings),
        "hash": task.hash,
    }
    return {**card, "seal": _seal(card)}


def _plain(value: Any) -> Any:
    """Return what JSON writes for numpy's numbers and for other types it does not know."""
    return value.item() if isinstance(value, np.generic) else str(value)


def _seal(card: dict[str, Any]) -> str:
    """Return a hash of the card, so that a changed name or metric is noticed too."""
    said = {key: value for key, value in card.items() if key != "seal"}
    return hashlib.sha256(json.dumps(said, sort_keys=True, default=_plain).encode()).hexdigest()


def _read_card(folder: Path, fitting: bool = False) -> dict[str, Any]:
    path = folder / "task.json"
    card = read_json(path, absent=f"{folder} holds no task", damaged=f"{path} cannot be read: it")
    number = _format(card) if isinstance(card, dict) else FORMAT
    if type(number) is not int or not UNSEALED_FORMAT <= number <= FORMAT:
        raise InputError(f"{path} has the format {number!r}, this version reads 1 to {FORMAT}")
    for key, kind in FIELDS.items():
        if not isinstance(card, dict) or not isinstance(card.get(key), kind):
            raise InputError(
                f"{path} is not a task's card: {key!r} is missing or not of type {kind.__name__}"
            )
    if card["kind"] not in KINDS:
        raise InputError(f"{path} holds a task of the unknown kind {card['kind']!r}")
    if (not fitting and "test" not in card["parts"]) or not all(part in PARTS for part in card["parts"]):
        raise InputError(
            f"{path} names the parts {card['parts']}, but a task has 'test' and may have 'valid'"
        )
    return dict(card)
