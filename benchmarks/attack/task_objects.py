"""Tasks in memory: written to, copied, given to the wrong scorer, or made of parts that do not fit."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

import trueedge as te
from benchmarks.attack.outcomes import Case, WrongNumberError, expect, expect_values
from benchmarks.attack.plain_metrics import task_metrics
from benchmarks.attack.tiny import made_task, random_graph
from trueedge.tasks import LinkTask, Part

KINDS: tuple[dict[str, Any], ...] = (
    {"protocol": "uniform"},
    {"protocol": "heart", "features": 3},
    {"protocol": "uniform", "named": True},
    {"protocol": "heart", "named": True},
)


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


def check(task: Any, original: LinkTask) -> None:
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
    options: Any = {"k": 6} if KINDS[kind]["protocol"] == "heart" else {}
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
            check(one, original)
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
    fields: Any = {
        "dataset": "x",
        "protocol": "uniform",
        "seed": 0,
        "metrics": ("mrr", "auc"),
        "headline": "mrr",
    }
    if case.chance(0.5):
        arrays = {"test_positives": positives, "test_negatives": np.asarray(negatives)}
        task = LinkTask.from_arrays(arrays, graph=graph, **fields)
    else:
        task = LinkTask(parts={"test": Part(positives, negatives)}, graph=graph, **fields)
    found = task.evaluate(_scorer)
    expect_values(found, task_metrics(task.test, _score), how)


FAMILIES = (written_to, other_tasks, own_parts)
