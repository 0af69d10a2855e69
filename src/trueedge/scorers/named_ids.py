"""Users, items and nodes by name or by number."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from trueedge.errors import InputError, is_whole, unknown
from trueedge.files.text import shown


class NamedIds:
    """Finds users, items or nodes by their name or number.

    A text is a name. If there are no names, or none of them is a whole number, digits are a number.

    Args:
        noun: what one is called: ``user``.
        names: their names, or None.
        count: how many there are.
    """

    def __init__(self, noun: str, names: Sequence[str] | None, count: int) -> None:
        self.noun, self.names, self.count = noun, names, count

    def find(self, text: str) -> int | None:
        """Return the id that a text stands for, or None."""
        if self.names is not None and text in self._places:
            return self._places[text]
        if not self._digits_are_ids or not (text.isascii() and text.isdecimal()) or len(text) > 10:
            return None
        return int(text) if int(text) < self.count else None

    def id_of(self, given: object) -> int:
        """Return the id of a name or number, or raise an InputError that suggests the nearest name."""
        if is_whole(given):
            if not 0 <= given < self.count:
                raise InputError(f"there is no {self.noun} {given}: {self._range}")
            return int(given)
        if not isinstance(given, str):
            raise InputError(f"a {self.noun} is a number or a name, got {type(given).__name__}")
        found = self.find(given)
        if found is not None:
            return found
        if self.names is None:
            raise InputError(f"there is no {self.noun} {shown(given)}: {self._range}")
        first = ", ".join(map(shown, self.names[:3]))
        raise unknown(
            self.noun, given, self.names, f"there are {self.count:,} {self.noun}s, the first are {first}"
        )

    def name_of(self, number: int) -> str:
        """Return the name, or the number if there are no names."""
        return str(number) if self.names is None else self.names[number]

    @property
    def _range(self) -> str:
        return f"{self.noun}s go from 0 to {self.count - 1}"

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.names or ())}

    @cached_property
    def _digits_are_ids(self) -> bool:
        return self.names is None or not any(name.isdecimal() for name in self.names)
