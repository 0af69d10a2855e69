"""The pages of a board at the widths of a desk and of a phone, in the light and in the dark."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import page_rules as rules
import pytest
from chromium import Browser

sys.path.append(str(Path(__file__).parents[1] / "leaderboard"))
PAGES = (
    "index.html",
    "submit.html",
    "karate-existing/index.html",
    "karate-existing/compare.html",
    "karate-existing/history.html",
    "karate-existing/card.html",
    "karate-existing/entries/ra.html",
    "karate-existing/entries/katz.html",
)


@pytest.fixture(scope="session")
def site(tmp_path_factory) -> Path:
    """A site with ranked, unranked and withdrawn entries, and a long name."""
    from boards import board_with, card, certificates, frozen, reproduced

    from trueedge.leaderboard.board.audit_card import write_audit
    from trueedge.leaderboard.pages import build

    folder = tmp_path_factory.mktemp("board")
    board = board_with(folder, "ra", "cn", "katz")
    for entry in board.entries("karate-existing"):
        reproduced(entry)
    long = card(
        name="A method whose name is as long as names may be, <b>seventy characters</b>",
        submitted="2026-02-02",
    )
    board.add(certificates(folder / "made", "pa"), long, name="long")
    board.withdraw("karate-existing", "katz", "trained on test edges", date="2026-03-01")
    write_audit(board.folder / "karate-existing", frozen()[0])
    build(board, folder / "site")
    return folder / "site"


@pytest.mark.rotating(3)
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_is_readable_and_has_names(browser: Browser, site: Path, name: str, width: int) -> None:
    window = browser.open(site / name, width, 900, dark=width == 390)
    assert rules.too_wide(window, width) == []
    assert rules.hard_to_read(window) == []
    assert rules.skipped_headings(window) == []
    assert window.run(rules.NAMELESS) == []
    assert window.run(rules.WORDLESS) == []
    assert window.complaints == []
    # The style sheet was found: without it a page has a margin and is white.
    assert window.run("getComputedStyle(document.body).margin") == "0px"


def test_all_columns_of_a_ranking_fit_a_desk_beside_an_entry_that_is_not_ranked(
    browser: Browser, site: Path
) -> None:
    window = browser.open(site / "karate-existing" / "index.html", 1280)
    assert "not reproduced yet" in window.run("document.querySelector('table.board').textContent")
    assert window.run("(one => one.scrollWidth - one.clientWidth)(document.querySelector('.scroll'))") == 0


@pytest.mark.parametrize("name", ["card.html", "history.html"])
def test_rows_are_whole_pixels_high_so_that_a_first_column_meets_the_others(
    browser: Browser, site: Path, name: str
) -> None:
    window = browser.open(site / "karate-existing" / name, 390)
    heights = window.run(
        "[...document.querySelectorAll('tr')].map(one => one.getBoundingClientRect().height)"
    )
    assert heights
    assert [height for height in heights if height % 1] == []


def test_the_lines_of_a_command_do_not_break_within_an_option(browser: Browser, site: Path) -> None:
    window = browser.open(site / "submit.html", 390)
    words = window.run(
        """[...document.querySelectorAll(".copy code")].flatMap(code => [...code.querySelectorAll(".word")])
        .map(one => [one.textContent, one.getClientRects().length])"""
    )
    assert {"--name", "--commit", "mine-*.json"} <= {word for word, _ in words}
    assert {lines for _, lines in words} == {1}
    text = window.run("document.querySelectorAll('.copy code')[2].textContent")
    assert text.startswith("trueedge leaderboard add mine-*.json --board DIR --name Mine --author")


def test_two_entries_are_chosen_by_a_script_and_all_are_listed_without(browser: Browser, site: Path) -> None:
    window = browser.open(site / "karate-existing" / "compare.html")
    shown = "[...document.querySelectorAll('tr[data-pair]')].filter(one => one.checkVisibility()).length"
    assert window.run(shown) == 3
    window.run(
        """(() => { const chosen = document.querySelectorAll(".pairs select");
        chosen[0].value = "ra"; chosen[1].value = "long";
        chosen.forEach(one => one.dispatchEvent(new Event("change"))); })()"""
    )
    assert window.run(shown) == 1
    text = (site / "karate-existing" / "compare.html").read_text()
    assert 'class="chooser pairs" hidden' in text
    assert text.count("<tr data-pair=") == 3


def test_the_theme_is_switched_by_hand(browser: Browser, site: Path) -> None:
    window = browser.open(site / "index.html")
    light = window.run("getComputedStyle(document.body).backgroundColor")
    window.run("document.querySelector('.theme').click()")
    assert window.run("getComputedStyle(document.body).backgroundColor") != light


@pytest.fixture(scope="session")
def api_file(tmp_path_factory) -> Path:
    """The page of the API of a server."""
    from httpx import ASGITransport, AsyncClient

    from trueedge.leaderboard.server.app import create_app
    from trueedge.leaderboard.server.database import open_database
    from trueedge.leaderboard.server.places import Places
    from trueedge.leaderboard.server.service import Service

    folder = tmp_path_factory.mktemp("api")
    places = Places(folder)
    places.prepare()
    app = create_app(Service(places, open_database(places.database)))

    async def asked() -> str:
        async with AsyncClient(transport=ASGITransport(app), base_url="http://board") as client:
            return (await client.get("/api/v1/docs")).text

    (folder / "docs.html").write_text(asyncio.run(asked()))
    return folder / "docs.html"


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_of_the_api_fits_is_readable_and_asks_for_nothing_else(
    browser: Browser, api_file: Path, width: int
) -> None:
    window = browser.open(api_file, width, 900, dark=width == 390)
    assert rules.too_wide(window, width) == []
    assert rules.hard_to_read(window) == []
    assert rules.skipped_headings(window) == []
    assert window.run(rules.NAMELESS) == []
    assert window.run(rules.WORDLESS) == []
    assert window.complaints == []
    assert {one for one in window.requests if one != "data:,"} == {api_file.as_uri()}
    assert window.run("document.querySelectorAll('h3').length") > 5
    dark = window.run("getComputedStyle(document.body).backgroundColor")
    window.click("button.theme")
    assert window.run("getComputedStyle(document.body).backgroundColor") != dark
