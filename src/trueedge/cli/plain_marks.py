"""Marks that a terminal cannot show, in marks that every one can: a minus must not become a question mark."""

from __future__ import annotations

import codecs

#: The name of the way to handle what cannot be encoded.
HANDLER = "trueedge-plain-marks"
MARKS = {
    **dict.fromkeys("−–—─━·", "-"),
    **dict.fromkeys("│┃", "|"),
    **dict.fromkeys("╭╮╰╯┌┐└┘├┤┬┴┼", "+"),
    **dict.fromkeys("‘’", "'"),
    **dict.fromkeys("“”", '"'),
    "±": "+-",
    "…": "...",
    "→": "->",
    "×": "x",
    "≤": "<=",
    "≥": ">=",
    "▼": "v",
    "σ": "sigma",
    "Φ": "Phi",
    "δ": "delta",
    "\N{ZERO WIDTH SPACE}": "",
}


def _plain(error: UnicodeError) -> tuple[str, int]:
    """Return what is written for characters that a stream cannot encode, and where they end."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(MARKS.get(mark, "?") for mark in error.object[error.start : error.end]), error.end


codecs.register_error(HANDLER, _plain)
