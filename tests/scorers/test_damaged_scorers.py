"""Saved scorers that are damaged, foreign or lie: one sentence each, and nothing is run."""

from __future__ import annotations

import gc
import json
import pickle
import weakref
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
import pytest

import trueedge as te
from trueedge.methods import Method, create, saving, setting
from trueedge.methods.method import METHODS, on_graph
from trueedge.scorers.history import History
from trueedge.scorers.learned import learned


@pytest.fixture(scope="module")
def task():
    rng = np.random.default_rng(0)
    graph = te.Graph.from_edges(
        rng.integers(0, 40, (150, 2)), 40, self_loops="drop", repeats="drop", name="random"
    )
    return te.task(graph, "existing", seed=0)


@pytest.fixture
def saved(task, tmp_path):
    """A folder with the vectors of a small embedding."""
    scorer = create("fastrp", {"dim": 8}).fit(task, seed=1)
    return te.save(scorer, tmp_path / "model")


def reseal(folder, **changes):
    """Change a card as a liar would, with a seal that fits."""
    path = folder / saving.CARD
    card = {**json.loads(path.read_text()), **changes}
    path.write_text(json.dumps({**card, "seal": saving._seal(card)}))


def replace_array(folder, array):
    """Put another array into a folder, with a hash and a seal that fit."""
    np.save(folder / "learned" / "0-0.npy", array)
    card = json.loads((folder / saving.CARD).read_text())
    card["learned"][0]["arrays"]["vectors"] = saving.array_hash(array)
    reseal(folder, learned=card["learned"])


def refused(folder, match):
    with pytest.raises(te.InputError, match=match) as found:
        te.load_scorer(folder)
    assert "\n" not in str(found.value)


def test_a_folder_is_loaded_and_can_be_saved_again(saved, task, tmp_path):
    first = te.load_scorer(saved)
    te.save(first, tmp_path / "again")
    second = te.load_scorer(tmp_path / "again")
    assert task.evaluate(first) == task.evaluate(second)


def test_a_scorer_is_not_saved_over_another(saved, task):
    with pytest.raises(te.InputError, match="not empty"):
        te.save(create("cn").fit(task), saved)


def test_a_changed_byte_is_noticed(saved):
    path = saved / "learned" / "0-0.npy"
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(content)
    refused(saved, "0-0.npy is damaged: it was changed")


def test_a_file_that_ends_early_is_noticed(saved):
    path = saved / "learned" / "0-0.npy"
    path.write_bytes(path.read_bytes()[:-100])
    refused(saved, "0-0.npy is damaged")


def test_a_missing_array_is_named(saved):
    (saved / "learned" / "0-0.npy").unlink()
    refused(saved, r"0-0.npy: there is no such file")


def test_a_changed_card_is_noticed(saved):
    path = saved / saving.CARD
    path.write_text(path.read_text().replace('"seed": 1', '"seed": 2'))
    refused(saved, "changed after it was written")


def test_other_training_data_is_noticed(saved, task):
    fewer = te.Graph.from_edges(task.graph.edges[:50], 40)
    te.save(create("cn").fit(te.task(fewer, "existing")), saved.parent / "other")
    (saved / "task").rename(saved.parent / "task")
    (saved.parent / "other" / "task").rename(saved / "task")
    refused(saved, "other training data")


def test_objects_are_not_unpickled(saved):
    class Bomb:
        def __reduce__(self) -> Any:
            return pytest.fail, ("a file was unpickled",)

    head = np.lib.format
    with (saved / "learned" / "0-0.npy").open("wb") as file:
        head.write_array_header_1_0(file, {"descr": "|O", "fortran_order": False, "shape": (1,)})
        pickle.dump(np.array([Bomb()], dtype=object), file)
    refused(saved, "holds Python objects")


@pytest.mark.parametrize(
    ("array", "match"),
    [
        (np.zeros((39, 8), dtype=np.float32), r"vectors should have the shape \(40, any\)"),
        (np.zeros(40, dtype=np.float32), "vectors should have the shape"),
        (np.full((40, 8), "x"), "vectors should hold numbers"),
    ],
    ids=["rows", "sides", "text"],
)
def test_an_array_of_another_shape_or_type_is_refused(saved, array, match):
    replace_array(saved, array)
    refused(saved, match)


def test_steps_that_are_missing_or_left_over_are_counted(saved):
    entry = json.loads((saved / saving.CARD).read_text())["learned"][0]
    reseal(saved, learned=[])
    refused(saved, "holds 0 learned steps, and the method has more")
    reseal(saved, learned=[entry, {"arrays": None, "history": None}])
    refused(saved, "holds 2 learned steps, and the method has 1")


def test_another_method_or_setting_on_the_card_is_refused(saved):
    reseal(saved, method="no-such-method")
    refused(saved, "'no-such-method', which is not in the catalogue")
    reseal(saved, method="deepwalk", settings={"colour": "red"})
    refused(saved, "colour")
    reseal(saved, method="sbm", settings={})
    refused(saved, "should hold blocks, description_length, and holds vectors")
    reseal(saved, method="gcn", settings={})
    refused(saved, "arrays where the method trains a model")


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"kind": "task"}, "not the card of a saved scorer"),
        ({"format": 99}, "format 99"),
        ({"settings": 3}, "'settings' is missing or not of type dict"),
        ({"seed": "0"}, "'seed' is missing"),
        ({"learned": [7]}, "entry 0 of 'learned' has no arrays"),
        ({"learned": [{"arrays": None, "history": {"losses": 3}}]}, "no history of a training"),
    ],
)
def test_a_card_that_is_none_is_refused(saved, changes, match):
    reseal(saved, **changes)
    refused(saved, match)


