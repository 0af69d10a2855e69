"""What notebooks show of an object: a small table of HTML."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape


def table_html(title: str, rows: Iterable[Sequence[object]], head: Sequence[str] = ()) -> str:
    """Return a table with a title; every text is escaped.

    Args:
        title: the caption.
        rows: the cells of each row, the first of which names the row.
        head: the names of the columns, if they need any.
    """
    top = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    body = "".join(f"<tr>{_row(cells)}</tr>" for cells in rows)
    heads = f"<thead><tr>{top}</tr></thead>" if head else ""
    return f"<table><caption>{escape(title)}</caption>{heads}<tbody>{body}</tbody></table>"


def facts_html(title: str, facts: Mapping[str, object]) -> str:
    """Return a table of two columns: words and what they are; what is None or empty is left out."""
    return table_html(title, ((word, fact) for word, fact in facts.items() if fact not in (None, "")))


def shortened(text: str, most: int = 30) -> str:
    """Return a text with an ellipsis in its middle if it is longer than so many characters."""
    if len(text) <= most:
        return text
    left = (most - 1) // 2
    return f"{text[:left]}…{text[len(text) - (most - 1 - left) :]}"


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun: ``1 edge``, ``2,000 edges``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _row(cells: Sequence[object]) -> str:
    texts = [escape(f"{cell:,}" if isinstance(cell, int) else str(cell)) for cell in cells]
    first = f'<th scope="row" style="text-align:left">{texts[0]}</th>'
    return first + "".join(f'<td style="text-align:left">{text}</td>' for text in texts[1:])
