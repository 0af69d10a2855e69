"""BPR-MF on planted groups of users and items."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import trueedge as te
from trueedge.errors import InputError
from trueedge.graph.interactions import Interactions
from trueedge.methods import create
from trueedge.methods.recommend import bpr_mf
from trueedge.methods.recommend.bpr_mf import BprMF, pretrained

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")

QUICK = {"dim": 8, "epochs": 9, "evaluate_every": 3}


@pytest.fixture(scope="module")
def task():
    """Four groups of users, each with items of its own; items of a group are equally popular."""
    rng = np.random.default_rng(5)
    group_of_user, group_of_item = np.arange(60) % 4, np.arange(80) % 4
    chance = np.where(group_of_user[:, None] == group_of_item[None, :], 0.6, 0.02)
    pairs = np.argwhere(rng.random((60, 80)) < chance)
    return te.task(Interactions.from_pairs(pairs, 60, 80, name="groups"), "full-ranking", seed=1)


@pytest.mark.compiled
@pytest.mark.parametrize("bias", [True, False])
def test_planted_groups_are_found(task, bias):
    scorer = BprMF(dim=8, epochs=60, bias=bias).fit(task, seed=0)
    found = task.evaluate(scorer)["ndcg@20"]
    assert found > 2 * task.evaluate(create("popularity").fit(task))["ndcg@20"]
    assert (scorer.bias is not None) == bias
    assert scorer.history.losses[-1] < 0.6 * scorer.history.losses[0]


def test_a_seed_gives_the_same_bits_and_another_seed_others(task):
    first, again, other = (BprMF(**QUICK).fit(task, seed=seed) for seed in (1, 1, 2))
    assert first.users.tobytes() == again.users.tobytes()
    assert first.items.tobytes() == again.items.tobytes()
    assert first.bias.tobytes() == again.bias.tobytes()
    assert first.users.tobytes() != other.users.tobytes()


def test_the_test_part_changes_nothing(task):
    other = replace(task, hidden={**task.hidden, "test": task.hidden["test"][::2]})
    found = [BprMF(**QUICK).fit(one).users.tobytes() for one in (task, other, task.for_fitting())]
    assert len(set(found)) == 1


def test_the_best_epoch_on_the_validation_part_is_kept(task):
    scorer = BprMF(**QUICK, learning_rate=0.5).fit(task, seed=3)
    history = scorer.history
    assert [epoch for epoch, _ in history.values] == [3, 6, 9]
    assert history.metric == "ndcg@20"
    assert history.best == max(value for _, value in history.values)
    assert dict(history.values)[history.best_epoch] == history.best
    assert task.evaluate(scorer, "valid")["ndcg@20"] == pytest.approx(history.best, abs=1e-12)


def test_training_stops_when_validation_does_not_improve(task, monkeypatch):
    values = iter([0.1, 0.3, 0.3, 0.2, 0.1, 0.9])
    monkeypatch.setattr(bpr_mf, "_value", lambda scorer, given: next(values))
    scorer = BprMF(dim=4, epochs=100, evaluate_every=2, patience=2).fit(task)
    assert scorer.history.best_epoch == 4
    assert len(scorer.history.losses) == 10


def test_without_a_validation_part_the_last_epoch_is_kept(task):
    bare = replace(task, hidden={"test": task.hidden["test"]})
    scorer = BprMF(**QUICK).fit(bare)
    assert scorer.history.best_epoch == 9
    assert scorer.history.values == []


def test_a_sample_of_validation_users_is_enough(task, monkeypatch):
    asked = []
    monkeypatch.setattr(bpr_mf, "_value", lambda scorer, given: asked.append(given.questions("valid")) or 0.0)
    BprMF(dim=4, epochs=3, evaluate_every=1, validation_users=7).fit(task, seed=2)
    assert [len(users) for users in asked] == [7, 7, 7]
    assert all((users == asked[0]).all() for users in asked)
    assert set(asked[0]) <= set(task.questions("valid"))


@pytest.mark.filterwarnings("ignore:.*encountered:RuntimeWarning")
def test_a_learning_rate_that_is_too_high_is_named(task):
    with pytest.raises(InputError, match="a lower learning_rate may help"):
        BprMF(dim=8, epochs=40, learning_rate=10.0, regularization=10.0).fit(task)


def test_a_callback_is_called_after_each_check(task):
    from trueedge.training import use_callbacks

    seen = []
    with use_callbacks(lambda epoch, epochs, history: seen.append((epoch, epochs, len(history.losses)))):
        BprMF(**QUICK).fit(task)
    assert seen == [(3, 9, 3), (6, 9, 6), (9, 9, 9)]


@pytest.mark.compiled
def test_pretrained_vectors_score_without_a_bias_and_are_trained_once(task, monkeypatch):
    monkeypatch.setattr(bpr_mf, "_KEPT", bpr_mf.OrderedDict())
    monkeypatch.setattr(bpr_mf, "_MOST_KEPT", 2)
    users, items = pretrained(task, seed=4, dim=3)
    assert (users.shape, items.shape) == ((60, 3), (80, 3))
    assert users.dtype == items.dtype == np.float32
    assert users.tobytes() == BprMF(dim=3, bias=False).fit(task, seed=4).users.tobytes()
    assert pretrained(task.for_fitting(), seed=4, dim=3)[0] is users
    assert pretrained(task, seed=5, dim=3)[0] is not users
    pretrained(task, seed=6, dim=3)
    assert len(bpr_mf._KEPT) == 2


def test_another_kind_of_task_is_refused():
    with pytest.raises(InputError, match="bpr-mf learns from interactions of users with items, and karate"):
        BprMF().fit(te.task("karate", "existing"))


@pytest.mark.compiled
def test_it_runs_without_torch():
    script = """
import sys
sys.modules["torch"] = None  # any import of torch fails
import numpy as np, trueedge as te
from trueedge.graph.interactions import Interactions
data = Interactions.from_pairs(np.argwhere(np.random.default_rng(0).random((30, 40)) < 0.3))
for name in ("bpr-mf", "item-knn"):
    print(0 < te.run(data, "full-ranking", name, seed=0).test["ndcg@20"] < 1)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.split() == ["True", "True"], done.stderr
