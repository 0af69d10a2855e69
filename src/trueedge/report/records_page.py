"""The report on records: everything that was run, on one page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from trueedge.analysis.slices import Sliced, slices
from trueedge.analysis.tables import Table, latest, tables
from trueedge.errors import InputError
from trueedge.files.writing import check_target, write_text
from trueedge.progress import Progress
from trueedge.report import panels
from trueedge.report.answer_matrix import matrix, summary
from trueedge.report.markup import Markup, joined, tag
from trueedge.report.naming import page_title, told_apart
from trueedge.report.over_datasets import over_datasets, panel
from trueedge.report.overview import overview
from trueedge.report.page import Section, page
from trueedge.report.results_section import Results
from trueedge.report.size_limit import PAGE
from trueedge.report.tuned_names import Names, Trials, renamed, renamed_groups
from trueedge.results.record import Record

# A task that takes longer is not made again unless it is asked for.
QUICK = 60.0
# The share of the page that single tables have.
RESULTS = 0.8


def report(
    records: Iterable[Record],
    *,
    title: str = "",
    source: str = "",
    with_slices: bool | None = None,
    progress: Progress | None = None,
) -> str:
    """Return one self-contained HTML page on some records.

    It begins with the best method of each data set and protocol. Repeated runs: the latest counts. Trials of
    a search are left out, and what it chose is called ``gcn (tuned)``.

    Args:
        records: of any data sets, protocols, methods and seeds.
        title: of the page; made of the kind of task and the data sets where empty.
        source: where the records are from, for the reader.
        with_slices: show performance by group (of links: degree, common neighbours, distance, factor), for
            which the tasks are made again; where None, those that took less than a minute to make.
        progress: called with a text, the work done and the work in all.
    """
    every = list(records)
    kept = latest(every)
    if not kept:
        raise InputError("there is no record to report on")
    apart, called = told_apart(kept)
    trials = Trials(every)
    made = tables(apart)
    names = [trials.names(one) for one in made]
    shown = [renamed(one, chosen) for one, chosen in zip(made, names, strict=True)]
    slowest = QUICK if with_slices is None else math.inf if with_slices else -1.0
    grouping = _Grouping(shown, names, called, slowest, progress)
    results = Results(shown, grouping if slowest >= 0 else None, int(RESULTS * PAGE))
    sections = [
        Section("Results", results.content),
        Section("All methods", overview(shown), folded=True),
        Section("Across protocols", panels.protocols(shown, int(0.1 * PAGE)), folded=True),
        Section("Across data sets", panel(over_datasets(shown, called), int(0.03 * PAGE)), folded=True),
        Section("Provenance", panels.places(kept, source), folded=True),
    ]
    lead = _lead(shown, results.names, len(kept))
    return page(title or page_title(kept), [one for one in sections if one.content], lead=lead)


def write(records: Iterable[Record], path: str | Path, **options: object) -> Path:
    """Write the report on some records to a file; see :func:`report` for the options.

    Args:
        records: of any data sets, protocols, methods and seeds.
        path: an ``.html`` file.
        options: those of :func:`report`.
    """
    target = Path(path)
    if target.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{target}: a report is written to an .html file")
    check_target(target, "the report")
    text = report(records, **options)  # type: ignore[arg-type]
    return write_text(target, text, "the report")


def _lead(tables: Sequence[Table], names: Mapping[int, str], count: int) -> Markup:
    """The first screen: the answer in words and as a matrix, and what the page is about."""
    counts = [
        (count, "record"),
        (len({one.first.dataset for one in tables}), "data set"),
        (len({one.protocol for one in tables}), "protocol"),
        (len({line.label for one in tables for line in one.lines}), "method"),
    ]
    listed = " · ".join(f"{number:,} {noun}{'' if number == 1 else 's'}" for number, noun in counts)
    answer = tag("p", summary(tables), class_="answer")
    return joined([answer, matrix(tables, names) if len(tables) > 1 else "", tag("p", listed, class_="lead")])


@dataclass(frozen=True)
class _Grouping:
    """Groups the test units of a table.

    Attributes:
        tables: all that are on the page.
        names: the short names of each table's methods, by their labels.
        called: the data sets that were renamed on the page, and their own names.
        slowest: in seconds, the slowest task that is made again.
        progress: called with a text, the work done and the work in all.
    """

    tables: Sequence[Table]
    names: Sequence[Names]
    called: Mapping[str, str]
    slowest: float
    progress: Progress | None

    def __call__(self, one: Table) -> Sliced:
        place = [other is one for other in self.tables].index(True)
        if self.progress is not None:
            self.progress(f"slices of {one.where}", place, len(self.tables))
        # By the name under which it can be made again.
        records = [
            replace(record, dataset=self.called.get(record.dataset, record.dataset)) for record in one.records
        ]
        return renamed_groups(slices(records, most_seconds=self.slowest), self.names[place])
