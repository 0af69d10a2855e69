"""Users, items and nodes by name or by number."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property

from trueedge.errors import InputError, is_whole, unknown, with_article
from trueedge.files.text import shown
from trueedge.metrics.units import plural

DIGITS_AT_THE_END = re.compile("[0-9]+$")


class NamedIds:
    """Finds users, items or nodes by their name or number.

    A text is a name. If there are no names, or none of them is a whole number, digits are a number. A number
    that is also the name of another one is refused.

    Args:
        noun: what one is called: ``user``.
        names: their names, or None.
        count: how many there are.
        short: other names, the first that has a text counts: of a bipartite graph, the names of either side
            without their prefix.
    """

    def __init__(
        self, noun: str, names: Sequence[str] | None, count: int, short: Sequence[Mapping[str, int]] = ()
    ) -> None:
        self.noun, self.names, self.count, self.short = noun, names, count, short

    def find(self, text: str) -> int | None:
        """Return the id that a text stands for, or None."""
        meant = self.meanings(text)
        if meant:
            return meant[0]
        if not self._digits_are_ids or not (text.isascii() and text.isdecimal()) or len(text) > 10:
            return None
        return int(text) if int(text) < self.count else None

    def meanings(self, text: str) -> list[int]:
        """Return the ids that have a text as their name: one, or one on either side of a bipartite graph."""
        if text in self._places:
            return [self._places[text]]
        return [names[text] for names in self.short if text in names]

    def id_of(self, given: object, from_file: bool = False) -> int:
        """Return the id of a name or number, or raise an InputError that suggests the nearest name.

        Args:
            given: a text, or a whole number.
            from_file: whether a number was read from a file, where it is a name if there is such a name.
        """
        if is_whole(given):
            same = None if self.names is None else self.find(str(given))
            if same is not None and same != given:
                if from_file:
                    return same
                raise InputError(
                    f"{self.noun} {given} is {self.noun} number {same} by its name: give names as text"
                    f" ({self.name_of(same)!r})"
                )
            if not 0 <= given < self.count:
                raise InputError(f"there is no {self.noun} {given}: {self._range}")
            return int(given)
        if not isinstance(given, str):
            raise InputError(f"{with_article(self.noun)} is a number or a name, got {type(given).__name__}")
        found = self.find(given)
        if found is not None and (self.meanings(given) or not self._is_called_otherwise(found)):
            return found
        if self.names is None:
            raise InputError(f"there is no {self.noun} {shown(given)}: {self._range}")
        first = ", ".join(map(shown, self.names[:3]))
        raise unknown(
            self.noun,
            given,
            self.names,
            f"there are {self.count:,} {plural(self.noun)}, the first are {first}",
        )

    def name_of(self, number: int) -> str:
        """Return the name, or the number if there are no names."""
        return str(number) if self.names is None else self.names[number]

    def _is_called_otherwise(self, number: int) -> bool:
        """Return whether a name ends in another number than its own: 3 may not mean ``user-4``."""
        digits = DIGITS_AT_THE_END.search(self.name_of(number))
        return digits is not None and int(digits[0]) != number

    @property
    def _range(self) -> str:
        return f"{plural(self.noun)} go from 0 to {self.count - 1}"

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.names or ())}

    @cached_property
    def _digits_are_ids(self) -> bool:
        every = [self.names or (), *self.short]
        return not any(name.isdecimal() for names in every for name in names)
