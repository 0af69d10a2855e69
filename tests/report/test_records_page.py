"""The report on records: every number in it is in the records."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from made_up import record, records
from test_shell import HOSTILE, Reading

import trueedge as te
from trueedge.analysis.comparison import compare
from trueedge.analysis.tables import tables
from trueedge.errors import InputError
from trueedge.report import records_page, report, write
from trueedge.report.costs import seconds
from trueedge.report.numbers import p_text, span
from trueedge.statistics.rank_overlap import rbo


def shown(text: str) -> str:
    """The text of a page as a reader sees it."""
    body = text.split("<body>")[1].split("<script>")[0]
    return re.sub(r"\s+", " ", "".join(one for one in Reading(body).texts))


def headings(text: str) -> list[str]:
    return re.findall(r"<h2>(.*?)</h2>", text)


@pytest.fixture(scope="module")
def karate() -> list[te.Record]:
    protocols = {"existing": {}, "heart": {"k": 20}}
    return [
        te.run("karate", protocol, method, seed=seed, **options)
        for protocol, options in protocols.items()
        for method in ("cn", "ra", "pa", "katz")
        for seed in (0, 1, 2)
    ]


@pytest.fixture(scope="module")
def karate_page(karate) -> str:
    return report(karate, source="runs")


def folds(text: str) -> list[str]:
    return re.findall(r"<summary>([^<]+)</summary>", text)


def test_every_part_is_there(karate_page) -> None:
    assert headings(karate_page) == ["Results", "All methods", "Across protocols", "Provenance"]
    parts = (
        "Performance by group",
        "Time and memory",
        "Provenance and hashes",
        "6 pairs of methods compared",
    )
    assert [folds(karate_page).count(name) for name in parts] == [2] * 4


def test_the_numbers_of_the_leaderboard_are_those_of_the_comparison(karate, karate_page) -> None:
    text = shown(karate_page)
    for one in tables(karate):
        assert one.compared is not None
        for line in one.lines:
            assert f"{100 * line.value:.2f} ±{100 * line.row.stds['mrr']:.2f}" in text
            assert line.estimate is not None
            assert span(one.headline, line.estimate.estimate.low, line.estimate.estimate.high) in text
            assert "".join(line.estimate.letters) in text
    for found in compare(karate):
        for pair in found.pairs:
            assert p_text(pair.p_holm) in text
            assert f"{100 * pair.difference.value:.2f}" in text


def test_the_overlap_between_protocols_is_told(karate, karate_page) -> None:
    first, second = tables(karate)
    orders = [[line.label for line in one.lines] for one in (first, second)]
    values = [{line.value for line in one.lines} for one in (first, second)]
    assert [len(one) for one in values] == [4, 4], "no ties in these records"
    assert f"{rbo(*orders):.2f}" in shown(karate_page)


def test_links_are_grouped_by_what_they_are(karate_page) -> None:
    for name in ("degree", "common neighbours", "distance", "factor"):
        assert f'id="figure-slices-{name}-karate · existing"' in karate_page


def test_what_was_found_about_scores_is_shown(karate, karate_page) -> None:
    warnings = {warning for one in karate for warning in one.warnings}
    assert warnings
    assert "ties between positives and negatives" in shown(karate_page)


def test_hashes_machines_and_versions_are_shown(karate, karate_page) -> None:
    for one in karate:
        assert one.provenance["task"][:16] in karate_page
        for value in one.provenance["hashes"].values():
            assert value in karate_page
    assert karate[0].provenance["versions"]["numpy"] in shown(karate_page)


def test_training_curves_are_drawn_where_records_keep_them() -> None:
    trained = [record(method="gcn", seed=seed, curve=20 + seed) for seed in range(3)]
    text = report([*trained, record(method="ra")], with_slices=False)
    assert "Training" in folds(text)
    assert "mrr on the validation part, made · heart" in shown(text)
    assert "Training" not in folds(report([record()], with_slices=False))


def test_one_record_is_a_page() -> None:
    text = report([record()], with_slices=False)
    assert headings(text) == ["Results", "Provenance"]
    assert re.search(r"On made under heart, ra is best \([\d.]+ MRR\): the only method\.", shown(text))
    assert "1 method, one seed, this split only." in shown(text)


def test_records_without_ranks_or_provenance_are_shown_without_intervals() -> None:
    bare = [
        replace(record(method=name, seed=seed), units={}, provenance={}, seconds={}, created="")
        for name in ("a", "b")
        for seed in (0, 1)
    ]
    text = report(bare)
    assert "95 % interval" not in shown(text)
    assert f"{100 * bare[0].value:.2f}" in shown(report(bare[:1]))
    assert "hold no values for each test positive" in shown(text)


def test_a_recommendation_has_its_page_too() -> None:
    text = report([te.run("karate", "recommendation", name) for name in ("cn", "pa")])
    assert "<title>Recommendation on karate</title>" in text
    assert "karate · recommendation" in shown(text)
    assert "95 % intervals over test nodes" in shown(text)
    assert "Link prediction" not in text
    assert "Performance by group" not in folds(text), "its nodes have no properties"


def ranked(method: str, value: float) -> te.Record:
    """A record of a kind that nobody registered, judged by mean ranks."""
    found = record("nodes", method=method, seed=0, kind="of-elsewhere", headline="mr", shift=value)
    ranks = float(found.ranks.mean())
    return replace(found, metrics={"test": {"mr": ranks, "mrr": found.test["mrr"]}})


def test_kinds_are_called_by_their_names_and_mean_ranks_are_no_percentages() -> None:
    found = [ranked("a", 0.0), ranked("b", 0.5)]
    text = report(found)
    assert "<title>Results on nodes</title>" in text
    assert "Link prediction" not in text
    assert (
        "Test part, in percent except mr; 2 methods, one seed, this split only. Lower mr is better."
        in shown(text)
    )
    for one in found:
        assert f"{one.test['mr']:.2f}" in shown(text)
        assert f"{100 * one.test['mr']:.2f}" not in text
        assert f"{100 * one.test['mrr']:.2f}" in shown(text)
    assert "mr, percent" not in text
    assert "mr (%)" not in text
    assert "in points" not in text
    assert "Performance by group" not in folds(text)
    better, worse = re.search(r"<td[^>]*>(\d+) %</td><td[^>]*>(\d+) %</td>", text).groups()  # type: ignore[union-attr]
    assert int(better) > int(worse), "the better method has the smaller ranks"


def test_a_page_of_mixed_kinds_names_the_kind_of_each_table() -> None:
    text = report([record(), te.run("karate", "recommendation", "cn"), ranked("a", 0.0)], with_slices=False)
    assert "<title>Results on made, karate and nodes</title>" in text
    assert "Link prediction. Test part, in percent;" in shown(text)
    assert "Recommendation. Test part, in percent;" in shown(text)


def test_data_that_are_not_here_are_named_in_one_line() -> None:
    text = shown(report(records(1, 1, 2, 1)))
    assert "data-0 is not a named data set, so its task cannot be made again" in text


def test_names_cannot_do_anything() -> None:
    names = {"dataset": HOSTILE, "protocol": HOSTILE, "method": HOSTILE}
    hostile = record(**names, curve=3, warnings=(HOSTILE,), options={HOSTILE: HOSTILE})
    found = Reading(
        report([hostile, replace(hostile, method="other", key="k")], title=HOSTILE, source=HOSTILE)
    )
    assert found.count("script") == 1
    assert found.count("img") == 0
    assert found.open == []


def test_trials_of_a_search_and_repeated_runs_do_not_count() -> None:
    trial = replace(record(method="tried"), metrics={"valid": {"mrr": 0.5}})
    old, new = record(), record(shift=1.0)
    text = shown(report([trial, old, new], with_slices=False))
    assert "tried" not in text
    assert f"{100 * new.value:.2f}" in text
    assert f"{100 * old.value:.2f}" not in text
    with pytest.raises(InputError, match="no record to report on"):
        report([trial])


def test_two_methods_of_one_name_have_intervals_of_their_own() -> None:
    settings = ({"dim": 8}, {"dim": 16})
    found = [
        record(method="unknown-method", seed=seed, shift=place, settings=chosen, key=f"{place}{seed}")
        for place, chosen in enumerate(settings)
        for seed in range(3)
    ]
    (one,) = tables(found)
    assert [line.label for line in one.lines] == ["unknown-method", "unknown-method #2"]
    for line in one.lines:
        assert line.estimate is not None
        assert line.estimate.estimate.value == pytest.approx(line.value)


@pytest.mark.exhaustive
def test_five_thousand_records_are_a_page_of_less_than_6_mb() -> None:
    many = records(28, 3, 12, 5, links=20, curve=30)
    assert len(many) > 5000
    text = report(many, with_slices=False)
    assert len(text.encode()) < 6e6
    found = Reading(text)
    assert found.open == []
    assert found.unbalanced == []


@pytest.mark.parametrize("shape", [(1, 1, 40, 3), (40, 1, 2, 1), (2, 20, 2, 1)], ids=str)
def test_what_does_not_fit_is_left_out_and_said(shape: tuple[int, int, int, int], monkeypatch) -> None:
    many = records(*shape, links=20, curve=30)
    monkeypatch.setattr(records_page, "PAGE", 0)
    empty = len(report(many, with_slices=False).encode())
    monkeypatch.setattr(records_page, "PAGE", 100_000)
    text = report(many, with_slices=False)
    assert len(text.encode()) < empty + 100_000
    assert re.search(r"\d+ of \d+ leaderboards are omitted to keep the page small", shown(text))


def test_a_report_is_written_where_it_is_asked_for(tmp_path: Path) -> None:
    written = write([record()], tmp_path / "deep" / "report.html", with_slices=False)
    assert written.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    with pytest.raises(InputError, match=r"report.pdf: a report is written to an .html file"):
        write([record()], tmp_path / "report.pdf")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        write([record()], tmp_path / "file" / "report.html", with_slices=False)


@pytest.mark.parametrize(
    ("value", "text"),
    [(2.4e-6, "<1 ms"), (0.00099, "<1 ms"), (0.001, "1 ms"), (0.0123, "12.3 ms"), (1.0, "1 s"),
     (75.0, "75 s"), (1200.0, "20 min"), (72_000.0, "20.0 h")],
)  # fmt: skip
def test_times_are_said_as_people_say_them(value: float, text: str) -> None:
    assert seconds(value) == text


def part(text: str, name: str) -> str:
    """One section of a page."""
    return text.split(f'id="{name}"')[1].split("</section>")[0]


def fold(text: str, name: str) -> str:
    """The first fold of a name."""
    return text.split(f"<summary>{name}</summary>")[1].split("</details>")[0]


def test_what_cannot_be_grouped_is_one_line_a_data_set() -> None:
    text = part(report(records(2, 3, 2, 4)), "results")
    assert re.findall(r"<li>(data-\d[ :].*?)</li>", text) == [
        f"{name}: {name} is not a named data set, so its task cannot be made again"
        for name in ("data-0", "data-1")
    ]


def test_a_reason_of_some_protocols_names_them() -> None:
    found = [replace(one, units={}) if one.protocol == "protocol-1" else one for one in records()]
    lines = re.findall(r"<li>(data-\d[ :].*?)</li>", part(report(found), "results"))
    assert "data-0 (protocol-1): its records hold no values for each test positive" in lines
    assert len(lines) == 4


def test_the_overview_names_metrics_and_the_order_of_its_rows() -> None:
    text = part(report(records(), with_slices=False), "all-methods")
    heads = re.findall(r"<button[^>]*>(.*?)</button>", text)
    assert heads[1] == "data-0 · protocol-0: mrr"
    assert all(head.endswith(": mrr") for head in heads[1:])
    assert "Rows are sorted by" in text


def test_a_method_far_from_the_best_is_not_shaded_for_want_of_seeds() -> None:
    # Three splits tell little apart, however far the methods are.
    shifts = {"best": 0.0, "near": 0.002, "far": 4.0}
    found = [
        record(name, method=method, shift=shift, seed=seed)
        for name in ("one", "other")
        for method, shift in shifts.items()
        for seed in range(3)
    ]
    first = tables(found)[0]
    letters = {line.label: set(line.estimate.letters) for line in first.lines if line.estimate}
    assert letters["best"] & letters["near"]
    text = part(report(found, with_slices=False), "all-methods")
    rows = {row[0]: row[1] for row in re.findall(r'<th scope="row"[^>]*>(.*?)</th>(.*?)</tr>', text)}
    ends = {line.label: line.estimate.estimate for line in first.lines if line.estimate}
    assert ends["far"].high < ends["best"].low
    assert "shaded" in rows["near"]
    assert "shaded" not in rows["far"]


def test_few_splits_of_many_methods_are_told_once_a_table() -> None:
    few = "3 splits are too few to compare 6 methods: run more seeds"
    text = shown(report(records(1, 1, 6, 3), with_slices=False))
    assert text.count(few) == 1
    assert text.count("too few") == 1
    assert "too few to compare" not in shown(report(records(1, 1, 6, 5), with_slices=False))
    assert "too few to compare" not in shown(report(records(1, 1, 4, 3), with_slices=False))
    assert "too few to compare" not in shown(report(records(1, 1, 6, 1), with_slices=False))


def test_times_are_medians_so_that_a_compiler_does_not_count() -> None:
    times = (30.0, 0.2, 0.3)
    found = [
        replace(record(seed=seed), seconds={"task": 1.0, "fit": fit, "score": 0.01})
        for seed, fit in enumerate(times)
    ]
    text = fold(report(found, with_slices=False), "Time and memory")
    assert "300 ms" in text
    assert "10.2 s" not in text


def test_memory_is_shown_where_methods_differ_in_it() -> None:
    same = [replace(record(method=name), peak_memory=memory) for name, memory in (("a", 1000), ("b", 1090))]
    other = [same[0], replace(same[1], peak_memory=1200)]
    assert "peak memory" not in fold(report(same, with_slices=False), "Time and memory")
    text = fold(report(other, with_slices=False), "Time and memory")
    assert re.search(r'title="of the whole process[^"]*"><button[^>]*>peak memory', text)


def test_options_of_a_protocol_are_explained_where_they_are_listed(karate_page) -> None:
    assert "negatives for each positive" in shown(karate_page)
    assert "shares of train, valid and test" in shown(karate_page)


def test_the_page_begins_with_the_best_method_of_each_data_set_and_protocol() -> None:
    text = report(records(2, 2, 3, 5), with_slices=False)
    head = text.split("<main")[0]
    assert re.search(
        r"Best, or not significantly different from the best: method-0 in \d of \d tables", shown_of(head)
    )
    cells = re.findall(r'<td role="cell" data-protocol="(.*?)">(.*?)</td>', head)
    assert [protocol for protocol, _ in cells] == ["protocol-0", "protocol-1"] * 2
    links = [re.search(r'href="#(.*?)">(.*?)<', cell).groups() for _, cell in cells]  # type: ignore[union-attr]
    assert {label for _, label in links} == {"method-0"}
    assert all(f'id="{name}"' in text for name, _ in links)


def shown_of(text: str) -> str:
    return re.sub(r"\s+", " ", "".join(Reading(text).texts))


def test_data_sets_that_share_no_protocol_have_matrices_of_their_own() -> None:
    found = [record("a", "heart"), record("b", "heart"), record("c", "filtered")]
    head = report(found, with_slices=False).split("<main")[0]
    assert head.count('class="matrix"') == 2
    assert head.count('class="none"') == 0
    bridge = report([*found, record("c", "heart")], with_slices=False).split("<main")[0]
    assert bridge.count('class="matrix"') == 1
    assert bridge.count('class="none"') == 2


def test_without_enough_seeds_nothing_is_called_the_winner() -> None:
    text = shown(report(records(2, 1, 3, 1), with_slices=False))
    assert "No method stands out in any of 2 tables, or there are too few seeds to tell." in text
    assert text.count("too few seeds to compare") == 2
    assert "ahead of all others" not in text


def test_what_a_search_chose_is_called_tuned_and_its_settings_are_there_on_demand() -> None:
    settings = {"dim": 64, "dropout": 0.5}
    known = {"method": "gcn", "settings": settings}
    provenance = {**record().provenance, "given": ["dim", "dropout"]}
    trials = [
        replace(
            record(method="gcn", key=f"t{dim}", settings={**settings, "dim": dim}, provenance=provenance),
            metrics={"valid": {"mrr": 0.5}},
        )
        for dim in (32, 64)
    ]
    tuned = [record(**known, seed=seed, shift=-1.0, provenance=provenance) for seed in range(3)]
    found = [*tuned, *(record(seed=seed) for seed in range(3))]
    text = report([*trials, *found], with_slices=False)
    assert "gcn (tuned)" in shown(text)
    assert "dim=64, dropout=0.5" in fold(text, "Settings")
    assert 'title="dim=64, dropout=0.5"' in text
    assert "gcn (dim=64, dropout=0.5)" in shown(report(found, with_slices=False))
    one_trial = report([trials[1], *found], with_slices=False)
    assert "tuned" not in shown(one_trial)


def test_every_table_is_a_fold_that_a_selector_can_choose() -> None:
    text = report(records(2, 2, 2, 1), with_slices=False)
    assert text.count('<details class="where">') == 4
    options = re.findall(r'<option value="(.*?)">(.*?)</option>', text)
    assert [name for _, name in options][:2] == ["data-0 · protocol-0", "data-0 · protocol-1"]
    assert all(f'id="{value}"' in text for value, _ in options if value)
    assert '<label for="chosen">' in text
    alone = report([record()], with_slices=False)
    assert "<select" not in alone
    assert '<details class="where" open>' in alone
