"""A task as one folder: the very same pairs for everybody."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.graph import Graph
from trueedge.tasks.base import Part, Task
from trueedge.tasks.link import LinkTask, joined_graph
from trueedge.tasks.recommend import RecommendTask

FORMAT = 1


def save(task: Task, folder: Path) -> Path:
    """Write a task into a folder that must not exist yet, or be empty; returns the folder.

    Args:
        task: the task.
        folder: gets ``task.json``, ``graph/`` and one ``.npy`` file for each array.
    """
    if folder.is_file():
        raise InputError(f"{folder} is a file, not a folder")
    if folder.is_dir() and any(folder.iterdir()):
        raise InputError(f"the folder {folder} is not empty: a task is saved into a new one")
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        task.graph.save(draft / "graph")
        for name, array in _arrays(task).items():
            np.save(draft / f"{name}.npy", array, allow_pickle=False)
        (draft / "task.json").write_text(json.dumps(_card(task), indent=2) + "\n")
        draft.chmod(0o755)
        if folder.is_dir():
            folder.rmdir()
        os.rename(draft, folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return folder


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
        hidden = {name: _read_array(folder, f"{name}_positives") for name in card["parts"]}
        task = RecommendTask(hidden=hidden, **shared)
    else:
        parts = {
            name: Part(_read_array(folder, f"{name}_positives"), _read_array(folder, f"{name}_negatives"))
            for name in card["parts"]
        }
        valid = parts["valid"].positives if "valid" in parts else np.empty((0, 2), dtype=np.int32)
        task = LinkTask(parts=parts, test_graph=joined_graph(graph, valid, card["valid_in_test"]), **shared)
    if task.hash != card["hash"]:
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
    return {
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


def _read_card(folder: Path) -> dict[str, Any]:
    path = folder / "task.json"
    if not path.is_file():
        raise InputError(f"{folder} holds no task: there is no {path.name} in it")
    try:
        card = json.loads(path.read_text())
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from None
    needed = ("kind", "dataset", "protocol", "seed", "parts", "valid_in_test", "metrics", "headline", "hash")
    missing = [key for key in needed if not isinstance(card, dict) or key not in card]
    if missing:
        raise InputError(f"{path} is not a task's card: {missing[0]!r} is missing")
    if card.get("format") != FORMAT:
        raise InputError(f"{path} has the format {card.get('format')!r}, this version reads {FORMAT}")
    if card["kind"] not in (LinkTask.kind, RecommendTask.kind):
        raise InputError(f"{path} holds a task of the unknown kind {card['kind']!r}")
    card.setdefault("settings", {})
    return dict(card)


def _read_array(folder: Path, name: str) -> NDArray[np.int32]:
    path = folder / f"{name}.npy"
    try:
        array = np.load(path, allow_pickle=False)
    except Exception:  # a damaged header makes np.load raise nearly anything
        raise InputError(f"{path} is missing or cannot be read") from None
    if array.dtype != np.int32 or array.ndim not in (2, 3) or array.shape[-1] != 2:
        raise InputError(f"{path} must hold int32 pairs, it holds {array.dtype} of shape {array.shape}")
    return np.asarray(array, dtype=np.int32)
