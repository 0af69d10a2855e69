"""A task as a folder."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from tests.typed_graphs import small_graph

import trueedge as te
from forged_files import CARDS, FORGED, memory_below
from trueedge.errors import InputError
from trueedge.tasks.base import KINDS
from trueedge.tasks.communities import CommunityTask
from trueedge.tasks.storage import _seal


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
    task = protocol.make(request)
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
    with pytest.raises(InputError, match="cannot be written"):
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


# Every kind of task, and cards that were written again with a seal that fits


TASKS = ("link", "recommend", "communities", "triples", "nodes", "typed-links", "items")


def tasks_of_every_kind() -> dict[str, te.tasks.Task]:
    return {
        "link": te.task("karate", "heart", 1, k=12),
        "recommend": te.task("karate", "recommendation", 1, valid=0.1),
        "communities": CommunityTask.of(te.load("karate"), np.arange(34) % 4, seed=1, restarts=3),
        "triples": te.task("nations", "filtered", 1),
        "nodes": te.task(small_graph(), "node-classification", 1),
        "typed-links": te.task(small_graph(), "typed-links", 1, relation="author-paper"),
        "items": te.task("bookshop:users=30,items=40", "full-ranking", 1),
    }


def reseal(folder: Path, **values: object) -> None:
    card = {**json.loads((folder / "task.json").read_text()), **values}
    del card["seal"]
    card = {name: value for name, value in card.items() if value is not None}
    (folder / "task.json").write_text(json.dumps({**card, "seal": _seal(card)}))


@pytest.mark.parametrize(
    "kind", ["link", "recommend", "communities", "triples", "nodes", "typed-links", "items"]
)
def test_every_kind_comes_back_with_all_its_fields(kind: str, tmp_path: Path) -> None:
    task = tasks_of_every_kind()[kind]
    again = te.load_task(task.save(tmp_path / "task"))
    assert (again.hash, again.hashes, type(again), repr(again)) == (
        task.hash,
        task.hashes,
        type(task),
        repr(task),
    )
    assert again.details() == task.details()
    assert (again.seed, again.part_names) == (1, task.part_names)
    for name, array in task.arrays().items():
        assert again.arrays()[name].tobytes() == array.tobytes()
    names = {"triples": "entity-degree", "nodes": "majority", "typed-links": "target-degree"}
    names["items"] = "popularity"
    method = te.methods.create(names.get(kind, "eigenmap"))
    scorer = method.fit(task)
    assert again.evaluate(scorer) == task.evaluate(scorer)


def test_the_kinds_that_are_built_in_are_all_tried() -> None:
    built_in = {name for name in KINDS.names() if KINDS.get(name).__module__.startswith("trueedge.tasks.")}
    assert built_in == set(tasks_of_every_kind())


@pytest.mark.parametrize(
    "kind", ["link", "recommend", "communities", "triples", "nodes", "typed-links", "items"]
)
def test_any_array_that_is_damaged_missing_or_of_another_type_is_named(kind: str, tmp_path: Path) -> None:
    whole = tasks_of_every_kind()[kind].save(tmp_path / "whole")
    for path in sorted(whole.glob("*.npy")):
        array = np.load(path)
        for number, changed in enumerate(
            (
                None,
                array.astype(np.int64),
                array.astype(np.float32),
                array.astype(object),
                array[..., None],
                array[:0],
                array[:-1],
                np.full_like(array, -1),
                np.full_like(array, 2**31 - 1),
                array[::-1].copy(),
            )
        ):
            folder = shutil.copytree(whole, tmp_path / f"{path.stem}-{number}")
            (folder / path.name).unlink()
            if changed is not None:
                np.save(folder / path.name, changed)
            with pytest.raises(InputError) as caught:
                te.load_task(folder)
            said = str(caught.value)
            assert str(folder) in said
            assert "\n" not in said
            if changed is None or changed.dtype != np.int32:
                assert path.stem in said or "damaged" in said


@pytest.mark.parametrize(
    ("kind", "change", "words"),
    [
        ("link", {"mood": "sunny"}, "not hold what a LinkTask is made of .*mood"),
        ("recommend", {"mood": "sunny"}, "not hold what a RecommendTask is made of .*mood"),
        ("communities", {"mood": "sunny"}, "not hold what a CommunityTask is made of .*mood"),
        ("communities", {"restarts": 5}, "hash"),
        ("communities", {"seed": 5}, "hash"),
        ("link", {"valid_in_test": True}, "hash"),
        ("link", {"parts": ["test"]}, "hash"),
        ("link", {"parts": []}, "names the parts"),
        ("link", {"parts": None}, "'parts' is missing"),
        ("link", {"kind": "recommend"}, "hash"),
        ("recommend", {"kind": "link"}, "negatives is missing"),
        ("link", {"kind": "communities"}, "communities must hold"),
        ("communities", {"kind": "link"}, "damaged"),
        ("link", {"kind": "riddle"}, "unknown kind 'riddle'"),
        ("link", {"graph": "karate"}, "damaged"),
        ("link", {"parts": ["test", []]}, "names the parts"),
    ],
    ids=range(16),
)
def test_a_card_written_again_is_refused_in_one_sentence(
    kind: str, change: dict, words: str, tmp_path: Path
) -> None:
    folder = tasks_of_every_kind()[kind].save(tmp_path / "task")
    reseal(folder, **change)
    with pytest.raises(InputError, match=words) as caught:
        te.load_task(folder)
    assert "\n" not in str(caught.value)


# The content of a task depends on data, protocol and seed alone: these are the hashes of version 0.1.0.
HASHES = {
    ("existing", None): "ba3bf78faf80c045d2af0edcf13ec243ea9511eaa1f6ea20268d0c12cb4c5383",
    ("uniform", None): "fafc782fb8f802ff471f17e8f2f8b7f81169d9e1348da0a185640c9506e833be",
    ("degree-corrected", None): "122f8c46926dfb13780fad6ae251f0f56cb7374f87f1f866b20dd52eef281b22",
    ("triplet", ("keep", "source")): "01c894a503c13e5d28916825940cdfbae68d9e5afa46e32f2aab5cb81341f3d1",
    ("recommendation", None): "d8132404401a4664cd440c50364e4b0fa80d89b4d2e49ba8b49afbf8b0a504bb",
    ("recommendation", ("valid", 0.1)): "58680a44813bbd6532e940b3d567b026556e3b46c4802571dc4d1db8267fdaad",
    ("heart", ("k", 20)): "09ff6796b78b18aaa5776ac8acc59869f0935d5e7b8353147281e6f2f09ed466",
}


@pytest.mark.parametrize(("protocol", "option"), HASHES)
def test_tasks_have_the_hashes_they_had(protocol: str, option: tuple[str, object] | None) -> None:
    options = dict([option]) if option else {}
    assert te.task("karate", protocol, 0, **options).hash == HASHES[protocol, option]
