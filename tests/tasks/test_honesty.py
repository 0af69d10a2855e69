"""A task gives no answers away: not to a method that is fitted, and not to another split's scorer."""

from __future__ import annotations

import copy
import gc
from dataclasses import dataclass, replace

import numpy as np
import pytest

import trueedge as te
from trueedge import methods
from trueedge.errors import InputError
from trueedge.methods import Method
from trueedge.scorers.fitted import fitted_on
from trueedge.tasks import CommunityTask

HEART = {"k": 20}

# Other test files register methods of their own.
BUILT_IN = [
    kind.name
    for kind in methods.catalogue()
    if "graph" in kind.takes and kind.__module__.startswith("trueedge.")
]


@pytest.fixture(scope="module")
def task():
    return te.task("karate", "heart", 0, **HEART)


@dataclass(frozen=True)
class Peeking(Method):
    """Reads the test part while it is fitted."""

    def fit(self, task, seed=0, device="cpu"):
        known = {tuple(pair) for pair in task.test.positives.tolist()}
        return lambda pairs: np.array([float(tuple(pair) in known) for pair in pairs.tolist()])


# Not in the class, which would add it to the catalogue.
Peeking.name = "peeking"


@pytest.mark.parametrize("ask", ["test", "part", "pairs", "scores", "sample", "evaluate"])
def test_fit_cannot_read_the_test_part(task, ask: str) -> None:
    view = task.for_fitting()
    ways = {
        "test": lambda: view.test,
        "part": lambda: view.part("test"),
        "pairs": lambda: view.pairs("test"),
        "scores": lambda: view.scores(np.ones((task.num_nodes, 2))),
        "sample": lambda: view.sample("test", 3),
        "evaluate": lambda: view.evaluate(np.ones((task.num_nodes, 2))),
    }
    with pytest.raises(InputError, match="the test part is withheld while a method is fitted"):
        ways[ask]()
    assert not any("test" in name for name in view.arrays())


def test_a_method_that_peeks_is_stopped(task) -> None:
    with pytest.raises(InputError, match="withheld"):
        Peeking().fit(task)


def test_the_view_holds_no_reference_to_what_it_leaves_out(task) -> None:
    fresh = te.task("karate", "heart", 3, **HEART)
    view, hidden = fresh.for_fitting(), id(fresh.test.positives)
    found, left = set(), [view]
    while left:
        one = left.pop()
        if id(one) in found or isinstance(one, type) or type(one).__name__ in ("module", "function"):
            continue
        found.add(id(one))
        left += [other for other in gc.get_referents(one) if not isinstance(other, (str, int, float))]
        assert len(found) < 100_000
    assert hidden not in found


def test_a_community_task_withholds_its_communities() -> None:
    graph = te.task("karate", "existing", 0).graph
    labels = np.arange(graph.num_nodes) % 3
    view = CommunityTask.of(graph, labels).for_fitting()
    assert not view.communities.any()
    with pytest.raises(InputError, match="withheld"):
        view.evaluate(np.eye(graph.num_nodes))


def test_a_recommend_task_withholds_its_test_part() -> None:
    view = te.task("karate", "recommendation", 0, valid=0.1).for_fitting()
    assert view.part_names == ("valid",)
    with pytest.raises(InputError, match="withheld"):
        view.queries("test")


@pytest.mark.rotating(4)
@pytest.mark.parametrize("name", BUILT_IN)
def test_no_method_needs_more_than_it_gets(name: str) -> None:
    """Every built-in method fits on a task that has no test part at all."""
    space = methods.get(name).space()
    quick = {"epochs": 1, "dim": 8, "evaluate_every": 1, "batch_size": 64, "restarts": 1}
    whole = te.task("karate", "existing", 0)
    features = np.random.default_rng(0).random((whole.num_nodes, 8)).astype(np.float32)
    whole = replace(whole, graph=replace(whole.graph, features=features))
    bare = replace(whole, parts={"valid": whole.valid})
    scorer = methods.create(name, {key: quick[key] for key in quick if key in space}).fit(bare)
    assert np.isfinite(whole.scores(scorer).positive).all()


