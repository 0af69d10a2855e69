"""The pages: the same bytes from the same folder, small, and nothing in them but text that was written."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from tests.leaderboard.boards import board_with, card, certificates, reproduced

import trueedge as te
from trueedge.errors import InputError
from trueedge.leaderboard.board import Board
from trueedge.leaderboard.pages import build
from trueedge.leaderboard.pages.history_page import LINES, value_axis
from trueedge.leaderboard.pages.index_page import Summary, _table, index_page
from trueedge.leaderboard.pages.parts import breakable
from trueedge.leaderboard.pages.ranking_page import ranking_pages
from trueedge.leaderboard.pages.shell import page_links

NAME = "<script>alert(1)</script> & \"co\" 'x'"


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    board = board_with(folder, "ra", "cn", "katz")
    for entry in board.entries("karate-existing"):
        reproduced(entry)
    odd = card(
        name=NAME, authors=("=cmd()", "B & C"), code="https://example.org/a?b=1&c=2", submitted="2026-02-02"
    )
    board.add(certificates(folder / "made", "pa"), odd, name="odd")
    board.withdraw("karate-existing", "katz", "the <b>reason</b>", date="2026-03-01")
    build(board, folder / "site")
    return folder


def texts(site: Path) -> dict[str, str]:
    return {str(one.relative_to(site)): one.read_text() for one in sorted(site.rglob("*")) if one.is_file()}


def test_the_same_folder_gives_the_same_bytes_elsewhere(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made / "board", tmp_path / "other" / "name", ignore=shutil.ignore_patterns(".*"))
    build(Board.open(tmp_path / "other" / "name"), tmp_path / "there", jobs=2)
    assert texts(tmp_path / "there") == texts(made / "site")
    assert str(made) not in "".join(texts(made / "site").values())


def test_every_link_of_the_site_leads_somewhere_and_nothing_is_fetched(made: Path) -> None:
    site = made / "site"
    for path in site.rglob("*.html"):
        text = path.read_text()
        for address in re.findall(r'(?:href|src)="([^"]*)"', text):
            if address.startswith(("https://example.org", "#", "data:")):
                continue
            assert (path.parent / address).resolve().is_file(), f"{path}: {address}"
        assert len(text.encode()) < 300_000
        assert text.count("<h1>") == 1


def test_what_strangers_wrote_is_text_and_nothing_else(made: Path) -> None:
    class Tags(HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.scripts: list[dict[str, str | None]] = []
            self.bold: list[str] = []

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            assert not any(name.startswith("on") for name, _ in attrs)
            if tag == "script":
                self.scripts.append(dict(attrs))

    for path in (made / "site").rglob("*.html"):
        found = Tags()
        found.feed(path.read_text())
        assert [one["src"].rpartition("/")[2] for one in found.scripts] == ["page.js"]
        assert "<b>reason</b>" not in path.read_text()
    entry = (made / "site" / "karate-existing" / "entries" / "odd.html").read_text()
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;co&quot; &#x27;x&#x27;" in entry
    tomb = (made / "site" / "karate-existing" / "entries" / "katz.html").read_text()
    assert "Withdrawn on 2026-03-01: " in tomb
    assert "the &lt;b&gt;reason&lt;/b&gt;" in tomb


def test_the_pages_say_what_matters(made: Path) -> None:
    site = made / "site"
    board = (site / "karate-existing" / "index.html").read_text()
    assert "2 ranked of 3 entries, 1 withdrawn" in board
    assert "not reproduced yet" in board
    assert ">median time<" in board
    assert "Shared letter: no significant difference" in board
    entry = (site / "karate-existing" / "entries" / "ra.html").read_text()
    assert "trueedge verify karate-existing/ra/seed-0.json" in entry
    assert "B. Person ran it again on 2026-01-06" in entry
    assert ">median time<" in entry
    compare = (site / "karate-existing" / "compare.html").read_text()
    assert len(re.findall(r'<tr data-pair="', compare)) == 3
    assert "p is corrected for all pairs of ranked entries (Holm)" in compare
    assert "p is corrected for all pairs of ranked entries (Holm)" in entry
    rows = dict(re.findall(r'data-pair="(.*?)">(.*?)</tr>', compare))
    told = {pair: "(p not corrected)" in row for pair, row in rows.items()}
    assert told == {"ra cn": False, "ra odd": True, "cn odd": True}
    history = (site / "karate-existing" / "history.html").read_text()
    assert "mrr (%) by date, from 2026-01-05 to 2026-02-02" in history
    assert "has not been audited" in (site / "karate-existing" / "card.html").read_text()
    assert "SPDX licence" in (site / "submit.html").read_text()


@pytest.mark.parametrize(
    ("metric", "values", "ticks"),
    [
        ("mrr", [0.002, 0.121], ["0", "2", "4", "6", "8", "10", "12"]),
        ("mrr", [0.0], ["0", "20", "40", "60", "80", "100"]),
        ("mrr", [1.0], ["50", "60", "70", "80", "90", "100"]),
        ("mrr", [0.5012, 0.5013], ["50.120", "50.122", "50.124", "50.126", "50.128", "50.130"]),
        ("mr", [1.0, 260.5], ["50", "100", "150", "200", "250"]),
    ],
)
def test_values_of_the_history_are_round_and_possible(metric: str, values: list[float], ticks) -> None:
    assert [text for _, text in value_axis(metric, values, 270, 10).ticks(LINES)] == ticks


def test_downloads_hold_the_standing_and_no_formula(made: Path) -> None:
    site = made / "site" / "karate-existing"
    told = json.loads((site / "standing.json").read_text())
    rows = list(csv.DictReader(io.StringIO((site / "standing.csv").read_text())))
    assert [row["entry"] for row in rows] == [one["entry"] for one in told["entries"]]
    odd = next(row for row in rows if row["entry"] == "odd")
    assert odd["authors"] == "'=cmd(); B & C"
    assert odd["name"] == NAME
    assert odd["rank_first"] == ""
    assert json.loads((made / "site" / "boards.json").read_text())["tasks"][0]["ranked"] == 2


def test_what_did_not_change_is_not_built_again(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made / "board", tmp_path / "board")
    board, site = Board.open(tmp_path / "board"), tmp_path / "site"
    assert build(board, site).reused == 0
    before = texts(site)
    assert build(board, site).reused == 1
    assert texts(site) == before
    board.withdraw("karate-existing", "odd", "a mistake", date="2026-03-01")
    (site / "old-task").mkdir()
    assert build(board, site).reused == 0
    assert not (site / "old-task").exists()
    assert texts(site) != before


def test_a_new_title_of_the_board_is_on_all_pages(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made / "board", tmp_path / "board")
    card = tmp_path / "board" / "board.toml"
    build(Board.open(tmp_path / "board"), tmp_path / "site")
    card.write_text(card.read_text().replace("A board", "Another name"))
    build(Board.open(tmp_path / "board"), tmp_path / "site")
    build(Board.open(tmp_path / "board"), tmp_path / "anew")
    assert texts(tmp_path / "site") == texts(tmp_path / "anew")
    assert "A board" not in "".join(texts(tmp_path / "site").values())


def test_a_board_that_can_only_be_read_is_built(made: Path, tmp_path: Path, monkeypatch) -> None:
    shutil.copytree(made / "board", tmp_path / "board")
    (tmp_path / "board" / ".build.json").unlink()
    # Not even root can write a file where a folder is.
    (tmp_path / "board" / ".build.json").mkdir()
    found = build(Board.open(tmp_path / "board"), tmp_path / "site")
    assert (found.problems, found.reused) == ((), 0)
    assert texts(tmp_path / "site") == texts(made / "site")


def test_a_site_that_cannot_be_written_is_refused_by_its_name(made: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"the site cannot be written to .*file/site/index\.html"):
        build(Board.open(made / "board"), tmp_path / "file" / "site")


def test_a_file_whose_name_is_no_text_is_found_and_stops_no_page(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made / "board", tmp_path / "board")
    place = os.fsencode(tmp_path / "board" / "karate-existing" / "ra")
    with open(place + b"/\xff.json", "w"):
        pass
    (problem,) = build(Board.open(tmp_path / "board"), tmp_path / "site").problems
    assert problem.endswith("no such file belongs to an entry")


def test_an_entry_that_fails_the_check_is_not_ranked_and_the_build_says_so_each_time(
    made: Path, tmp_path: Path
) -> None:
    shutil.copytree(made / "board", tmp_path / "board")
    board, task = Board.open(tmp_path / "board"), tmp_path / "board" / "karate-existing"
    for end in ("json", "scores.npz"):
        shutil.copy(task / "cn" / f"seed-1.{end}", task / "ra" / f"seed-1.{end}")
    (tmp_path / "board" / "no-task").mkdir()
    for reused in (0, 1):
        found = build(board, tmp_path / "site")
        assert found.reused == reused
        assert found.problems == tuple(map(str, board.check()))
        assert found.problems[0] == "no-task: it has no task.toml"
        assert len(found.problems) == 3
    told = json.loads((tmp_path / "site" / "karate-existing" / "standing.json").read_text())["entries"]
    assert [(one["entry"], one["rank"]) for one in told][:2] == [("cn", [1, 1]), ("odd", None)]
    ra = next(one for one in told if one["entry"] == "ra")
    assert (ra["value"], ra["tier"]) == (None, None)
    assert ra["unranked"].startswith("fails the check: seed-1.json has other method than seed-0.json")
    assert ra["unranked"].endswith("(and 1 more)")


@pytest.mark.parametrize("name", ["seed-0.json", "reproduced-b-person-0.json", "seed-0.scores.npz"])
def test_a_damaged_file_of_one_entry_stops_no_page_and_no_path_is_in_them(
    made: Path, tmp_path: Path, name: str
) -> None:
    shutil.copytree(made / "board", tmp_path / "board")
    (tmp_path / "board" / "karate-existing" / "ra" / name).write_text("{")
    found = build(Board.open(tmp_path / "board"), tmp_path / "site")
    assert len(found.problems) == (2 if name.startswith("seed-0.s") else 1)
    assert name in found.problems[0]
    written = texts(tmp_path / "site")
    assert str(tmp_path) not in "".join(written.values())
    assert "fails the check" in written["karate-existing/entries/ra.html"]
    assert "trueedge verify" not in written["karate-existing/entries/ra.html"]
    assert ">invalid<" in written["karate-existing/index.html"]


def test_entries_of_another_task_than_its_card_says_are_not_ranked(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made / "board", tmp_path / "board")
    card = tmp_path / "board" / "karate-existing" / "task.toml"
    card.write_text(re.sub("[0-9a-f]{64}", "0" * 64, card.read_text(), count=1))
    found = build(Board.open(tmp_path / "board"), tmp_path / "site")
    told = json.loads((tmp_path / "site" / "karate-existing" / "standing.json").read_text())["entries"]
    assert [one["rank"] for one in told] == [None] * 4
    assert ["is of another task: its hash is" in one["unranked"] for one in told] == [True] * 3 + [False]
    assert len(found.problems) == 4


def test_a_copied_certificate_is_blamed_on_the_entry_that_others_problems_name(
    made: Path, tmp_path: Path
) -> None:
    shutil.copytree(made / "board", tmp_path / "board")
    board = Board.open(tmp_path / "board")
    place = board.folder / "karate-existing"
    shutil.copytree(place / "ra", place / "aa")
    assert sorted(build(board, tmp_path / "site").problems)[::3] == [
        "karate-existing/aa/seed-0.json: it has the seal of a certificate of karate-existing/ra",
        "karate-existing/ra/seed-0.json: it has the seal of a certificate of karate-existing/aa",
    ]
    (place / "aa" / "note.txt").write_text("x")
    assert {one.split("/")[1] for one in build(board, tmp_path / "site").problems} == {"aa"}


def test_a_folder_with_other_files_is_left_alone(made: Path, tmp_path: Path) -> None:
    (tmp_path / "precious.txt").write_text("x")
    board = Board.open(made / "board")
    with pytest.raises(InputError, match="is not empty, and not a site"):
        build(board, tmp_path)
    with pytest.raises(InputError, match="is in the board's folder"):
        build(board, made / "board" / "site")
    with pytest.raises(InputError, match="is a file"):
        build(board, tmp_path / "precious.txt")
    assert (tmp_path / "precious.txt").read_text() == "x"


def test_a_long_ranking_has_pages_with_links(made: Path, monkeypatch) -> None:
    from trueedge.leaderboard.board.standings import standing_of

    board = Board.open(made / "board")
    standing = standing_of(board.task("karate-existing"), board.entries("karate-existing"))
    monkeypatch.setattr("trueedge.leaderboard.pages.ranking_page.IN_A_PAGE", 2)
    pages = dict(ranking_pages(board, standing))
    assert list(pages) == ["index.html", "page-2.html"]
    assert 'href="index.html">1<' in pages["page-2.html"]
    assert page_links(5, 40, "p-{}").count("…") == 2
    assert page_links(1, 1, "p-{}") == ""


ONE = Summary(
    name="task",
    title="task",
    kind="Link prediction",
    headline="mrr",
    entries=9,
    ranked=8,
    first=tuple((name, name) for name in ("a", "b", "c")),
    tied=8,
    value="50",
    superseded=False,
    untested="",
    hidden=False,
)


def test_the_first_page_counts_entries_as_the_page_of_the_task_does(made: Path) -> None:
    (told,) = json.loads((made / "site" / "boards.json").read_text())["tasks"]
    assert (told["ranked"], told["entries"]) == (2, 3)


def test_the_first_page_does_not_say_that_numbers_on_hidden_labels_can_be_recomputed(made: Path) -> None:
    board, hidden = Board.open(made / "board"), replace(ONE, hidden=True)
    assert '<p class="lead">Every number here can be recomputed' in index_page(board, [ONE])
    assert "Every number on public labels can be recomputed" in index_page(board, [ONE, hidden])
    assert "be recomputed" not in index_page(board, [hidden])


def test_the_first_page_says_if_no_entry_of_a_task_is_better_than_another() -> None:
    one = ONE
    assert " and all 5 others" in _table([one], "tasks")
    assert " and 4 more" in _table([replace(one, tied=7)], "tasks")
    assert "and" not in _table([replace(one, tied=3, ranked=3)], "tasks")


def test_the_first_page_says_why_entries_share_the_first_place() -> None:
    one = ONE

    def said(**changes: object) -> list[str]:
        text = _table([replace(one, **changes)], "tasks")
        assert "(no significant difference)" not in text
        return [
            why
            for why in ("no significant difference", "one seed allows no test", "same value")
            if why in text
        ]

    assert said() == ["no significant difference"]
    assert said(untested="one seed allows no test") == ["one seed allows no test"]
    assert said(hidden=True) == ["same value"]
    # Nothing is shared, so that nothing is said.
    assert said(tied=1, ranked=1, untested="one seed allows no test") == []


@pytest.mark.parametrize("seeds", [1, 2, 3])
def test_no_page_says_that_differences_are_not_significant_where_so_few_seeds_allow_no_test(
    tmp_path: Path, seeds: int
) -> None:
    untested = {1: "one seed allows no test", 2: "two splits allow no test", 3: ""}[seeds]
    board = Board.create(tmp_path / "board", "A board")
    board.add_task([te.task("karate", "existing", seed) for seed in range(seeds)])
    for name in ("ra", "cn"):
        first = sorted(certificates(tmp_path / "made", name))[:seeds]
        reproduced(board.add(first, card(name=name), "karate-existing"))
    build(board, tmp_path / "site")
    written = texts(tmp_path / "site")
    pages = {name: text for name, text in written.items() if name.endswith(".html")}
    standing = json.loads(written["karate-existing/standing.json"])
    (summary,) = json.loads(written["boards.json"])["tasks"]
    assert (standing["untested"] or "", summary["untested"]) == (untested, untested)
    places = ("index.html", *(f"karate-existing/{one}.html" for one in ("card", "entries/ra", "entries/cn")))
    assert [untested in pages[one] for one in places] == [True] * len(places)
    for one in ("index", "compare"):
        text = pages[f"karate-existing/{one}.html"]
        assert (untested.capitalize() in text, "no significant difference" in text) == (True, not untested)
    if not untested:
        assert "allow no test" not in "".join(pages.values())
        return
    claim = "no significant difference"
    assert [name for name, text in pages.items() if claim in text] == []
    assert [one["rank"] for one in standing["entries"]] == [[1, 2], [1, 2]]


def test_a_table_without_intervals_has_no_column_of_that_name(tmp_path: Path, made: Path) -> None:
    board = Board.create(tmp_path / "board", "A board")
    board.add_task([te.task("karate", "existing", 0)])
    for name in ("ra", "cn"):
        first = sorted(certificates(tmp_path / "made", name))[:1]
        reproduced(board.add(first, card(name=name), "karate-existing"))
    build(board, tmp_path / "site")
    page = (tmp_path / "site" / "karate-existing" / "index.html").read_text()
    assert "One seed allows no test, since it does not show how much depends on the negatives" in page
    assert "95 % interval" not in page
    assert "95 % interval" in (made / "site" / "karate-existing" / "index.html").read_text()


def test_a_long_name_may_break_after_a_plus() -> None:
    assert breakable("conve+kgmixup") == "conve+<wbr>kgmixup"
    assert breakable("a<b") == "a&lt;b"
