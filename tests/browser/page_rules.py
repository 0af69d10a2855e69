"""What every page must keep: width, headings, labels, keyboard, texts for those who do not see."""

from __future__ import annotations

from itertools import pairwise

from chromium import Window
from seeing import contrast

# Every fold is open, and nothing is left out by a choice.
OPEN = "document.querySelectorAll('details').forEach(one => { one.hidden = false; one.open = true; })"
# Every element with text of its own: its colour, and the first background behind it that is not see-through.
TEXTS = """(() => {
    const solid = colour => !/rgba\\(.*, 0\\)|transparent/.test(colour);
    const found = {};
    for (const one of document.querySelectorAll("body *")) {
        const own = [...one.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
        if (!own || !one.checkVisibility() || ["SCRIPT", "STYLE", "title"].includes(one.tagName)) continue;
        const style = getComputedStyle(one), svg = one.closest("svg");
        let behind = one;
        while (behind && !solid(getComputedStyle(behind).backgroundColor)) behind = behind.parentElement;
        const back = getComputedStyle(behind || document.body).backgroundColor;
        const ink = svg ? style.fill : style.color;
        found[ink + "|" + back] = one.tagName + " " + one.textContent.slice(0, 40);
    }
    return found;
})()"""
WIDE = """[...document.querySelectorAll("body *")].filter(one => one.checkVisibility()
    && one.getBoundingClientRect().right > innerWidth + 1
    && !one.closest(".scroll, .picture, .contents, pre"))
    .map(one => one.outerHTML.slice(0, 90))"""
# Controls that have no name for those who do not see them, and pictures without words.
NAMELESS = """[...document.querySelectorAll("button, select, input, summary, a, [tabindex='0']")]
    .filter(one => !(one.getAttribute("aria-label") || one.textContent.trim() && one.tagName !== "SELECT"
      || one.labels && one.labels.length)).map(one => one.outerHTML.slice(0, 90))"""
WORDLESS = """[...document.querySelectorAll("svg, img")].filter(one =>
    one.getAttribute("aria-hidden") !== "true"
    && !(one.getAttribute("aria-label") || one.getAttribute("alt")))
    .map(one => one.outerHTML.slice(0, 90))"""


def too_wide(window: Window, width: int) -> list[str]:
    """What reaches beyond the window, other than in a box that scrolls."""
    found = list(window.run(WIDE))
    scrolled = window.run("document.documentElement.scrollWidth")
    return found if scrolled <= width else [*found, f"the page is {scrolled} wide"]


def hard_to_read(window: Window) -> list[str]:
    """The texts whose contrast is below 4.5."""
    pairs = {where: pair.split("|") for pair, where in window.run(TEXTS).items()}
    assert len(pairs) >= 4
    return [f"{where}: {ink} on {back}" for where, (ink, back) in pairs.items() if contrast(ink, back) < 4.5]


def skipped_headings(window: Window) -> list[str]:
    """The headings that are more than one step below the one before."""
    levels = window.run(
        """[...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].map(one =>
        [Number(one.tagName[1]), one.textContent])"""
    )
    assert levels[0][0] == 1
    assert sum(level == 1 for level, _ in levels) == 1
    return [text for (before, _), (level, text) in pairwise(levels) if level > before + 1]


def folds_out_of_reach(window: Window, most: int = 2000) -> list[str]:
    """The folds that the Tab key does not come to, or that the Enter key does not open."""
    count = window.run("document.querySelectorAll('details').length")
    window.run(
        """(() => {
        document.querySelectorAll("details").forEach(one => { one.hidden = false; one.open = false; });
        window.reached = new Set();
        document.body.focus();
    })()"""
    )
    # Folds within folds are reached when these are open.
    for _ in range(most):
        if window.run("window.reached.size") == count:
            break
        window.press("Tab", "\t")
        summary = window.run(
            """(() => {
            const one = document.activeElement;
            if (one.tagName !== "SUMMARY" || window.reached.has(one.parentElement)) return false;
            window.reached.add(one.parentElement);
            return !one.parentElement.open;
        })()"""
        )
        if summary:
            window.press("Enter", "\r")
    return list(
        window.run(
            """[...document.querySelectorAll("details")].filter(one => !window.reached.has(one) || !one.open)
            .map(one => one.querySelector("summary").textContent)"""
        )
    )
