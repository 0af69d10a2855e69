"""The report and the verdict at the widths of a desk and of a phone: answer first, and for everybody."""

from __future__ import annotations

import page_rules as rules
import pytest
from chromium import Browser

PAGES = ("report_file", "verdict_file", "doubtful_file")
SIZES = {1280: 900, 390: 844}
BOTTOM = "[...document.querySelectorAll('SELECTOR')].map(one => one.getBoundingClientRect().bottom)"


@pytest.fixture(params=PAGES)
def page(request):
    return request.getfixturevalue(request.param)


def test_the_rules_find_what_is_wrong(browser: Browser, tmp_path) -> None:
    faulty = tmp_path / "faulty.html"
    faulty.write_text(
        """<body style="background:#fff"><h1>One</h1><h3>Three</h3>
        <p style="color:#bbb">pale</p><p>a</p><p style="color:#111">b</p><p style="color:#222">c</p>
        <div style="width:2000px">wide</div><select></select><svg></svg>
        <details inert><summary>shut</summary>text</details></body>"""
    )
    window = browser.open(faulty, 390, 844)
    assert any("wide" in one for one in rules.too_wide(window, 390))
    assert [one.split(":")[0] for one in rules.hard_to_read(window)] == ["P pale"]
    assert rules.skipped_headings(window) == ["Three"]
    assert window.run(rules.NAMELESS) == ["<select></select>"]
    assert window.run(rules.WORDLESS) == ["<svg></svg>"]
    assert rules.folds_out_of_reach(window, most=5) == ["shut"]


@pytest.mark.rotating(3)
@pytest.mark.parametrize("width", SIZES)
def test_nothing_overflows_with_every_fold_open(browser: Browser, page, width: int) -> None:
    window = browser.open(page, width, SIZES[width])
    assert rules.too_wide(window, width) == []
    window.run(rules.OPEN)
    assert rules.too_wide(window, width) == []
    assert window.complaints == []


@pytest.mark.rotating(2)
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_every_text_has_enough_contrast(browser: Browser, page, dark: bool) -> None:
    window = browser.open(page, dark=dark)
    window.run(rules.OPEN)
    assert rules.hard_to_read(window) == []


def test_headings_are_in_order_and_everything_has_a_name(browser: Browser, page) -> None:
    window = browser.open(page)
    assert rules.skipped_headings(window) == []
    assert window.run(rules.NAMELESS) == []
    assert window.run(rules.WORDLESS) == []


@pytest.mark.rotating(1)
def test_the_keyboard_reaches_and_opens_every_fold(browser: Browser, page) -> None:
    assert rules.folds_out_of_reach(browser.open(page)) == []


@pytest.mark.parametrize("width", SIZES)
def test_the_answer_of_a_verdict_is_inside_the_first_screen(
    browser: Browser, verdict_file, doubtful_file, width: int
) -> None:
    window = browser.open(verdict_file, width, SIZES[width])
    assert len(window.run(BOTTOM.replace("SELECTOR", ".lines li"))) == 3
    for selector in (".answer", ".lines li"):
        assert max(window.run(BOTTOM.replace("SELECTOR", selector))) <= SIZES[width]
    doubtful = browser.open(doubtful_file, width, SIZES[width])
    for selector in (".answer", ".box", ".lines li"):
        assert max(doubtful.run(BOTTOM.replace("SELECTOR", selector))) <= SIZES[width]


@pytest.mark.parametrize("width", SIZES)
def test_the_answer_of_a_report_is_inside_the_first_screen(browser: Browser, report_file, width: int) -> None:
    window = browser.open(report_file, width, SIZES[width])
    assert max(window.run(BOTTOM.replace("SELECTOR", ".answer"))) <= SIZES[width] / 2
    first = window.run(BOTTOM.replace("SELECTOR", ".matrix tbody tr"))[0]
    assert first <= SIZES[width]


def test_a_report_is_not_long(browser: Browser, report_file) -> None:
    height = "document.documentElement.scrollHeight"
    assert browser.open(report_file).run(height) < 4 * SIZES[1280]
    assert browser.open(report_file, 390, 844).run(height) < 6 * SIZES[390]
