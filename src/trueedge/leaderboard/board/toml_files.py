"""Read TOML files that strangers wrote, and write them in one fixed layout."""

from __future__ import annotations

import datetime
import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trueedge.errors import InputError
from trueedge.files.arrays import regular_file
from trueedge.files.whole import read_whole

# A card has a few thousand bytes; that of a task with a hundred seeds, fifty thousand.
MOST_BYTES = 1 << 20
BARE = re.compile(r"[A-Za-z0-9_-]+")
# No quotes, escapes, controls or ends of lines, in ASCII.
TEXT = r'"[ !#-\[\]-~]*"'
PLAIN = re.compile(rf"(?:[A-Za-z_][A-Za-z0-9_-]* = (?:{TEXT}|\[{TEXT}(?:, {TEXT})*\])\n)+")


def read_toml(path: Path) -> dict[str, Any]:
    """Return the content of a TOML file, or raise an InputError."""
    try:
        about, content = read_whole(path, MOST_BYTES)
        if content is None:
            regular_file(path)
            raise InputError(f"{path} has {about.st_size:,} bytes, which is too large for a card")
        text = content.decode()
        found = _read_plain(text)
        return tomllib.loads(text) if found is None else found
    except OSError as error:
        regular_file(path)
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    except InputError:
        raise
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8 text") from None
    except (ValueError, RecursionError) as error:
        regular_file(path)
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error).split("\n")[0]
        raise InputError(f"{path} is not TOML: {reason}") from None


def _read_plain(text: str) -> dict[str, Any] | None:
    """Return what a file of plain lines says, in a tenth of the time; None for any other.

    In such lines JSON and TOML are the same: ``key = "text"`` or ``key = ["text", …]``, without escapes.
    """
    if not PLAIN.fullmatch(text):
        return None
    found = {}
    for line in text.splitlines():
        name, _, value = line.partition(" = ")
        if name in found:
            return None
        found[name] = json.loads(value)
    return found


def toml_text(values: Mapping[str, Any]) -> str:
    """Return a mapping as TOML: plain values, then tables, in the given order; None is left out."""
    return "\n".join(_lines(values, ())) + "\n"


def _lines(values: Mapping[str, Any], path: tuple[str, ...]) -> list[str]:
    plain = {name: one for name, one in values.items() if not isinstance(one, Mapping) and one is not None}
    tables = {name: one for name, one in values.items() if isinstance(one, Mapping)}
    found = [f"{_key(name)} = {_value(one)}" for name, one in plain.items()]
    for name, table in tables.items():
        inner = (*path, name)
        # A table that holds nothing but tables needs no line of its own.
        named = not table or any(not isinstance(one, Mapping) for one in table.values())
        found += [""] if found else []
        found += [f"[{'.'.join(map(_key, inner))}]"] if named else []
        found += _lines(table, inner)
    return found


def _key(name: str) -> str:
    return name if BARE.fullmatch(name) else _string(name)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (datetime.date, datetime.datetime)):
        return value.isoformat()
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_key(name)} = {_value(one)}' for name, one in value.items())}}}"
    return _string(str(value))


def _string(text: str) -> str:
    # A JSON string is a basic string of TOML, but for the one control character that JSON leaves as it is.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
