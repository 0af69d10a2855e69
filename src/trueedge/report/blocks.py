"""What pages are put together from: tables, figures, verdicts, lists."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from trueedge.analysis.figure import Figure
from trueedge.report.charts import draw, fits_a_phone
from trueedge.report.marks import Looks
from trueedge.report.markup import Markup, joined, tag, written
from trueedge.report.scales import number_text

MISSING = "–"
# A figure of more values than this says so instead of listing them: a page must stay small.
MOST_LISTED = 600
# A picture for phones that has more bytes is left out, and they show the other one.
MOST_BYTES = 60_000
# A longer name may break over lines on a phone, so that there is room for what is beside it.
LONG = 16


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        name: what its head says.
        number: whether it is set flush right, and sorted with the largest on top first.
        hint: what is shown where a pointer rests on the head.
        wide: whether its texts may break over lines.
    """

    name: str
    number: bool = False
    hint: str = ""
    wide: bool = False


@dataclass(frozen=True)
class Cell:
    """A cell that is more than its text.

    Attributes:
        content: text, or :class:`Markup`.
        sort: what it is sorted by, where that is not the text; NaN stands last.
        best: whether it stands out.
        shaded: whether it stands out a little.
        hint: what is shown where a pointer rests on it.
    """

    content: object
    sort: float | str | None = None
    best: bool = False
    shaded: bool = False
    hint: str = ""


def table(
    columns: Sequence[Column | str],
    rows: Iterable[Sequence[Cell | object]],
    *,
    caption: str = "",
    label: str = "",
    sortable: bool = True,
    sorted_by: int | None = None,
    marked: int | None = None,
) -> Markup:
    """A table in a box of its own, which scrolls where the page is narrower.

    Args:
        columns: their heads; a text is a column of texts.
        rows: a cell a column: a :class:`Cell`, a text, or a number, which is written short.
        caption: a line above it, which is also what it is called aloud.
        label: what it is called aloud, where there is no such line.
        sortable: whether a click or a key on a head sorts it.
        sorted_by: the column it is in the order of already, its best on top.
        marked: the row that stands out.
    """
    heads = [column if isinstance(column, Column) else Column(column) for column in columns]
    sort = sortable and len(heads) > 0
    head = tag("tr", *(_head(column, sort, place == sorted_by) for place, column in enumerate(heads)))
    body = [
        tag(
            "tr",
            *(_cell(cell, heads[i], i) for i, cell in enumerate(row)),
            class_="own" if place == marked else None,
        )
        for place, row in enumerate(rows)
    ]
    named = tag("caption", caption) if caption else None
    # A box that scrolls must be reached by the keyboard too.
    return tag(
        "div",
        tag("table", named, tag("thead", head), tag("tbody", *body)),
        class_="scroll",
        tabindex=0,
        role="region",
        aria_label=caption or label or f"table of {', '.join(column.name for column in heads)}",
    )


def figure(shown: Figure, flip_y: bool = False, listed: bool = True, looks: Looks | None = None) -> Markup:
    """A figure with its title above, its note below, and its numbers in a list that opens.

    It is drawn twice, for desks and for phones, where it can be read on a phone.

    Args:
        shown: the figure.
        flip_y: whether small values stand on top, as with ranks.
        listed: whether its numbers are listed; they may stand in a table beside it.
        looks: the number of the colour and mark of what is named so, see :func:`draw`.
    """
    wide = draw(shown, flip_y, looks=looks)
    pictures = {"picture": wide}
    if fits_a_phone(shown):
        small = draw(shown, flip_y, narrow=True, looks=looks)
        if len(small) <= MOST_BYTES:
            pictures = {"picture lying": wide, "picture standing": small}
    note = tag("p", shown.note, class_="quiet") if shown.note else None
    numbers = _numbers(shown) if listed else None
    return captioned(shown.title, pictures, note, numbers, id=f"figure-{shown.name}")


def captioned(title: str, pictures: Mapping[str, Markup], *below: object, **attributes: object) -> Markup:
    """Pictures by their classes (``picture lying`` is for desks), with a title above and notes below."""
    boxes = [
        tag("div", drawn, class_=shape, tabindex=0, role="group", aria_label=title)
        for shape, drawn in pictures.items()
    ]
    return tag("figure", tag("figcaption", title), *boxes, *below, **attributes)


def figures(shown: Iterable[Markup]) -> Markup:
    """Figures beside each other, as many as there is room for."""
    return tag("div", *shown, class_="pictures")


