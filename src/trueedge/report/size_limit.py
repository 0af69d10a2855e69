"""The size limit of a page: what does not fit is omitted, with a note."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from trueedge.report.blocks import notes
from trueedge.report.markup import Markup

T = TypeVar("T")
# A page must open at once wherever it is sent: below 6 MB for any number of records. All parts together have
# this many bytes.
PAGE = 5_600_000


def fitting(items: Iterable[T], build: Callable[[T], Markup], room: int, what: str) -> list[Markup]:
    """Build one item after another while they fit; a note says how many did not.

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
                f"{left:,} of {len(listed):,} {what} are omitted to keep the page small: select fewer data"
                " sets or protocols (--dataset, --protocol) to see them"
            )
            return [*built, notes([told])]
        built.append(made)
    return built
