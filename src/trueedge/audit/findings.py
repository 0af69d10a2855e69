"""All findings about one benchmark, and what they say together."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from trueedge.audit.check import CHECKS, VERDICTS, Finding, Verdict
from trueedge.errors import InputError
from trueedge.files.writing import write_text
from trueedge.html import shortened, table_html
from trueedge.registry import Registry

ANSWERS = {
    "too small": "This benchmark is too small to judge",
    "ok": "No check found anything wrong with this benchmark",
}
LARGER = "Use a larger test part or a larger graph"
TEXT_WIDTH = 100


@dataclass(frozen=True, eq=False)
class Problem:
    """Findings that ask for the same thing: a problem, which is shown once.

    Attributes:
        findings: the findings, the worst first.
    """

    findings: tuple[Finding, ...]

    @property
    def worst(self) -> Finding:
        """The finding that decides the verdict."""
        return self.findings[0]

    @property
    def verdict(self) -> Verdict:
        """The verdict of the worst finding."""
        return self.worst.verdict

    @property
    def sentence(self) -> str:
        """What was found."""
        return self.worst.sentence

    @property
    def advice(self) -> str:
        """What to do about it."""
        return self.worst.advice

    @property
    def others(self) -> str:
        """The other findings with their numbers, in one line; empty if there are none."""
        return ", ".join(f"{one.check} {one.shown}" for one in self.findings[1:])


@dataclass(frozen=True, eq=False)
class Audit:
    """What all checks found about a benchmark.

    Attributes:
        dataset: the data set's or graph's name.
        protocol: the protocol.
        seed: for the samples, and for split and negatives where they were made here.
        sample: the most positives, and negatives, that a slow check examines.
        findings: what the checks found, by family.
        skipped: why a check did not apply, by its name.
        notes: remarks on the data and on samples, a sentence each.
        sizes: how many nodes, edges, positives and negatives there are.
        provenance: hashes of graph and parts, versions, machine.
        seconds: how long the checks took, by their names.
    """

    dataset: str
    protocol: str
    seed: int
    sample: int
    findings: tuple[Finding, ...]
    skipped: Mapping[str, str]
    notes: tuple[str, ...]
    sizes: Mapping[str, int]
    provenance: Mapping[str, Any]
    seconds: Mapping[str, float]

    @property
    def ok(self) -> bool:
        """Return whether no check found anything that is broken or deserves a look."""
        return not self.problems

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """Return what is wrong, the worst first: findings with the same advice are one problem."""
        groups: dict[str, list[Finding]] = {}
        for one in self.by_verdict():
            if one.wrong:
                groups.setdefault(one.advice or one.check, []).append(one)
        return tuple(Problem(tuple(group)) for group in groups.values())

    @property
    def verdict(self) -> Verdict:
        """Return the worst verdict; ``too small`` if more checks cannot judge than find nothing wrong."""
        if self.problems:
            return self.problems[0].verdict
        return "too small" if self.count("too small") > self.count("ok") else "ok"

    @property
    def answer(self) -> str:
        """Return what the findings say together, in a sentence or two."""
        broken = sum(one.verdict == "broken" for one in self.problems)
        others = len(self.problems) - broken
        closer = f"{others} finding{'s deserve' if others > 1 else ' deserves'} a closer look"
        found = [ANSWERS.get(self.verdict, f"Nothing is broken, but {closer}")]
        if broken:
            told = f"{broken} problem{'' if broken == 1 else 's'}{f', and {closer}' if others else ''}"
            found = [f"Scores on this benchmark are misleading: {told}"]
        small, total = self.count("too small"), len(self)
        if small:
            needed = f": {self.needed}" if self.needed else ""
            need = "needs" if small == 1 else "need"
            found.append(f"{small} of {total} checks {need} a larger benchmark{needed}")
        return ". ".join(found) + "."

    @property
    def needed(self) -> str:
        """Return which sizes are too small for some checks, in words; empty if none is known."""
        most: dict[str, int] = {}
        for one in self.findings:
            if one.verdict == "too small":
                for name, least in too_small(CHECKS.get(one.check).fewest, self.sizes).items():
                    most[name] = max(least, most.get(name, 0))
        return ", ".join(f"{least:,} {name} ({self.sizes[name]:,} here)" for name, least in most.items())

    def __getitem__(self, check: str) -> Finding:
        """What a check found."""
        found = next((finding for finding in self.findings if finding.check == check), None)
        if found is None:
            reason = self.skipped.get(check, "there is no such check")
            raise InputError(f"the audit has no finding of {check!r}: {reason}")
        return found

    def __iter__(self) -> Iterator[Finding]:
        """The findings, by family."""
        return iter(self.findings)

    def __len__(self) -> int:
        """How many findings there are."""
        return len(self.findings)

    def by_verdict(self) -> list[Finding]:
        """Return the findings, what is broken first, then what deserves a look."""
        return sorted(self.findings, key=lambda finding: VERDICTS.index(finding.verdict))

    def count(self, verdict: str) -> int:
        """Return how many findings have a verdict."""
        return sum(finding.verdict == verdict for finding in self.findings)

    @property
    def counts(self) -> str:
        """Return how many findings have each verdict, in words."""
        counts = {verdict: self.count(verdict) for verdict in VERDICTS}
        return ", ".join(f"{count} {one}" for one, count in counts.items() if count or one != "too small")

    def names(self, verdict: str) -> list[str]:
        """Return the checks with a verdict."""
        return [finding.check for finding in self.findings if finding.verdict == verdict]

    @property
    def table(self) -> Any:
        """Return a row for each finding, a DataFrame if pandas is installed."""
        rows = [
            {
                "verdict": one.verdict,
                "check": one.check,
                "value": one.number,
                "finding": one.sentence,
                "advice": one.advice,
            }
            for one in self.by_verdict()
        ]
        try:
            import pandas
        except ImportError:
            return rows
        return pandas.DataFrame(rows)

    def page(self, path: str | Path) -> Path:
        """Write the audit as a page; return its path."""
        if Path(path).suffix != ".html":
            raise InputError(f"{path}: the page of an audit is a .html file")
        return self.save(path)

    def save(self, path: str | Path) -> Path:
        """Write it to a .html file as a page, or with all its numbers to a .json file; return its path."""
        path = check_output(path)
        return write_text(path, FORMATS.get(path.suffix)(self), "the audit")

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, texts and lists."""
        return {
            "dataset": self.dataset,
            "protocol": self.protocol,
            "seed": self.seed,
            "sample": self.sample,
            "verdict": self.verdict,
            "answer": self.answer,
            "notes": list(self.notes),
            "sizes": dict(self.sizes),
            "findings": [_plain(finding) for finding in self.findings],
            "skipped": dict(self.skipped),
            "seconds": {name: round(value, 3) for name, value in self.seconds.items()},
            "provenance": dict(self.provenance),
        }

    def __str__(self) -> str:
        """The answer, the problems with what to do about them, and the names of the other checks."""
        parts = [f"{self.dataset} · {self.protocol}: {self.answer}"]
        for one in self.problems:
            parts.append(f"{one.verdict}: {one.worst.check} {one.worst.shown}: {one.sentence}")
            parts += [f"  {one.advice}"] + ([f"  Also: {one.others}"] if one.others else [])
        for verdict, title in (("ok", "ok"), ("too small", "too small to judge")):
            if self.count(verdict):
                parts.append(f"{title}: {', '.join(self.names(verdict))}")
        return "\n".join(
            textwrap.fill(part, TEXT_WIDTH, subsequent_indent="  ", break_on_hyphens=False) for part in parts
        )

    def __repr__(self) -> str:
        return f"Audit({shortened(self.dataset, 40)}, {shortened(self.protocol, 24)}: {self.counts})"

    def _repr_html_(self) -> str:
        rows: list[tuple[str, ...]] = [
            (one.verdict, one.sentence, one.advice, one.others) for one in self.problems
        ]
        for verdict, title in (("ok", "ok"), ("too small", "too small to judge")):
            if self.count(verdict):
                rows.append((title, ", ".join(self.names(verdict)), "", ""))
        head = ("verdict", "finding", "what to do", "also")
        return table_html(f"Audit of {self.dataset} · {self.protocol}. {self.answer}", rows, head)


