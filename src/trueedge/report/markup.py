"""HTML and SVG as text in which nothing a user named can be more than text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from html import escape


class Markup(str):
    """Text that is markup already; every other text is escaped before it stands beside it."""

    __slots__ = ()


UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
# What a text may hold that is not written as it is.
NOT_PLAIN = re.compile("[&<>\"'\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
# Tags without content, in HTML; SVG takes the short form of any.
VOID = frozenset({"br", "hr", "img", "input", "link", "meta", "wbr"})


def tag(name: str, /, *children: object, **attributes: object) -> Markup:
    """One element: ``tag("th", "a < b", class_="number", data_sort=3)``.

    Args:
        name: of the element.
        children: what is in it: :class:`Markup` as it is, everything else as escaped text; None is nothing.
        attributes: ``class_`` is class, ``data_sort`` is data-sort; True is the bare name, None and False
            leave it out.
    """
    opened = f"<{name}{_attributes(attributes)}>" if attributes else f"<{name}>"
    if name in VOID:
        return Markup(opened)
    return Markup(f"{opened}{joined(children)}</{name}>")


def joined(parts: Iterable[object]) -> Markup:
    """Parts one after another, those that are no markup escaped."""
    return Markup("".join([part if isinstance(part, Markup) else _text(part) for part in parts]))


def _text(part: object) -> str:
    # What no file may hold (a lone half of a pair, a control character) must not stop a page from being read.
    text = "" if part is None else str(part)
    # Most texts are plain, and looking is quicker than replacing.
    return escape(UNWRITABLE.sub("\ufffd", text)) if NOT_PLAIN.search(text) else text


@cache
def _written(name: str) -> str:
    return name.rstrip("_").replace("_", "-")


def _attributes(attributes: dict[str, object]) -> str:
    found = []
    for name, value in attributes.items():
        if value is True:
            found.append(f" {_written(name)}")
        elif value is not None and value is not False:
            found.append(f' {_written(name)}="{_text(value)}"')
    return "".join(found)
