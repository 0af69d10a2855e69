"""The page on what a study came to."""

from __future__ import annotations

import pytest

from trueedge import InputError
from trueedge.analysis.figure import Figure, Series
from trueedge.report.study_page import study_page, write_study
from trueedge.studies import Comparison, Finding, Study

STUDY = Study(
    name="paper/table", title="A <b>table</b>", citation="Someone", decimals=2, run=lambda plan: None
)
ROW = Comparison("cora", "heart", "cn", "mrr", 12.345, 0.5, 3, 12.0, 0.4)
CURVE = Figure("curve", "A curve", "lines", "x", "y", (Series("ours", (1.0, 2.0), (3.0, float("nan"))),))


def test_a_page_has_the_rows_the_figures_and_what_was_not_run():
    text = study_page(STUDY, Finding([ROW], ["pubmed is not here"], [{"device": "cpu"}], [CURVE]))
    for part in ("12.35", "12.00", "0.35", "A curve", "<svg", "pubmed is not here", "cpu"):
        assert part in text
    assert "<b>table</b>" not in text


def test_a_study_without_published_numbers_has_no_columns_for_them():
    row = Comparison("cora", "heart", "cn", "mrr", 12.345, 0.0, 1, None)
    text = study_page(STUDY, Finding([row]))
    assert "published" not in text
    assert "mean absolute difference" not in text


def test_a_page_of_figures_alone_has_no_table_of_numbers():
    text = study_page(STUDY, Finding([], figures=[CURVE]))
    assert "A curve" in text
    assert "Ours beside theirs" not in text


def test_a_page_is_written_to_an_html_file_alone(tmp_path):
    with pytest.raises(InputError, match=r"page.txt: write a page to a .html file"):
        write_study(STUDY, Finding([ROW]), tmp_path / "page.txt")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        write_study(STUDY, Finding([ROW]), tmp_path / "file" / "page.html")
    written = write_study(STUDY, Finding([ROW]), tmp_path / "new" / "page.html")
    assert written.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
