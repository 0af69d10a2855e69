"""Records whose headline is no metric of pairs or lists: shown with their values, without intervals."""

from __future__ import annotations

from dataclasses import replace

import pytest

import trueedge as te
from trueedge.analysis.comparison import compare, unit_values
from trueedge.analysis.tables import tables
from trueedge.errors import InputError
from trueedge.report import report
from trueedge.results import Store

VALUES = {"gcn": 0.8123, "gin": 0.4567, "sage": -0.0123}


@pytest.fixture(scope="module")
def ranked() -> te.Record:
    return te.run("karate", "existing", "ra")


@pytest.fixture
def communities(ranked) -> list[te.Record]:
    """Records of the study of communities, as made by hand."""
    return [
        replace(
            ranked,
            key=f"{graph}/{method}",
            dataset=f"lfr:mixing={graph}",
            protocol="communities",
            method=method,
            headline="of-tomorrow",
            metrics={"test": {"of-tomorrow": value - graph, "nmi": value / 2}},
            units={},
        )
        for graph in (0.0, 0.1)
        for method, value in VALUES.items()
    ]


def test_they_are_shown_with_their_values_best_first(communities) -> None:
    first, second = tables(communities)
    assert [(line.label, line.value) for line in first.lines] == list(VALUES.items())
    assert first.metrics == ("of-tomorrow", "nmi")
    for one in (first, second):
        assert one.compared is None
        assert all(line.estimate is None for line in one.lines)


def test_they_are_left_out_of_a_comparison_with_the_reason(communities) -> None:
    found = compare(communities)
    assert [len(one.methods) for one in found] == [0, 0]
    assert (
        "gcn on lfr:mixing=0.0 · communities, seed 0: no metric is called 'of-tomorrow'"
        in found[0].left_out[0]
    )


def test_ranks_of_positives_do_not_make_such_a_headline_comparable(communities, ranked) -> None:
    with_ranks = [replace(one, units=ranked.units) for one in communities]
    assert compare(with_ranks)[0].methods == ()
    with pytest.raises(InputError, match="no metric is called 'of-tomorrow'"):
        unit_values(with_ranks[0], "of-tomorrow")


@pytest.mark.parametrize("name", ["of-tomorrow", "nonsense", ""])
def test_an_unknown_metric_that_was_asked_for_is_refused(communities, ranked, name: str) -> None:
    for records in (communities, [ranked], []):
        with pytest.raises(InputError, match=f"no metric is called '{name}'"):
            compare(records, name)


def test_a_store_of_them_is_shown_and_reported(communities, ranked, tmp_path, trueedge) -> None:
    store = Store(tmp_path / "runs")
    for one in [*communities, ranked]:
        store.append(one)
    status, out, _ = trueedge("records", "--runs", str(tmp_path / "runs"))
    assert status == 0
    for value in VALUES.values():
        assert f"{100 * value:.2f}" in out
    status, _, err = trueedge("report", str(tmp_path / "runs"), "-o", str(tmp_path / "page.html"))
    assert status == 0
    assert err.startswith("7 records reported")
    assert "of-tomorrow" in (tmp_path / "page.html").read_text()


def test_their_report_compares_them_over_graphs_and_not_over_edges(communities) -> None:
    text = report(communities, with_slices=False)
    assert "95 % interval" not in text
    assert "communities: 2 data sets are too few" in text
    assert f"{100 * VALUES['gcn']:.2f}" in text
