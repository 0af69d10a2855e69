"""What fits into a terminal, what a pipe gets, and streams without UTF-8."""

from __future__ import annotations

import io
import os
import subprocess
import sys

import pytest
from rich.console import Console
from rich.progress import Progress
from rich.text import Text

from trueedge.cli import showing
from trueedge.cli.scoreboard import findings
from trueedge.cli.study_tables import _difference
from trueedge.results import Record


@pytest.fixture
def narrow(monkeypatch):
    """As in a terminal of 80 columns."""
    monkeypatch.setattr(showing, "terminal_width", lambda: 80)


@pytest.mark.parametrize("command", ["datasets", "methods", "protocols"])
def test_a_catalogue_has_one_line_a_row_in_a_narrow_terminal(trueedge, narrow, command: str) -> None:
    _, out, err = trueedge(command)
    rows = out.splitlines()
    assert max(map(len, rows)) <= 80
    assert len({row.split()[0] for row in rows}) == len(rows)
    if command == "datasets":
        assert rows[1].split() == ["name", "family", "nodes", "edges", "features"]
        assert "left out: what it is, licence" in err


def test_in_a_pipe_nothing_is_cut_and_no_line_is_broken(trueedge) -> None:
    _, out, err = trueedge("datasets")
    assert err == ""
    row = next(line for line in out.splitlines() if line.startswith("cora "))
    assert row.endswith("Planetoid's files (MIT)")
    assert "…" not in out


def test_result_columns_that_do_not_fit_are_left_out_and_named(trueedge, narrow) -> None:
    words = ("-p", "existing", "-m", "cn,katz", "--set", "beta=0.001", "--seeds", "2", "--option", "ratio=8")
    _, out, err = trueedge("run", "karate", *words)
    title, header, *rows = out.splitlines()
    assert title == "karate · existing (ratio=8)  test part, percent, 2 seeds, mean ± std"
    assert max(map(len, (header, *rows))) <= 80
    assert header.split()[:2] == ["method", "mrr"]
    assert " ± " not in "".join(rows)
    assert "±" in rows[0]
    assert "more columns in a wider window or with trueedge export" in err
    assert "ap" in err.split("left out: ")[1].split(";")[0]


def test_a_long_title_leaves_the_table_alone(capsys, monkeypatch) -> None:
    showing.table("a title that is longer than its table", ["a", "b"], [["1", "2"]], numbers=(1,))
    assert capsys.readouterr().out == "a title that is longer than its table\na  b\n1  2\n"
    monkeypatch.setattr(showing, "terminal_width", lambda: 40)
    showing.table("t", ["name", "text"], [["x", "word " * 20], [Text("y"), "[bold]"]], texts=(1,))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines[2]) == 40
    assert lines[2].endswith("…")
    assert lines[3] == "y     [bold]"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("datasets", "barabasi-albert"), ["barabasi-albert:nodes=1000,attach=5,seed=0", "Science 1999"]),
        (("datasets", "price:nodes=50,edges=60"), ["price:nodes=50,edges=60,exponent=3.0,seed=0"]),
        (("datasets", "karate"), ["included in trueedge", "BSD-3-Clause", "78"]),
        (("datasets", "citeseer"), ["$TRUEEDGE_DATA", "ind.citeseer.graph", "ICML 2016"]),
        (("methods", "katz"), ["beta=0.005", "damping factor per step", "1953"]),
        (("protocols", "heart"), ["k=500", "negatives for each positive", "NeurIPS 2023"]),
    ],
)
def test_a_name_shows_the_whole_card(trueedge, words, expected: list[str]) -> None:
    status, out, _ = trueedge(*words)
    assert status == 0
    for text in expected:
        assert text in out


