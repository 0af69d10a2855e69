"""All checks on one benchmark."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trueedge.audit.check import CHECKS, Finding, Skipped, catalogue
from trueedge.audit.items_subject import ItemSubject
from trueedge.audit.own_benchmark import Benchmark, own_benchmark
from trueedge.audit.subject import LinkSubject, Subject
from trueedge.audit.triples_subject import TripleSubject
from trueedge.audit.typed_subject import NodeSubject, TypedLinkSubject
from trueedge.errors import InputError, whole_number
from trueedge.files.writing import write_text
from trueedge.graph.any_graph import GraphLike
from trueedge.progress import Progress
from trueedge.registry import Registry
from trueedge.runs.provenance import provenance
from trueedge.tasks import GraphTask, ItemTask, LinkTask, NodeTask, Task, TripleTask, TypedLinkTask
from trueedge.tasks.base import KINDS
from trueedge.tasks.protocols import Data
from trueedge.tasks.storage import is_saved, load

# What deserves attention first.
VERDICTS = ("broken", "look", "ok")


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
        """One line per finding, what is broken first."""
        lines = [
            f"{one.verdict:<7} {one.check:<24} {one.shown:>9}  {one.sentence}" for one in self.by_verdict()
        ]
        return "\n".join([f"{self.dataset} · {self.protocol}", *lines])

    def by_verdict(self) -> list[Finding]:
        """Return the findings, what is broken first, then what deserves a look."""
        return sorted(self.findings, key=lambda finding: VERDICTS.index(finding.verdict))

    def count(self, verdict: str) -> int:
        """Return how many findings have a verdict."""
        return sum(finding.verdict == verdict for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, texts and lists."""
        return {
            "dataset": self.dataset,
            "protocol": self.protocol,
            "seed": self.seed,
            "sample": self.sample,
            "notes": list(self.notes),
            "sizes": dict(self.sizes),
            "findings": [_plain(finding) for finding in self.findings],
            "skipped": dict(self.skipped),
            "seconds": {name: round(value, 3) for name, value in self.seconds.items()},
            "provenance": dict(self.provenance),
        }

    def save(self, path: str | Path) -> Path:
        """Write it to a .html file as a page, or with all its numbers to a .json file; returns its path."""
        path = check_output(path)
        return write_text(path, FORMATS.get(path.suffix)(self), "the audit")

    def __repr__(self) -> str:
        counts = ", ".join(f"{self.count(verdict)} {verdict}" for verdict in ("broken", "look", "ok"))
        return f"Audit({self.dataset}, {self.protocol}: {counts})"


def audit(
    thing: Task | Data | str | Path | GraphLike,
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
    """Run all checks that apply to a benchmark's kind of task: leaks, easy negatives, degree bias.

    Args:
        thing: a task; or a graph, interactions, the path of an edge list, a folder of triples, of a typed
            graph or of interactions, a data set's name or the folder of a saved task; or a graph of another
            library (see :func:`trueedge.graph.as_graph`).
        protocol: how a graph or data set is evaluated; where None ``existing``, or the default of triples,
            typed graphs and interactions.
            With your own split it makes the negatives, with your own negatives the split.
        seed: for the samples, and for split and negatives where they are made here.
        sample: a slow check examines at most this many positives, and as many negatives; leaks are looked
            for in all pairs up to five million.
        split: your own split, leaks and all: a :class:`trueedge.Split`, or what
            :func:`trueedge.scorers.pair_files.listed_parts` takes (a folder, files, arrays). Without training
            pairs in it the graph is the training graph; with them it gives nodes, names and features. Of
            interactions, how they are split: ``random`` or ``time``.
        negatives: your own negatives, likewise; of links in typed graphs, the kind that is drawn.
        features: float array (n, d), or a .npy file with one, in place of the graph's own features.
        progress: called with a check's name, the checks done and their number.
        options: the protocol's options.
    """
    sample = whole_number("sample", "audit", sample, 1)
    found = _benchmark(thing, protocol, seed, options, split, negatives, features)
    made = found.task
    checks = catalogue(made.kind)
    if not checks:
        raise InputError(f"{made.title} tasks cannot be audited yet: there are checks for {_kinds()}")
    subject = _subject(found, seed, sample)
    findings, skipped, seconds = [], {}, {}
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
    of_graph = made.graph.notes if isinstance(made, (GraphTask, ItemTask)) else ()
    return Audit(
        dataset=made.dataset,
        protocol=made.protocol,
        seed=seed,
        sample=sample,
        findings=tuple(findings),
        skipped=skipped,
        notes=tuple(dict.fromkeys((*found.notes, *subject.sampling(), *of_graph))),
        sizes=subject.sizes(),
        provenance=provenance(made, "cpu"),
        seconds=seconds,
    )


def _subject(found: Benchmark, seed: int, sample: int) -> Subject:
    if isinstance(found.task, LinkTask):
        return LinkSubject(found.task, seed, sample, found.whole, found.timed)
    if isinstance(found.task, ItemTask):
        return ItemSubject(found.task, seed, sample, found.interactions)
    subject = next((one for kind, one in SUBJECTS.items() if isinstance(found.task, kind)), Subject)
    return subject(found.task, seed, sample)


# How the checks of a kind of task see it.
SUBJECTS: dict[type[Task], type[Subject]] = {
    TripleTask: TripleSubject,
    NodeTask: NodeSubject,
    TypedLinkTask: TypedLinkSubject,
}


# What an audit is written as, by the ending of the file; the room of pages adds its own.
FORMATS: Registry[Callable[[Audit], str]] = Registry("format of an audit", "trueedge.report")
FORMATS.add(".json", lambda found: json.dumps(found.to_dict(), indent=2, default=str) + "\n")


def check_output(path: str | Path) -> Path:
    """Return a path that an audit can be written to; another ending is refused."""
    path = Path(path)
    if path.suffix not in FORMATS:
        raise InputError(f"{path}: an audit is written to a .html or a .json file")
    return path


def _kinds() -> str:
    """The kinds of tasks that checks name, in words."""
    kinds = dict.fromkeys(kind for one in catalogue() for kind in one.kinds or ())
    return " and ".join(found.title for kind in kinds if (found := KINDS.find(kind)) is not None)


def _benchmark(
    thing: Task | Data | str | Path,
    protocol: str | None,
    seed: int,
    options: Mapping[str, Any],
    split: object,
    negatives: object,
    features: object,
) -> Benchmark:
    if isinstance(thing, (str, Path)) and is_saved(thing):
        thing = load(thing)
    if isinstance(thing, Task) and (protocol not in (None, thing.protocol) or options):
        asked = f"protocol {protocol}" if protocol not in (None, thing.protocol) else "options"
        raise InputError(f"the task was already made under {thing.protocol}: it takes no {asked}")
    return own_benchmark(thing, protocol, seed, options, split, negatives, features)


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
        "numbers": {name: float(value) for name, value in finding.numbers.items()},
        "looked": finding.looked,
        # JSON has no nan.
        "series": {
            name: [None if value != value else value for value in array.tolist()]
            for name, array in finding.series.items()
        },
    }
