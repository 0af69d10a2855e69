"""The pages of a board at the widths of a desk and of a phone, in the light and in the dark."""

from __future__ import annotations

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
