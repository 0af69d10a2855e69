"""A task as one folder: the very same pairs for everybody."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.files.arrays import read_array
from trueedge.files.cards import read_json
from trueedge.graph import Graph, as_pairs
from trueedge.negatives.shard_files import claimed, draft_of, publish
from trueedge.negatives.sharded import open_shards
from trueedge.tasks.base import Part, Task
from trueedge.tasks.link import LinkTask, joined_graph
from trueedge.tasks.recommend import RecommendTask

FORMAT = 1
PARTS = ("valid", "test")
SECONDS_BETWEEN_LOOKS = 0.1


def save(task: Task, folder: Path) -> Path:
    """Write a task into a folder that must not exist yet, or be empty; returns the folder.

    Args:
        task: the task.
        folder: gets ``task.json``, ``graph/`` and one ``.npy`` file for each array.
    """
    folder = Path(os.path.realpath(folder))
    try:
        if folder.is_file():
            raise InputError(f"{folder} is a file, not a folder")
        if folder.is_dir() and any(folder.iterdir()):
            raise InputError(f"the folder {folder} is not empty: a task is saved into a new one")
        folder.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=".task-", dir=folder.parent))
    except OSError as error:
        raise InputError(f"the task cannot be saved in {folder}: {error.strerror}") from None
    try:
        task.graph.save(draft / "graph")
        for name, array in _arrays(task).items():
            np.save(draft / f"{name}.npy", array, allow_pickle=False)
        (draft / "task.json").write_text(json.dumps(_card(task), indent=2, default=_plain) + "\n")
        draft.chmod(0o755)
        if folder.is_dir():
            folder.rmdir()
        os.rename(draft, folder)
    except OSError as error:
        raise InputError(f"the task cannot be saved in {folder}: {error.strerror}") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return folder


def complete(task: Task, folder: Path) -> None:
    """Make the folder in which a task's negatives lie in shards a saved task; several may do so at one time.

    Args:
        task: whose negatives :func:`shards_of` the folder hold.
        folder: gets all that :func:`save` writes but the negatives; ``task.json`` comes last.
    """
    card = folder / "task.json"
    while not card.exists():
        with claimed(card) as file:
            if file is None:
                time.sleep(SECONDS_BETWEEN_LOOKS)
            elif card.exists():
                draft_of(card).unlink()
            else:
                task.graph.save(folder / "graph")
                for name, array in _arrays(task).items():
                    if name.endswith("_positives"):
                        np.save(folder / f"{name}.npy", array, allow_pickle=False)
                file.write((json.dumps(_card(task), indent=2, default=_plain) + "\n").encode())
                publish(file, card)
    if _read_card(folder)["hash"] != task.hash:
        raise InputError(f"{folder} holds another task already")


def shards_of(folder: Path, part: str) -> Path:
    """Where the negatives of a part lie in a task's folder, if they are in shards."""
    return folder / f"{part}_negatives"


