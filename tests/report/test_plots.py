"""Figures with matplotlib: what is drawn are the numbers of the tables."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from made_up import record, records, verdict

import trueedge as te
from trueedge.analysis.tables import tables
from trueedge.errors import InputError


def test_without_matplotlib_one_sentence_says_how_to_install_it(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(InputError, match=r"figures need matplotlib: run 'pip install trueedge\[plot\]'"):
        te.report.figure([record()])


def labels(axes) -> list[str]:
    return [text.get_text() for text in axes.get_yticklabels()]


def dots(axes) -> list[float]:
    return [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "o"]


def test_a_table_is_drawn_with_its_values_best_on_top() -> None:
    pytest.importorskip("matplotlib")
    (one,) = tables(records(1, 1, 3, 4))
    (axes,) = te.report.figure(one).axes
    assert labels(axes) == [line.label for line in one.lines]
    assert dots(axes) == pytest.approx([100 * line.value for line in one.lines])
    assert axes.get_xlabel() == "mrr (%)"
    top, bottom = axes.get_ylim()
    assert top > bottom, "the first row is on top"


def test_records_of_several_tables_have_a_panel_each_and_too_many_are_refused() -> None:
    pytest.importorskip("matplotlib")
    assert len(te.report.figure(records(2, 2, 2, 1)).axes) == 4
    with pytest.raises(InputError, match="15 panels are too many for one figure, at most 12"):
        te.report.figure(records(5, 3, 2, 1))


def test_a_verdict_is_drawn_around_zero_with_better_to_the_right() -> None:
    pytest.importorskip("matplotlib")
    found = verdict()
    (axes,) = te.report.figure(found).axes
    assert dots(axes) == pytest.approx([100 * one.difference for one in found.answers])
    assert [name.split("\n")[0] for name in labels(axes)] == [one.protocol for one in found.answers]


def test_mean_ranks_are_drawn_for_every_protocol() -> None:
    pytest.importorskip("matplotlib")
    drawn = te.report.figure(records(6, 2, 4, 1), "ranks")
    assert len(drawn.axes) == 2
    texts = " ".join(text.get_text() for text in drawn.axes[0].texts)
    assert "method-0  1.00" in texts
    assert "critical difference" in texts
    assert "Friedman" in texts
    with pytest.raises(InputError, match="two methods that were run on the same two data sets"):
        te.report.figure(records(1, 2, 4, 1), "ranks")


def test_groups_are_those_of_the_verdict_and_of_one_table_alone() -> None:
    pytest.importorskip("matplotlib")
    (axes,) = te.report.figure(verdict(), "groups").axes
    assert [text.get_text() for text in axes.get_xticklabels()] == ["2\n(90)", "3\n(0)", "4\n(40)"]
    assert {text.get_text() for text in axes.get_legend().get_texts()} == {"mine", "ra"}
    with pytest.raises(InputError, match="is of one table, got 4"):
        te.report.figure(records(), "groups")
    with pytest.raises(InputError, match="data-0 is not a named data set"):
        te.report.figure(records(1, 1, 2, 1), "groups")


@pytest.mark.parametrize(
    ("source", "kind", "said"),
    [
        ([record()], "verdict", "needs a verdict, got list"),
        ([record()], "bars", "no kind of figure is called 'bars'"),
        ([], None, "got an empty list"),
        (3, None, "got int"),
        ([3], None, "got int"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_a_sentence(source, kind, said: str) -> None:
    pytest.importorskip("matplotlib")
    with pytest.raises(InputError, match=said):
        te.report.figure(source, kind)


def test_every_figure_is_written_twice_with_the_same_bytes_each_time(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    found = records(2, 1, 3, 2)
    written = te.report.write_figures(found, tmp_path / "deep", slowest=-1)
    assert [path.name for path in written] == [
        f"intervals-data-{place}-protocol-0{ending}" for place in (0, 1) for ending in (".png", ".svg")
    ]
    assert written[0].read_bytes().startswith(b"\x89PNG")
    before = written[1].read_bytes()
    assert b"<svg" in before
    te.report.write_figures(found, tmp_path / "deep", slowest=-1)
    assert written[1].read_bytes() == before


def test_files_have_names_of_letters_whatever_a_data_set_is_called(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    names = ("../../etc: <x>", "etc x")
    png, _, other, _ = te.report.write_figures([record(name) for name in names], tmp_path, slowest=-1)
    assert png.parent == other.parent == tmp_path
    assert other.name == "intervals-etc-x-heart-2.png"
    assert png.name == "intervals-etc-x-heart.png"


def test_dollar_signs_in_names_are_no_formulas(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    drawn = te.report.figure([record("$\\frac{$", method="$x$ <script>")])
    drawn.savefig(tmp_path / "figure.svg", metadata={"Date": None})
    (axes,) = drawn.axes
    assert labels(axes) == [r"\$x\$ <script>"]
    assert "<script>" not in (tmp_path / "figure.svg").read_text()
