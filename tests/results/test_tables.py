"""Tables of records: the best on top whatever the direction, and honest about what they cannot tell."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import trueedge as te
from trueedge.results.record import pack_ranks
from trueedge.results.tables import alike, higher_is_better, latest, tables


@pytest.fixture(scope="module")
def records() -> list[te.Record]:
    return [te.run("karate", "uniform", name) for name in ("pa", "cn", "katz")]


def test_the_best_stands_on_top_where_less_is_better(records) -> None:
    found = []
    for place, record in enumerate(records):
        ranks = np.arange(1.0, 9.0) + 3 * place
        test = {"mr": float(ranks.mean()), "mrr": float((1 / ranks).mean())}
        changed = {"headline": "mr", "metrics": {"test": test}, "packed_ranks": pack_ranks(ranks)}
        found.append(replace(record, **changed))
    (one,) = tables(found)
    assert [line.label for line in one.lines] == ["pa", "cn", "katz"]
    assert one.best("mr") == found[0].test["mr"]
    assert one.best("mrr") == found[0].test["mrr"]
    assert one.best("hits@10") is None
    assert one.metrics == ("mr", "mrr")


def test_a_metric_nobody_knows_is_the_better_the_larger() -> None:
    assert higher_is_better("of-tomorrow")
    assert higher_is_better("hits@7")
    assert not higher_is_better("mr")


def test_an_auc_of_one_split_has_no_letters_and_says_why(records) -> None:
    (one,) = tables(records)
    assert one.headline == "auc"
    assert one.compared is None
    assert one.remarks()[0].startswith("how sure an AUC is, one split does not tell")
    more = [te.run("karate", "uniform", record.method, seed=1) for record in records]
    (both,) = tables([*records, *more])
    assert both.compared is not None
    assert both.remarks()[0].startswith("95 % intervals over splits")
    assert both.seeds == "2 seeds, mean ± std"


def test_seeds_of_different_numbers_are_told_by_their_ends(records) -> None:
    more = [te.run("karate", "uniform", "cn", seed=seed) for seed in (1, 2)]
    (one,) = tables([*records, *more])
    assert one.seeds == "1–3 seeds, mean ± std"
    assert len(one.records) == 5
    assert one.protocol == "uniform"


def test_of_a_request_the_last_counts_and_lists_are_tuples(records) -> None:
    again = replace(records[0], key="of another version", options={"ratios": (1, 2)})
    read = replace(again, options={"ratios": [1, 2]})
    assert latest([records[0], again, read]) == [records[0], read]
    assert [len(group) for group in alike([*records, *records], "method")] == [2, 2, 2]
    assert tables([]) == []
