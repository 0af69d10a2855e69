"""Saved tasks that were changed, and tasks in memory: the hash says which task it is."""

from __future__ import annotations

import json
import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np

import trueedge as te
from benchmarks.attack import task_objects
from benchmarks.attack.mutations import damaged
from benchmarks.attack.outcomes import Case, Family, expect
from benchmarks.attack.task_objects import KINDS, check
from benchmarks.attack.tiny import made_task, random_graph
from trueedge.errors import InputError
from trueedge.graph import Graph
from trueedge.tasks import LinkTask, storage
from trueedge.tasks.protocols import Shards

COUNTS = {"quick": 15, "nightly": 450}


@cache
def saved(kind: int, seed: int = 0) -> Path:
    """Return the folder of a saved task."""
    folder = Path(mkdtemp(prefix="attack-task-")) / "task"
    return made_task(seed=seed, **KINDS[kind]).save(folder)


@cache
def sharded() -> tuple[Path, LinkTask]:
    """Return the folder of a task in shards, and the task."""
    folder = Path(mkdtemp(prefix="attack-shards-")) / "task"
    graph = random_graph(1, 30, 90)
    task = te.tasks.task(graph, "heart", 0, k=6, shards=Shards(folder, 4))
    assert isinstance(task, LinkTask)
    storage.complete(task, folder)
    return folder, task


def _copied(case: Case) -> tuple[Path, LinkTask]:
    kind = case.number(0, len(KINDS) - 1)
    case.tell(KINDS[kind])
    shutil.copytree(saved(kind), case.folder / "task")
    return case.folder / "task", made_task(**KINDS[kind])


def damage(case: Case) -> None:
    """Damage the bytes of one file."""
    folder, original = _copied(case)
    path = case.pick([one for one in sorted(folder.rglob("*")) if one.is_file()])
    case.tell("in", path.relative_to(folder))
    path.write_bytes(damaged(case, path.read_bytes()))
    check(te.load_task(folder), original)


def changed_arrays(case: Case) -> None:
    """Change numbers in an array, and leave the hashes as they are or compute them anew."""
    folder, original = _copied(case)
    path = case.pick(sorted(folder.rglob("*.npy")))
    array = np.load(path)
    flat = array.reshape(-1)
    how = case.pick(["one", "rolled", "swapped", "shorter", "longer", "type", "negative", "far", "loops"])
    case.tell(how, "in", path.relative_to(folder))
    if how == "one":
        flat[case.number(0, len(flat) - 1)] += 1
    elif how in ("rolled", "swapped"):
        array = np.roll(array, 1, axis=0) if how == "rolled" else array[..., ::-1]
    elif how in ("shorter", "longer"):
        array = array[:-1] if how == "shorter" else np.concatenate([array, array[-1:]])
    elif how == "type":
        array = array.astype(case.pick(["i8", "f8", "u1", ">i4", "O"]))
    elif how in ("negative", "far"):
        flat[0] = -1 if how == "negative" else 2**30
    elif array.shape[-1] == 2:
        array[..., 0] = array[..., 1]
    np.save(path, array, allow_pickle=True)
    if case.chance(0.5):
        _reseal(case, folder)
    check(te.load_task(folder), original)


def _reseal(case: Case, folder: Path) -> None:
    """Write the hashes that the changed content has, as a forger would; nothing else changes."""
    case.tell("resealed")
    card = json.loads((folder / "task.json").read_text())
    described = folder / "graph" / "graph.json"
    try:
        graph = Graph.load(folder / "graph", verify=False)
        text = json.loads(described.read_text())
        described.write_text(json.dumps({**text, "hash": graph.hash}))
        arrays = {path.stem: np.load(path) for path in folder.glob("*.npy")}
        fields = {name: card[name] for name in ("dataset", "protocol", "seed", "headline", "settings")}
        task = LinkTask.from_arrays(
            arrays, graph=graph, metrics=tuple(card["metrics"]), valid_in_test=card["valid_in_test"], **fields
        )
    except (InputError, ValueError, KeyError, TypeError, AttributeError):
        return
    card["hash"] = task.hash
    card["seal"] = storage._seal(card)
    (folder / "task.json").write_text(json.dumps(card))


