"""Item-kNN as a method; its numbers are compared with a dense matrix in the tests of its kernel."""

from __future__ import annotations

import numpy as np
import pytest

import trueedge as te
from trueedge.errors import InputError
from trueedge.graph.interactions import Interactions
from trueedge.methods import create
from trueedge.methods.recommend.item_knn import ItemKNN

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")


@pytest.fixture(scope="module")
def task():
    rng = np.random.default_rng(7)
    chance = np.where(np.arange(50)[:, None] % 4 == np.arange(60)[None, :] % 4, 0.6, 0.03)
    return te.task(Interactions.from_pairs(np.argwhere(rng.random((50, 60)) < chance), 50, 60), seed=1)


def cosines(task) -> np.ndarray:
    """Return the scores of all users and items with all neighbours, by a dense matrix."""
    table = np.zeros((task.num_users, task.num_items))
    table[tuple(task.graph.pairs.T)] = 1
    norms = np.maximum(np.linalg.norm(table, axis=0), 1e-9)
    similar = table.T @ table / np.outer(norms, norms)
    np.fill_diagonal(similar, 0)
    return table @ similar


def test_with_all_neighbours_scores_are_sums_of_cosines(task):
    scorer = ItemKNN(neighbors=1000, shrinkage=0.0).fit(task)
    users = np.array([4, 0, 49])
    np.testing.assert_allclose(scorer.score_candidates(users), cosines(task)[users], rtol=1e-5, atol=1e-6)


def test_planted_groups_are_found(task):
    found = task.evaluate(ItemKNN(neighbors=15).fit(task))["ndcg@20"]
    assert found > 2 * task.evaluate(create("popularity").fit(task))["ndcg@20"]


def test_the_seed_only_breaks_ties(task):
    first, again = (ItemKNN(neighbors=1000).fit(task, seed=seed) for seed in (0, 1))
    users = np.arange(50)
    np.testing.assert_allclose(
        first.score_candidates(users), again.score_candidates(users), rtol=1e-5, atol=1e-6
    )


def test_another_kind_of_task_is_refused():
    with pytest.raises(InputError, match="item-knn learns from interactions of users with items, and karate"):
        ItemKNN().fit(te.task("karate", "existing"))
