"""Training for classes does not stop before it has learned more than one prediction for all nodes."""

from __future__ import annotations

import re
import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import trueedge as te  # noqa: E402
from trueedge import methods  # noqa: E402
from trueedge.errors import ScoreWarning  # noqa: E402
from trueedge.training.loop import Objective, optimize  # noqa: E402
from trueedge.training.schedule import LoopSchedule  # noqa: E402
from trueedge.training.typed.chance import chance_level  # noqa: E402
from typed_graphs import small_graph  # noqa: E402


class _Nothing(Objective):
    """One step an epoch that changes nothing of interest."""

    def steps(self, rng: Any) -> Any:
        yield 0

    def backward(self, model: Any, step: Any, rng: Any) -> torch.Tensor:
        loss = model.weight.square().sum()
        loss.backward()
        return loss.detach()


def _epochs(values: list[float], **more: Any) -> int:
    """Return the number of epochs of a training with these validation values and a patience of one check."""
    left = iter(values)
    schedule = LoopSchedule(epochs=len(values), evaluate_every=1, patience=1)
    history = optimize(
        torch.nn.Linear(1, 1), _Nothing(), schedule, lambda: next(left), higher_is_better=False, **more
    )
    return len(history.losses)


def test_training_goes_on_while_nothing_is_better_than_chance() -> None:
    plateau = [1.0, 1.1, 1.1, 1.2, 1.0, 0.7, 0.8, 0.8, 0.8]
    assert _epochs(plateau) == 3
    assert _epochs(plateau, chance=0.9) == 8
    assert _epochs(plateau, chance=0.1) == len(plateau)
    assert _epochs(plateau, chance=1.5) == 3


def test_a_default_patience_counts_only_above_chance_and_a_chosen_or_published_one_always() -> None:
    task = te.task("bibliography")
    assert methods.create("gcn-hetero").for_task(task).stop_at_chance is False
    assert methods.create("gcn-hetero", {"patience": 30}).for_task(task).stop_at_chance is True
    published: Any = SimpleNamespace(dataset="imdb", protocol="node-classification", kind="nodes", graph=None)
    for name in ("gcn-hetero", "magnn", "gtn", "simple-hgn"):
        assert methods.create(name).for_task(published).stop_at_chance is True


@pytest.mark.parametrize("multi", [False, True])
def test_no_constant_prediction_is_better_than_chance(multi: bool) -> None:
    task = te.task(small_graph(multi=multi))
    assert isinstance(task, te.NodeTask)
    true = task.memberships("valid")
    loss = chance_level(task, "loss")
    rng = np.random.default_rng(0)
    best = np.inf
    for _ in range(2000):
        share = rng.dirichlet(np.ones(3)) if not multi else rng.random(3)
        logs = true * np.log(share) + (multi & ~true) * np.log(1 - share)
        best = min(best, -logs.mean() if multi else -logs.sum(axis=1).mean())
    assert loss <= best < loss + 0.01
    f1 = chance_level(task, "micro-f1")
    for guess in np.eye(3):
        assert task.evaluate(np.tile(guess, (170, 1)), "valid")["micro-f1"] <= f1
    assert 0 < f1 < 1


AT_CHANCE = "gcn-hetero: no state was better on the validation part than one prediction for all nodes"


@pytest.mark.parametrize(
    ("patience", "epochs", "advice"),
    [
        (0, 50, "a larger patience may help"),
        (30, 2, "more epochs or a higher learning_rate may help"),
        (None, 2, "more epochs or a higher learning_rate may help"),
    ],
)
def test_a_model_that_ends_at_chance_says_so(patience: int | None, epochs: int, advice: str) -> None:
    settings = {"features": "all", "patience": patience, "learning_rate": 1e-8, "epochs": epochs}
    with pytest.warns(ScoreWarning) as caught:
        methods.create("gcn-hetero", settings).fit(te.task(small_graph()))
    (said,) = (str(one.message) for one in caught if AT_CHANCE in str(one.message))
    assert re.fullmatch(rf"{AT_CHANCE}; the best one, that of epoch \d+, is kept, and {advice}", said)


@pytest.mark.parametrize("select", ["loss", "micro-f1"])
def test_a_model_that_learns_the_classes_gets_no_warning(select: str) -> None:
    settings = {"features": "all", "patience": 30, "learning_rate": 0.01, "epochs": 50, "select": select}
    task = te.task(small_graph())
    with warnings.catch_warnings():
        warnings.simplefilter("error", ScoreWarning)
        methods.create("gcn-hetero", settings).fit(task)
        # Its constant predictions are no scores of the user's.
        chance_level(task, select)