def badge(verdict: str, text: str | None = None) -> Markup:
    """A verdict: ``ok``, ``look`` or ``broken`` in its colour, everything else plain."""
    kind = verdict if verdict in ("ok", "look", "broken") else "plain"
    return tag("span", verdict if text is None else text, class_=f"badge {kind}")


def definitions(items: Mapping[str, object] | Iterable[tuple[str, object]]) -> Markup:
    """Words and what they are."""
    pairs = items.items() if isinstance(items, Mapping) else items
    lines = [f"<dt>{written(word)}</dt><dd>{written(what)}</dd>" for word, what in pairs]
    return Markup(f"<dl>{''.join(lines)}</dl>")


def facts(items: Iterable[tuple[str, str]]) -> Markup:
    """A few large numbers in a row: (number, what it counts)."""
    return tag(
        "ul", *(tag("li", tag("b", number), tag("span", what)) for number, what in items), class_="facts"
    )


def notes(sentences: Sequence[object]) -> Markup:
    """Sentences beside the point, as a list; nothing where there are none."""
    return tag("ul", *(tag("li", one) for one in sentences), class_="notes") if sentences else Markup("")


def paragraph(*parts: object, quiet: bool = False) -> Markup:
    """A paragraph of text and markup."""
    return tag("p", *parts, class_="quiet" if quiet else None)


def code(text: object) -> Markup:
    """A name, hash or command."""
    return tag("code", text)


def with_code(text: str) -> Markup:
    """Return a sentence in which what stands between backticks is a name or command."""
    parts = text.split("`")
    # A last backtick without a partner is one.
    if len(parts) % 2 == 0:
        parts[-2:] = ["`".join(parts[-2:])]
    return joined(code(part) if place % 2 else part for place, part in enumerate(parts))


def in_words(value: object) -> str:
    """Return a setting, or what is known of a machine, in words: ``yes``, ``0.7, 0.1``, ``system Linux``."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {one}" for name, one in value.items() if one)
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)


def folded(summary: str, *content: object, opened: bool = False) -> Markup:
    """What is shown when it is asked for."""
    return tag("details", tag("summary", summary), *content, open=opened)


def _head(column: Column, sortable: bool, is_sorted: bool) -> Markup:
    order = None
    if sortable:
        order = "none" if not is_sorted else "descending" if column.number else "ascending"
    name = tag("button", column.name, type="button") if sortable else column.name
    kind = "n" if column.number else None
    return tag("th", name, scope="col", class_=kind, aria_sort=order, title=column.hint or None)


def _cell(cell: object, column: Column, place: int) -> Markup:
    found = cell if isinstance(cell, Cell) else Cell(cell)
    content, sort = found.content, found.sort
    if isinstance(content, float):
        # A text with a power of ten does not begin with its value.
        if sort is None and not 1e-4 <= abs(content) < 1e6:
            sort = content
        content = number_text(float(f"{content:.4g}")) if math.isfinite(content) else MISSING
    elif isinstance(content, int) and not isinstance(content, bool):
        content = f"{content:,}"
    if isinstance(sort, float):
        sort = f"{sort:.6g}" if math.isfinite(sort) else "nan"
    marks = {"n": column.number, "best": found.best, "shaded": found.shaded, "wide": column.wide}
    marks["long"] = place == 0 and isinstance(content, str) and len(content) > LONG
    kinds = [kind for kind, on in marks.items() if on]
    name = "th" if place == 0 else "td"
    hint = found.hint or None
    scope = "row" if place == 0 else None
    return tag(name, content, scope=scope, class_=" ".join(kinds) or None, data_sort=sort, title=hint)


def _numbers(shown: Figure) -> Markup:
    """The values of a figure as a table behind a fold."""
    count = sum(len(one.y) for one in shown.series)
    if count > MOST_LISTED:
        told = f"{count:,} values, too many to list here"
        return tag("p", told, class_="quiet")
    ranged = any(one.low for one in shown.series)
    columns: list[Column | str] = [
        "series",
        Column(shown.x_label, number=True),
        Column(shown.y_label, number=True),
    ]
    columns += [Column("low", number=True), Column("high", number=True)] if ranged else []
    rows = []
    for one in shown.series:
        for place, (x, y) in enumerate(zip(one.x, one.y, strict=True)):
            ends = (one.low[place], one.high[place]) if one.low else (math.nan, math.nan)
            rows.append([one.name, x, float(y), *(map(float, ends) if ranged else ())])
    return folded("the numbers", table(columns, rows))
