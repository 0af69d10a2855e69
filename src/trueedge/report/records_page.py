"""The report on records: everything that was run, on one page."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from trueedge.analysis.slices import Sliced, can_be_sliced, slices
from trueedge.analysis.tables import Table, latest, tables
from trueedge.errors import InputError
from trueedge.files.writing import check_target, write_text
from trueedge.progress import Progress
from trueedge.report import panels
from trueedge.report.blocks import facts
from trueedge.report.costs import cost
from trueedge.report.leaderboards import leaderboards
from trueedge.report.markup import Markup, joined, tag
from trueedge.report.naming import page_title, told_apart
from trueedge.report.over_datasets import over_datasets, panel
from trueedge.report.overview import overview
from trueedge.report.page import Section, page
from trueedge.report.size_limit import PAGE
from trueedge.results.record import Record

# A task that takes longer is not made again unless it is asked for.
QUICK = 60.0


@dataclass(frozen=True)
class Shown:
    """What a report shows.

    Attributes:
        records: the latest of each request.
        tables: a data set under a protocol each; a part gets those of the kinds it applies to.
        called: the data sets that were renamed on the page, and their own names.
        source: where the records are from.
        slowest: in seconds, the slowest task that is made again for slices; negative for no slices.
        progress: called with a text, the work done and the work in all.
    """

    records: list[Record]
    tables: list[Table]
    called: Mapping[str, str]
    source: str = ""
    slowest: float = QUICK
    progress: Progress | None = None

    def slices(self, one: Table) -> Sliced:
        """Return the groups of a table's units."""
        if self.progress is not None:
            place = [other is one for other in self.tables].index(True)
            self.progress(f"slices of {one.where}", place, len(self.tables))
        # By the name under which it can be made again.
        records = [
            replace(record, dataset=self.called.get(record.dataset, record.dataset)) for record in one.records
        ]
        return slices(records, most_seconds=self.slowest)


@dataclass(frozen=True)
class Part:
    """A part of the report.

    Attributes:
        title: its heading.
        build: makes its content within so many bytes; nothing where there is nothing to show.
        share: of the page's bytes.
        short: its entry in the contents, where the title is too long for it.
        applies: whether it applies to a kind of task, by the kind's name; None for every kind.
    """

    title: str
    build: Callable[[Shown, int], Markup]
    share: float = 0.0
    short: str = ""
    applies: Callable[[str], bool] | None = None


def _over_datasets(shown: Shown, room: int) -> Markup:
    return panel(over_datasets(shown.tables, shown.called), room)


def _slices(shown: Shown, room: int) -> Markup:
    return panels.slices(shown.tables, shown.slices, room) if shown.slowest >= 0 else Markup("")


# In the order of the page.
PARTS = (
    Part("Overview", lambda shown, _: overview(shown.tables)),
    Part("Leaderboards", lambda shown, room: leaderboards(shown.tables, room), share=0.45),
    Part("Protocols", lambda shown, room: panels.protocols(shown.tables, room), share=0.1),
    Part("Across data sets", _over_datasets, share=0.03),
    Part("Performance by group", _slices, share=0.2, short="Groups", applies=can_be_sliced),
    Part("Training", lambda shown, room: panels.training(shown.tables, room), share=0.1),
    Part("Time and memory", lambda shown, room: cost(shown.tables, room), share=0.12),
    Part("Provenance", lambda shown, _: panels.places(shown.records, shown.source)),
)


def report(
    records: Iterable[Record],
    *,
    title: str = "",
    source: str = "",
    with_slices: bool | None = None,
    progress: Progress | None = None,
) -> str:
    """Return one self-contained HTML page on some records.

    Repeated runs: the latest counts. Trials of a search are left out.

    Args:
        records: of any data sets, protocols, methods and seeds.
        title: of the page; made of the kind of task and the data sets where empty.
        source: where the records are from, for the reader.
        with_slices: show performance by group (of links: degree, common neighbours, distance, factor), for
            which the tasks are made again; where None, those that took less than a minute to make.
        progress: called with a text, the work done and the work in all.
    """
    kept = latest(records)
    if not kept:
        raise InputError("there is no record to report on")
    renamed, called = told_apart(kept)
    slowest = QUICK if with_slices is None else math.inf if with_slices else -1.0
    shown = Shown(kept, tables(renamed), called, source, slowest, progress)
    sections = []
    for part in PARTS:
        of_kinds = [one for one in shown.tables if part.applies is None or part.applies(one.first.kind)]
        content = part.build(replace(shown, tables=of_kinds), int(part.share * PAGE)) if of_kinds else ""
        if content:
            sections.append(Section(part.title, content, short=part.short))
    return page(title or page_title(kept), sections, lead=_lead(shown))


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


def _lead(shown: Shown) -> object:
    counts = [
        (len(shown.records), "record"),
        (len({one.first.dataset for one in shown.tables}), "data set"),
        (len({one.protocol for one in shown.tables}), "protocol"),
        (len({line.label for one in shown.tables for line in one.lines}), "method"),
    ]
    numbers = facts((f"{count:,}", f"{noun}{'' if count == 1 else 's'}") for count, noun in counts)
    said = "What was run, with confidence intervals, cost and provenance."
    return joined([tag("p", said, class_="lead"), numbers])
