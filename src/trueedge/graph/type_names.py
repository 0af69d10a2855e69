"""Which columns of a table of edges have names that resemble those of the two node types."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trueedge.graph.column_names import plain_name

# Shorter names and beginnings occur in too many words.
LETTERS = 3
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def ends_like_types(names: Sequence[str], types: tuple[str, str]) -> dict[str, int]:
    """Return the place of the column of sources and of targets, as far as names tell.

    A column resembles a type by its plural, with words around it, or by its beginning: for ``paper``,
    ``papers``, ``idx_paper``, ``paperIndex`` and ``pap`` do. A column that resembles both types, and a type
    that several columns resemble, count for nothing.

    Args:
        names: the names of the columns.
        types: the names of the source type and of the target type.
    """
    if _singular(types[0]) == _singular(types[1]):
        return {}
    like = [{place for place, name in enumerate(names) if _resembles(name, one)} for one in types]
    only = {"source": like[0] - like[1], "target": like[1] - like[0]}
    return {noun: places.pop() for noun, places in only.items() if len(places) == 1}


def _resembles(column: str, kind: str) -> bool:
    stem = _singular(kind)
    words = {_singular(one) for one in _WORDS.findall(column)}
    if not stem or stem in words:
        return bool(stem)
    if len(stem) < LETTERS:
        return False
    whole = _singular(column)
    around = whole.startswith(stem) or whole.endswith(stem) or plain_name(column).endswith(plain_name(kind))
    return around or any(len(one) >= LETTERS and stem.startswith(one) for one in words)


def _singular(name: str) -> str:
    """Return the letters and digits of a name without the ending of a plural."""
    plain = plain_name(name)
    if plain.endswith("ies") and len(plain) > LETTERS + 1:
        return plain[:-3] + "y"
    return plain[:-1] if plain.endswith("s") and not plain.endswith("ss") and len(plain) > LETTERS else plain
