"""Registries of what users call by name: methods, metrics, protocols, data sets, studies, checks, tasks."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

from trueedge.errors import InputError, unknown

T = TypeVar("T")


class Registry(Generic[T]):
    """Entries by name. The modules of a package register theirs when they are imported.

    Args:
        noun: the noun for an entry in messages ("method").
        package: the package whose modules are imported before the first look-up, or None.
        skip: folders of that package that are not imported.
    """

    def __init__(self, noun: str, package: str | None = None, skip: tuple[str, ...] = ()) -> None:
        self.noun = noun
        self._package, self._skip = package, skip
        self._entries: dict[str, T] = {}

    def add(self, name: str, entry: T, *, same: Callable[[T], bool] | None = None) -> T:
        """Add an entry under a new name, or one whose entry may be replaced according to ``same``."""
        taken = self._entries.get(name)
        if taken is not None and not (same is not None and same(taken)):
            raise InputError(f"a {self.noun} called {name!r} is registered already")
        self._entries[name] = entry
        return entry

    def get(self, name: object) -> T:
        """Return an entry by name, or raise an InputError that suggests the nearest name."""
        self.discover()
        if not isinstance(name, str) or name not in self._entries:
            raise unknown(self.noun, name, self._entries)
        return self._entries[name]

    def find(self, name: object) -> T | None:
        """Return an entry by name, or None."""
        self.discover()
        return self._entries.get(name) if isinstance(name, str) else None

    def names(self) -> tuple[str, ...]:
        """Return all names, in the order they were registered."""
        self.discover()
        return tuple(self._entries)

    def values(self) -> tuple[T, ...]:
        """Return all entries, in the order they were registered."""
        self.discover()
        return tuple(self._entries.values())

    def __contains__(self, name: object) -> bool:
        return self.find(name) is not None

    def __len__(self) -> int:
        return len(self.names())

    def discover(self) -> None:
        """Import every module of the package once, so that all entries are known."""
        if self._package is None:
            return
        # Cleared first, since a module may look something up while it is imported.
        name, self._package = self._package, None
        try:
            package = importlib.import_module(name)
            for module in pkgutil.walk_packages(package.__path__, f"{name}."):
                if not set(module.name.split(".")).intersection(self._skip):
                    importlib.import_module(module.name)
        except BaseException:
            self._package = name
            raise

    @contextmanager
    def restored(self) -> Iterator[None]:
        """Restore the entries at the end of the block, for tests that register their own."""
        self.discover()
        before = dict(self._entries)
        try:
            yield
        finally:
            self._entries = before
