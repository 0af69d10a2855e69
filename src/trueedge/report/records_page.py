"""The report on records: everything that was run, on one page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from trueedge.analysis.rankings import rankings
from trueedge.analysis.slices import Sliced, slices
from trueedge.analysis.tables import Table, latest, tables
from trueedge.errors import InputError
from trueedge.files.writing import check_target, write_text
from trueedge.progress import Progress
from trueedge.report import panels
from trueedge.report.blocks import facts
from trueedge.report.costs import cost
from trueedge.report.leaderboards import leaderboards
from trueedge.report.markup import joined, tag
from trueedge.report.naming import method_looks, told_apart
from trueedge.report.over_datasets import over_datasets, panel
from trueedge.report.overview import overview
from trueedge.report.page import Section, page
from trueedge.report.room import PAGE
from trueedge.results.record import Record

# How much of the page each part may take.
SHARES = {"leaderboards": 0.45, "protocols": 0.1, "over": 0.03, "slices": 0.2, "training": 0.1, "cost": 0.12}
# A task that takes longer is not made again unless it is asked for.
QUICK = 60.0


def report(
    records: Iterable[Record],
    *,
    title: str = "",
    source: str = "",
    with_slices: bool | None = None,
    progress: Progress | None = None,
) -> str:
    """One self-contained HTML page on some records.

    Of records of the same request the last counts; trials of a search are left out.

    Args:
        records: of any data sets, protocols, methods and seeds.
        title: of the page; made of the data sets where empty.
        source: where the records are from, as a reader shall know it.
        with_slices: group test positives by degree, common neighbours, distance and factor, for which the
            tasks are made again; where None, those that took less than a minute each when they were run.
        progress: called with a text, the work done and the work in all.
    """
    kept = latest(records)
    if not kept:
        raise InputError("there is no record to report on")
    renamed, called = told_apart(kept)
    found = tables(renamed)
    sections = [Section("Leaderboards", leaderboards(found, _room("leaderboards")))]
    if len(found) > 1:
        sections.insert(0, Section("Overview", overview(found)))
    moved = rankings(found)
    if moved:
        sections.append(
            Section("Protocols", panels.protocols(moved, _room("protocols"), method_looks(found)))
        )
    over = over_datasets(found, called)
    if over:
        sections.append(Section("Over data sets", panel(over, _room("over"))))
    if with_slices is not False:
        limit = math.inf if with_slices else QUICK
        group = partial(_sliced, every=found, called=called, limit=limit, progress=progress)
        content = panels.slices(found, group, _room("slices"))
        sections.append(Section("Performance by kind of link", content, short="Slices"))
    if panels.has_training(found):
        sections.append(Section("Training", panels.training(found, _room("training"))))
    sections.append(Section("Time and memory", cost(found, _room("cost"))))
    sections.append(Section("Where it was computed", panels.places(kept, source), short="Provenance"))
    return page(title or _title(kept), sections, lead=_lead(kept, found))


def write(records: Iterable[Record], path: str | Path, **options: object) -> Path:
    """Write the report on some records to a file; see :func:`report` for the options."""
    target = Path(path)
    if target.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{target}: a report is written to an .html file")
    check_target(target, "the report")
    text = report(records, **options)  # type: ignore[arg-type]
    return write_text(target, text, "the report")


def _room(part: str) -> int:
    return int(SHARES[part] * PAGE)


def _sliced(
    one: Table, every: Sequence[Table], called: Mapping[str, str], limit: float, progress: Progress | None
) -> Sliced:
    if progress is not None:
        progress(f"slices of {one.where}", [other is one for other in every].index(True), len(every))
    # By the name under which it can be made again.
    records = [replace(record, dataset=called.get(record.dataset, record.dataset)) for record in one.records]
    return slices(records, most_seconds=limit)


def _title(records: Sequence[Record]) -> str:
    names = list(dict.fromkeys(one.dataset for one in records))
    if len(names) > 4:
        return f"Link prediction on {len(names)} data sets"
    return f"Link prediction on {', '.join(names[:-1])}{' and ' if len(names) > 1 else ''}{names[-1]}"


def _lead(records: Sequence[Record], found: Sequence[Table]) -> object:
    counts = [
        (len(records), "record"),
        (len({one.first.dataset for one in found}), "data set"),
        (len({one.protocol for one in found}), "protocol"),
        (len({line.label for one in found for line in one.lines}), "method"),
    ]
    numbers = facts((f"{count:,}", f"{noun}{'' if count == 1 else 's'}") for count, noun in counts)
    return joined(
        [tag("p", "What was run, how sure it is, and where it comes from.", class_="lead"), numbers]
    )
