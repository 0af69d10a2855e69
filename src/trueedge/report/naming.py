"""Titles, unique names of data sets, and the colours of methods on a page."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace

from trueedge.analysis.summary import alike
from trueedge.analysis.tables import Table
from trueedge.report.marks import Looks
from trueedge.results.record import Record
from trueedge.tasks.base import KINDS

DIGITS = 8
HASH = re.compile(r"[0-9a-f]{16,}")


def kind_title(kind: str) -> str:
    """Return what a kind of task is called; a neutral word for one that is not registered here."""
    found = KINDS.find(kind)
    return "Results" if found is None else found.title


def page_title(records: Sequence[Record]) -> str:
    """Return the title of a page: ``Link prediction on cora``, ``Results on 7 data sets``."""
    kinds = {kind_title(one.kind) for one in records}
    names = list(dict.fromkeys(one.dataset for one in records))
    where = f"{len(names)} data sets"
    if len(names) <= 4:
        where = " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    return f"{kinds.pop() if len(kinds) == 1 else 'Results'} on {where}"


def told_apart(records: Sequence[Record]) -> tuple[list[Record], dict[str, str]]:
    """Rename data sets whose tables would have the same title; return the records and the old names by new.

    A file that was changed between two runs has one name and two graphs: ``roads (48caafc0)`` and
    ``roads (0c390abe)``, with the dates of their last records where these differ.

    Args:
        records: of any data sets.
    """
    clashing: dict[str, dict[str, list[Record]]] = {}
    for group in alike(records, "dataset", "protocol", "options"):
        graphs = {str(one.provenance.get("source")) for one in group}
        if len(graphs) > 1:
            clashing.setdefault(group[0].dataset, {}).update({graph: [] for graph in graphs})
    for one in records:
        clashing.get(one.dataset, {}).get(str(one.provenance.get("source")), []).append(one)
    names: dict[tuple[str, str], str] = {}
    for dataset, graphs_of in clashing.items():
        dates = {graph: max(one.created for one in group)[:10] for graph, group in graphs_of.items()}
        dated = len(set(dates.values())) > 1
        for graph in graphs_of:
            known = f"{_digits(graph)}, {dates[graph]}" if dated and dates[graph] else _digits(graph)
            names[dataset, graph] = f"{dataset} ({known})"
    renamed = [
        replace(one, dataset=names.get((one.dataset, str(one.provenance.get("source"))), one.dataset))
        for one in records
    ]
    return renamed, {name: dataset for (dataset, _), name in names.items()}


def method_looks(tables: Sequence[Table]) -> dict[str, Looks]:
    """For each data set the number of the colour and mark of each of its methods, in all of its charts.

    Args:
        tables: all that are on the page.
    """
    found: dict[str, dict[str, int]] = {}
    for one in tables:
        known = found.setdefault(one.first.dataset, {})
        for line in one.lines:
            known.setdefault(line.label, len(known))
    return dict(found)


def _digits(source: str) -> str:
    """The first digits of a graph's hash, or of its files', where the records keep one."""
    written = HASH.findall(source)
    return (written[-1] if written else hashlib.sha256(source.encode()).hexdigest())[:DIGITS]
