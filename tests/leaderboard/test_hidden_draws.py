"""The split and the negatives of a hidden task: nobody without its key can draw them again."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from benchmarks import leaderboard_replay as replaying
from tests.typed_graphs import small_graph

import trueedge as te
from trueedge import metrics
from trueedge.errors import InputError
from trueedge.leaderboard.hidden.judge import Judge
from trueedge.leaderboard.hidden.making import hide, judged
from trueedge.leaderboard.hidden.public_folder import HiddenTask
from trueedge.leaderboard.hidden.season import release
from trueedge.leaderboard.hidden.secret_folder import Secret
from trueedge.randomness import secret_seed
from trueedge.tasks import load

small_hide = partial(hide, least_units=50)


@pytest.fixture(scope="module")
def graph() -> te.Graph:
    return replace(te.datasets.load("barabasi-albert:nodes=600,attach=3"), name="private")


def _typed() -> te.HeteroGraph:
    found = small_graph(authors=300)
    assert found.labels is not None
    return replace(found, labels=replace(found.labels, test=None), name="private")


def _make(name: str, graph: te.Graph) -> Callable[[int], te.Task]:
    """Return what makes a task that can be hidden, of data that nobody else has."""
    triples = replace(te.datasets.load("umls"), name="private")
    return {
        "uniform": partial(te.task, graph, "uniform"),
        "uniform on sources": partial(te.task, graph, "uniform", redraw="target"),
        "degree-corrected": partial(te.task, graph, "degree-corrected"),
        "degree-corrected on sources": partial(te.task, graph, "degree-corrected", redraw="target"),
        "triplet": partial(te.task, graph, "triplet"),
        "with validation": partial(te.task, graph, "uniform", valid=0.1),
        "heart": partial(te.task, graph, "heart", k=20, heuristics=("ra",)),
        "filtered": partial(te.task, triples, "filtered"),
        "node-classification": partial(te.task, _typed(), "node-classification"),
        "typed-links": partial(te.task, _typed(), "typed-links", negatives="random"),
    }[name]


PROTOCOLS = (
    "uniform",
    "uniform on sources",
    "degree-corrected",
    "degree-corrected on sources",
    "triplet",
    "with validation",
    "heart",
    "filtered",
    "node-classification",
    "typed-links",
)


def _rows(task: te.Task, *names: str) -> set[tuple[int, ...]]:
    arrays = task.arrays()
    found = [arrays[name] for name in names if name in arrays]
    return {tuple(np.atleast_1d(row).tolist()) for one in found for row in one.reshape(len(one), -1)}


@pytest.mark.parametrize("name", PROTOCOLS)
def test_two_keys_draw_other_test_parts_and_other_negatives(name: str, graph, tmp_path: Path) -> None:
    for place in ("a", "b"):
        small_hide(_make(name, graph), tmp_path / place, tmp_path / f"{place}-secret")
    first, second = (Secret.open(tmp_path / f"{place}-secret").task for place in ("a", "b"))
    for arrays in (("test_positives", "test_triples", "test_nodes"), ("test_negatives",)):
        mine, theirs = _rows(first, *arrays), _rows(second, *arrays)
        assert len(mine & theirs) <= 0.8 * len(mine), arrays


@pytest.mark.parametrize("name", PROTOCOLS)
def test_no_public_file_holds_the_seed_or_the_key(name: str, graph, tmp_path: Path) -> None:
    small_hide(_make(name, graph), tmp_path / "public", tmp_path / "secret")
    secret = Secret.open(tmp_path / "secret")
    assert json.loads((tmp_path / "public" / "task" / "task.json").read_text())["seed"] == 0
    seed = secret_seed(secret.key)
    told = (secret.key, secret.key.hex().encode(), str(seed).encode(), hex(seed)[2:].encode())
    for path in [*(tmp_path / "public").rglob("*"), *(tmp_path / "secret" / "task").rglob("*")]:
        if path.is_file():
            content = path.read_bytes()
            assert not any(one in content for one in told), path


@pytest.mark.parametrize("name", PROTOCOLS)
def test_the_released_key_draws_the_released_task_again(name: str, graph, tmp_path: Path) -> None:
    make = _make(name, graph)
    small_hide(make, tmp_path / "public", tmp_path / "secret")
    release(Secret.open(tmp_path / "secret"), tmp_path / "labels")
    told = json.loads((tmp_path / "labels" / "released.json").read_text())
    again = judged(make, bytes.fromhex(told["key"]))
    assert again.hash == load(tmp_path / "labels" / "task").hash
    assert int(told["seed"]) == secret_seed(bytes.fromhex(told["key"]))


def test_a_plain_task_is_drawn_again_by_its_released_seed(graph, tmp_path: Path) -> None:
    small_hide(_make("uniform", graph), tmp_path / "public", tmp_path / "secret")
    secret = Secret.open(tmp_path / "secret")
    again = te.task(graph, "uniform", int(secret.release()["seed"]))
    assert again.hash == secret.task.hash


@pytest.mark.parametrize(("protocol", "attack"), [("uniform", "exact"), ("degree-corrected", "naive")])
def test_replaying_seeds_finds_the_labels_of_an_ordinary_seed_and_none_of_a_secret_key(
    protocol: str, attack: str, graph, tmp_path: Path
) -> None:
    found = {}
    for place, make in (
        ("ordinary", replaying.by_ordinary_seed(graph, protocol)),
        ("secret", partial(te.task, graph, protocol)),
    ):
        hidden = small_hide(make, tmp_path / place, tmp_path / f"{place}-key")
        labels = replaying.replay(hidden, replaying.ATTACKS[attack], seeds=20)
        found[place] = replaying.right(labels, Secret.open(tmp_path / f"{place}-key"))
    assert found["ordinary"] > (0.98 if attack == "exact" else 0.6)
    assert abs(found["secret"] - 0.5) < 0.05


def _named(graph: te.Graph, folder: Path) -> Path:
    """Write a file of names, as an address book would list them: each node with all its neighbours."""
    path = folder / "named.csv"
    order = np.random.default_rng(0).permutation(graph.num_nodes)
    edges = order[graph.edges]
    rows = [f"n{first},n{second}\n" for first, second in edges.tolist()]
    path.write_text("".join(rows))
    return path


def test_nodes_are_numbered_by_name_and_not_as_the_file_lists_them(graph, tmp_path: Path) -> None:
    path = _named(graph, tmp_path)
    make = partial(te.task, path, "uniform")
    public = small_hide(make, tmp_path / "public", tmp_path / "secret")
    names = public.task.graph.labels
    assert list(names) == sorted(names, key=lambda name: (len(name), name))
    secret = Secret.open(tmp_path / "secret")
    positive, negative = (
        -np.abs(np.diff(pairs.astype(np.int64), axis=1)[:, 0]).astype(float)
        for pairs in (secret.task.test.positives, secret.task.test.negatives)
    )
    # Neighbouring numbers are no more often edges than others: within five standard errors.
    auc = metrics.evaluate(positive, negative, ["auc"])["auc"]
    assert abs(auc - 0.5) < 5 * np.sqrt(1 / 6 / len(positive))
    # The nodes are the same ones, with the same edges.
    whole = te.task(path, "uniform", secret_seed(secret.key))
    assert _named_pairs(secret.task) == _named_pairs(whole)


def _named_pairs(task: te.LinkTask) -> set[frozenset[str]]:
    names = task.graph.labels
    return {frozenset((names[u], names[v])) for u, v in task.test.positives.tolist()}


def test_entities_are_numbered_by_name(tmp_path: Path) -> None:
    known = te.datasets.load("umls")
    rows = [(known.entities[h], known.relations[r], known.entities[t]) for h, r, t in known.triples.tolist()]
    mine = te.KnowledgeGraph.from_triples([rows[i] for i in np.random.default_rng(0).permutation(len(rows))])
    make = partial(te.task, mine, "filtered")
    public = small_hide(make, tmp_path / "public", tmp_path / "secret")
    names = public.task.graph.entities
    assert list(names) == sorted(names, key=lambda name: (len(name), name))
    secret = Secret.open(tmp_path / "secret")
    whole = te.task(mine, "filtered", secret_seed(secret.key))
    assert _named_triples(secret.task) == _named_triples(whole)


def _named_triples(task: te.TripleTask) -> set[tuple[str, int, str]]:
    names = task.graph.entities
    return {(names[h], r, names[t]) for h, r, t in task.parts["test"].tolist()}


def test_a_task_that_is_made_already_cannot_be_hidden(graph, tmp_path: Path) -> None:
    made = te.task(graph, "uniform", 0)
    for make in (made, lambda seed: made):
        with pytest.raises(InputError, match="made already cannot be hidden: its seed is known"):
            small_hide(make, tmp_path / "public", tmp_path / "secret")
    assert list(tmp_path.iterdir()) == []


def test_a_published_test_part_cannot_be_hidden(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="umls under filtered cannot be hidden: its test part is published"):
        small_hide(partial(te.task, "umls", "filtered"), tmp_path / "public", tmp_path / "secret")
    assert list(tmp_path.iterdir()) == []


def test_folders_of_an_older_version_are_refused(graph, tmp_path: Path) -> None:
    small_hide(_make("uniform", graph), tmp_path / "public", tmp_path / "secret")
    for path in (tmp_path / "public" / "hidden.json", tmp_path / "secret" / "secret.json"):
        path.write_text(json.dumps({**json.loads(path.read_text()), "version": 1}))
    said = "of an older version, whose labels can be found by the published seed: hide the data again"
    for opening in (
        lambda: HiddenTask.open(tmp_path / "public"),
        lambda: Secret.open(tmp_path / "secret"),
        lambda: Judge.of_folder(tmp_path / "secret"),
    ):
        with pytest.raises(InputError, match=said):
            opening()
    (tmp_path / "public" / "hidden.json").write_text('{"format": "trueedge hidden task", "version": 9}')
    with pytest.raises(InputError, match="has the version 9, this one reads 2"):
        HiddenTask.open(tmp_path / "public")
