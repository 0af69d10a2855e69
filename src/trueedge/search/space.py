"""The points of a search: every combination of values of the settings that are searched."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from trueedge.errors import InputError, must_be, unknown
from trueedge.methods import Method

Point = dict[str, Any]
# The numbers of points are drawn as int64.
MOST_POINTS = 1 << 62


@dataclass(frozen=True)
class Space:
    """The values of each setting that is searched.

    Attributes:
        method: the method; its other settings stay as they are.
        values: the values of each setting that is searched, in order.
    """

    method: Method
    values: Mapping[str, tuple[Any, ...]]

    @classmethod
    def of(
        cls,
        method: Method,
        chosen: Mapping[str, Sequence[Any]] | None = None,
        unused: Collection[str] = (),
    ) -> Space:
        """Return the space of a method: the search values of all settings that are at their default.

        Args:
            method: a setting that differs from its default is not searched.
            chosen: other values for some settings; these are searched in any case.
            unused: settings that make no difference; they are searched only if they are chosen.
        """
        chosen = {} if chosen is None else chosen
        for name, values in chosen.items():
            if name not in method.space():
                raise unknown(f"setting of {method.name}", name, method.space() or ["(none)"])
            if isinstance(values, str) or not isinstance(values, Sequence) or not values:
                raise must_be(name, "the space", "a list of values", values)
        fixed = {*method.changed(), *unused}
        open_settings = {
            name: limits.search
            for name, limits in method.space().items()
            if limits.search and name not in fixed
        }
        wanted = {
            name: tuple(dict.fromkeys(chosen.get(name, open_settings.get(name, ()))))
            for name in method.space()
        }
        space = cls(method, {name: values for name, values in wanted.items() if values})
        if not space.values:
            raise InputError(f"{method.name} has no setting to search: name one with its values")
        if space.size > MOST_POINTS:
            raise InputError(
                f"{method.name}: {space.size:,} combinations of values are too many to search:"
                " name fewer values"
            )
        for name, values in space.values.items():
            for value in values:
                space.at({name: value})
        return space

    @property
    def size(self) -> int:
        """Return the number of points, however large."""
        return prod(len(values) for values in self.values.values())

    def __len__(self) -> int:
        return self.size

    def point(self, number: int) -> Point:
        """Return a point by its number, from 0 on; the last setting changes fastest."""
        found = {}
        for name, values in reversed(list(self.values.items())):
            number, place = divmod(number, len(values))
            found[name] = values[place]
        return {name: found[name] for name in self.values}

    def number(self, point: Point) -> int:
        """Return the number of a point."""
        number = 0
        for name, values in self.values.items():
            number = number * len(values) + values.index(point[name])
        return number

    def at(self, point: Point) -> Method:
        """Return the method at a point; a value that is not allowed is an error."""
        return replace(self.method, **point)
