"""The frame of every page: its head, its title with the switch for the dark, and where its parts are."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from trueedge.report.markup import Markup, joined, tag
from trueedge.version import VERSION

SKIP = tag("a", "Skip to the content", href="#content", class_="skip")
SWITCH = tag("button", "Dark", class_="theme", type="button", hidden=True)


def document(
    title: str,
    content: Iterable[object],
    *,
    policy: str,
    style: Markup,
    script: Markup,
    above: Markup | None = None,
    lead: object = "",
    contents: Markup | None = None,
    foot: Iterable[object] = (),
) -> str:
    """Return an HTML document.

    Args:
        title: of the window and the page.
        content: what is in it, one part after another.
        policy: what a browser may load and run for it.
        style: the element with its style sheet.
        script: the element with its script.
        above: what stands above the title.
        lead: what stands below the title: a text, or markup.
        contents: the list of its parts, or of the pages beside it.
        foot: sentences at the end.
    """
    before, after = _around_title(policy, style)
    told = lead if isinstance(lead, Markup) else tag("p", lead, class_="lead") if lead else None
    header = tag("header", above, tag("div", tag("h1", title), SWITCH, class_="topline"), told)
    main = tag("main", *content, id="content")
    body = tag("body", SKIP, header, contents, main, _footer(*foot), script)
    return f'<!DOCTYPE html>\n<html lang="en">{before}{joined([title])}{after}{body}</html>\n'


@lru_cache(maxsize=64)
def _around_title(policy: str, style: Markup) -> tuple[str, str]:
    """Return the head of a page before and after its title: all pages of a site have the same."""
    before = joined(
        [
            tag("meta", charset="utf-8"),
            tag("meta", http_equiv="Content-Security-Policy", content=policy),
            tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
            tag("meta", name="generator", content=f"trueedge {VERSION}"),
            # Without it a browser asks for an icon.
            tag("link", rel="icon", href="data:,"),
        ]
    )
    return f"<head>{before}<title>", f"</title>{style}</head>"


# Typed, since a text and markup can be equal.
@lru_cache(maxsize=64, typed=True)
def _footer(*sentences: object) -> Markup:
    return tag("footer", *(tag("p", one) for one in sentences))
