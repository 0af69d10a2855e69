"""Complete names on the command line: data sets, protocols, methods, studies."""

from __future__ import annotations

from collections.abc import Iterable


def dataset(incomplete: str) -> list[str]:
    """Return the data sets whose names begin with a text; the shell completes files itself."""
    from trueedge.datasets import names

    return _beginning(incomplete, names())


def protocol(incomplete: str) -> list[str]:
    """Return comma-separated lists of protocols whose last name begins with a text."""
    from trueedge.tasks.protocols import catalogue

    return _in_list(incomplete, ["all", *(one.name for one in catalogue())])


def method(incomplete: str) -> list[str]:
    """Return comma-separated lists of methods and families whose last name begins with a text."""
    from trueedge.methods import catalogue

    kinds = catalogue()
    return _in_list(incomplete, ["all", *(one.family for one in kinds), *(one.name for one in kinds)])


def study(incomplete: str) -> list[str]:
    """Return the studies whose names begin with a text."""
    from trueedge.studies import catalogue

    return _beginning(incomplete, ["list", *(one.name for one in catalogue())])


def _in_list(incomplete: str, names: Iterable[str]) -> list[str]:
    before, comma, last = incomplete.rpartition(",")
    taken = set(before.split(","))
    return [f"{before}{comma}{name}" for name in _beginning(last, names) if name not in taken]


def _beginning(text: str, names: Iterable[str]) -> list[str]:
    return [name for name in dict.fromkeys(names) if name.startswith(text)]