def test_files_are_told_where_they_are_or_how_they_are_had(trueedge, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("TRUEEDGE_DATA", str(tmp_path))
    monkeypatch.setenv("TRUEEDGE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "planetoid" / "citeseer").mkdir(parents=True)
    (tmp_path / "planetoid" / "citeseer" / "ind.citeseer.graph").write_bytes(b"not it")
    out = trueedge("datasets", "citeseer")[1]
    assert f"{tmp_path}/planetoid/citeseer: ind.citeseer.graph (found, but its checksum differs" in out
    assert "planetoid/citeseer: ind.citeseer.allx" in out
    assert "will be downloaded from https://" in out


def test_ties_are_one_sentence_and_the_rest_is_verbatim() -> None:
    tie = "of the comparisons of a positive with a negative are ties; each counts half"
    records = [
        _record("cn", 0, f"g heart test: 53% {tie}", f"g heart valid: 60% {tie}"),
        _record("cn", 1, f"g heart test: 48% {tie}"),
        _record("ra", 0, f"g heart test: 53% {tie}"),
        _record("pa", 0, "g heart test: all scores are 0: nothing is told apart"),
        _record("aa", 0),
    ]
    assert findings(records) == [
        "ties between positives and negatives: cn 48–53%, ra 53%",
        "pa: g heart test: all scores are 0: nothing is told apart",
    ]
    assert findings(records[-1:]) == []


def _record(method: str, seed: int, *warnings: str) -> Record:
    return Record(
        key=f"{method}{seed}",
        dataset="g",
        protocol="heart",
        options={},
        method=method,
        settings={},
        seed=seed,
        task_seed=seed,
        headline="mrr",
        metrics={"test": {"mrr": 0.5}},
        seconds={},
        peak_memory=0,
        warnings=warnings,
    )


def test_a_difference_that_rounds_to_nothing_has_no_sign() -> None:
    assert [_difference(gap, 2) for gap in (0.0, -0.004, 0.004, -0.006, 1.5)] == [
        "0.00",
        "0.00",
        "0.00",
        "-0.01",
        "+1.50",
    ]


def test_a_sentence_does_not_cross_the_progress_bar(monkeypatch) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(showing, "STDERR", Console(file=screen, force_terminal=True, width=80))
    with showing.progress(2, "work") as report:
        report("a text with [brackets]", 1, 2)
        showing.note("a sentence")
    # The line of the bar is erased before the sentence is written.
    before, sentence, _ = screen.getvalue().partition("a sentence")
    assert sentence
    assert before.rstrip("\x1b[2m").endswith(("\x1b[2K", "\r", "\n")) or "\x1b[2K" in before


def test_a_stream_without_utf8_gets_question_marks() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "LANG": "C", "COLUMNS": "80"}
    for words in (["run", "--help"], ["datasets", "barabasi-albert"]):
        done = subprocess.run(
            [sys.executable, "-m", "trueedge", *words], capture_output=True, text=True, env=environment
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
    assert "Barab?si" in done.stdout


def test_the_progress_bar_tells_the_rate() -> None:
    now = 0.0
    bar = Progress(showing.RateColumn(), get_time=lambda: now, auto_refresh=False)
    line = bar.add_task("work", total=100_000)
    column = showing.RateColumn()
    assert column.render(bar.tasks[0]).plain == ""
    for now, done in ((1.0, 2_500), (2.0, 5_000), (3.0, 7_500)):  # noqa: B007 (the clock reads it)
        bar.update(line, completed=done)
    assert column.render(bar.tasks[0]).plain == "2,500/s"
    slow = bar.add_task("slow", total=10)
    for now, done in ((4.0, 1), (6.0, 2), (8.0, 3)):  # noqa: B007 (the clock reads it)
        bar.update(slow, completed=done)
    assert column.render(bar.tasks[1]).plain == "0.5/s"


def test_control_characters_of_names_are_written_out(capsys) -> None:
    showing.table("a\x1b[2J", ["node"], [["b\x07\r"]])
    showing.note("no file\x9b31m")
    out, err = capsys.readouterr()
    assert out.splitlines() == [r"a\x1b[2J", "node", r"b\x07\x0d"]
    assert err == "no file\\x9b31m\n"
