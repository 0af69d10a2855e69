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
            return [*built, notes([_omitted(len(listed) - number, len(listed), what)])]
        built.append(made)
    return built


class Room:
    """The bytes that one kind of content has on a page; what does not fit is omitted and counted.

    Attributes:
        left: in bytes.
        omitted: how many items did not fit.
    """

    def __init__(self, left: int) -> None:
        self.left, self.omitted = left, 0

    def take(self, build: Callable[[], Markup]) -> Markup:
        """Build an item if there may be room for it; nothing if there is none."""
        made = build() if self.left >= 0 else Markup("")
        self.left -= len(made.encode())
        if self.left >= 0:
            return made
        self.omitted += 1
        return Markup("")

    def note(self, count: int, what: str) -> list[str]:
        """Return a sentence on what was omitted, if anything was."""
        return [_omitted(self.omitted, count, what)] if self.omitted else []


def _omitted(left: int, count: int, what: str) -> str:
    return (
        f"{left:,} of {count:,} {what} are omitted to keep the page small: select fewer data"
        " sets or protocols (--dataset, --protocol) to see them"
    )
