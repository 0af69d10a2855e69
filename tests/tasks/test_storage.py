"""A task as a folder."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import trueedge as te
from forged_files import CARDS, FORGED, memory_below
from trueedge.errors import InputError


def change(folder: Path, **values: object) -> None:
    card = json.loads((folder / "task.json").read_text())
    (folder / "task.json").write_text(json.dumps({**card, **values}))


@pytest.mark.parametrize("protocol", ["existing", "triplet", "recommendation"])
def test_a_saved_task_comes_back_the_same(protocol: str, tmp_path: Path) -> None:
    task = te.task("karate", protocol, seed=2)
    again = te.load_task(task.save(tmp_path / "task"))
    assert again.hash == task.hash
    assert type(again) is type(task)
    assert again.metrics == task.metrics
    assert again.settings["split"] == task.settings["split"]
    scorer = te.methods.get("ra")().fit(task)
    assert again.evaluate(scorer) == task.evaluate(scorer)


def test_a_task_with_features_and_validation_edges_at_test_comes_back(tmp_path: Path, random_graph) -> None:
    from trueedge.datasets import Rules
    from trueedge.tasks.protocols import Source, get

    protocol = get("existing")
    source = Source("x", random_graph(0, 40, 200, features=3), Rules(valid_in_test=True))
    request = protocol.request(source, 0, {})
    task = protocol.judge(request, protocol.split(request))
    again = te.load_task(task.save(tmp_path / "task"))
    assert (again.features == task.features).all()
    assert again.graph_for("test").hash == task.graph_for("test").hash


def test_a_task_is_not_saved_over_something_else(tmp_path: Path) -> None:
    task = te.task("karate", "existing")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "precious.txt").write_text("mine")
    with pytest.raises(InputError, match="not empty"):
        task.save(tmp_path / "full")
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InputError, match="is a file"):
        task.save(tmp_path / "file")
    assert (tmp_path / "full" / "precious.txt").read_text() == "mine"
    assert {path.name for path in tmp_path.iterdir()} == {"full", "file"}


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: (folder / "task.json").unlink(), "no task.json"),
        (lambda folder: (folder / "task.json").write_text("{"), "cannot be read"),
        (lambda folder: (folder / "task.json").write_text("[]"), "missing"),
        (lambda folder: (folder / "task.json").write_bytes(b"\xff\xfe\x00"), "cannot be read"),
        (lambda folder: (folder / "test_negatives.npy").unlink(), "test_negatives is missing"),
        (lambda folder: (folder / "test_negatives.npy").write_bytes(b"junk"), "test_negatives.npy"),
        (lambda folder: np.save(folder / "test_positives.npy", np.zeros((3, 2))), "int32"),
        (
            lambda folder: np.save(folder / "test_positives.npy", np.array([[0, 1], [2, 3]], np.int32)),
            "damaged",
        ),
        (lambda folder: (folder / "graph" / "graph.json").unlink(), "graph"),
        (lambda folder: (folder / "task.json").write_text("[" * 100_000), "cannot be read"),
        (lambda folder: change(folder, seed=9), "damaged"),
        (lambda folder: change(folder, metrics=[]), "damaged"),
        (lambda folder: change(folder, dataset="ogbl-ppa"), "damaged"),
        (lambda folder: change(folder, parts=["test", "../test"]), "parts"),
        (lambda folder: change(folder, parts=5), "'parts' is missing or not of type list"),
        (lambda folder: change(folder, metrics=None), "'metrics' is missing"),
        (lambda folder: np.save(folder / "test_positives.npy", np.full((2, 2), 99, np.int32)), "99"),
    ],
)
def test_a_damaged_task_is_refused_in_a_sentence(damage, message: str, tmp_path: Path) -> None:
    folder = te.task("karate", "existing").save(tmp_path / "task")
    damage(folder)
    with pytest.raises(InputError, match=message):
        te.load_task(folder)


@pytest.mark.parametrize(("key", "value"), [("format", 99), ("kind", "riddle")])
def test_a_card_from_the_future_is_refused(key: str, value: object, tmp_path: Path) -> None:
    folder = te.task("karate", "existing").save(tmp_path / "task")
    change(folder, **{key: value})
    with pytest.raises(InputError, match=repr(value)):
        te.load_task(folder)


def test_options_of_numpy_are_saved_as_plain_numbers(tmp_path: Path) -> None:
    task = te.task("karate", "heart", k=np.int64(4), heuristics=("ra",))
    assert te.load_task(task.save(tmp_path / "task")).settings["k"] == 4


@pytest.mark.parametrize("place", ["/proc/x", "a" * 300])
def test_a_place_that_cannot_be_written_is_named(place: str) -> None:
    with pytest.raises(InputError, match="cannot be saved"):
        te.task("karate", "existing").save(place)


@pytest.mark.parametrize(("content", "sentence"), FORGED)
def test_a_task_with_a_forged_array_is_refused_without_the_memory(
    content: bytes, sentence: str, tmp_path: Path
) -> None:
    folder = te.task("karate", "existing").save(tmp_path / "task")
    (folder / "test_negatives.npy").write_bytes(content)
    with memory_below(5e6), pytest.raises(InputError, match=rf"test_negatives\.npy .*{sentence}"):
        te.load_task(folder)


@pytest.mark.parametrize(("content", "sentence"), CARDS, ids=["nested", "no text", "large"])
def test_a_forged_card_is_refused_without_the_memory(content: bytes, sentence: str, tmp_path: Path) -> None:
    folder = te.task("karate", "existing").save(tmp_path / "task")
    (folder / "task.json").write_bytes(content)
    with memory_below(5e6), pytest.raises(InputError, match=rf"task\.json cannot be read: it {sentence}"):
        te.load_task(folder)


def test_pairs_in_the_order_of_columns_are_the_same_task(tmp_path: Path) -> None:
    task = te.task("karate", "existing")
    folder = task.save(tmp_path / "task")
    path = folder / "test_positives.npy"
    np.save(path, np.asfortranarray(np.load(path)))
    assert te.load_task(folder).hash == task.hash
