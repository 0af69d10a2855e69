"""The names of nodes are part of what a task is: scores keyed by name depend on them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import trueedge as te
from trueedge.errors import InputError
from trueedge.graph.storage import UNSEALED
from trueedge.tasks.storage import _seal

FIXTURE = Path(__file__).parents[1] / "fixtures" / "task-0.1.0"


def named_karate() -> te.Graph:
    karate = te.load("karate")
    return replace(karate, labels=tuple(f"member {node}" for node in range(karate.num_nodes)))


def as_first_format(folder: Path, task: te.GraphTask) -> None:
    """Rewrite a saved task as earlier versions wrote it: without labels in the hashes."""
    path = folder / "graph" / "graph.json"
    card = json.loads(path.read_text())
    path.write_text(json.dumps({**card, "version": 1, "hash": task.graph.hash_without_labels}))
    card = json.loads((folder / "task.json").read_text())
    card |= {"format": 1, "hash": task.hash_without_labels}
    (folder / "task.json").write_text(json.dumps({**card, "seal": _seal(card)}))


def swap_two_labels(folder: Path) -> None:
    path = folder / "graph" / "graph.json"
    card = json.loads(path.read_text())
    card["labels"][:2] = card["labels"][1::-1]
    path.write_text(json.dumps(card))


def test_other_names_are_another_task() -> None:
    plain, named = te.load("karate"), named_karate()
    turned = replace(named, labels=named.labels[::-1])
    hashes = [te.task(graph, "existing").hash for graph in (plain, named, turned)]
    assert len(set(hashes)) == 3
    assert te.task(named, "existing").hash_without_labels == hashes[0]


@pytest.mark.parametrize("protocol", ["existing", "recommendation"])
def test_shuffled_labels_do_not_load(protocol: str, tmp_path: Path) -> None:
    folder = te.task(named_karate(), protocol).save(tmp_path / "task")
    swap_two_labels(folder)
    with pytest.raises(InputError, match="damaged"):
        te.load_task(folder)
    # Nor if the graph's own card is made to fit.
    path = folder / "graph" / "graph.json"
    card = json.loads(path.read_text())
    path.write_text(json.dumps({**card, "version": 1, "hash": named_karate().hash_without_labels}))
    with pytest.raises(InputError, match="damaged"):
        te.load_task(folder)


@pytest.mark.parametrize("protocol", ["existing", "recommendation"])
def test_a_task_of_the_first_format_loads_and_says_that_its_labels_were_not_sealed(
    protocol: str, tmp_path: Path
) -> None:
    task = te.task(named_karate(), protocol)
    folder = task.save(tmp_path / "task")
    as_first_format(folder, task)
    again = te.load_task(folder)
    assert (again.hash, again.graph.labels) == (task.hash, task.graph.labels)
    assert again.settings["notes"] == again.graph.notes == (UNSEALED,)
    assert UNSEALED in te.run(again, method="ra").warnings
    assert te.load_task(again.save(tmp_path / "again")).hash == task.hash


def test_the_task_of_version_0_1_loads_as_it_did() -> None:
    task = te.load_task(FIXTURE)
    assert task.hash == task.hash_without_labels == json.loads((FIXTURE / "task.json").read_text())["hash"]
    assert "notes" not in task.settings
