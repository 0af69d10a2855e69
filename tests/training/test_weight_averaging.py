"""Stochastic weight averaging: the averaged model is what is evaluated, kept, saved and resumed."""

from __future__ import annotations

import copy
import math

import pytest

torch = pytest.importorskip("torch")

from trueedge.errors import InputError  # noqa: E402
from trueedge.training import (  # noqa: E402
    Checkpoint,
    LoopSchedule,
    Objective,
    optimize,
    seeded,
    use_callbacks,
)


class Regression(Objective):
    """Squared errors of a small network with a batch norm."""

    def __init__(self):
        generator = torch.Generator().manual_seed(0)
        self.rows = torch.randn(64, 4, generator=generator)
        self.targets = self.rows.sum(dim=1, keepdim=True).tanh()

    def steps(self, rng):
        yield from rng.permutation(64).reshape(-1, 16)

    def backward(self, model, step, rng):
        loss = (model(self.rows[step]) - self.targets[step]).square().mean()
        loss.backward()
        return loss.detach()


class Recomputed(Regression):
    """The same, with statistics of all rows."""

    def recompute_statistics(self, model):
        model[1].reset_running_stats()
        model[1].momentum = None
        model.train()
        with torch.no_grad():
            model(self.rows)
        model[1].momentum = 0.1


def network():
    with seeded(0):
        return torch.nn.Sequential(
            torch.nn.Linear(4, 6), torch.nn.BatchNorm1d(6), torch.nn.Dropout(0.1), torch.nn.Linear(6, 1)
        )


def schedule(**settings):
    return LoopSchedule(
        **{
            "learning_rate": 0.05,
            "epochs": 9,
            "evaluate_every": 1,
            "patience": 99,
            "average_from": 3,
            "average_every": 2,
            **settings,
        }
    )


def trained(objective, settings, value=None):
    """Train; return the model, its state after each epoch, and the states that were evaluated."""
    model, after, evaluated = network(), [], []

    def evaluate():
        evaluated.append(copy.deepcopy(model.state_dict()))
        return value(len(evaluated)) if value else float(len(evaluated))

    with use_callbacks(lambda *_: after.append(copy.deepcopy(model.state_dict()))):
        optimize(model, objective, settings, evaluate)
    return model, after, evaluated


def test_the_evaluated_state_is_the_mean_of_the_states_so_far():
    _, after, evaluated = trained(Regression(), schedule())
    for epoch, state in enumerate(evaluated, start=1):
        averaged = [one for one in (3, 5, 7, 9) if one <= epoch]
        for name, value in state.items():
            if not value.is_floating_point():
                continue
            states = [after[one - 1][name] for one in averaged] or [after[epoch - 1][name]]
            torch.testing.assert_close(value, torch.stack(states).mean(dim=0))
    assert not torch.equal(evaluated[-1]["0.weight"], after[-1]["0.weight"])


def test_the_best_averaged_state_is_kept():
    model, _, evaluated = trained(Regression(), schedule(), value=lambda count: -abs(count - 6.0))
    for name, value in model.state_dict().items():
        assert torch.equal(value, evaluated[5][name])


def test_without_evaluation_the_last_average_is_kept():
    model, after = network(), []
    with use_callbacks(lambda *_: after.append(copy.deepcopy(model.state_dict()))):
        optimize(model, Regression(), schedule())
    mean = torch.stack([after[epoch - 1]["0.weight"] for epoch in (3, 5, 7, 9)]).mean(dim=0)
    torch.testing.assert_close(model.state_dict()["0.weight"], mean)


def test_statistics_of_batch_norms_are_those_of_the_averaged_weights():
    objective = Recomputed()
    _, after, evaluated = trained(objective, schedule())
    hidden = torch.nn.functional.linear(objective.rows, evaluated[-1]["0.weight"], evaluated[-1]["0.bias"])
    torch.testing.assert_close(evaluated[-1]["1.running_mean"], hidden.mean(dim=0))
    torch.testing.assert_close(evaluated[-1]["1.running_var"], hidden.var(dim=0))
    # The training itself goes on with its own.
    assert not torch.equal(after[-1]["1.running_mean"], evaluated[-1]["1.running_mean"])


def test_averaging_leaves_the_training_itself_alone():
    _, plain, _ = trained(Regression(), schedule(average_from=0))
    _, averaged, _ = trained(Regression(), schedule())
    assert all(torch.equal(plain[-1][name], averaged[-1][name]) for name in plain[-1])


def test_a_killed_averaging_goes_on_to_the_same_bits(tmp_path):
    settings = schedule(evaluate_every=2, average_rate=0.01)

    def run(progress=None, checkpoint=None):
        model = network()
        with use_callbacks(progress, checkpoint):
            optimize(model, Recomputed(), settings, lambda: float(model[0].weight.detach().sum()))
        return model.state_dict()

    def kill(epoch, *_):
        if epoch == 7:
            raise KeyboardInterrupt

    whole, checkpoint = run(), Checkpoint(tmp_path / "state.pt")
    with pytest.raises(KeyboardInterrupt):
        run(kill, checkpoint)
    epochs = []
    again = run(lambda epoch, *_: epochs.append(epoch), checkpoint)
    assert epochs[0] == 7
    assert all(torch.equal(whole[name], again[name]) for name in whole)


def test_the_rate_moves_to_that_of_averaging_by_a_half_cosine():
    settings = schedule(epochs=100, average_rate=0.01, average_steps=4, decay=1.0)
    # States are averaged at the end of epochs 3, 5, 7, 9.
    assert [settings.averaged_states(epoch) for epoch in (2, 3, 4, 5, 9)] == [0, 1, 1, 2, 4]
    assert settings.rate(3) == 0.05
    assert settings.rate(6) == pytest.approx(0.03)
    assert settings.rate(4) == pytest.approx(0.01 + 0.04 * (1 + math.cos(math.pi / 4)) / 2)
    assert settings.rate(50) == pytest.approx(0.01)
    assert schedule(decay=0.5).rate(4) == pytest.approx(0.05 / 8)


@pytest.mark.parametrize(
    ("setting", "value"),
    [("average_from", -1), ("average_every", 0), ("average_rate", -0.1), ("average_steps", 0)],
)
def test_an_averaging_that_cannot_be_is_refused(setting, value):
    with pytest.raises(InputError, match=setting):
        LoopSchedule(**{setting: value})
