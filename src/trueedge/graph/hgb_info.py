"""``info.dat`` of HGB's format: the names of node types, relations and classes, as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from trueedge.errors import InputError
from trueedge.files.text import shown
from trueedge.files.text_folders import TextFolder

INFO = "info.dat"


@dataclass(frozen=True, eq=False)
class HgbInfo:
    """What ``info.dat`` says.

    Attributes:
        types: the name of each node type, or None.
        relations: the name of each relation, or None.
        ends: source and target type of each relation, or None if they are not stated.
        classes: the names of the classes of a node type.
    """

    types: tuple[str, ...] | None = None
    relations: tuple[str, ...] | None = None
    ends: tuple[tuple[int, int], ...] | None = None
    classes: Mapping[int, tuple[str, ...]] = field(default_factory=dict)


def read_info(folder: TextFolder) -> HgbInfo:
    """Read ``info.dat``; without the file, nothing has a name.

    Types and relations are listed by number, either directly or under ``node type`` and ``link type``. What
    it does not state, or states in another way, has no name.
    """
    if INFO not in folder:
        return HgbInfo()
    said = _json(folder)
    types = _numbered(folder, said, "node.dat", "node type")
    links = _numbered(folder, said, "link.dat", "link type")
    names = None if types is None else distinct([str(name) for name in types])
    relations, ends = None, None
    if links is not None:
        relations = distinct(
            [
                str(one.get("meaning") or n) if isinstance(one, dict) else str(one)
                for n, one in enumerate(links)
            ]
        )
        found = [(_end(one, "start", names), _end(one, "end", names)) for one in links]
        stated = [(start, end) for start, end in found if start is not None and end is not None]
        ends = tuple(stated) if len(stated) == len(links) else None
    classes = {}
    for number, one in _labelled(said).items():
        listed = _numbered(folder, {"label.dat": one}, "label.dat", "class")
        if listed is not None:
            classes[number] = distinct([str(name) for name in listed])
    return HgbInfo(names, relations, ends, classes)


def distinct(names: list[str]) -> tuple[str, ...]:
    """Return names with a number behind those that occurred before or are blank."""
    found: dict[str, None] = {}
    for number, name in enumerate(names):
        name = name.strip() or str(number)
        while name in found:
            name = f"{name} ({number})"
        found[name] = None
    return tuple(found)


def _json(folder: TextFolder) -> dict[str, Any]:
    lines = folder.lines(INFO)
    text = "\n" * (lines[0][0] - 1)
    for (number, line), (following, _) in zip(lines, [*lines[1:], lines[-1]], strict=True):
        text += line + "\n" * max(following - number, 1)
    try:
        said = json.loads(text)
    except json.JSONDecodeError as error:
        raise folder.error(INFO, error.lineno, f"this is not JSON: {error.msg}") from None
    except RecursionError:
        raise InputError(f"{folder.place(INFO)} is nested too deeply") from None
    if not isinstance(said, dict):
        raise InputError(f"{folder.place(INFO)} must be a JSON object, got {shown(str(said))}")
    return said


def _numbered(folder: TextFolder, said: Mapping[str, Any], file: str, key: str) -> list[Any] | None:
    """Return the values of a JSON object with the keys "0", "1", … in order, or None if it has none."""
    part = said.get(file)
    listed = part.get(key, part) if isinstance(part, dict) else None
    if not isinstance(listed, dict):
        return None
    numbers = sorted(int(one) for one in listed if one.isascii() and one.isdecimal() and len(one) < 10)
    if not numbers:
        return None
    nouns = "classes" if key == "class" else f"{key}s"
    for wanted, number in enumerate(numbers):
        if number != wanted:
            raise InputError(
                f"{folder.place(INFO)}: {file} must number its {nouns} 0, 1, 2, … without gaps, but {wanted}"
                f" {'occurs again' if number < wanted else 'is missing'}"
            )
    by_number = {int(one): value for one, value in listed.items() if one.isascii() and one.isdecimal()}
    return [by_number[number] for number in numbers]


def _end(link: object, key: str, types: tuple[str, ...] | None) -> int | None:
    """Return the number of the node type that a relation starts or ends at, or None."""
    value = str(link.get(key)) if isinstance(link, dict) else ""
    if types is not None and value in types:
        return types.index(value)
    return int(value) if value.isascii() and value.isdecimal() and len(value) < 10 else None


def _labelled(said: Mapping[str, Any]) -> dict[int, dict[str, Any]]:
    """Return what is said on the classes of each node type."""
    part = said.get("label.dat")
    listed = part.get("node type", part) if isinstance(part, dict) else {}
    if not isinstance(listed, dict):
        return {}
    return {
        int(number): one
        for number, one in listed.items()
        if isinstance(one, dict) and number.isascii() and number.isdecimal() and len(number) < 10
    }
