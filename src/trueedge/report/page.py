"""The page: one HTML file that needs nothing but itself."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from trueedge.report.colours import css
from trueedge.report.document import document
from trueedge.report.markup import Markup, tag
from trueedge.version import VERSION


@dataclass(frozen=True)
class Section:
    """A part of a page.

    Attributes:
        title: its heading, and its entry in the contents.
        content: what is in it; a text that is no :class:`Markup` is escaped.
        name: what links end with; made of the title where empty.
        short: the entry in the contents, where the title is too long for it.
        folded: whether it is shown only when it is asked for.
    """

    title: str
    content: object
    name: str = ""
    short: str = ""
    folded: bool = False


def page(title: str, sections: Sequence[Section], *, lead: object = "", foot: Iterable[object] = ()) -> str:
    """A self-contained page: no network, no other file; in the dark where the reader has it dark.

    Args:
        title: of the window and the page.
        sections: its parts, in order.
        lead: what stands below the title: a text, or markup.
        foot: sentences at the end.
    """
    names = _names(sections)
    entries = [
        tag("li", tag("a", one.short or one.title, href=f"#{name}"))
        for one, name in zip(sections, names, strict=True)
    ]
    contents = tag("nav", tag("ul", *entries), class_="contents", aria_label="Contents")
    parts = [_part(one, name) for one, name in zip(sections, names, strict=True)]
    # The one script of the page runs, and no other; nothing is fetched from anywhere.
    digest = base64.b64encode(hashlib.sha256(resource("page.js").encode()).digest()).decode()
    return document(
        title,
        parts,
        policy=f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; img-src data:",
        style=tag("style", Markup(css() + resource("page.css"))),
        script=tag("script", Markup(resource("page.js"))),
        lead=lead,
        contents=contents if len(sections) > 1 else None,
        foot=[*foot, f"Made with trueedge {VERSION}."],
    )


def _part(one: Section, name: str) -> Markup:
    heading = tag("h2", one.title)
    if not one.folded:
        return tag("section", heading, one.content, class_="part", id=name)
    # A browser opens a fold if a link leads to something within it.
    content = tag("div", one.content, id=name, class_="linked")
    fold = tag("details", tag("summary", heading), content, class_="whole")
    return tag("section", fold, class_="part folded")


def _names(sections: Sequence[Section]) -> list[str]:
    """What each section is linked by, all different."""
    found: list[str] = []
    for one in sections:
        name = one.name or re.sub(r"[^a-z0-9]+", "-", one.title.lower()).strip("-") or "part"
        number, unused = 1, name
        while unused in found:
            number += 1
            unused = f"{name}-{number}"
        found.append(unused)
    return found


@cache
def resource(name: str) -> str:
    """Return the text of a style sheet or script of this package."""
    return files("trueedge.report").joinpath(name).read_text(encoding="utf-8")
