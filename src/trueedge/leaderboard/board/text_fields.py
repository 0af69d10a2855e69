"""Check texts that strangers wrote: names, addresses, licences, dates. Each error is one sentence."""

from __future__ import annotations

import datetime
import re
import unicodedata
from functools import cache
from urllib.parse import urlsplit

from trueedge.errors import InputError, unknown
from trueedge.files.text import shown
from trueedge.leaderboard.board.licences import LICENCES

LONGEST_NAME, LONGEST_TEXT, LONGEST_ADDRESS = 80, 400, 300
# More marks on one letter than any script needs: they would cover the lines above and below.
MOST_MARKS = 4
# Controls, formats (among them those that turn the direction of text), halves of pairs, private and unknown
# characters, ends of lines and of paragraphs.
REFUSED = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
FOLDER_NAME = re.compile(r"[a-z0-9](?:[a-z0-9._+-]{0,78}[a-z0-9+])?")
# Names that Windows gives to devices.
DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?")
COMMIT = re.compile(r"[0-9a-f]{7,64}")


def text_field(value: object, field: str, longest: int = LONGEST_TEXT) -> str:
    """Return a text without its outer spaces, or raise an InputError that names the field."""
    if not isinstance(value, str):
        raise InputError(f"{field} must be a text, got {type(value).__name__}")
    text = unicodedata.normalize("NFC", value).strip()
    if not text:
        raise InputError(f"{field} is empty")
    if len(text) > longest:
        raise InputError(f"{field} has {len(text)} characters; {longest} are allowed")
    if text.isascii() and text.isprintable():
        return text
    marks = 0
    for letter in text:
        kind = unicodedata.category(letter)
        if kind in REFUSED:
            what = "a control or direction character" if kind in ("Cc", "Cf") else "a character no text needs"
            raise InputError(f"{field} has {what}, U+{ord(letter):04X}")
        marks = marks + 1 if kind in ("Mn", "Me") else 0
        if marks > MOST_MARKS:
            raise InputError(f"{field} has more than {MOST_MARKS} marks on one letter")
    return text


def folder_name(value: object, field: str) -> str:
    """Return the name of a folder of a board: lower-case letters, digits and ``. _ + -``."""
    if isinstance(value, str) and is_folder_name(value):
        return value
    said = shown(value) if isinstance(value, str) else type(value).__name__
    raise InputError(
        f"{field} must be a name of lower-case letters a-z, digits and . _ + -, at most 80 in all, got {said}"
    )


def is_folder_name(name: str) -> bool:
    """Return whether a text can be the name of a folder of a board."""
    return FOLDER_NAME.fullmatch(name) is not None and DEVICES.fullmatch(name) is None


def folder_name_of(title: str) -> str:
    """Return a folder's name for a title: ``My GCN (deep)`` becomes ``my-gcn-deep``."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    name = re.sub(r"[^a-z0-9+]+", "-", plain).lstrip("-+")[:LONGEST_NAME].rstrip("-")
    return f"{name}-entry" if DEVICES.fullmatch(name) else name


def folder_of_entry(title: str, otherwise: str) -> str:
    """Return the folder of an entry, or raise an InputError that says what to do ``otherwise``."""
    if name := folder_name_of(title):
        return name
    raise InputError(
        f"the folder of an entry is named by the letters a-z and digits 0-9 of the entry's name, and"
        f" {shown(title)} has none: {otherwise}"
    )


def same_name(first: str, second: str) -> bool:
    """Return whether two texts name the same person: whatever the case, the width and the spaces."""
    return _plain_name(first) == _plain_name(second)


def _plain_name(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def address_field(value: object, field: str) -> str:
    """Return an https address, or raise an InputError."""
    text = text_field(value, field, LONGEST_ADDRESS)
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port, parts = "", None, urlsplit("")
    plain = text.isascii() and not re.search(r"[\s<>\"'\\^`{}|]", text)
    if parts.scheme != "https" or not re.fullmatch(r"[a-z0-9.-]+\.[a-z0-9-]+", host) or not plain:
        raise InputError(f"{field} must be an address that begins with https://, got {shown(text)}")
    if parts.username is not None or parts.password is not None or port not in (None, 443):
        raise InputError(f"{field} must be an address without a user, password or port, got {shown(text)}")
    return text


def commit_field(value: object, field: str = "commit") -> str:
    """Return the hash of a commit, 7 to 64 hexadecimal digits in lower case."""
    text = text_field(value, field).lower()
    if not COMMIT.fullmatch(text):
        raise InputError(f"{field} must be the hash of a commit, 7 to 64 digits 0-9 a-f, got {shown(text)}")
    return text


def licence_field(value: object, field: str = "licence") -> str:
    """Return an SPDX identifier, or several joined by OR and AND."""
    text = text_field(value, field, LONGEST_NAME)
    known = _known_licences()
    words = re.split(r" (OR|AND) ", text)
    for word in words[::2]:
        if word.casefold() not in known:
            raise unknown("SPDX licence", word, LICENCES, hint="see https://spdx.org/licenses")
    return " ".join(known.get(word.casefold(), word) for word in words)


@cache
def _known_licences() -> dict[str, str]:
    return {name.casefold(): name for name in LICENCES}


def date_field(value: object, field: str) -> str:
    """Return a day, ``2026-11-17``."""
    if isinstance(value, datetime.datetime):
        value = value.date()
    if isinstance(value, datetime.date):
        return value.isoformat()
    text = text_field(value, field, LONGEST_NAME)
    try:
        if not re.fullmatch(r"\d{4}-\d\d-\d\d", text):
            raise ValueError
        return datetime.date.fromisoformat(text).isoformat()
    except ValueError:
        raise InputError(f"{field} must be a day such as 2026-11-17, got {shown(text)}") from None
