"""The command: a page from a folder of records, one sentence for wrong input."""

from __future__ import annotations

import re
import sys

import pytest


@pytest.fixture
def runs(trueedge) -> None:
    assert trueedge("run", "karate", "-p", "existing,triplet", "-m", "cn,ra,pa", "--seeds", "1")[0] == 0


def test_a_folder_of_records_becomes_one_page(trueedge, runs, tmp_path) -> None:
    status, out, err = trueedge("report", "runs", "-o", "pages/report.html")
    assert status == 0
    assert out == ""
    assert re.fullmatch(r"6 records reported in pages/report.html \(0\.\d MB\)\n", err)
    text = (tmp_path / "pages/report.html").read_text()
    assert "<title>Link prediction on karate</title>" in text
    assert "Performance by group" in text


def test_the_folder_and_the_file_have_usual_names(trueedge, runs, tmp_path) -> None:
    assert trueedge("report", "--no-slices")[0] == 0
    assert "Performance by group" not in (tmp_path / "report.html").read_text()


def test_the_folder_of_records_is_an_argument_or_an_option(trueedge, runs, tmp_path) -> None:
    pages = []
    for words in ((), ("runs",), ("--runs", "runs"), ("runs", "--runs", "./runs")):
        assert trueedge("report", *words, "--no-slices", "-o", "page.html")[0] == 0
        pages.append((tmp_path / "page.html").read_text().partition("<footer")[0])
    assert len(set(pages)) == 1
    (tmp_path / "other").mkdir()
    status, _, err = trueedge("report", "runs", "--runs", "other")
    assert status == 1
    assert err == "trueedge: two folders of records are given, runs and --runs other: give one\n"


def test_only_what_is_asked_for_is_reported(trueedge, runs, tmp_path) -> None:
    words = ("--protocol", "triplet", "--method", "cn, pa", "--title", "A & B", "--no-slices")
    status, _, err = trueedge("report", *words)
    assert status == 0
    assert err.startswith("2 records")
    text = (tmp_path / "report.html").read_text()
    assert "<title>A &amp; B</title>" in text
    assert "karate · triplet" in text
    assert "karate · existing" not in text


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("nowhere",), "there is no folder nowhere"),
        (("--runs", "nowhere"), "there is no folder nowhere"),
        (("runs", "-o", "report.pdf"), "report.pdf: a report is written to an .html file"),
        (("--dataset", "karat"), "no dataset of these records is called 'karat'; did you mean 'karate'?"),
        (("--method", "gcn"), "no method of these records is called 'gcn'"),
    ],
)
def test_wrong_input_is_one_sentence(trueedge, runs, words, sentence) -> None:
    status, out, err = trueedge("report", *words)
    assert status == 1
    assert out == ""
    assert err.startswith(f"trueedge: {sentence}")
    assert err.count("\n") == 1


def test_a_folder_without_records_is_refused(trueedge, tmp_path) -> None:
    (tmp_path / "empty").mkdir()
    status, _, err = trueedge("report", "empty")
    assert status == 1
    assert "there are no records in empty" in err


def test_the_page_has_as_many_records_as_the_command_says_and_trials_are_named(
    trueedge, runs, tmp_path
) -> None:
    tune = ("tune", "karate", "-p", "existing", "-m", "katz", "--trials", "2", "--seeds", "1")
    assert trueedge(*tune)[0] == 0
    _, _, err = trueedge("report", "--no-slices")
    count = re.match(r"(\d+) records reported in report.html \(0\.\d MB\); 2 trials left out\n", err)
    assert count is not None
    assert f"{count[1]} records · " in (tmp_path / "report.html").read_text()


def test_figures_are_written_as_png_and_svg(trueedge, runs, tmp_path) -> None:
    pytest.importorskip("matplotlib")
    status, _, err = trueedge("report", "--no-slices", "--figures", "drawn")
    assert status == 0
    names = sorted(path.name for path in (tmp_path / "drawn").iterdir())
    assert f"{len(names) // 2} figures in drawn, as PNG and SVG\n" in err
    assert {name.rpartition(".")[2] for name in names} == {"png", "svg"}


def test_without_matplotlib_nothing_is_written(trueedge, runs, tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    status, _, err = trueedge("report", "--no-slices", "--figures", "drawn")
    assert status == 1
    assert "figures need matplotlib: run 'pip install trueedge[plot]'" in err
    assert not (tmp_path / "report.html").exists()
