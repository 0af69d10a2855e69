"""The audit's page in a real browser: the answer comes first, folds open, and it fits any width."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from chromium import Window
from seeing import contrast
from test_report_in_a_browser import TEXTS

import trueedge as te
from trueedge.audit import Audit

BOTTOM = "document.querySelector({!r}).getBoundingClientRect().bottom"
OPENED = "[...document.querySelectorAll('details.finding[open]')].length"


@pytest.fixture(scope="module")
def found() -> Audit:
    """An audit with something of every verdict."""
    graph = te.load("price:nodes=400,edges=1200")
    split = te.split(graph, seed=0)
    leaky = {"train": split.train.edges, "test": np.concatenate([split.test, split.train.edges[:3]])}
    few = te.negatives.uniform(graph, split.test, ratio=9)[:80]
    return te.audit(graph, split=leaky, negatives=few)


@pytest.fixture(scope="module")
def page(found, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return found.page(tmp_path_factory.mktemp("audit") / "audit.html")


def texts(window: Window, selector: str) -> list[str]:
    """The texts of the elements that can be seen."""
    script = (
        f"[...document.querySelectorAll({selector!r})].filter(one => one.checkVisibility())"
        ".map(one => one.textContent)"
    )
    return list(window.run(script))


@pytest.mark.rotating(1)
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [360, 390, 768, 1280])
def test_it_fits_any_width_in_the_light_and_in_the_dark(browser, page, width: int, dark: bool) -> None:
    window = browser.open(page, width, 800, dark=dark)
    # All folds open, so that nothing hides.
    window.run("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert window.run("document.documentElement.scrollWidth") <= width
    assert window.complaints == []
    assert window.requests == [page.resolve().as_uri()]
    ink, back = window.run(
        "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
    )
    lightness = [sum(int(part) for part in one[4:-1].split(",")) for one in (ink, back)]
    assert (lightness[0] > lightness[1]) == dark
    parts = "[...document.querySelectorAll('article *')].filter(one => !one.closest('.scroll, .picture'))"
    assert window.run(f"Math.max(...{parts}.map(one => one.getBoundingClientRect().right))") <= width + 1


@pytest.mark.parametrize("size", [(1280, 800), (390, 844)])
def test_the_answer_and_what_to_do_first_are_on_the_first_screen(browser, page, found, size) -> None:
    window = browser.open(page, *size)
    assert window.run(BOTTOM.format(".answer")) < size[1] / 2
    assert window.run(BOTTOM.format("article .advice")) < size[1]
    assert window.run(BOTTOM.format("article .found")) < size[1]
    assert texts(window, ".answer") == [found.answer]


def test_problems_stand_once_with_what_is_broken_first_and_good_news_is_folded(browser, page, found) -> None:
    window = browser.open(page)
    cards = window.run("[...document.querySelectorAll('article')].map(one => one.className)")
    assert cards == [*(one.verdict for one in found.problems), "small"]
    advice = [one.advice.replace("`", "") for one in found.problems]
    assert texts(window, "article .advice")[:-1] == advice
    assert {"broken", "look"} <= set(cards)
    assert found.count("ok")
    assert texts(window, ".rest.ok details.finding") == []
    window.click(".rest.ok > details > summary")
    assert len(texts(window, ".rest.ok details.finding > summary")) == found.count("ok")


def test_a_finding_opens_with_its_picture_and_its_numbers(browser, page, found) -> None:
    window = browser.open(page)
    assert window.run(OPENED) == 0
    assert texts(window, "article svg") == []
    window.click("article:has(#check-degree-auc) details:has(> #check-degree-auc) > summary")
    assert window.run(OPENED) == 1
    assert any("AUC above" in text for text in texts(window, "details[open] p.quiet"))
    widths = window.run(
        "[...document.querySelectorAll('article .picture svg')].filter(one => one.checkVisibility())"
        ".map(one => one.getBoundingClientRect().width)"
    )
    assert len(widths) == 1
    assert all(300 < width < 760 for width in widths)
    assert found["degree-auc"].wrong


def test_a_fold_opens_by_the_keyboard_too(browser, page) -> None:
    window = browser.open(page)
    window.run("document.querySelector('article details.finding > summary').focus()")
    window.press("Enter", "\r")
    assert window.run(OPENED) == 1


def test_what_can_be_used_has_a_name_and_can_be_reached(browser, page) -> None:
    window = browser.open(page)
    named = window.run(
        "[...document.querySelectorAll('summary, a, button, [role=region], [role=group]')]"
        ".filter(one => !(one.textContent.trim() || one.getAttribute('aria-label'))).length"
    )
    assert named == 0
    boxes = window.run("[...document.querySelectorAll('.scroll, .picture')].every(one => one.tabIndex === 0)")
    assert boxes
    levels = window.run("[...document.querySelectorAll('h1, h2, h3')].map(one => one.tagName)")
    assert levels[0] == "H1"
    assert set(levels[1:]) == {"H2"}


def test_a_line_of_the_table_leads_to_its_finding_and_opens_it(browser, page) -> None:
    window = browser.open(page)
    window.run("document.documentElement.style.scrollBehavior = 'auto'")
    window.click("#all-checks details > summary")
    window.click(".verdicts a[href='#check-degree-auc']")
    top, bar = window.run(
        "[document.querySelector('#check-degree-auc').getBoundingClientRect().top,"
        " document.querySelector('nav.contents').getBoundingClientRect().bottom]"
    )
    assert bar <= top < 400
    assert texts(window, "#check-degree-auc") != []


def test_lines_are_sorted_by_a_click_on_their_head(browser, page, found) -> None:
    window = browser.open(page)
    window.click("#all-checks details > summary")
    window.click(".verdicts th:nth-child(2) button")
    lines = window.run(
        "[...document.querySelectorAll('.verdicts tbody tr')].map(one => one.cells[1].textContent)"
    )
    assert lines == sorted(one.check for one in found)


@pytest.mark.parametrize("dark", [False, True])
def test_all_text_stands_out_from_what_is_behind_it(browser, page, dark: bool) -> None:
    window = browser.open(page, dark=dark)
    window.run("document.querySelectorAll('details').forEach(one => one.open = true)")
    for colours, where in window.run(TEXTS).items():
        assert contrast(*colours.split("|")) >= 4.5, f"{where}: {colours}"
