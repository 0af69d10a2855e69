"""What the pages of a board are put together from: values, ranks, tiers, costs, commands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from html import escape

from trueedge.leaderboard.board.board import Board
from trueedge.leaderboard.board.entry_card import EntryCard
from trueedge.leaderboard.board.rows import Row, Standing
from trueedge.leaderboard.board.task_card import BoardTask
from trueedge.leaderboard.board.text_fields import is_folder_name
from trueedge.metrics import format_value, scale
from trueedge.metrics.units import plural
from trueedge.report.interval_bars import BarScale, interval_bar
from trueedge.report.markup import Markup, joined, tag
from trueedge.report.numbers import axis_label, is_percent, p_text, span

MISSING = "–"
GIGABYTE = 2.0**30
# Longer words, such as paths, may break where a phone has no room for them.
SHORT = 24
COPY = tag("button", "Copy", type="button", hidden=True)
TIERS = {
    "consistent": "Its certificates verify: the scores give the metrics, on the frozen task. On "
    "public labels "
    "such a certificate can be forged, so it is not ranked.",
    "reproduced": "Its method was run again, or another party has a certificate within its interval; "
    "the proofs name who.",
    "scored": "Judged on hidden labels: nobody but the judge knew them.",
}

# Below a table of differences.
P_VALUES = (
    "Intervals are those of single pairs. For two ranked entries, p is corrected for all pairs of ranked "
    "entries (Holm), and ranks follow from it. With an entry that is not ranked, p is that of the pair "
    "alone, not corrected."
)


def tabs(current: str) -> list[tuple[str, str]]:
    """Return the pages of a task; the current one has no address."""
    places = {
        "Ranking": "index.html",
        "Compare": "compare.html",
        "History": "history.html",
        "Task": "card.html",
    }
    return [(name, "" if name == current else address) for name, address in places.items()]


def trail(board: Board, task: BoardTask | None = None, up: str = "../") -> list[tuple[str, str]]:
    """Return the pages above one of a task."""
    found = [(board.title, f"{up}index.html")]
    return found if task is None else [*found, (task.title, f"{up}{task.name}/index.html")]


def has_page(row: Row) -> bool:
    """Return whether an entry has a page; a folder that cannot be one of an entry has none."""
    return is_folder_name(row.entry.name)


def tier_badge(row: Row) -> Markup:
    """Return the tier of an entry as a badge."""
    if row.entry.withdrawn:
        return tag("span", "withdrawn", class_="tier withdrawn")
    if row.failed:
        return tag("span", "invalid", class_="tier withdrawn")
    return tag("span", row.tier, class_=f"tier {row.tier}", title=TIERS[row.tier])


def rank_text(row: Row) -> str:
    """Return the ranks that an entry can have: ``1``, ``2–4``."""
    if row.places is None:
        return MISSING
    first, last = row.places
    return str(first) if first == last else f"{first}–{last}"


def breakable(name: str) -> Markup:
    """Return a name that may break after each plus, as ``conve+kgmixup`` in a narrow column."""
    first, *others = name.split("+")
    return joined([first, *(part for other in others for part in ("+", tag("wbr"), other))])


def value_text(task: BoardTask, row: Row) -> str:
    """Return the value of an entry."""
    return MISSING if row.value is None else format_value(task.headline, row.value)


def ends_text(task: BoardTask, row: Row) -> str:
    """Return the interval of an entry, or nothing."""
    return "" if row.low is None or row.high is None else span(task.headline, row.low, row.high)


def scale_of(rows: Sequence[Row]) -> BarScale:
    """Return the scale that the bars of some entries share."""
    values = [one for row in rows for one in (row.value, row.low, row.high) if one is not None]
    return BarScale.of(values)


def bar(scale: BarScale, row: Row) -> Markup:
    """Return the value and interval of an entry as a bar."""
    if row.value is None:
        return Markup("")
    return interval_bar(scale, row.value, row.low, row.high, colour="c1" if row.places else "muted")


def seconds_text(row: Row) -> str:
    """Return the time of an entry, short."""
    if row.seconds is None:
        return MISSING
    if row.seconds < 0.1:
        return "< 0.1 s"
    if row.seconds < 120:
        return f"{row.seconds:.1f} s"
    return f"{row.seconds / 60:.0f} min" if row.seconds < 7200 else f"{row.seconds / 3600:.1f} h"


def memory_text(row: Row) -> str:
    """Return the peak memory of an entry, short."""
    return MISSING if not row.memory else f"{row.memory / GIGABYTE:.2f} GB"


def authors_text(card: EntryCard, most: int = 3) -> str:
    """Return the first authors of an entry."""
    more = f" and {len(card.authors) - most} more" if len(card.authors) > most else ""
    return ", ".join(card.authors[:most]) + more


def command(text: str) -> Markup:
    """Return a command with a button that copies it; its lines break between words, not after a hyphen."""
    words = [
        tag("span", word, class_="word") if "-" in word and len(word) <= SHORT else word
        for word in re.split("( )", text)
    ]
    return tag("div", Markup(f"<pre><code>{joined(words)}</code></pre>"), COPY, class_="copy")


@lru_cache(maxsize=256)
def heads(names: tuple[str, ...], numeric: tuple[int, ...] = ()) -> Markup:
    """Return the heads of a table; those at the places ``numeric`` stand above numbers."""
    cells = [
        tag("th", name, scope="col", class_="n" if place in numeric else None)
        for place, name in enumerate(names)
    ]
    return tag("thead", tag("tr", *cells))


def difference_cells(standing: Standing, first: str, second: str) -> str:
    """Return the cells of a row: the difference of two entries, its interval, p-value, and what it says."""
    turned = first > second
    found = _difference_texts(standing, *((second, first) if turned else (first, second)))
    if found is None:
        return f"<td>{MISSING}</td><td>{MISSING}</td><td>{MISSING}</td><td>not comparable</td>"
    shown, lower, upper, told = found
    if turned:
        shown, lower, upper = _negative(shown), _negative(upper), _negative(lower)
    return f'<td class="n">{shown}</td><td>{lower} … {upper}</td>{told}'


# A pair is on the pages of both entries, which are written soon after each other.
@lru_cache(maxsize=256)
def _difference_texts(standing: Standing, first: str, second: str) -> tuple[str, str, str, str] | None:
    """Return a difference, the ends of its interval, and the cells of its p-value."""
    found = standing.difference(first, second)
    if found is None:
        return None
    gap, low, high, p = found
    factor, digits = _display(standing.task.headline)
    shown, lower, upper = (_signed(factor * one, digits) for one in (gap, low, high))
    told = "significant" if p < 0.05 else "no significant difference"
    told += "" if standing.is_corrected(first, second) else " (p not corrected)"
    return shown, lower, upper, f'<td class="n">{escape(p_text(p))}</td><td>{told}</td>'


def _negative(text: str) -> str:
    """Return a number with a sign as text, with the other sign; one without a sign is 0."""
    return text if text[0] not in "+−" else f"{'+' if text[0] == '−' else '−'}{text[1:]}"


@cache
def _display(metric: str) -> tuple[float, int]:
    """Return the factor and the decimals of differences of a metric."""
    return scale(metric), 1 if is_percent(metric) else 2


def _signed(value: float, digits: int) -> str:
    text = f"{value:+.{digits}f}"
    # Rounded, a difference of +0.0 and one of −0.0 are the same.
    if text[1] == "0" and not text.strip("+-0."):
        return text[1:]
    return f"−{text[1:]}" if text[0] == "-" else text


def explained(standing: Standing) -> Markup:
    """Say what the numbers of a standing are, and what they are not."""
    label = axis_label(standing.task.headline)
    told = f"{label}{_judged(standing.phase) if standing.phase else _compared(standing)}"
    return joined([tag("p", told, class_="quiet")])


def _judged(phase: str) -> str:
    if phase == "public":
        return (
            ", judged on the public part of hidden labels, and rounded down. A value is shown if it is a "
            "real gain over the best one before. Shared letter: the same value."
        )
    return ", judged on the private part of hidden labels. Shared letter: no significant difference."


def _compared(standing: Standing) -> str:
    task, many = standing.task, plural(standing.task.unit)
    count = len(task.seeds)
    letters = "Shared letter: no significant difference (paired t-test, Holm-corrected)."
    ranks = "A rank is the range of places that these differences leave open."
    if standing.over == "tasks":
        return (
            f", the mean over {count} splits, with 95 % intervals over splits. Entries are compared within "
            f"each split. {letters} {ranks}"
        )
    if standing.over == "units":
        return (
            f", with 95 % intervals over the {many} of one test part. Entries are compared on the same "
            f"{many}. {letters} {ranks} Another split may order them differently."
        )
    if standing.over == "units and seeds":
        return (
            f", the mean over {count} seeds with the same test {many}, with 95 % intervals over these {many} "
            f"and seeds. Entries are compared on the same {many}, within the split of each seed. {letters} "
            f"{ranks}"
        )
    untested = task.untested[:1].upper() + task.untested[1:]
    if len({one.part for one in task.seeds.values()}) == 1:
        untested += f", since it does not show how much depends on the negatives that all {many} share"
    return f". {untested}: so all entries share one range of ranks, and there are no intervals."
