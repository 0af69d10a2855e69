"""Short names of tuned methods: ``gcn (tuned)`` instead of every setting that a search chose."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from trueedge.analysis.slices import Sliced
from trueedge.analysis.tables import Table
from trueedge.results.record import Record, request_key

Names = Mapping[str, str]


class Trials:
    """The trials of searches among some records.

    Args:
        records: of any kind; those that are no trials do not count.
    """

    def __init__(self, records: Iterable[Record]) -> None:
        self._tried: dict[str, set[str]] = {}
        for record in records:
            if record.is_trial:
                self._tried.setdefault(_search(record), set()).add(request_key(**record.settings))

    def chose(self, record: Record) -> bool:
        """Return whether the settings of a record are one of several that a search tried."""
        tried = self._tried.get(_search(record), set())
        return len(tried) > 1 and request_key(**record.settings) in tried

    def names(self, one: Table) -> Names:
        """Return the short names of a table's tuned methods, by their labels."""
        found: dict[str, str] = {}
        for line in one.lines:
            if line.row.settings and self.chose(line.records[0]):
                name, number = f"{line.row.method} (tuned)", 1
                while name in found.values():
                    number += 1
                    name = f"{line.row.method} (tuned #{number})"
                found[line.label] = name
        return found


def renamed(one: Table, names: Names) -> Table:
    """Return a table in which some methods have other labels."""
    if not names:
        return one
    lines = tuple(replace(line, label=names.get(line.label, line.label)) for line in one.lines)
    methods = tuple(replace(found, label=names.get(found.label, found.label)) for found in one.found.methods)
    pairs = tuple(
        replace(pair, first=names.get(pair.first, pair.first), second=names.get(pair.second, pair.second))
        for pair in one.found.pairs
    )
    return replace(one, lines=lines, found=replace(one.found, methods=methods, pairs=pairs))


def renamed_groups(sliced: Sliced, names: Names) -> Sliced:
    """Return groups in which some methods have other labels."""
    slicings = tuple(
        replace(way, values={names.get(label, label): cells for label, cells in way.values.items()})
        for way in sliced.slicings
    )
    return replace(sliced, slicings=slicings)


def _search(record: Record) -> str:
    """Return the same key for the trials of a search and what it chose."""
    return request_key(
        source=record.provenance.get("source"),
        protocol=record.protocol,
        options=dict(record.options),
        method=record.method,
    )