def refuse_foreign(folder: Path) -> None:
    """Refuse a folder, to write a task in shards into, that holds something else.

    Args:
        folder: new, empty, or one that such a task was begun in.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file, not a folder")
    ours = {"graph", "task.json", draft_of(folder / "task.json").name}
    ours |= {f"{part}_{what}" for part in PARTS for what in ("negatives", "positives.npy")}
    foreign = sorted(set(os.listdir(folder)) - ours) if folder.exists() else []
    if foreign:
        raise InputError(f"{folder} is neither empty nor a task in shards: {foreign[0]!r} is in it")


def load(folder: str | Path) -> Task:
    """Read a task that :func:`save` wrote, and compare its content with the hash it was saved under."""
    folder = Path(folder)
    card = _read_card(folder)
    graph = Graph.load(folder / "graph")
    shared: dict[str, Any] = {
        "dataset": card["dataset"],
        "protocol": card["protocol"],
        "seed": card["seed"],
        "graph": graph,
        "metrics": tuple(card["metrics"]),
        "headline": card["headline"],
        "settings": card["settings"],
    }
    task: Task
    if card["kind"] == RecommendTask.kind:
        hidden = {name: _read_pairs(folder, f"{name}_positives", graph) for name in card["parts"]}
        task = RecommendTask(hidden=hidden, **shared)
    else:
        parts = {
            name: Part(*(_read_pairs(folder, f"{name}_{kind}", graph) for kind in ("positives", "negatives")))
            for name in card["parts"]
        }
        valid = parts["valid"].positives if "valid" in parts else np.empty((0, 2), dtype=np.int32)
        task = LinkTask(parts=parts, test_graph=joined_graph(graph, valid, card["valid_in_test"]), **shared)
    if task.hash != card["hash"] or _seal(card) != card["seal"]:
        raise InputError(
            f"the task in {folder} is damaged: its content does not have the hash it was saved under"
        )
    return task


def _arrays(task: Task) -> dict[str, NDArray[np.int32]]:
    if isinstance(task, RecommendTask):
        return {f"{name}_positives": pairs for name, pairs in task.hidden.items()}
    assert isinstance(task, LinkTask)
    arrays = {}
    for name, part in task.parts.items():
        arrays[f"{name}_positives"] = part.positives
        arrays[f"{name}_negatives"] = part.negatives
    return arrays


def _card(task: Task) -> dict[str, Any]:
    card = {
        "format": FORMAT,
        "kind": task.kind,
        "dataset": task.dataset,
        "protocol": task.protocol,
        "seed": int(task.seed),
        "parts": list(task.part_names),
        "valid_in_test": task.test_graph is not None,
        "metrics": list(task.metrics),
        "headline": task.headline,
        "settings": dict(task.settings),
        "hash": task.hash,
    }
    return {**card, "seal": _seal(card)}


def _plain(value: Any) -> Any:
    """What JSON writes for numpy's numbers and for anything else it does not know."""
    return value.item() if isinstance(value, np.generic) else str(value)


def _seal(card: dict[str, Any]) -> str:
    """A hash of what the card says, so that a changed name or metric is seen too."""
    said = {key: value for key, value in card.items() if key != "seal"}
    return hashlib.sha256(json.dumps(said, sort_keys=True, default=_plain).encode()).hexdigest()


FIELDS: dict[str, type] = {
    "kind": str,
    "dataset": str,
    "protocol": str,
    "seed": int,
    "parts": list,
    "valid_in_test": bool,
    "metrics": list,
    "headline": str,
    "settings": dict,
    "hash": str,
    "seal": str,
}


def _read_card(folder: Path) -> dict[str, Any]:
    path = folder / "task.json"
    card = read_json(path, absent=f"{folder} holds no task", damaged=f"{path} cannot be read: it")
    if isinstance(card, dict) and card.get("format", FORMAT) != FORMAT:
        raise InputError(f"{path} has the format {card['format']!r}, this version reads {FORMAT}")
    for key, kind in FIELDS.items():
        if not isinstance(card, dict) or not isinstance(card.get(key), kind):
            raise InputError(
                f"{path} is not a task's card: {key!r} is missing or not of type {kind.__name__}"
            )
    if card["kind"] not in (LinkTask.kind, RecommendTask.kind):
        raise InputError(f"{path} holds a task of the unknown kind {card['kind']!r}")
    if "test" not in card["parts"] or not set(card["parts"]) <= set(PARTS):
        raise InputError(
            f"{path} names the parts {card['parts']}, but a task has 'test' and may have 'valid'"
        )
    return dict(card)


def _read_pairs(folder: Path, name: str, graph: Graph) -> NDArray[np.int32]:
    path = folder / f"{name}.npy"
    shards = path.with_suffix("")
    array = open_shards(shards).assemble() if shards.is_dir() else read_array(path)
    if array.dtype != np.int32 or array.ndim not in (2, 3) or array.shape[-1] != 2:
        raise InputError(f"{path} must hold int32 pairs, it holds {array.dtype} of shape {array.shape}")
    pairs = array.reshape(-1, 2)
    if not len(pairs):
        raise InputError(f"{path} holds no pair")
    as_pairs(pairs, graph.num_nodes, str(path))
    if (pairs[:, 0] == pairs[:, 1]).any():
        raise InputError(f"{path} pairs a node with itself")
    return np.asarray(array, dtype=np.int32)
