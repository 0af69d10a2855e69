"""Copies of tasks: nothing in them can be changed, so no hash outlives its content."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest

import trueedge as te

COPIES: dict[str, Callable[[Any], Any]] = {
    "pickled": lambda one: pickle.loads(pickle.dumps(one)),
    "pickled by an older protocol": lambda one: pickle.loads(pickle.dumps(one, protocol=2)),
    "copied": copy.copy,
    "deeply copied": copy.deepcopy,
    "replaced": dataclasses.replace,
}
MADE: dict[str, Callable[[], Any]] = {
    "link": lambda: te.task("karate", "heart", k=4),
    "recommend": lambda: te.task("karate", "recommendation", valid=0.1),
    "communities": lambda: te.CommunityTask.of(te.load("karate"), np.arange(34) % 2),
    "split": lambda: te.split(te.load("karate")),
    "part": lambda: te.task("karate", "existing").test,
    "graph": lambda: dataclasses.replace(te.load("karate"), features=np.ones((34, 2), np.float32)),
}


def arrays_in(thing: object) -> Iterator[np.ndarray]:
    if isinstance(thing, np.ndarray):
        yield thing
    elif isinstance(thing, Mapping):
        for one in thing.values():
            yield from arrays_in(one)
    elif dataclasses.is_dataclass(thing):
        for field in dataclasses.fields(thing):
            yield from arrays_in(getattr(thing, field.name))


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("kind", MADE)
def test_a_copy_cannot_be_changed_and_computes_its_own_hash(kind: str, way: str) -> None:
    made = MADE[kind]()
    before = made.hash
    again = COPIES[way](made)
    assert "hash" not in vars(again)
    found = list(arrays_in(again))
    assert found
    for array in found:
        assert not array.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    assert again.hash == made.hash == before


@pytest.mark.parametrize("way", COPIES)
def test_the_parts_of_a_task_cannot_be_exchanged(way: str) -> None:
    task = te.task("karate", "existing")
    for one in (task, COPIES[way](task)):
        with pytest.raises(TypeError, match="does not support item assignment"):
            one.parts["test"] = one.parts["valid"]
        with pytest.raises(TypeError, match="does not support item assignment"):
            one.settings["notes"] = ()


def test_a_task_does_not_follow_the_dictionary_it_was_made_from() -> None:
    task = te.task("karate", "existing")
    parts = dict(task.parts)
    same = dataclasses.replace(task, parts=parts)
    parts["test"] = parts["valid"]
    assert same.hash == task.hash


def test_a_split_leaves_the_given_arrays_as_they_are() -> None:
    pairs = np.int32([[0, 1]])
    split = te.Split(te.load("karate"), pairs[:0], pairs, "mine")
    pairs[0] = (0, 2)
    assert split.test.tolist() == [[0, 1]]
