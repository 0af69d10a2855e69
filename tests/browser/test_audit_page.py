"""The audit's page in a real browser: verdicts can be filtered, nothing is fetched, and it fits any width."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from chromium import Window
from seeing import contrast
from test_report_in_a_browser import TEXTS

import trueedge as te
from trueedge.audit import audit

SEEN = "getComputedStyle(one).display !== 'none' && one.getBoundingClientRect().height > 0"


@pytest.fixture(scope="module")
def found():
    """An audit with something of every verdict."""
    graph = te.load("price:nodes=400,edges=1200")
    split = te.split(graph, seed=0)
    leaky = {"train": split.train.edges, "test": np.concatenate([split.test, split.train.edges[:3]])}
    return audit(graph, split=leaky, negatives=te.negatives.uniform(graph, split.test, ratio=9))


@pytest.fixture(scope="module")
def page(found, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return found.save(tmp_path_factory.mktemp("audit") / "audit.html")


def shown(window: Window, selector: str) -> list[str]:
    """The texts of the elements that can be seen."""
    script = f"[...document.querySelectorAll({selector!r})].filter(one => {SEEN}).map(one => one.textContent)"
    return list(window.run(script))


@pytest.mark.rotating(1)
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [360, 768, 1280])
def test_it_fits_any_width_in_the_light_and_in_the_dark(browser, page, width: int, dark: bool) -> None:
    window = browser.open(page, width, 800, dark=dark)
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


def test_every_finding_is_there_with_what_is_broken_first(browser, page, found) -> None:
    window = browser.open(page)
    cards = window.run(
        "[...document.querySelectorAll('article')].map(one => [one.id, one.className.split(' ')[0]])"
    )
    assert cards == [[f"check-{one.check}", one.verdict] for one in found.by_verdict()]
    lines = window.run(
        "[...document.querySelectorAll('.verdicts tbody tr')].map(one => one.cells[1].textContent)"
    )
    assert lines == [one.check for one in found.by_verdict()]


@pytest.mark.rotating(1)
@pytest.mark.parametrize("verdict", ["broken", "look", "ok"])
def test_a_choice_of_verdicts_hides_the_others_in_the_list_and_below(
    browser, page, found, verdict: str
) -> None:
    window = browser.open(page)
    assert len(shown(window, "article")) == len(found)
    window.click(f"#only-{verdict}")
    assert len(shown(window, "article")) == found.count(verdict) > 0
    assert shown(window, ".verdicts tbody .badge") == [verdict] * found.count(verdict)
    window.click("#only-all")
    assert len(shown(window, "article")) == len(found)


def test_the_choice_is_made_by_the_keyboard_too(browser, page, found) -> None:
    window = browser.open(page)
    window.run("document.querySelector('#only-broken').focus()")
    window.press(" ", " ")
    assert len(shown(window, "article")) == found.count("broken")


def test_a_line_leads_to_its_finding_which_is_not_under_the_contents(browser, page) -> None:
    window = browser.open(page)
    window.run("document.documentElement.style.scrollBehavior = 'auto'")
    window.click(".verdicts a[href='#check-degree-auc']")
    top, bar = window.run(
        "[document.querySelector('#check-degree-auc h3').getBoundingClientRect().top,"
        " document.querySelector('nav.contents').getBoundingClientRect().bottom]"
    )
    assert bar <= top < 400


def test_lines_are_sorted_by_a_click_on_their_head(browser, page, found) -> None:
    window = browser.open(page)
    window.click(".verdicts th:nth-child(2) button")
    lines = window.run(
        "[...document.querySelectorAll('.verdicts tbody tr')].map(one => one.cells[1].textContent)"
    )
    assert lines == sorted(one.check for one in found)


def test_pictures_are_as_wide_as_their_room_and_what_is_folded_opens(browser, page) -> None:
    window = browser.open(page)
    pictures = window.run(
        "[...document.querySelectorAll('article .picture svg')].filter(one => one.checkVisibility())"
        ".map(one => one.getBoundingClientRect().width)"
    )
    assert len(pictures) > 8
    assert all(300 < width < 760 for width in pictures)
    window.click("#check-degree-auc details summary")
    assert any("AUC above" in text for text in shown(window, "#check-degree-auc details[open] p"))


def test_without_scripts_the_choice_still_works(browser, page, found, tmp_path: Path) -> None:
    text = re.sub(r"<script>.*?</script>", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    (tmp_path / "plain.html").write_text(text, encoding="utf-8")
    window = browser.open(tmp_path / "plain.html")
    window.click("#only-look")
    assert len(shown(window, "article")) == found.count("look")


@pytest.mark.parametrize("dark", [False, True])
def test_all_text_stands_out_from_what_is_behind_it(browser, page, dark: bool) -> None:
    window = browser.open(page, dark=dark)
    for colours, where in window.run(TEXTS).items():
        assert contrast(*colours.split("|")) >= 4.5, f"{where}: {colours}"
