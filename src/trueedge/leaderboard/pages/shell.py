"""The frame of every page of a site: its head, its navigation, and the files that all pages share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trueedge.leaderboard.pages.resources import resource
from trueedge.report.colours import css
from trueedge.report.markup import Markup, joined, tag
from trueedge.report.page import resource as report_resource
from trueedge.version import VERSION

STYLE, SCRIPT = "style.css", "page.js"
POLICY = (
    "default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self'; img-src data:; base-uri 'none'"
)
# The first and last page of a list, and those beside the current one, are linked.
BESIDE = 2


def shared_files() -> dict[str, str]:
    """Return the files that all pages use, by name."""
    return {
        STYLE: css() + report_resource("page.css") + resource("board.css"),
        SCRIPT: report_resource("page.js") + resource("board.js"),
    }


def page(
    title: str,
    content: Iterable[object],
    *,
    up: str,
    trail: Sequence[tuple[str, str]] = (),
    tabs: Sequence[tuple[str, str]] = (),
    lead: object = "",
) -> str:
    """Return a page.

    Args:
        title: of the window and the page.
        content: what is in it, one part after another.
        up: the path from the page to the top of the site: empty, ``../`` or ``../../``.
        trail: the pages above it, as titles and addresses.
        tabs: the pages beside it; the one without an address is this one.
        lead: what stands below the title.
    """
    above = [
        joined([" / " if place else "", tag("a", one[0], href=one[1])]) for place, one in enumerate(trail)
    ]
    switch = tag("button", "Dark", class_="theme", type="button", hidden=True)
    header = tag(
        "header",
        tag("p", *above, class_="trail") if above else None,
        tag("div", tag("h1", title), switch, class_="topline"),
        lead if isinstance(lead, Markup) else tag("p", lead, class_="lead") if lead else None,
    )
    places = [
        tag("li", tag("a", name, href=address) if address else tag("a", name, aria_current="page"))
        for name, address in tabs
    ]
    body = tag(
        "body",
        tag("a", "Skip to the content", href="#content", class_="skip"),
        header,
        tag("nav", tag("ul", *places), class_="contents", aria_label="Pages") if places else None,
        tag("main", *content, id="content"),
        tag("footer", tag("p", f"Made with trueedge {VERSION} from a folder of certificates.")),
        tag("script", src=f"{up}{SCRIPT}"),
    )
    return f"<!DOCTYPE html>\n{tag('html', _head(title, up), body, lang='en')}\n"


def part(title: str, *content: object, name: str | None = None) -> Markup:
    """Return a part of a page with a heading."""
    return tag("section", tag("h2", title), *content, class_="part", id=name)


def _head(title: str, up: str) -> Markup:
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="generator", content=f"trueedge {VERSION}"),
        # Without it a browser asks for an icon.
        tag("link", rel="icon", href="data:,"),
        tag("title", title),
        tag("link", rel="stylesheet", href=f"{up}{STYLE}"),
    )


def page_links(current: int, count: int, address: str) -> Markup:
    """Return links to the pages of a long list; ``address`` has a ``{}`` for the number."""
    if count < 2:
        return Markup("")
    shown = sorted({1, count, *range(max(1, current - BESIDE), min(count, current + BESIDE) + 1)})
    links, last = [], 0
    for number in shown:
        links.append(tag("li", "…")) if number > last + 1 else None
        here = {"aria_current": "page"} if number == current else {"href": address.format(number)}
        links.append(tag("li", tag("a", number, **here)))
        last = number
    return tag("nav", tag("ul", *links), class_="numbers", aria_label="Pages of the list")
