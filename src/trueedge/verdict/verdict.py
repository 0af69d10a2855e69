"""A verdict: the answer first, then the tables, groups, checks and warnings behind it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trueedge.analysis.slices import Sliced
from trueedge.analysis.tables import Table
from trueedge.errors import InputError
from trueedge.files.text import as_path
from trueedge.files.writing import write_text
from trueedge.registry import Registry
from trueedge.results.record import Record
from trueedge.verdict import benchmark, rows
from trueedge.verdict.answers import Answer, joined
from trueedge.verdict.doubts_chance import NAME as CHANCE
from trueedge.verdict.notebook import html
from trueedge.verdict.suspicions import Suspicion

if TYPE_CHECKING:
    from trueedge.audit import Finding
    from trueedge.scorers.check import CheckReport

# A smaller share of the AUC is within the noise of two protocols.
LITTLE_DEGREE = 0.05


@dataclass(frozen=True, eq=False)
class Verdict:
    """What a model is worth on some data.

    Attributes:
        model: the model's name.
        dataset: the name of the data.
        answers: how it does under each protocol.
        degree_share: the share of its AUC that is degree, or None.
        suspicions: what makes its scores doubtful, worst first.
        groups: where it wins and loses, a sentence each.
        check: what checks of the scorer found, or None.
        warnings: what an audit found about the benchmarks: protocol and finding.
        advice: what to do next, a sentence each.
        notes: how the verdict was made, a sentence each.
        tables: a table for each protocol.
        sliced: the groups of each protocol's test units.
        records: all records, those of the baselines included.
        seconds: how long it took.
    """

    model: str
    dataset: str
    answers: tuple[Answer, ...]
    degree_share: float | None
    suspicions: tuple[Suspicion, ...]
    groups: tuple[str, ...]
    check: CheckReport | None
    warnings: tuple[tuple[str, Finding], ...]
    advice: tuple[str, ...]
    notes: tuple[str, ...]
    tables: tuple[Table, ...]
    sliced: tuple[Sliced, ...]
    records: tuple[Record, ...] = field(repr=False)
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """Return whether nothing makes its scores invalid."""
        return not any(one.grave for one in self.suspicions)

    @property
    def sentence(self) -> str:
        """Return the answer in one sentence."""
        listed = joined(self.answers) or "was evaluated alone: there is no baseline to compare it with"
        doubt = "" if self.ok else "These scores cannot be trusted (see the doubts below). "
        more = " ".join(filter(None, (self.chance_sentence, self.degree_sentence)))
        return f"{doubt}{self.model} {listed}. {more}".rstrip()

    @property
    def chance_sentence(self) -> str:
        """Return under how many protocols the model may be random, in words; empty if under none."""
        found, count = sum(one.name == CHANCE for one in self.suspicions), len(self.tables)
        if not found:
            return ""
        where = "It is" if found == count else f"Under {found} of {count} protocols, it is"
        return f"{where} not significantly better than chance."

    @property
    def degree_sentence(self) -> str:
        """Return how much of its AUC is degree, in words; empty if that is unknown."""
        if self.degree_share is None:
            return ""
        if self.degree_share < LITTLE_DEGREE:
            return "Hardly any of its AUC is degree."
        return f"{100 * self.degree_share:.0f} % of its AUC is degree."

    @property
    def table(self) -> Any:
        """Return a row for each protocol and method, a DataFrame if pandas is installed."""
        found = [
            {
                "dataset": table.first.dataset,
                "protocol": table.protocol,
                "method": line.label,
                "metric": table.headline,
                "value": line.value,
                "low": None if line.estimate is None else line.estimate.estimate.low,
                "high": None if line.estimate is None else line.estimate.estimate.high,
                "group": "" if line.estimate is None else "".join(line.estimate.letters),
                "seeds": line.row.seeds,
            }
            for table in self.tables
            for line in table.lines
        ]
        try:
            import pandas
        except ImportError:
            return found
        return pandas.DataFrame(found)

    @property
    def label(self) -> str:
        """Return the model's name in the tables, with its settings."""
        lines = (line for table in self.tables for line in table.lines)
        return next((line.label for line in lines if line.row.method == self.model), self.model)

    def answer_in(self, table: Table) -> Answer | None:
        """Return what was found about the model in one of the tables."""
        return next((one for one in self.answers if one.protocol == table.protocol), None)

    def page(self, path: str | Path) -> Path:
        """Write the verdict as a page; return its path."""
        place = as_path(path, "page")
        written = FORMATS.find(place.suffix)
        if written is None:
            raise InputError(f"{place}: a verdict is written to a .html file")
        return write_text(place, written(self), "the verdict")

    def sections(self) -> list[tuple[str, list[str]]]:
        """Return titles and sentences, in the order of reading."""
        checks = () if self.check is None else self.check.findings
        broken = [one.sentence for one in checks if one.level != "ok"]
        found = [
            ("Answer", [self.sentence]),
            ("Doubts", [one.sentence for one in self.suspicions]),
            ("Where it wins and loses", list(self.groups)),
            ("Checks of the scorer", broken),
            ("About the benchmark", benchmark.sentences(self.warnings)),
            ("What to do next", list(self.advice)),
            ("How this was made", [*dict.fromkeys((*self.notes, *rows.remarks(self)))]),
        ]
        return [(title, sentences) for title, sentences in found if sentences]

    def __str__(self) -> str:
        parts = []
        for title, sentences in self.sections():
            parts.append("\n".join([title, *(f"  {sentence}" for sentence in sentences)]))
            if title == "Answer":
                parts += ["\n".join(_lines(table, self)) for table in self.tables]
        return "\n\n".join([f"Verdict on {self.model} · {self.dataset}", *parts])

    def __repr__(self) -> str:
        places = ", ".join(f"{one.protocol}: {one.place}" for one in self.answers)
        return f"Verdict({self.model} on {self.dataset}: {places or 'no baselines'})"

    def _repr_html_(self) -> str:
        return html(self)


# How a verdict is written, by the ending of the file; the room of pages adds its own.
FORMATS: Registry[Callable[[Verdict], str]] = Registry("format of a verdict", "trueedge.report")


def _lines(table: Table, verdict: Verdict) -> list[str]:
    """Return a table as lines of text."""
    head, body = rows.cells(table, verdict.answer_in(table), verdict.label)
    widths = [max(len(row[column]) for row in [head, *body]) for column in range(len(head))]
    return [
        f"{table.where}, {rows.caption(table)}",
        *("  " + _row(row, widths) for row in [head, *body]),
    ]


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *rest = cells
    aligned = [cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)]
    return "  ".join([first.ljust(widths[0]), *aligned]).rstrip()
