"""The room a part of a page has: what does not fit is left out, and said."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from trueedge.report.blocks import notes
from trueedge.report.markup import Markup

T = TypeVar("T")
# A page shall open at once wherever it is sent: below 6 MB, whatever the number of records. Together the
# parts have this many bytes.
PAGE = 5_600_000


def fitting(items: Iterable[T], build: Callable[[T], Markup], room: int, what: str) -> list[Markup]:
    """Build one item after another as long as they fit, and a sentence on how many did not.

    Args:
        items: what is built from.
        build: makes the markup of one item.
        room: in bytes.
        what: the plural noun of the items.
    """
    listed = list(items)
    built: list[Markup] = []
    for number, item in enumerate(listed):
        made = build(item)
        room -= len(made.encode())
        if room < 0:
            left = len(listed) - number
            told = (
                f"{left:,} of {len(listed):,} {what} are left out here to keep the page small;"
                " fewer data sets or protocols (--dataset, --protocol) leave room for them"
            )
            return [*built, notes([told])]
        built.append(made)
    return built
