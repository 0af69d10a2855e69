"""Steps of frequent shapes are replayed; everything else is taken directly."""

from __future__ import annotations

import contextlib
import gc
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from trueedge.graph.knowledge import KnowledgeGraph  # noqa: E402
from trueedge.methods.kg.models.bilinear import DistMultModel  # noqa: E402
from trueedge.training import captured, optimize, seeded  # noqa: E402
from trueedge.training.triples import AllTails, TripleIndex, TripleSchedule  # noqa: E402


class Capture:
    """Stands in for a CUDA graph."""

    def __init__(self, take, step, pool):
        self.take, self.shape = take, step[0].shape

    def replay(self, step):
        assert step[0].shape == self.shape
        return -self.take(step)


@pytest.fixture
def steps(monkeypatch):
    """Sums of steps; a replayed one is negative."""
    monkeypatch.setattr(captured, "_Capture", Capture)
    monkeypatch.setattr(captured, "MOST_SHAPES", 2)
    monkeypatch.setattr(torch.cuda, "graph_pool_handle", lambda: None)
    monkeypatch.setattr(torch.cuda, "device", contextlib.nullcontext)
    monkeypatch.setattr(captured.CapturedSteps, "_warm_up", lambda self, step: self._take(step))
    made = captured.CapturedSteps(lambda step: step[0].sum(), "cpu")
    return lambda sizes: [float(made((torch.ones(size),))) for size in sizes]


def test_a_shape_is_captured_after_its_third_step_and_others_are_taken_directly(steps):
    sums = steps((2, 2, 3, 2, 2, 2, 3, 3, 3, 4, 4, 4, 4, 4))
    assert sums == [2, 2, 3, 2, -2, -2, 3, 3, -3, 4, 4, 4, 4, 4]


def test_steps_that_cannot_be_captured_are_taken_directly_with_a_warning(steps, monkeypatch):
    def fail(*_):
        raise RuntimeError("operation not permitted when stream is capturing\nand much more")

    monkeypatch.setattr(captured, "_Capture", fail)
    with pytest.warns(UserWarning, match="not captured, and slower: operation not permitted"):
        assert steps((2, 2, 2, 2, 2)) == [2] * 5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert steps((2, 3, 3, 3, 3)) == [2, 3, 3, 3, 3]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_replayed_steps_train_the_same_model_as_direct_ones(monkeypatch):
    rng = np.random.default_rng(0)
    rows = np.stack([rng.integers(0, 40, 400), rng.integers(0, 3, 400), rng.integers(0, 40, 400)], axis=1)
    graph = KnowledgeGraph.from_triples(rows, 40, 3, repeats="drop")
    models = []
    for shapes in (0, 8):
        monkeypatch.setattr(captured, "MOST_SHAPES", shapes)
        schedule = TripleSchedule(epochs=5, batch_size=16, learning_rate=0.01)
        with seeded(0):
            model = DistMultModel(40, 6, 16, 0.0)
        optimize(model, AllTails(TripleIndex(graph, "cuda"), schedule), schedule, device="cuda")
        models.append(model.entities.detach().cpu())
    torch.testing.assert_close(models[0], models[1], rtol=1e-3, atol=1e-4)


def test_no_garbage_is_collected_during_a_capture():
    with captured.no_collection():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_garbage_collection_stays_off_if_it_was_off():
    gc.disable()
    try:
        with captured.no_collection():
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()
