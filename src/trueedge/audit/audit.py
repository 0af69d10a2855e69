"""All checks on one benchmark."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trueedge.audit.check import Check, Finding, Skipped, catalogue
from trueedge.audit.own_benchmark import Benchmark, own_benchmark
from trueedge.audit.subject import Subject
from trueedge.errors import InputError, whole_number
from trueedge.files.writing import write_text
from trueedge.graph import Graph
from trueedge.progress import Progress
from trueedge.runs.provenance import provenance
from trueedge.tasks import Task
from trueedge.tasks.storage import load

# What deserves attention first.
VERDICTS = ("broken", "look", "ok")


@dataclass(frozen=True, eq=False)
class Audit:
    """What all checks found about a benchmark.

    Attributes:
        dataset: the data set's or graph's name.
        protocol: the protocol.
        seed: for the samples, and for split and negatives where they were made here.
        sample: the most positives, and negatives, a check looks at where all would take long.
        findings: what the checks found, by family.
        skipped: why a check did not apply, by its name.
        notes: what to know beside the findings, a sentence each.
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

    def __str__(self) -> str:
        """A line a finding, what is broken first."""
        lines = [
            f"{one.verdict:<7} {one.check:<24} {one.shown:>9}  {one.sentence}" for one in self.by_verdict()
        ]
        return "\n".join([f"{self.dataset} · {self.protocol}", *lines])

    def by_verdict(self) -> list[Finding]:
        """The findings, what is broken first, then what deserves a look."""
        return sorted(self.findings, key=lambda finding: VERDICTS.index(finding.verdict))

    def count(self, verdict: str) -> int:
        """How many findings have a verdict."""
        return sum(finding.verdict == verdict for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers, texts and lists."""
        checks = {check.name: check for check in catalogue()}
        return {
            "dataset": self.dataset,
            "protocol": self.protocol,
            "seed": self.seed,
            "sample": self.sample,
            "notes": list(self.notes),
            "sizes": dict(self.sizes),
            "findings": [_plain(finding, checks[finding.check]) for finding in self.findings],
            "skipped": dict(self.skipped),
            "seconds": {name: round(value, 3) for name, value in self.seconds.items()},
            "provenance": dict(self.provenance),
        }

    def save(self, path: str | Path) -> Path:
        """Write it to a .html file as a page, or with all its numbers to a .json file; returns its path."""
        path = check_output(path)
        if path.suffix == ".html":
            from trueedge.audit.page import page

            text = page(self)
        else:
            text = json.dumps(self.to_dict(), indent=2, default=str) + "\n"
        return write_text(path, text, "the audit")

    def __repr__(self) -> str:
        counts = ", ".join(f"{self.count(verdict)} {verdict}" for verdict in ("broken", "look", "ok"))
        return f"Audit({self.dataset}, {self.protocol}: {counts})"


def audit(
    thing: Task | Graph | str | Path,
    protocol: str | None = None,
    seed: int = 0,
    sample: int = 100_000,
    *,
    split: object = None,
    negatives: object = None,
    features: object = None,
    progress: Progress | None = None,
    **options: Any,
) -> Audit:
    """Say what a benchmark really measures.

    Args:
        thing: a task; or a graph, the path of an edge list, a data set's name or the folder of a saved task.
        protocol: what a graph or data set is judged under; ``existing`` where none is named. With a split of
            one's own it makes the negatives, with negatives of one's own the split.
        seed: for the samples, and for split and negatives where they are made here.
        sample: a check looks at no more than this many positives, and as many negatives, where a look at all
            would take long; leaks are looked for in all pairs up to five million.
        split: a split of one's own, leaks and all: a :class:`trueedge.Split`, or what
            :func:`trueedge.scorers.pair_files.listed_parts` takes (a folder, files, arrays). Without training
            pairs in it the graph is the training graph; with them it gives nodes, names and features.
        negatives: negatives of one's own, likewise.
        features: float array (n, d), or a .npy file with one, in place of the graph's own features.
        progress: called with a check's name, the checks done and their number.
        options: the protocol's options.
    """
    sample = whole_number("sample", "audit", sample, 1)
    found = _benchmark(thing, protocol, seed, options, split, negatives, features)
    made = found.task
    subject = Subject(made, seed, sample, found.whole)
    findings, skipped, seconds = [], {}, {}
    checks = catalogue()
    for number, check in enumerate(checks):
        if progress is not None:
            progress(check.name, number, len(checks))
        start = time.perf_counter()
        answer = check.run(subject)
        seconds[check.name] = time.perf_counter() - start
        if isinstance(answer, Skipped):
            skipped[check.name] = answer.reason
        else:
            findings.append(answer)
    return Audit(
        dataset=made.dataset,
        protocol=made.protocol,
        seed=seed,
        sample=sample,
        findings=tuple(findings),
        skipped=skipped,
        notes=tuple(dict.fromkeys((*found.notes, *_sampling(subject), *made.graph.notes))),
        sizes=_sizes(subject),
        provenance=provenance(made, "cpu"),
        seconds=seconds,
    )


def check_output(path: str | Path) -> Path:
    """A path that an audit can be written to, by its ending."""
    path = Path(path)
    if path.suffix not in (".html", ".json"):
        raise InputError(f"{path}: an audit is written to a .html or a .json file")
    return path


def _benchmark(
    thing: Task | Graph | str | Path,
    protocol: str | None,
    seed: int,
    options: Mapping[str, Any],
    split: object,
    negatives: object,
    features: object,
) -> Benchmark:
    if isinstance(thing, (str, Path)) and (Path(thing) / "task.json").is_file():
        thing = load(thing)
    if isinstance(thing, Task) and (protocol not in (None, thing.protocol) or options):
        asked = f"protocol {protocol}" if protocol not in (None, thing.protocol) else "options"
        raise InputError(f"the task is made already, under {thing.protocol}: it takes no {asked}")
    return own_benchmark(thing, protocol, seed, options, split, negatives, features)


def _sizes(subject: Subject) -> dict[str, int]:
    found = {"nodes": subject.task.num_nodes, "training edges": subject.task.graph.num_edges}
    if subject.task.features is not None:
        found["features"] = subject.task.features.shape[1]
    for name in subject.task.part_names:
        part = subject.task.part(name)
        found[f"{name} positives"] = len(part.positives)
        found[f"{name} negatives"] = part.negatives.size // 2
    return found


def _sampling(subject: Subject) -> list[str]:
    """What was not looked at in full."""
    notes = []
    looked = subject.pairs()
    if not looked.whole:
        notes.append(f"distributions were looked at on {looked.sizes()}")
    if not subject.lists().whole:
        notes.append(f"scorers were judged on {subject.lists().sizes()}")
    if subject.path_limit < subject.sample:
        notes.append(f"shortest paths were looked for between {subject.path_limit:,} pairs of either kind")
    notes += [
        f"leaks of the {part} part were looked for in {subject.listed_for_leaks(part).sizes()}"
        for part in subject.judged
        if not subject.listed_for_leaks(part).whole
    ]
    return notes


def _plain(finding: Finding, check: Check) -> dict[str, Any]:
    return {
        "check": finding.check,
        "family": check.family,
        "title": check.title,
        "question": check.question,
        "rule": check.rule,
        "verdict": finding.verdict,
        "shown": finding.shown,
        "sentence": finding.sentence,
        "numbers": {name: float(value) for name, value in finding.numbers.items()},
        "looked": finding.looked,
        # JSON has no nan.
        "series": {
            name: [None if value != value else value for value in array.tolist()]
            for name, array in finding.series.items()
        },
    }