# What an audit is written as, by the ending of the file; the room of pages adds its own.
FORMATS: Registry[Callable[[Audit], str]] = Registry("format of an audit", "trueedge.report")
FORMATS.add(".json", lambda found: json.dumps(found.to_dict(), indent=2, default=str) + "\n")


def check_output(path: str | Path) -> Path:
    """Return a path that an audit can be written to; another ending is refused."""
    path = Path(path)
    if path.suffix not in FORMATS:
        raise InputError(f"{path}: an audit is written to a .html or a .json file")
    return path


def too_small(fewest: Mapping[str, int], sizes: Mapping[str, int]) -> dict[str, int]:
    """Return what a check needs more of, and how much of it."""
    return {name: least for name, least in fewest.items() if sizes.get(name, least) < least}


def _plain(finding: Finding) -> dict[str, Any]:
    check = CHECKS.get(finding.check)
    return {
        "check": finding.check,
        "family": check.family,
        "title": check.title,
        "question": check.question,
        "rule": check.rule,
        "verdict": finding.verdict,
        "shown": finding.shown,
        "sentence": finding.sentence,
        "advice": finding.advice,
        "numbers": {name: float(value) for name, value in finding.numbers.items()},
        "looked": finding.looked,
        # JSON has no nan.
        "series": {
            name: [None if value != value else value for value in array.tolist()]
            for name, array in finding.series.items()
        },
    }
