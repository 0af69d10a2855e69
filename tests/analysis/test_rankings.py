"""Rankings under several protocols, and the curves that records keep."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest
from scipy.stats import rankdata

import trueedge as te
from trueedge.analysis.curves import MOST, recorded_curve, training_curve
from trueedge.analysis.rankings import rankings
from trueedge.analysis.tables import tables
from trueedge.statistics.rank_overlap import rbo


@pytest.fixture(scope="module")
def records() -> list[te.Record]:
    names = ("cn", "ra", "pa", "katz", "ppr")
    return [
        te.run("karate", protocol, name) for protocol in ("existing", "degree-corrected") for name in names
    ]


def test_ranks_are_those_of_the_means_with_ties_shared(records) -> None:
    (found,) = rankings(tables(records))
    assert found.protocols == ("existing", "degree-corrected")
    for place, protocol in enumerate(found.protocols):
        values = {one.method: one.value for one in records if one.protocol == protocol}
        expected = dict(zip(values, rankdata([-value for value in values.values()]), strict=True))
        assert {label: ranks[place] for label, ranks in found.ranks.items()} == expected


def test_the_overlap_is_that_of_the_two_orders(records) -> None:
    moved = [replace(one, metrics={"test": {**one.test, one.headline: place / 10}}) for place, one in
             enumerate(records)]  # fmt: skip
    (found,) = rankings(tables(moved))
    order = ["ppr", "katz", "pa", "ra", "cn"]
    assert found.overlaps == {(0, 1): rbo(order, order)} == {(0, 1): 1.0}


def test_methods_that_not_all_protocols_have_are_named(records) -> None:
    (found,) = rankings(tables(records[:-1]))
    assert found.left_out == ("ppr",)
    assert set(found.ranks) == {"cn", "ra", "pa", "katz"}


def test_one_protocol_or_one_common_method_is_no_ranking(records) -> None:
    assert rankings(tables(records[:5])) == []
    assert rankings(tables([records[0], records[1], records[5]])) == []
    assert rankings([]) == []


@dataclass
class History:
    losses: list[float]
    values: list[tuple[int, float]]
    metric: str | None = "mrr"
    best_epoch: int = 0


@dataclass
class Scorer:
    history: object = field(default=None)


def test_a_curve_keeps_its_ends_and_its_best_epoch_and_stays_small() -> None:
    losses = [1.0 / epoch for epoch in range(1, 9_998)]
    looks = [(epoch, epoch / 1e4) for epoch in range(5, 9_998, 5)]
    curve = training_curve(Scorer(History(losses, looks, best_epoch=1_235)))["training"]
    for name, whole in (("losses", list(enumerate(losses, 1))), ("evaluations", looks)):
        kept = [tuple(pair) for pair in curve[name]]
        assert set(kept) <= set(whole)
        assert kept[0] == whole[0]
        assert kept[-1] == whole[-1]
        assert 1_235 in dict(kept)
        assert MOST / 2 <= len(kept) <= MOST + 2


def test_a_scorer_without_a_history_has_no_curve() -> None:
    assert training_curve(object()) == {}
    assert training_curve(Scorer()) == {}
    assert recorded_curve({}) == recorded_curve({"training": None}) == {}


def test_a_trained_method_leaves_its_curve_in_the_record(tmp_path) -> None:
    settings = {"epochs": 4, "evaluate_every": 2, "dim": 4}
    store = te.Store(tmp_path)
    te.run("karate", "existing", "gcn", settings=settings, store=store)
    (read,) = store.records()
    curve = recorded_curve(read.provenance)
    assert [epoch for epoch, _ in curve["losses"]] == [1, 2, 3, 4]
    assert [epoch for epoch, _ in curve["evaluations"]] == [2, 4]
    best = max(value for _, value in curve["evaluations"])
    assert dict(map(tuple, curve["evaluations"]))[curve["best_epoch"]] == best
    assert best == pytest.approx(read.metrics["valid"][curve["metric"]])
    assert recorded_curve(te.run("karate", "existing", "ra").provenance) == {}
