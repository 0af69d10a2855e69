"""HTML and SVG as text in which nothing a user named can be more than text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
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
    opened = _opened(name, attributes) if attributes else f"<{name}>"
    if name in VOID:
        return Markup(opened)
    # As in joined, written out here: a page has hundreds of elements.
    content = "".join([part if type(part) is Markup else _text(part) for part in children])
    return Markup(f"{opened}{content}</{name}>")


def joined(parts: Iterable[object]) -> Markup:
    """Parts one after another, those that are no markup escaped."""
    return Markup("".join([part if type(part) is Markup else _text(part) for part in parts]))


def written(part: object) -> str:
    """One part, escaped if it is no markup."""
    return part if type(part) is Markup else _text(part)


def _text(part: object) -> str:
    # What no file may hold (a lone half of a pair, a control character) must not stop a page from being read.
    if part is None:
        return ""
    text = str(part)
    # Most texts are plain, and looking is quicker than replacing.
    return escape(UNWRITABLE.sub("\ufffd", text)) if NOT_PLAIN.search(text) else text


@cache
def _written(name: str) -> str:
    return name.rstrip("_").replace("_", "-")


def _opened(name: str, attributes: dict[str, object]) -> str:
    """Return the tag that opens an element with attributes."""
    try:
        return _opened_before(name, tuple(attributes), *attributes.values())
    except TypeError:  # a value that cannot be hashed
        return _opening(name, tuple(attributes), *attributes.values())


def _opening(name: str, names: tuple[str, ...], *values: object) -> str:
    found = [f"<{name}"]
    for key, value in zip(names, values, strict=True):
        if value is True:
            found.append(f" {_written(key)}")
        elif value is not None and value is not False:
            found.append(f' {_written(key)}="{_text(value)}"')
    return "".join(found) + ">"


# Most tags of a page are the same as others. Typed, since 1, 1.0 and True are equal but not written alike.
_opened_before = lru_cache(maxsize=1 << 12, typed=True)(_opening)
