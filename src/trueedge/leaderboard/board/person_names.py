"""Names of authors: in whatever script, but not in letters of two scripts that look alike.

This follows the levels of Unicode Technical Standard 39. A name in one script is fine, and so is one in Latin
and another script in wide use, word by word, unless the letters of that script are drawn like Latin ones.
"""

from __future__ import annotations

import re
import unicodedata

from trueedge.errors import InputError
from trueedge.leaderboard.board.text_fields import LONGEST_TEXT, text_field

LATIN, EAST_ASIAN = "LATIN", "EAST ASIAN"
# fmt: off
# What is written together in China, Japan and Korea, also within a word and beside Latin letters.
TOGETHER = {
    "BOPOMOFO", "CJK", "HANGUL", "HANGZHOU", "HENTAIGANA", "HIRAGANA", "IDEOGRAPHIC", "KATAKANA", "MASU",
    "VERTICAL",
}
# Not Greek, Cyrillic and Armenian, whose letters pass for Latin ones.
BESIDE_LATIN = {
    "ARABIC", "BENGALI", "DEVANAGARI", "ETHIOPIC", "GEORGIAN", "GUJARATI", "GURMUKHI", "HEBREW", "KANNADA",
    "KHMER", "LAO", "MALAYALAM", "MYANMAR", "ORIYA", "SINHALA", "TAMIL", "TELUGU", "THAANA", "THAI",
    "TIBETAN",
}
# fmt: on
# Digits 0 to 9, and signs such as the okina, belong to every script.
COMMON = {"DIGIT", "MODIFIER"}


def person_field(value: object, field: str, longest: int = LONGEST_TEXT) -> str:
    """Return the name of a person or team, or raise an InputError that names the field.

    Args:
        value: the name.
        field: what it is.
        longest: the most characters it may have.
    """
    text = text_field(value, field, longest)
    found = mixed_scripts(text)
    if found:
        listed = f"{', '.join(found[:-1])} and {found[-1]}"
        raise InputError(
            f"{field} has {listed} letters, and could pass for another name: write it in one script"
        )
    return text


def mixed_scripts(name: str) -> list[str]:
    """Return the scripts of a name whose letters could be mistaken for each other; empty if none could.

    Args:
        name: the name.
    """
    found = _scripts(name)
    if len(found) < 2 or found == {LATIN, EAST_ASIAN}:
        return []
    others = found - {LATIN}
    apart = all(len(_scripts(word)) < 2 for word in name.split())
    if len(others) == 1 and others <= BESIDE_LATIN and apart:
        return []
    return sorted(one.title() for one in found)


def _scripts(text: str) -> set[str]:
    """Return the scripts of a text's letters and digits, as their names in Unicode begin."""
    # Letters that are only drawn in another way (wide, bold) are those that they stand for.
    plain = unicodedata.normalize("NFKC", text)
    if plain.isascii():
        return {LATIN} if any(map(str.isalpha, plain)) else set()
    names = [unicodedata.name(one, "") for one in plain if unicodedata.category(one)[0] in "LN"]
    begun = {re.split("[ -]", one.removeprefix("EXTENDED "))[0] for one in names} - COMMON
    return {EAST_ASIAN if one in TOGETHER else one for one in begun}
