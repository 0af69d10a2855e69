"""Keeping a state only if two validation values improve at once."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import trueedge as te
from trueedge import methods
from trueedge.errors import InputError
from trueedge.scorers.history import History
from trueedge.training.selection import JointSelection

PAIRS = [(3.0, 0.1), (2.0, 0.2), (2.5, 0.9), (1.0, 0.5), (1.5, 0.8), (0.5, 0.95)]


def made() -> JointSelection:
    """Return a rule for a loss and an F1 score, without evaluations."""
    return JointSelection(History("loss", higher_is_better=False), other="f1")


def noted(rule: JointSelection, first: int, last: int) -> None:
    """Note some of the pairs, each with a model whose weight is the number of its epoch."""
    model = nn.Linear(1, 1)
    for epoch in range(first, last + 1):
        nn.init.constant_(model.weight, epoch)
        loss, f1 = PAIRS[epoch - 1]
        rule.note(epoch, {"loss": loss, "f1": f1}, model)


def test_a_state_is_kept_only_if_both_values_are_better_than_ever() -> None:
    rule = made()
    # Epoch 4 has the lowest loss so far, but epoch 3 a higher F1; epoch 6 beats all before it in both.
    for last, kept in ((1, 1), (2, 2), (3, 2), (4, 2), (5, 2), (6, 6)):
        noted(rule, last, last)
        assert rule.history.best_epoch == kept
        assert rule.history.best == PAIRS[kept - 1][0]
        assert torch.all(rule.state["weight"] == kept)


def test_only_evaluations_in_which_neither_value_improves_count_for_stopping() -> None:
    rule = made()
    counts = []
    for epoch in range(1, 7):
        noted(rule, epoch, epoch)
        counts.append(rule.history.evaluations_without_improvement)
    assert counts == [0, 0, 0, 0, 1, 0]


def test_a_rule_goes_on_from_a_checkpoint_where_it_stopped() -> None:
    whole, half, rest = made(), made(), made()
    noted(whole, 1, 6)
    noted(half, 1, 3)
    rest.load(half.saved())
    noted(rest, 4, 6)
    assert (rest.history, rest.others) == (whole.history, whole.others)


def test_loss_and_f1_keep_a_state_that_was_best_in_both() -> None:
    task = te.task("bibliography")
    method = methods.create("hetsann", {"select": "loss-and-f1", "epochs": 12, "features": "all"})
    history = method.fit(task, seed=1).history
    before = [loss for epoch, loss in history.values if epoch < history.best_epoch]
    assert history.metric == "loss"
    assert len(history.values) == 12
    assert history.best == dict(history.values)[history.best_epoch]
    assert all(history.best < one for one in before)


def test_loss_and_f1_is_refused_for_links() -> None:
    method = methods.create("hetsann", {"select": "loss-and-f1", "epochs": 1})
    with pytest.raises(InputError, match="classes of nodes"):
        method.fit(te.task("bibliography", "typed-links"))
