"""A page on a study: its figures, and its numbers next to the published ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from trueedge.files.writing import check_target, write_text
from trueedge.report.blocks import Cell, Column, facts, figure, figures, in_words, notes, table
from trueedge.report.markup import Markup, joined
from trueedge.report.page import Section, page
from trueedge.runs.provenance import machine, versions
from trueedge.studies.study import Comparison, Finding, Study


def study_page(study: Study, finding: Finding) -> str:
    """One self-contained HTML page on a finding.

    Args:
        study: what was run.
        finding: what it came to.
    """
    sections = []
    if finding.figures:
        drawn = figures([figure(one) for one in finding.figures])
        sections.append(Section("Figures", drawn))
    if finding.rows:
        known = any(row.theirs is not None for row in finding.rows)
        title = "Ours and published" if known else "Numbers"
        sections.append(Section(title, _compared(finding.rows, study.decimals)))
    if finding.missing:
        sections.append(Section("Not run", notes(finding.missing)))
    sections.append(Section("Provenance", _computed(finding)))
    return page(f"{study.name}: {study.title}", sections, lead=study.citation)


def write_study(study: Study, finding: Finding, path: str | Path) -> Path:
    """Write the page on a finding to an .html file; returns its path."""
    check_target(path, "a page", (".html",))
    return write_text(path, study_page(study, finding), "the page")


def _compared(rows: Sequence[Comparison], digits: int) -> Markup:
    known = any(row.theirs is not None for row in rows)
    names = ("ours", "std", "seeds", *(("published", "difference") if known else ()))
    columns: list[Column | str] = ["data set", "protocol", "method", "metric"]
    columns += [Column(name, number=True) for name in names]
    lines = []
    for row in rows:
        numbers = (row.ours, row.std if row.seeds > 1 else None, row.seeds, row.theirs, row.difference)
        shown = [_cell(value, 0 if place == 2 else digits) for place, value in enumerate(numbers)]
        lines.append([row.dataset, row.protocol, row.method, row.metric, *shown[: len(names)]])
    gaps = [abs(row.difference) for row in rows if row.difference is not None]
    summary = (
        facts(
            [(f"{sum(gaps) / len(gaps):.{digits}f}", "mean absolute difference"), (str(len(gaps)), "values")]
        )
        if gaps
        else Markup("")
    )
    return joined([summary, table(columns, lines)])


def _cell(value: float | None, digits: int) -> Cell:
    # No minus sign before a rounded zero.
    return Cell("" if value is None else f"{round(value, digits) + 0.0:.{digits}f}", sort=value)


def _computed(finding: Finding) -> Markup:
    names = ("device", "machine", "versions")
    # What needs no record was computed here.
    found = finding.places or [{"device": "cpu", "machine": machine(), "versions": versions()}]
    lines = [[in_words(place.get(name)) for name in names] for place in found]
    return table([Column(name, wide=name != "device") for name in names], lines, sortable=False)
