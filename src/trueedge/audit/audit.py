"""All checks on one benchmark."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from trueedge.audit.check import Check, Finding, Skipped, catalogue
from trueedge.audit.findings import Audit, too_small
from trueedge.audit.items_subject import ItemSubject
from trueedge.audit.own_benchmark import Benchmark, own_benchmark
from trueedge.audit.subject import LinkSubject, Subject
from trueedge.audit.triples_subject import TripleSubject
from trueedge.audit.typed_subject import NodeSubject, TypedLinkSubject
from trueedge.datasets import DEFAULT_PROTOCOL
from trueedge.errors import InputError, whole_number
from trueedge.graph.any_graph import GraphLike
from trueedge.progress import Progress
from trueedge.runs.provenance import provenance
from trueedge.tasks import GraphTask, ItemTask, LinkTask, NodeTask, Task, TripleTask, TypedLinkTask
from trueedge.tasks.protocols import Data
from trueedge.tasks.storage import is_saved, load


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
        raise InputError(
            f"no check applies to the protocol {made.protocol}: audit the data under another one, such as"
            f" {DEFAULT_PROTOCOL}"
        )
    subject = _subject(found, seed, sample)
    findings, skipped, seconds, sizes = [], {}, {}, subject.sizes()
    for number, check in enumerate(checks):
        if progress is not None:
            progress(check.name, number, len(checks))
        start = time.perf_counter()
        answer = check.run(subject)
        seconds[check.name] = time.perf_counter() - start
        if isinstance(answer, Skipped):
            skipped[check.name] = answer.reason
        else:
            findings.append(_judged(answer, check, subject, sizes))
    of_graph = made.graph.notes if isinstance(made, (GraphTask, ItemTask)) else ()
    return Audit(
        dataset=made.dataset,
        protocol=made.protocol,
        seed=seed,
        sample=sample,
        findings=tuple(findings),
        skipped=skipped,
        notes=tuple(dict.fromkeys((*found.notes, *subject.sampling(), *of_graph))),
        sizes=sizes,
        provenance=provenance(made, "cpu"),
        seconds=seconds,
    )


def _judged(found: Finding, check: Check, subject: Subject, sizes: Mapping[str, int]) -> Finding:
    """Return a finding with what to do about it; without a verdict if the benchmark is too small."""
    if too_small(check.fewest, sizes):
        return replace(found, verdict="too small", advice="")
    if not found.wrong:
        return replace(found, advice="")
    return replace(found, advice=found.advice or _advice(check, subject))


def _advice(check: Check, subject: Subject) -> str:
    return check.advice if isinstance(check.advice, str) else check.advice(subject)


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
