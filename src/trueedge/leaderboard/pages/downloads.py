"""The standing of a task as files: JSON and CSV."""

from __future__ import annotations

import csv
import io

from trueedge.leaderboard.board.rows import Standing, letters_text

# fmt: off
COLUMNS = (
    "rank_first", "rank_last", "entry", "name", "authors", "tier", "letters", "value", "low", "high", "seeds",
    "submitted", "seconds", "memory_bytes", "licence", "code", "commit", "paper", "unranked",
)
# fmt: on
# A spreadsheet runs what begins with one of these as a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def standing_csv(standing: Standing) -> str:
    """Return the standing as a table, with values as fractions of 1."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(COLUMNS)
    for row in standing.rows:
        card = row.entry.card
        first, last = row.places or ("", "")
        texts = [
            row.entry.name,
            card.name,
            "; ".join(card.authors),
            "" if row.failed else row.tier,
            letters_text(row),
        ]
        numbers = ["" if one is None else f"{one:.9g}" for one in (row.value, row.low, row.high)]
        cost = [
            "" if row.seconds is None else f"{row.seconds:.3f}",
            "" if row.memory is None else f"{row.memory:.0f}",
        ]
        about = [card.licence, card.code, card.commit, card.paper, row.unranked]
        plain = [
            first,
            last,
            *map(_safe, texts),
            *numbers,
            row.seeds,
            card.submitted,
            *cost,
            *map(_safe, about),
        ]
        rows.writerow(plain)
    return text.getvalue()


def _safe(text: str) -> str:
    return f"'{text}" if text.startswith(FORMULA) else text
