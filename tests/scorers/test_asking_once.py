"""Lists that hold the same pairs many times: each is asked once, and nothing else changes."""

from __future__ import annotations

import numpy as np
import pytest

import trueedge as te
from trueedge.errors import InputError
from trueedge.metrics import PairScores
from trueedge.metrics import get as get_metric
from trueedge.metrics.listed import ListedPairScores
from trueedge.scorers.asking import ask_mixed
from trueedge.scorers.asking_once import DistinctPairs
from trueedge.scorers.spread import remarks

NODES = 12
RNG = np.random.default_rng(0)
POSITIVES = RNG.integers(0, NODES, (30, 2)).astype(np.int32)
NEGATIVES = RNG.integers(0, NODES, (30, 20, 2)).astype(np.int32)


class Watching:
    """Keeps what it is asked; answers with few values, so that there are ties."""

    repeats = True

    def __init__(self) -> None:
        self.asked: list[np.ndarray] = []

    def score(self, pairs: np.ndarray) -> np.ndarray:
        self.asked.append(pairs)
        return ((pairs[:, 0] * 7 + pairs[:, 1] * 3) % 11).astype(np.float32) / 7


def distinct() -> DistinctPairs:
    found = DistinctPairs.of(POSITIVES, NEGATIVES)
    assert found is not None
    return found


def test_the_places_lead_back_to_the_pairs() -> None:
    once = distinct()
    assert np.array_equal(once.pairs[once.positives], np.sort(POSITIVES, axis=-1))
    assert np.array_equal(once.pairs[once.negatives], np.sort(NEGATIVES, axis=-1))
    assert len(np.unique(once.pairs, axis=0)) == len(once.pairs)


@pytest.mark.parametrize("block", [7, 10**6])
def test_the_scores_are_those_of_asking_for_every_list(block: int) -> None:
    listed = distinct().scores(Watching(), seed=3, block=block)
    plain = PairScores(*ask_mixed(Watching(), POSITIVES, NEGATIVES, seed=3))
    for metric in ("mrr", "hits@3", "auc", "mrr.pessimistic"):
        assert np.array_equal(get_metric(metric).per_unit(listed), get_metric(metric).per_unit(plain))
    assert (listed.range, listed.sizes, listed.layout) == (plain.range, plain.sizes, plain.layout)
    assert remarks(listed) == remarks(plain)
    assert "negative" not in vars(listed)
    assert listed.negative.dtype == plain.negative.dtype
    assert (listed.hash, listed.form) == (plain.hash, plain.form)


def test_each_pair_is_asked_once_in_an_order_that_does_not_tell_its_class() -> None:
    watching, once = Watching(), distinct()
    once.scores(watching, seed=1)
    (asked,) = watching.asked
    assert len(asked) == len(once.pairs)
    assert (asked[:, 0] <= asked[:, 1]).all()
    assert not np.array_equal(asked, once.pairs)
    assert np.array_equal(np.unique(asked, axis=0), once.pairs)


def test_shared_negatives_and_those_that_hardly_repeat_are_not_listed() -> None:
    assert DistinctPairs.of(POSITIVES, NEGATIVES[:, 0]) is None
    assert DistinctPairs.of(POSITIVES + 30, NEGATIVES) is None
    assert DistinctPairs.of(POSITIVES[:2], NEGATIVES[:2]) is None


def test_a_score_that_is_not_finite_is_refused() -> None:
    class Broken(Watching):
        def score(self, pairs: np.ndarray) -> np.ndarray:
            return np.where(pairs[:, 0] == 3, np.nan, 1.0)

    with pytest.raises(InputError, match="NaN"):
        distinct().scores(Broken())


@pytest.fixture(scope="module")
def task():
    pairs = np.random.default_rng(1).integers(0, 30, (320, 2))
    graph = te.Graph.from_edges(pairs, 30, self_loops="drop", repeats="drop", name="dense")
    made = te.task(graph, "heart", 0, k=20, ratios=(0.4, 0.3, 0.3))
    assert made.valid.distinct is not None
    return made


def test_a_task_asks_once_who_says_that_answers_repeat_and_all_others_for_every_list(task) -> None:
    once, always = Watching(), Watching()
    always.repeats = False
    found = [dict(task.evaluate(scorer, "test")) for scorer in (once, always)]
    assert found[0] == found[1]
    asked = [sum(len(one) for one in scorer.asked) for scorer in (once, always)]
    assert asked[0] == len(task.distinct_pairs("test"))
    assert asked[1] == task.test.negatives[..., 0].size + len(task.test.positives)
    assert isinstance(task.scores(once), ListedPairScores)


@pytest.mark.parametrize("name", ["gcn", "mf", "ncn"])
def test_a_trained_model_has_the_same_metrics_by_either_way(name, task, monkeypatch) -> None:
    pytest.importorskip("torch")
    from trueedge.training import TrainedScorer

    method = te.methods.create(name, {"epochs": 4, "evaluate_every": 1, "dim": 16})
    found = []
    for repeats in (True, False):
        monkeypatch.setattr(TrainedScorer, "repeats", repeats)
        scorer = method.fit(task, seed=0)
        found.append((scorer.history.values, dict(task.evaluate(scorer, "test"))))
    assert found[0] == found[1]
