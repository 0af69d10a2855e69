"""Whether a field of a text file is a number."""

from __future__ import annotations


def is_number_field(field: str) -> bool:
    """Return whether a field is a number as programs write it, with white space around it or not.

    Not every text that Python reads is one: ``1_2`` is rather an id, and digits are 0 to 9. NaN and infinity
    are numbers, which readers that need finite ones refuse.
    """
    return is_plain(field.strip()) and _is_read(field)


def is_plain(text: str) -> bool:
    """Return whether a text has no mark that Python reads in numbers, but other programs do not."""
    return text.isascii() and "_" not in text


def _is_read(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True
