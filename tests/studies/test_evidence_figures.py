"""Figures in the files of evidence."""

from __future__ import annotations

import json
import math

import pytest

from trueedge import InputError
from trueedge.analysis.figure import Figure, Series
from trueedge.studies import Comparison, Finding, Study, write
from trueedge.studies.evidence import figures

STUDY = Study(name="paper/figure", title="A figure", citation="Someone", decimals=2, run=lambda plan: None)


def curve(name: str, value: float) -> Figure:
    return Figure(name, "A curve", "lines", "x", "y", (Series("ours", (1.0, "two"), (value, math.nan)),))


def test_a_figure_is_read_back_as_it_was_written(tmp_path):
    path = write(STUDY, Finding([], figures=[curve("a", 0.1)]), tmp_path / "f.json")
    (found,) = figures(path)
    assert (found.name, found.series[0].x, found.series[0].y[0]) == ("a", (1.0, "two"), 0.1)
    assert math.isnan(found.series[0].y[1])


def test_figures_of_other_names_stay_and_one_drawn_again_keeps_its_place(tmp_path):
    path = tmp_path / "f.json"
    write(STUDY, Finding([], places=[{"device": "cpu"}], figures=[curve("a", 1.0), curve("b", 2.0)]), path)
    write(STUDY, Finding([], places=[{"device": "cuda"}], figures=[curve("a", 3.0)]), path)
    assert [(one.name, one.series[0].y[0]) for one in figures(path)] == [("a", 3.0), ("b", 2.0)]
    card = json.loads(path.read_text())
    assert [card["runs"][one["run"]]["places"][0]["device"] for one in card["figures"]] == ["cuda", "cpu"]


def test_a_run_that_nothing_is_from_any_more_is_forgotten(tmp_path):
    path = tmp_path / "f.json"
    row = Comparison("cora", "heart", "cn", "mrr", 1.0, 0.0, 1, None)
    for _ in range(3):
        write(STUDY, Finding([row], figures=[curve("a", 1.0)]), path)
    assert len(json.loads(path.read_text())["runs"]) == 1


@pytest.mark.parametrize("damage", [{"name": "a"}, {"series": 3}, {"kind": "pie", "run": 7}, 4])
def test_damaged_figures_are_refused_and_nothing_is_overwritten(tmp_path, damage):
    path = write(STUDY, Finding([], figures=[curve("a", 1.0)]), tmp_path / "f.json")
    card = json.loads(path.read_text())
    card["figures"] = [damage]
    path.write_text(json.dumps(card))
    before = path.read_text()
    with pytest.raises(InputError, match=r"f\.json"):
        write(STUDY, Finding([], figures=[curve("b", 1.0)]), path)
    assert path.read_text() == before


def test_series_of_different_lengths_are_refused():
    with pytest.raises(InputError, match="'ours' has values of different lengths"):
        Series("ours", (1.0, 2.0), (1.0,))
    with pytest.raises(InputError, match="'ours' has values of different lengths"):
        Series("ours", (1.0,), (1.0,), (0.5,), ())


@pytest.mark.parametrize("value", ["q", None, 10**400, [1], True])
def test_what_is_no_number_is_refused_by_the_name_of_its_series(value):
    with pytest.raises(InputError, match="the series 'ours' has"):
        Series("ours", (1.0,), (value,))


def test_a_kind_nobody_draws_is_refused():
    with pytest.raises(InputError, match="no kind of figure is called 'pie'"):
        Figure("a", "A", "pie", "x", "y", ())


@pytest.mark.parametrize("plain", [{}, {"series": [{}]}, {"series": 5}, {"series": [], "more": 1}])
def test_a_dictionary_that_is_no_figure_is_refused(plain):
    with pytest.raises(InputError, match="this is not a figure"):
        Figure.from_dict(plain)


def test_a_value_without_end_is_written_as_missing(tmp_path):
    path = write(STUDY, Finding([], figures=[curve("a", math.inf)]), tmp_path / "f.json")
    assert math.isnan(figures(path)[0].series[0].y[0])


def test_evidence_stays_where_the_disk_is_full(tmp_path, monkeypatch):
    path = write(STUDY, Finding([], figures=[curve("a", 1.0)]), tmp_path / "f.json")
    before = path.read_text()

    def full(self, *_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_text", full)
    with pytest.raises(InputError, match=r"f\.json: No space left"):
        write(STUDY, Finding([], figures=[curve("b", 1.0)]), path)
    assert path.read_text() == before
