"""Wrong numbers get one sentence that names the argument."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import trueedge as te
from trueedge.errors import InputError, is_number, whole_number, with_article


@pytest.mark.parametrize("value", [2, 5, np.int64(3), np.uint8(4)])
def test_whole_numbers_of_python_and_numpy_become_ints(value: object) -> None:
    found = whole_number("k", "sample", value, 2, 5)
    assert type(found) is int
    assert found == value


@pytest.mark.parametrize("value", [True, np.True_, 1, 6, 2.0, "3", None, np.float64(3), float("nan")])
def test_anything_else_is_refused_with_its_bounds(value: object) -> None:
    said = f"sample: k must be a whole number from 2 to 5, got {value!r}"
    with pytest.raises(InputError, match=re.escape(said)):
        whole_number("k", "sample", value, 2, 5)
    if not (isinstance(value, int) and value == 6):
        with pytest.raises(InputError, match="a whole number, 2 or more"):
            whole_number("k", "sample", value, 2)


def test_numbers_are_told_from_booleans_and_texts() -> None:
    assert all(map(is_number, (0, 0.5, np.float32(1), np.int8(1), float("inf"))))
    assert not any(map(is_number, (True, np.False_, "1", None, 1j, [1.0])))


def test_a_noun_has_its_article() -> None:
    assert [with_article(noun) for noun in ("Obj", "int", "list")] == ["an Obj", "an int", "a list"]
    assert [with_article(noun) for noun in ("user", "uint8", "item")] == ["a user", "a uint8", "an item"]


def test_arguments_of_a_wrong_type_are_one_sentence(tmp_path: Path) -> None:
    made = te.task("karate", "existing")
    calls: dict[str, Callable[[], object]] = {
        "Store: a path is needed, got int": lambda: te.run("karate", "existing", "cn", store=3),  # type: ignore[arg-type]
        "Store: a path is needed, got NoneType": lambda: te.Store(None),  # type: ignore[arg-type]
        "check_scorer: task must be a task, such as": lambda: te.check_scorer(np.eye(34), "karate"),  # type: ignore[arg-type]
        "load: name must be a data set's name or a path, got 3": lambda: te.load(3),  # type: ignore[arg-type]
        "there is no file mine.csv": lambda: te.task("mine.csv", "existing"),
        "certify: record must be a record, such as": lambda: te.certify("ra", "a.json"),  # type: ignore[arg-type]
        "from_split: split must be a split": lambda: te.LinkTask.from_split(made),  # type: ignore[arg-type]
        "run: method must be a method or its name; te.judge takes": lambda: te.run("karate", "uniform", len),  # type: ignore[arg-type]
        r"got shape \(2, 3\): give its transpose": lambda: te.Graph.from_edges([[0, 1, 2], [1, 2, 3]]),
        "scipy, PyG or pandas, got int": lambda: te.task(3),  # type: ignore[arg-type]
        "the protocol heart: k must be a whole number": lambda: te.task("karate", "heart", k="x"),
    }
    for sentence, call in calls.items():
        with pytest.raises(InputError, match=sentence):
            call()
    assert te.run("karate", "existing", "cn", store=tmp_path).cached is False
    assert te.run("karate", "existing", "cn", store=str(tmp_path)).cached
