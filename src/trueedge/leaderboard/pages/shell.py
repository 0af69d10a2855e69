"""The pages of a site: their navigation, and the files that all of them share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from trueedge.leaderboard.pages.resources import resource
from trueedge.report.colours import css
from trueedge.report.document import document
from trueedge.report.markup import Markup, joined, tag, written
from trueedge.report.page import resource as report_resource
from trueedge.version import VERSION

STYLE, SCRIPT = "style.css", "page.js"
POLICY = (
    "default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self'; img-src data:; base-uri 'none'"
)
FOOT = (f"Made with trueedge {VERSION} from a folder of certificates.",)
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
    return document(
        title,
        content,
        policy=POLICY,
        style=_style(up),
        script=_script(up),
        above=_trail(tuple(trail)),
        lead=lead,
        contents=_tabs(tuple(tabs)),
        foot=FOOT,
    )


@lru_cache(maxsize=16)
def _style(up: str) -> Markup:
    return tag("link", rel="stylesheet", href=f"{up}{STYLE}")


@lru_cache(maxsize=16)
def _script(up: str) -> Markup:
    return tag("script", src=f"{up}{SCRIPT}")


@lru_cache(maxsize=256)
def _trail(pages: tuple[tuple[str, str], ...]) -> Markup | None:
    links = [
        joined([" / " if place else "", tag("a", one[0], href=one[1])]) for place, one in enumerate(pages)
    ]
    return tag("p", *links, class_="trail") if links else None


@lru_cache(maxsize=256)
def _tabs(pages: tuple[tuple[str, str], ...]) -> Markup | None:
    places = [
        tag("li", tag("a", name, href=address) if address else tag("a", name, aria_current="page"))
        for name, address in pages
    ]
    return tag("nav", tag("ul", *places), class_="contents", aria_label="Pages") if places else None


def part(title: str, *content: object, name: str | None = None) -> Markup:
    """Return a part of a page with a heading."""
    named = "" if name is None else f' id="{written(name)}"'
    return Markup(f'<section class="part"{named}><h2>{written(title)}</h2>{joined(content)}</section>')


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