@pytest.mark.parametrize("name", ["katz", "eigenmap"])
def test_a_scorer_of_another_split_is_refused(task, name: str) -> None:
    other = te.task("karate", "heart", 1, **HEART)
    scorer = methods.create(name, {"dim": 4} if name == "eigenmap" else {}).fit(other)
    with pytest.raises(InputError, match=rf"{name} was fitted on karate under heart, seed 1, whose training"):
        task.evaluate(scorer)
    with pytest.raises(InputError, match="fit it on this task"):
        te.check_scorer(scorer, task)
    assert other.evaluate(scorer)


def test_a_scorer_may_be_evaluated_under_every_protocol_of_its_split(task) -> None:
    scorer = methods.create("ra").fit(te.task("karate", "existing", 0))
    assert task.evaluate(scorer) == task.evaluate(methods.create("ra").fit(task))


def test_nodes_that_were_renumbered_are_noticed() -> None:
    scorer = methods.create("katz").fit(te.task("cora", "existing", 0))
    with pytest.raises(InputError, match="number the nodes differently"):
        te.task("cora", "uniform", 0).evaluate(scorer)


def test_copies_of_a_scorer_are_known_too(task) -> None:
    scorer = copy.deepcopy(methods.create("eigenmap", {"dim": 4}).fit(te.task("karate", "heart", 1, **HEART)))
    with pytest.raises(InputError, match="was fitted on"):
        task.evaluate(scorer)


def test_an_object_that_every_fit_returns_is_good_for_all() -> None:
    def score(pairs):
        return pairs.sum(axis=1)

    class Same(Peeking):
        def fit(self, task, seed=0, device="cpu"):
            return score

    tasks = [te.task("karate", "heart", seed, **HEART) for seed in (0, 1)]
    for one in tasks:
        Same().fit(one)
    assert len(fitted_on(score)) == 2
    for one in tasks:
        assert one.evaluate(score)


def test_an_array_that_fit_returned_is_known_too(task) -> None:
    class Vectors(Peeking):
        def fit(self, task, seed=0, device="cpu"):
            return np.random.default_rng(0).random((task.num_nodes, 4))

    vectors = Vectors().fit(te.task("karate", "heart", 1, **HEART))
    with pytest.raises(InputError, match="was fitted on"):
        task.evaluate(vectors)
    assert task.evaluate(vectors.copy())


def test_direction_and_the_size_of_a_call_gain_nothing(task) -> None:
    honest = methods.create("ra").fit(task)
    count = len(task.test.positives)
    cheats = [
        lambda pairs: honest.score(pairs) + 1000 * (pairs[:, 0] < pairs[:, 1]),
        lambda pairs: honest.score(pairs) + 1000 * (len(pairs) == count),
    ]
    for cheat in cheats:
        assert task.evaluate(cheat)["mrr"] == pytest.approx(task.evaluate(honest)["mrr"], abs=1e-9)


def test_triplets_keep_a_random_end() -> None:
    """With the smaller end kept, the larger number of a pair alone would have an AUC of two thirds."""
    graph = te.load("erdos-renyi:nodes=600,edges=6000")
    for keep, low, high in (("random", 0.45, 0.55), ("source", 0.62, 0.72)):
        made = te.task(graph, "triplet", 0, keep=keep)
        assert low < made.evaluate(lambda pairs: pairs[:, 1])["auc"] < high
    assert te.task("karate", "triplet", 0).settings["keep"] == "random"


def test_the_score_method_of_another_splits_scorer_is_known_too(task) -> None:
    scorer = methods.create("ra").fit(te.task("karate", "heart", 1, **HEART))
    with pytest.raises(InputError, match="was fitted on"):
        task.evaluate(scorer.score)