def test_what_is_no_saved_scorer_is_refused(task, tmp_path):
    refused(tmp_path, "holds no scorer")
    (tmp_path / "file").write_text("hello")
    refused(tmp_path / "file", "is a file: a saved scorer is a folder")
    refused(task.save(tmp_path / "task"), "holds no scorer")


def test_only_what_a_method_fitted_can_be_saved(task, tmp_path):
    for thing, match in (
        (lambda pairs: pairs[:, 0], "was not fitted by a method"),
        (create("cn"), "has not been fitted"),
        (task, "task.save"),
    ):
        with pytest.raises(te.InputError, match=match):
            te.save(thing, tmp_path / "model")


@pytest.fixture
def own_methods(monkeypatch):
    """Two methods of a user: one that says what it learns, and one that does not."""
    create("cn")
    monkeypatch.setattr(METHODS, "_entries", dict(METHODS._entries))

    @dataclass(frozen=True)
    class Silent(Method):
        name: ClassVar[str] = "silent"

        def fit(self, task, seed=0, device="cpu"):
            values = np.random.default_rng(seed).random(on_graph(task, self.name).num_nodes)
            return Sums(values)

    @dataclass(frozen=True)
    class Saying(Method):
        name: ClassVar[str] = "saying"
        power: float = setting(1.0, "power of the values", low=0.0, high=9.0)

        def fit(self, task, seed=0, device="cpu"):
            count = on_graph(task, self.name).num_nodes
            found = learned(lambda: {"values": next(DRAWS).random(count)}, values=(count,))
            return Sums(found["values"] ** self.power)

    return Silent, Saying


# A new draw each time: a second fit would give another scorer.
DRAWS = iter(np.random.default_rng(seed) for seed in range(100))


class Sums:
    """Scores a pair by the sum of two values."""

    def __init__(self, values):
        self.values = values

    def score(self, pairs):
        return self.values[pairs].sum(axis=1)


def test_a_method_of_a_user_is_saved_if_it_says_what_it_learns(own_methods, task, tmp_path):
    silent, saying = own_methods
    with pytest.raises(te.InputError, match=r"silent does not say what it learns: wrap that in .*learned"):
        te.save(silent().fit(task), tmp_path / "silent")
    scorer = saying(power=2.0).fit(task)
    loaded = te.load_scorer(te.save(scorer, tmp_path / "saying"))
    assert loaded.values.tobytes() == scorer.values.tobytes()


def test_a_trained_model_is_not_trained_again(task, tmp_path, monkeypatch):
    loop = pytest.importorskip("trueedge.training.loop")
    scorer = create("gcn", {"epochs": 2, "dim": 8, "evaluate_every": 1}).fit(task, seed=3)
    te.save(scorer, tmp_path / "model")
    monkeypatch.setattr(loop._Training, "run", lambda self: pytest.fail("trained again"))
    loaded = te.load_scorer(tmp_path / "model")
    assert loaded.history == scorer.history
    assert task.evaluate(loaded) == task.evaluate(scorer)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda arrays: arrays.popitem(), "has no weight"),
        (lambda arrays: arrays.update({"weight": "0"}), "unknown weight 'weight'"),
    ],
)
def test_a_model_with_other_weights_is_refused(task, tmp_path, change, match):
    pytest.importorskip("torch")
    scorer = create("gcn", {"epochs": 1, "dim": 8}).fit(task, seed=3)
    folder = te.save(scorer, tmp_path / "model")
    card = json.loads((folder / saving.CARD).read_text())
    arrays = card["learned"][0]["arrays"]
    change(arrays)
    if "weight" in arrays:
        extra = np.zeros(3)
        np.save(folder / "learned" / f"0-{len(arrays) - 1}.npy", extra)
        arrays["weight"] = saving.array_hash(extra)
    reseal(folder, learned=card["learned"])
    refused(folder, match)


def test_a_scorer_that_nobody_holds_is_given_back(task):
    for name in ("cn", "fastrp", "sbm"):
        scorer = create(name).fit(task)
        watched = weakref.ref(scorer)
        del scorer
        gc.collect()
        assert watched() is None, name


@pytest.mark.parametrize("losses", [[10**400], [[1]], "loss"])
def test_a_history_without_numbers_is_refused(saved, losses):
    card = json.loads((saved / saving.CARD).read_text())
    history = {"losses": losses, "values": [], "best": None, "metric": None}
    card["learned"][0]["history"] = {one.name: history.get(one.name) for one in fields(History)}
    reseal(saved, learned=card["learned"])
    refused(saved, "entry 0 of 'learned' has no history of a training")


def test_vectors_of_another_type_are_read_as_numbers(task, tmp_path):
    pytest.importorskip("torch")
    few = {"vector_dim": 8, "walks": 1, "passes": 1, "dim": 8, "epochs": 1}
    folder = te.save(create("node2vec", few).fit(task), tmp_path / "model")
    replace_array(folder, np.arange(8 * task.num_nodes).reshape(-1, 8).astype(">i8"))
    assert np.isfinite(te.predict(te.load_scorer(folder), [(0, 1)])).all()


def test_a_name_with_a_nul_is_refused(task, tmp_path):
    with pytest.raises(te.InputError, match="the scorer cannot be written to"):
        te.save(create("katz").fit(task), f"{tmp_path}/a\0b")
    refused(f"{tmp_path}/a\0b", "a name has no NUL in it")
