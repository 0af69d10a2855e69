"""Callbacks see every evaluation, and change nothing."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import trueedge as te  # noqa: E402
from small_interactions import small_interactions  # noqa: E402
from trueedge.methods import create  # noqa: E402
from trueedge.training import TensorBoard, WeightsAndBiases, use_callbacks  # noqa: E402


@pytest.fixture(scope="module")
def task():
    rng = np.random.default_rng(0)
    edges = rng.integers(0, 30, (120, 2))
    return te.task(te.Graph.from_edges(edges, 30, self_loops="drop", repeats="drop"), "existing", seed=0)


def short(**settings):
    return create("gcn", {"dim": 8, "epochs": 5, "evaluate_every": 2, "dropout": 0.5, **settings})


class Noted:
    """Notes what it is told, draws random numbers on the way, and turns off gradients."""

    def __init__(self):
        self.seen = []

    def on_evaluation(self, epoch, loss, metrics):
        torch.rand(7)
        torch.set_grad_enabled(False)
        np.random.default_rng().random(3)
        self.seen.append((epoch, loss, dict(metrics)))


def test_every_evaluation_is_seen_with_its_loss_and_value(task):
    log = Noted()
    with use_callbacks(callbacks=[log]):
        history = short().fit(task, seed=1).history
    assert [epoch for epoch, _, _ in log.seen] == [2, 4, 5]
    assert [metrics[history.metric] for _, _, metrics in log.seen] == [value for _, value in history.values]
    assert [loss for _, loss, _ in log.seen] == [history.losses[epoch - 1] for epoch in (2, 4, 5)]


def test_a_callback_that_draws_random_numbers_changes_no_bit(task):
    pairs = np.random.default_rng(1).integers(0, 30, (50, 2))
    alone = short().fit(task, seed=1)
    with use_callbacks(callbacks=[Noted(), Noted()]):
        watched = short().fit(task, seed=1)
    assert watched.history == alone.history
    assert watched.score(pairs).tobytes() == alone.score(pairs).tobytes()


def test_without_a_validation_part_every_epoch_is_seen():
    graph = te.Graph.from_edges(
        np.random.default_rng(0).integers(0, 30, (120, 2)), 30, self_loops="drop", repeats="drop"
    )
    log = Noted()
    with use_callbacks(callbacks=[log]):
        short().fit(te.task(graph, "uniform", seed=0), seed=1)
    assert [(epoch, metrics) for epoch, _, metrics in log.seen] == [(epoch, {}) for epoch in range(1, 6)]


def test_a_block_inside_keeps_the_callbacks_unless_it_names_others(task):
    outer, inner = Noted(), Noted()
    with use_callbacks(callbacks=[outer]):
        with use_callbacks(progress=lambda *_: None):
            short(epochs=2).fit(task)
        with use_callbacks(callbacks=[inner]):
            short(epochs=2).fit(task)
    assert len(outer.seen) == len(inner.seen) == 1


def test_a_method_without_torch_is_seen_too():
    log = Noted()
    with use_callbacks(callbacks=[log]):
        create("bpr-mf", {"epochs": 4, "evaluate_every": 2, "dim": 4}).fit(te.task(small_interactions()))
    assert [epoch for epoch, _, _ in log.seen] == [2, 4]


def test_what_is_no_callback_is_refused():
    with (
        pytest.raises(te.InputError, match=r"on_evaluation\(epoch, loss, metrics\), and int has not"),
        use_callbacks(callbacks=[3]),
    ):
        pass


class Calls(list):
    """Notes every call of every method."""

    def __getattr__(self, name):
        return lambda *values, **named: self.append((name, *values, *named.items())) or self


def test_a_training_is_written_for_tensorboard(task, monkeypatch):
    calls = Calls()
    fake = SimpleNamespace(SummaryWriter=lambda folder: calls.append(("open", folder)) or calls)
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", fake)
    with TensorBoard("logs") as log, use_callbacks(callbacks=[log]):
        history = short().fit(task, seed=1).history
    assert calls[0] == ("open", "logs")
    assert calls[1] == ("add_scalar", "loss", history.losses[1], 2)
    assert calls[2] == ("add_scalar", f"validation/{history.metric}", history.values[0][1], 2)
    assert calls[-1] == ("close",)


def test_a_training_is_logged_to_weights_and_biases(task, monkeypatch):
    calls = Calls()
    monkeypatch.setitem(sys.modules, "wandb", calls)
    with WeightsAndBiases("links", name="gcn") as log, use_callbacks(callbacks=[log]):
        history = short().fit(task, seed=1).history
    assert calls[0] == ("init", ("project", "links"), ("name", "gcn"))
    logged = {"loss": history.losses[1], f"validation/{history.metric}": history.values[0][1]}
    assert calls[1] == ("log", logged, ("step", 2))
    assert calls[-1] == ("finish",)


@pytest.mark.parametrize(
    ("module", "make", "package"),
    [
        ("torch.utils.tensorboard", lambda: TensorBoard("logs"), "tensorboard"),
        ("wandb", lambda: WeightsAndBiases("links"), "wandb"),
    ],
)
def test_a_missing_package_is_named(monkeypatch, module, make, package):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(te.InputError, match=f"pip install {package}"):
        make()