def changed_cards(case: Case) -> None:
    """Change a field of a card, with and without its seal: labels, features, metrics, parts, kind."""
    folder, original = _copied(case)
    path = case.pick([folder / "task.json", folder / "graph" / "graph.json"])
    card = json.loads(path.read_text())
    key = case.pick(list(card))
    value: Any = case.pick(
        [None, 0, -1, 1, 2.5, "x", "link", [], ["mrr"], ["test"], {}, True, 10**30, "\x1b[2J"]
    )
    if key == "labels" and card[key] and case.chance(0.7):
        value = card[key][1:] + card[key][:1]
    if key == "metrics" and case.chance(0.7):
        value = case.pick([["mrr", "auc"], ["hits@1000000"], ["auc", "auc"], ["nope"], [1], [["mrr"]]])
    card[key] = value
    case.tell(path.name, key, "is", repr(value)[:60])
    if case.chance(0.5):
        if path.name == "task.json":
            card["seal"] = storage._seal(card)
        else:
            path.write_text(json.dumps(card))
            _reseal(case, folder)
            card = json.loads(path.read_text())
    path.write_text(json.dumps(card))
    check(te.load_task(folder), original)


def moved_files(case: Case) -> None:
    """Rename the folder, remove files, exchange files with those of another task, or add some."""
    folder, original = _copied(case)
    other = saved(case.number(0, len(KINDS) - 1), seed=case.pick([0, 1]))
    how = case.pick(
        ["renamed", "removed", "exchanged", "other graph", "other card", "added", "link", "folder"]
    )
    files = [one for one in sorted(folder.rglob("*")) if one.is_file()]
    path = case.pick(files)
    case.tell(how, path.relative_to(folder), "with", other.parent.name)
    if how == "renamed":
        folder = folder.rename(case.folder / case.pick(["cora", "heart", "ü n", "task.json", "0"]))
    elif how == "removed":
        path.unlink()
    elif how in ("exchanged", "link"):
        source = other / path.relative_to(folder)
        if source.exists():
            path.unlink()
            path.symlink_to(source) if how == "link" else shutil.copy(source, path)
    elif how == "other graph":
        shutil.rmtree(folder / "graph")
        shutil.copytree(other / "graph", folder / "graph")
    elif how == "other card":
        shutil.copy(other / "task.json", folder / "task.json")
    elif how == "added":
        np.save(
            folder / case.pick(["valid_positives", "valid_negatives", "extra", "test"]),
            np.zeros((2, 2), np.int32),
        )
    else:
        path.unlink()
        path.mkdir()
    found = te.load_task(folder)
    check(found, original)
    if how == "renamed":
        expect(
            found.hash == original.hash and found.dataset == original.dataset,
            "a renamed folder is another task",
        )


def shards(case: Case) -> None:
    """Remove, repeat, exchange or damage shards."""
    source, original = sharded()
    folder = case.folder / "task"
    shutil.copytree(source, folder)
    parts = [one for one in sorted(folder.rglob("*")) if one.is_file() and "_negatives" in str(one)]
    path, other = case.pick(parts), case.pick(parts)
    how = case.pick(["removed", "repeated", "exchanged", "damaged", "renamed", "folder removed", "both"])
    case.tell(how, path.relative_to(folder), other.name)
    if how == "removed":
        path.unlink()
    elif how == "repeated":
        path.write_bytes(other.read_bytes())
    elif how == "exchanged":
        first, second = path.read_bytes(), other.read_bytes()
        path.write_bytes(second)
        other.write_bytes(first)
    elif how == "damaged":
        path.write_bytes(damaged(case, path.read_bytes()))
    elif how == "renamed":
        path.rename(path.with_name(path.name.replace("0", "9")))
    elif how == "folder removed":
        shutil.rmtree(path.parent)
    else:
        np.save(folder / "test_negatives.npy", original.test.negatives[::-1])
    check(te.load_task(folder), original)


FAMILIES: dict[str, Family] = {
    f"{one.__name__.replace('_', ' ')}{' ' * at}": one
    for at, one in enumerate(
        (
            *(damage, changed_arrays, changed_cards, moved_files, shards),
            *task_objects.FAMILIES,
            *(changed_cards, changed_arrays),
        )
    )
}
