"""Dataclasses whose arrays stay read-only: also after pickling and copying."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from trueedge.graph.validation import frozen, locked


class FrozenFields:
    """A base of frozen dataclasses: their arrays and mappings cannot be changed.

    A pickle or a deep copy of an array forgets that it is read-only, and would keep a hash that was computed
    before. So copies get read-only arrays again, and nothing that was computed from them.
    """

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type]  # subclasses are dataclasses
            object.__setattr__(self, field.name, _fixed(getattr(self, field.name)))

    def __getstate__(self) -> dict[str, Any]:
        kind = type(self)
        return {
            name: _plain(value)
            for name, value in self.__dict__.items()
            if not isinstance(getattr(kind, name, None), cached_property)
        }

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        for name, value in state.items():
            # Nothing else refers to what was unpickled or copied.
            object.__setattr__(self, name, _fixed(value, locked))


def _fixed(value: Any, fix: Callable[[Any], Any] = frozen) -> Any:
    """Return arrays, also those in mappings and tuples, as read-only arrays; mappings are read-only too."""
    if isinstance(value, np.ndarray):
        return fix(value)
    if isinstance(value, Mapping):
        return MappingProxyType({key: _fixed(one, fix) for key, one in value.items()})
    if type(value) is tuple and any(isinstance(one, np.ndarray) for one in value):
        return tuple(_fixed(one, fix) for one in value)
    return value


def _plain(value: Any) -> Any:
    """Return read-only mappings as dictionaries, which can be pickled."""
    if isinstance(value, MappingProxyType):
        return {key: _plain(one) for key, one in value.items()}
    return value
