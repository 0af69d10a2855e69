"""Tables of records: the best on top whatever the direction, and honest about what they cannot tell."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

import trueedge as te
from ranks_in_records import ranks_as_units
from trueedge.analysis.summary import alike
from trueedge.analysis.tables import higher_is_better, latest, tables


@pytest.fixture(scope="module")
def records() -> list[te.Record]:
    return [te.run("karate", "uniform", name) for name in ("pa", "cn", "katz")]


def test_the_best_stands_on_top_where_less_is_better(records) -> None:
    found = []
    for place, record in enumerate(records):
        ranks = np.arange(1.0, 9.0) + 3 * place
        test = {"mr": float(ranks.mean()), "mrr": float((1 / ranks).mean())}
        changed = {"headline": "mr", "metrics": {"test": test}, "units": ranks_as_units(ranks)}
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
    assert one.compared is not None
    assert not one.compared.lettered
    assert one.remarks()[:2] == [
        "95 % intervals over test positives and negatives, this split only",
        "Letters need at least 3 seeds of each method: run with --seeds 5",
    ]
    more = [te.run("karate", "uniform", record.method, seed=seed) for record in records for seed in (1, 2)]
    (whole,) = tables([*records, *more])
    assert whole.compared is not None
    assert whole.remarks()[0].startswith("95 % intervals over splits")
    assert whole.seeds == "3 seeds, mean ± std"


def without_redraws(record: te.Record) -> te.Record:
    """Return a record that does not know what other draws of its negatives give."""
    return replace(record, units={**record.units, "redraws": {}})


def test_shared_negatives_without_other_draws_have_no_interval(records) -> None:
    (one,) = tables([without_redraws(record) for record in records])
    assert one.compared is None
    assert one.remarks()[0] == "Intervals of AUC need at least 3 splits: run with --seeds 5"
    # One method without other draws, as if its scores came from a file, cannot be compared with the others.
    (some,) = tables([without_redraws(records[0]), *records[1:]])
    assert some.compared is not None
    (mine, *_) = (line for line in some.lines if line.label == records[0].method)
    assert mine.estimate is None
    pair = some.compared.pair(records[0].method, records[1].method)
    assert (pair.p_holm, pair.difference.high) == (1, math.inf)
    assert f"Intervals of AUC ({records[0].method}) need at least 3 splits" in " ".join(some.remarks())


def test_records_of_earlier_formats_have_no_interval_where_their_protocol_shares_negatives(records) -> None:
    known = {"unit", "count", "groups"}
    old = [
        replace(record, units={name: record.units[name] for name in known}, format=3) for record in records
    ]
    (shared,) = tables(old)
    assert shared.compared is None
    (own,) = tables([replace(record, protocol="heart") for record in old])
    assert own.compared is not None


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


def versioned(record: te.Record, seed: int, code: str | None, **changes) -> te.Record:
    """A record of another seed, by some version of the code."""
    plain = {name: value for name, value in record.provenance.items() if name != "code"}
    origin = plain if code is None else {**plain, "code": code}
    return replace(record, seed=seed, task_seed=seed, key=f"{code}-{seed}", provenance=origin, **changes)


def test_a_new_record_holds_the_hash_of_its_code(records) -> None:
    from trueedge.runs.code import method_code

    assert records[0].provenance["code"] == method_code(te.methods.get("pa")).hash
    assert records[0].provenance["code"] != records[2].provenance["code"]


def test_only_the_code_that_ran_last_stands_in_a_line_and_the_rest_is_noted(records) -> None:
    old = [versioned(records[0], seed, "old") for seed in range(5)]
    new = [versioned(records[0], seed, "new") for seed in range(2)]
    other = [versioned(records[1], seed, "old") for seed in range(5)]
    kept = latest([*old, *other, *new])
    (one,) = tables(kept)
    lines = {line.label: line for line in one.lines}
    assert lines["pa"].records == tuple(new)
    assert lines["pa"].row.seeds == 2
    assert lines["cn"].row.seeds == 5
    assert one.left_out == ("3 records of an earlier version of pa are left out",)
    assert one.left_out[0] in one.remarks()
    assert {pair.label: pair.seeds for pair in one.found.methods} == {"pa": 2, "cn": 5}


def test_code_that_is_brought_back_has_all_its_records_again(records) -> None:
    old = [versioned(records[0], seed, "old") for seed in range(3)]
    new = [versioned(records[0], seed, "new") for seed in range(2)]
    again = replace(old[2], created="later")
    (one,) = tables(latest([*old, *new, again]))
    assert one.lines[0].records == (*old[:2], again)
    assert one.left_out == ()


def test_records_that_do_not_tell_their_code_all_count(records) -> None:
    old = [versioned(records[0], seed, None) for seed in range(3)]
    new = [versioned(records[0], seed, "new") for seed in (2, 3)]
    (one,) = tables(latest([*old, *new]))
    assert [record.seed for record in one.lines[0].records] == [0, 1, 2, 3]
    assert one.left_out == ()
    (unread,) = tables(latest([versioned(records[0], 7, ""), *new]))
    assert unread.lines[0].row.seeds == 3


def test_another_version_of_trueedge_is_another_code(records) -> None:
    new = [versioned(records[0], seed, "same") for seed in range(2)]
    versions = {**records[0].provenance["versions"], "trueedge": "0.0.1"}
    stale = [replace(one, provenance={**one.provenance, "versions": versions}) for one in new]
    first = replace(stale[0], seed=5)
    (one,) = tables(latest([*stale, first, *new]))
    assert one.lines[0].row.seeds == 2
    assert one.left_out == ("1 record of an earlier version of pa is left out",)


def test_a_setting_that_was_given_is_no_version_and_one_that_the_code_adds_is(records) -> None:
    plain = versioned(records[2], 0, "old")
    given = versioned(records[2], 0, "new", settings={**records[2].settings, "beta": 0.01})
    given = replace(given, provenance={**given.provenance, "given": ["beta"]})
    (one,) = tables([plain, given])
    assert {line.label for line in one.lines} == {"katz", "katz (beta=0.01)"}
    added = versioned(records[2], 1, "new", settings={**records[2].settings, "extra": 1})
    (one,) = tables([plain, added])
    assert [line.records for line in one.lines] == [(added,)]


def test_a_record_that_is_given_twice_is_one(records) -> None:
    assert latest([records[0], records[0]]) == [records[0]]


def test_disjoint_intervals_with_a_common_letter_say_that_seeds_are_too_few() -> None:
    names = ("ppr", "ra", "cn", "jaccard", "pa", "katz")
    runs = [te.run("karate", "existing", name, seed=seed) for seed in range(4) for name in names]
    (one,) = tables(runs)
    found = one.found
    ends = {m.label: (m.estimate.low, m.estimate.high) for m in found.methods}
    marks = {m.label: set(m.letters) for m in found.methods}
    apart = [(a, b) for a in ends for b in ends if marks[a] & marks[b] and ends[a][0] > ends[b][1]]
    assert apart
    said = f"Too few seeds to separate {len(apart)} pair"
    assert any(sentence.startswith(said) for sentence in one.remarks())
    (sure,) = tables([run for run in runs if run.method in ("ra", "katz")])
    assert not any("Too few seeds" in sentence for sentence in sure.remarks())


def ran(names: str, *seeds: int) -> list[te.Record]:
    return [te.run("karate", "existing", name, seed=seed) for name in names.split(",") for seed in seeds]


@pytest.mark.parametrize(
    ("first", "second", "seeds", "listed"),
    [
        (("cn,pa", 0), ("ra", 1), "one seed each", "cn, pa: seed 0; ra: seed 1"),
        (("cn", 0), ("ra", 1), "one seed each", "cn: seed 0; ra: seed 1"),
        (("cn,pa", 0, 1, 2), ("ra", 4), "1–3 seeds, mean ± std", "cn, pa: seeds 0–2; ra: seed 4"),
    ],
    ids=["third", "second", "several"],
)
def test_methods_that_share_no_split_get_no_letters(first, second, seeds: str, listed: str) -> None:
    (one,) = tables([*ran(*first), *ran(*second)])
    assert one.seeds == seeds
    assert not one.found.complete
    assert all(method.letters == () for method in one.found.methods)
    groups = dict(part.split(": ") for part in listed.split("; "))
    (said,) = [remark for remark in one.remarks() if "splits, so" in remark]
    assert said.startswith("The methods were run on different splits, so they get no letters (")
    for names, where in groups.items():
        assert any(f"{', '.join(order)}: {where}" in said for order in permutations(names.split(", ")))
    assert not any("Shared letter" in remark for remark in one.remarks())


def test_methods_that_share_some_splits_are_compared_on_these() -> None:
    (one,) = tables([*ran("cn,pa", 0, 1, 2, 3), *ran("ra", 1, 2, 3)])
    assert one.compared is not None
    assert one.compared.lettered
    assert all(method.letters for method in one.found.methods)
    assert any(remark.startswith("Letters compare two methods on the splits") for remark in one.remarks())
    (same,) = tables(ran("cn,pa", 0, 1))
    assert not any("splits that both have" in remark for remark in same.remarks())


def test_one_split_and_several_seeds_of_training_are_one_split() -> None:
    records = [
        te.run("karate", "existing", name, seed=seed, task_seed=0)
        for name in ("cn", "pa")
        for seed in range(3)
    ]
    (one,) = tables(records)
    assert one.found.lettered
    assert one.seeds == "3 seeds, this split only, mean ± std"
    assert one.remarks()[:2] == [
        "95 % intervals over test positives, negatives and seeds, this split only",
        "Shared letter: no significant difference (paired t-test, Holm-corrected)",
    ]
    (few,) = tables(records[:-1])
    assert few.compared is not None
    assert not few.compared.lettered
    assert few.remarks()[1] == "Letters need at least 3 seeds of each method: run with --seeds 5"


def test_one_split_has_intervals_for_this_split_only_and_no_letters() -> None:
    (one,) = tables(ran("cn,pa,ppr", 0))
    assert one.seeds == "one seed, this split only"
    assert one.compared is not None
    assert all(line.estimate is not None and line.estimate.letters == () for line in one.lines)
    assert one.remarks()[:2] == [
        "95 % intervals over test positives and negatives, this split only",
        "Letters need at least 3 seeds of each method: run with --seeds 5",
    ]


def test_two_splits_are_too_few_for_intervals_and_letters() -> None:
    (one,) = tables(ran("cn,pa,ppr", 0, 1))
    assert one.compared is None
    assert all(line.estimate is None for line in one.lines)
    assert all(method.letters == () for method in one.found.methods)
    assert one.remarks()[0] == "Intervals of MRR need at least 3 splits: run with --seeds 5"


def test_a_method_with_two_splits_has_no_interval_beside_others_that_have_one() -> None:
    (one,) = tables([*ran("cn,pa", 0, 1, 2), *ran("ra", 0, 1)])
    assert {line.label: line.estimate is None for line in one.lines} == {"cn": False, "pa": False, "ra": True}
    assert one.remarks()[:2] == [
        "95 % intervals over splits",
        "Intervals of MRR (ra) need at least 3 splits: run with --seeds 5",
    ]


@pytest.mark.parametrize("protocol", ["existing", "heart", "degree-corrected"])
def test_what_one_seed_claims_five_seeds_do_not_take_back(protocol: str) -> None:
    runs = [te.run("karate", protocol, name, seed=seed) for name in ("ppr", "cn", "pa") for seed in range(5)]
    (whole,) = tables(runs)
    assert whole.compared is not None
    assert whole.compared.lettered
    for size in (1, 2):
        (few,) = tables([run for run in runs if run.seed < size])
        assert all(method.letters == () for method in few.found.methods)
        assert not any("significant" in remark for remark in few.remarks())


def test_records_of_other_seeds_get_no_letters_in_any_command(trueedge) -> None:
    trueedge("run", "karate", "-p", "existing", "-m", "cn,pa", "--seeds", "1")
    trueedge("run", "karate", "-p", "existing", "-m", "ra", "--seed", "1", "--seeds", "1")
    status, out, err = trueedge("records")
    assert status == 0
    assert "group" not in out
    assert "95 %" in out
    assert "so they get no letters (" in err
    assert trueedge("report", "-o", "r.html", "--no-slices")[0] == 0
    page = Path("r.html").read_text()
    assert "so they get no letters (" in page
    assert 'class="letters"' not in page
