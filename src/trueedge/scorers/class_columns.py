"""The columns of predicted classes in a file: which class a name, a number or a title of a column means."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from trueedge.errors import InputError
from trueedge.files.text import TextFile, shown

NUMBER_AT_THE_END = re.compile(r"(.*?)([0-9]{1,9})", re.DOTALL)
# As many classes are named in a message; the others are counted.
NAMED = 6


def class_numbers(
    given: Collection[str], classes: Sequence[str], what: str, numbered: bool = False
) -> Mapping[str, int]:
    """Return the number of each class that is given by its name or its number.

    What is the name of one class and the number of another is refused, unless only one way gives them all.

    Args:
        given: the names or numbers.
        classes: the names of the classes.
        what: what they are given in, for messages.
        numbered: whether they are numbers wherever they can be.
    """
    names, numbers = _ways(classes)
    unclear = [one for one in given if one in names and names[one] != numbers.get(one, names[one])]
    if not unclear:
        return numbers | names
    ways = [way for way in (numbers, names) if all(one in way for one in given)]
    if len(ways) == 1 or (ways and numbered):
        return ways[0]
    if any(one not in names and one not in numbers for one in given):
        return numbers | names  # the caller names what is no class
    one = unclear[0]
    raise InputError(
        f"{what}: {one} is the number of the class {classes[numbers[one]]!r} and the name of another one:"
        " give a score for each class"
    )


def column_order(text: TextFile, line: int, titles: Sequence[str], classes: Sequence[str]) -> list[int]:
    """Return the class of each column of scores, by the titles of the columns.

    Titles are names or numbers of classes, with the same text before each or none. Columns that are only
    numbered, such as ``score1`` and ``score2``, are in the order of the classes.

    Args:
        text: the file.
        line: the line of the titles, for messages.
        titles: the titles of the columns, one for each class.
        classes: the names of the classes.
    """
    titles = [title.strip() for title in titles]
    readings = [_matched(titles, way) or _matched_folded(titles, way) for way in _ways(classes)]
    found = [order for order in readings if order is not None]
    if found and found[0] == found[-1]:
        return found[0]
    called = ", ".join(titles)
    if found:
        why = f"the columns of scores {shown(called)} could be names of classes or their numbers"
        raise text.error(line, f"{why}: leave the line out, and write scores in the order {listed(classes)}")
    if _are_numbered(titles) and not any(title in way for way in _ways(classes) for title in titles):
        return list(range(len(classes)))
    raise text.error(
        line, f"the columns of scores are called {shown(called)}, but the classes are {listed(classes)}"
    )


def listed(classes: Sequence[str]) -> str:
    """Return the names of classes for a sentence."""
    more = f" and {len(classes) - NAMED} more" if len(classes) > NAMED else ""
    return ", ".join(map(shown, classes[:NAMED])) + more


def describe_classes(classes: Sequence[str]) -> str:
    """Say what classes may be called."""
    last = len(classes) - 1
    if list(classes) == [str(number) for number in range(len(classes))]:
        return f"classes are numbered from 0 to {last}"
    return f"the classes are {listed(classes)}, or numbers from 0 to {last}"


def _ways(classes: Sequence[str]) -> tuple[dict[str, int], dict[str, int]]:
    """Return the class of each name, and of each number."""
    names = {name: number for number, name in enumerate(classes)}
    return names, {str(number): number for number in range(len(classes))}


def _matched(titles: Sequence[str], way: Mapping[str, int]) -> list[int] | None:
    """Return the class of each title if all have one text before the name of a class, each class once."""
    starts = [titles[0].removesuffix(name) for name in way if titles[0].endswith(name)]
    for start in sorted(starts, key=len):
        order = [way.get(title.removeprefix(start), -1) for title in titles if title.startswith(start)]
        if sorted(order) == list(range(len(titles))):
            return order
    return None


def _matched_folded(titles: Sequence[str], way: Mapping[str, int]) -> list[int] | None:
    """Return the class of each title as :func:`_matched` does, whatever the case of letters."""
    small = {name.casefold(): number for name, number in way.items()}
    return _matched([title.casefold() for title in titles], small) if len(small) == len(way) else None


def _are_numbered(titles: Sequence[str]) -> bool:
    """Return whether titles are equal, or one text and ascending numbers: they say nothing about classes."""
    found = [NUMBER_AT_THE_END.fullmatch(title) for title in titles]
    matches = [one for one in found if one is not None]
    if len(matches) < len(titles):
        return len(set(titles)) == 1
    numbers = [int(one[2]) for one in matches]
    stems = {one[1] for one in matches}
    return len(stems) == 1 and stems != {""} and numbers == sorted(set(numbers))
