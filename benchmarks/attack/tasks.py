"""Saved tasks that were changed, and tasks in memory that are written to: the hash says which task it is."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np

import trueedge as te
from benchmarks.attack.mutations import damaged
from benchmarks.attack.outcomes import Case, Family, WrongNumberError, expect, expect_values
from benchmarks.attack.plain_metrics import task_metrics
from benchmarks.attack.tiny import made_task, random_graph
from trueedge.errors import InputError
from trueedge.graph import Graph
from trueedge.tasks import LinkTask, Part, storage
from trueedge.tasks.protocols import Shards

COUNTS = {"quick": 15, "nightly": 450}
KINDS: tuple[dict[str, Any], ...] = (
    {"protocol": "uniform"},
    {"protocol": "heart", "features": 3},
    {"protocol": "uniform", "named": True},
    {"protocol": "heart", "named": True},
)


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


def _score(u: int, v: int) -> float:
    return float((u * 7 + v * 3) % 5)


def _scorer(pairs: np.ndarray[Any, Any]) -> Any:
    return (pairs[:, 0] * 7 + pairs[:, 1] * 3) % 5


def _state(task: LinkTask) -> dict[str, Any]:
    """Return everything that decides what a number on this task means."""
    graph = task.graph
    state: dict[str, Any] = {name: array.tolist() for name, array in task.arrays().items()}
    features = None if graph.features is None else graph.features.tolist()
    return state | {
        "edges": graph.edges.tolist(),
        "nodes": graph.num_nodes,
        "features": features,
        "labels": graph.labels,
    }


def _check(task: Any, original: LinkTask) -> None:
    """Refuse to believe a task that has the hash of another one and other content, or a wrong number."""
    expect(isinstance(task, LinkTask), "another kind of task")
    if task.hash == original.hash:
        ours, theirs = _state(original), _state(task)
        differ = [name for name, value in ours.items() if theirs.get(name) != value]
        expect(not differ, f"{differ} differ, but the hash is the same")
    for part in task.part_names:
        found = task.evaluate(
            _scorer, part, [name for name in task.metrics if not name.startswith("precision")]
        )
        expect_values(found, task_metrics(task.part(part), _score), f"the {part} part")


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
    _check(te.load_task(folder), original)


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
    _check(te.load_task(folder), original)


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
    value = case.pick([None, 0, -1, 1, 2.5, "x", "link", [], ["mrr"], ["test"], {}, True, 10**30, "\x1b[2J"])
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
    _check(te.load_task(folder), original)


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
    _check(found, original)
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
    _check(te.load_task(folder), original)


COPIES: dict[str, Callable[[LinkTask], LinkTask]] = {
    "the task itself": lambda task: task,
    "pickle": lambda task: pickle.loads(pickle.dumps(task)),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
    "replace": dataclasses.replace,
    "for_fitting": lambda task: task.for_fitting(),
}
TARGETS: dict[str, Callable[[LinkTask], Any]] = {
    "positives": lambda task: task.parts[task.part_names[-1]].positives,
    "negatives": lambda task: task.parts[task.part_names[-1]].negatives,
    "edges": lambda task: task.graph.edges,
    "indices": lambda task: task.graph.indices,
    "degrees": lambda task: task.graph.degrees,
    "features": lambda task: task.graph.features,
    "arrays": lambda task: next(iter(task.arrays().values())),
    "positives.base": lambda task: task.parts[task.part_names[-1]].positives.base,
}


def written_to(case: Case) -> None:
    """Write into a task or a copy of it: refused, or the hash of what was written to changes with it."""
    kind = case.number(0, len(KINDS) - 1)
    graph = random_graph(1, 30, 90, KINDS[kind].get("features", 0), KINDS[kind].get("named", False))
    options = {"k": 6} if KINDS[kind]["protocol"] == "heart" else {}
    task = te.task(graph, KINDS[kind]["protocol"], 0, **options)
    assert isinstance(task, LinkTask)
    original = made_task(**KINDS[kind])
    how, what = case.pick(list(COPIES)), case.pick(list(TARGETS))
    case.tell(how, "written to", what)
    if case.chance(0.5):
        # What is computed once may be kept.
        str(task.hash)
        task.evaluate(_scorer)
    copied = COPIES[how](task)
    if not copied.parts:
        return
    target = TARGETS[what](copied)
    if target is not None:
        try:
            target.reshape(-1)[0] += 1
        except ValueError:
            case.tell("read-only")
    for one in (copied, task):
        if one.part_names == original.part_names:
            _check(one, original)
            fresh = LinkTask.from_arrays(one.arrays(), graph=one.graph, valid_in_test=False, **_fields(one))
            expect(fresh.hash == one.hash, "its hash is not that of its content")


def _fields(task: LinkTask) -> dict[str, Any]:
    return {name: getattr(task, name) for name in ("dataset", "protocol", "seed", "metrics", "headline")}


def other_tasks(case: Case) -> None:
    """Evaluate a scorer on a task of another seed, data set or protocol than it was fitted on."""
    kind = case.number(0, len(KINDS) - 1)
    first = made_task(seed=0, **KINDS[kind])
    second = made_task(seed=case.number(1, 3), **KINDS[kind])
    scorer = te.methods.create(case.pick(["cn", "ra", "pa", "aa"])).fit(first)
    wrapped = case.pick([scorer, copy.deepcopy(scorer), scorer.score])
    case.tell("fitted on seed 0, evaluated on seed", second.seed, type(wrapped).__name__)
    if first.training_hash == second.training_hash:
        return
    second.evaluate(wrapped)
    raise WrongNumberError("a scorer of another split was evaluated")


def own_parts(case: Case) -> None:
    """Make a task of parts that do not fit: ids out of range, self-loops, other shapes and types."""
    graph = random_graph(1, 10, 15)
    positives: Any = case.rng.integers(0, 10, size=(3, 2)).astype(np.int32)
    negatives: Any = case.rng.integers(0, 10, size=(case.pick([3, 4]), 2)).astype(np.int32)
    how = case.pick(["far", "negative", "float", "empty", "list", "3d", "int64", "none", "strings"])
    case.tell(how)
    if how in ("far", "negative"):
        positives[0, 0] = 99 if how == "far" else -1
    elif how in ("float", "int64", "strings"):
        negatives = negatives.astype({"float": "f8", "int64": "i8", "strings": "U2"}[how])
    elif how in ("empty", "3d"):
        negatives = negatives[:0] if how == "empty" else negatives[None, None]
    elif how in ("list", "none"):
        negatives = negatives.tolist() if how == "list" else None
    fields = {"dataset": "x", "protocol": "uniform", "seed": 0, "metrics": ("mrr", "auc"), "headline": "mrr"}
    if case.chance(0.5):
        arrays = {"test_positives": positives, "test_negatives": np.asarray(negatives)}
        task = LinkTask.from_arrays(arrays, graph=graph, **fields)  # type: ignore[arg-type]
    else:
        task = LinkTask(parts={"test": Part(positives, negatives)}, graph=graph, **fields)  # type: ignore[arg-type]
    found = task.evaluate(_scorer)
    expect_values(found, task_metrics(task.test, _score), how)


FAMILIES: dict[str, Family] = {
    f"{one.__name__.replace('_', ' ')}{' ' * at}": one
    for at, one in enumerate(
        (
            *(damage, changed_arrays, changed_cards, moved_files, shards, written_to, other_tasks, own_parts),
            *(changed_cards, changed_arrays),
        )
    )
}
