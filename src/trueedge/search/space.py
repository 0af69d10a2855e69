"""The points that a search looks at: every choice of values for the settings that are searched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import prod
from typing import Any

from trueedge.errors import InputError, must_be, unknown
from trueedge.methods import Method

Point = dict[str, Any]


@dataclass(frozen=True)
class Space:
    """Values for each setting, in order.

    Attributes:
        method: the method that the settings are of; its other settings stay as they are.
        values: the values of each setting that is searched.
    """

    method: Method
    values: Mapping[str, tuple[Any, ...]]

    @classmethod
    def of(cls, method: Method, chosen: Mapping[str, Sequence[Any]] | None = None) -> Space:
        """The space of a method: the values its settings are searched in, where they are not set already.

        Args:
            method: a setting that is not at its default is fixed.
            chosen: other values for some settings, which are then searched in any case.
        """
        chosen = {} if chosen is None else chosen
        for name, values in chosen.items():
            if name not in method.space():
                raise unknown(f"setting of {method.name}", name, method.space() or ["(none)"])
            if isinstance(values, str) or not isinstance(values, Sequence) or not values:
                raise must_be(name, "the space", "a list of values", values)
        default = {field.name: field.default for field in fields(method)}
        open_settings = {
            name: limits.search
            for name, limits in method.space().items()
            if limits.search and getattr(method, name) == default[name]
        }
        wanted = {
            name: tuple(dict.fromkeys(chosen.get(name, open_settings.get(name, ()))))
            for name in method.space()
        }
        space = cls(method, {name: values for name, values in wanted.items() if values})
        if not space.values:
            raise InputError(f"{method.name} has no setting to search: name one with its values")
        for name, values in space.values.items():
            for value in values:
                space.at({name: value})
        return space

    def __len__(self) -> int:
        return prod(len(values) for values in self.values.values())

    def point(self, number: int) -> Point:
        """A point by its number, 0 to the size of the space; the last setting changes fastest."""
        found = {}
        for name, values in reversed(list(self.values.items())):
            number, place = divmod(number, len(values))
            found[name] = values[place]
        return {name: found[name] for name in self.values}

    def number(self, point: Point) -> int:
        """The number of a point."""
        number = 0
        for name, values in self.values.items():
            number = number * len(values) + values.index(point[name])
        return number

    def at(self, point: Point) -> Method:
        """The method at a point; a value that it does not admit is an error."""
        return replace(self.method, **point)
