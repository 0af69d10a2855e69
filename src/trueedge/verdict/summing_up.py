"""Sum up what was run: the answers in words, doubts about the model, findings about the benchmark."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from trueedge.analysis.comparison import test_part
from trueedge.analysis.slices import slices
from trueedge.analysis.tables import Table, tables
from trueedge.audit import audit
from trueedge.errors import InputError, ScoreWarning
from trueedge.metrics.units import plural
from trueedge.results.record import Record
from trueedge.scorers.check import CheckReport, check_scorer
from trueedge.tasks import Task, TripleTask
from trueedge.verdict import advice, groups, plan
from trueedge.verdict.answers import answer, degree_share
from trueedge.verdict.doubts_chance import at_chance
from trueedge.verdict.models import holds_scores, scores_one_graph
from trueedge.verdict.running import Judging
from trueedge.verdict.suspicions import Evidence, Suspicion, suspicions
from trueedge.verdict.verdict import Verdict

# With fewer test units, the AUC under two protocols differs by chance.
LEAST_UNITS = 100
AUDIT_SAMPLE = 20_000


def sum_up(judging: Judging, fixed: bool, checks: bool, seconds: float) -> Verdict:
    """Return the verdict on what was run.

    Args:
        judging: what was run.
        fixed: whether the model is a scorer that is not fitted to each split.
        checks: check the scorer, and audit the benchmarks.
        seconds: how long it took.
    """
    made = tables(judging.records)
    label = next(
        (line.label for table in made for line in table.lines if line.row.method == judging.method.name),
        judging.method.name,
    )
    answers = [found for table in made if (found := answer(table, label)) is not None]
    sliced = [slices(table.records, properties=judging.properties) for table in made]
    doubts: list[Suspicion] = []
    check: CheckReport | None = None
    audited: list[tuple[str, Any]] = []
    if checks:
        wrong = {table.first.protocol: _audit(judging.first[table.first.protocol][0]) for table in made}
        audited = [(table.protocol, one) for table in made for one in wrong[table.first.protocol]]
        check = _check(judging)
        doubts = _doubts(judging, check, wrong) + _at_chance(judging, made, label)
    share = _share(made, label)
    said = groups.sentences(made, sliced, answers, label)
    verdict = Verdict(
        model=judging.method.name,
        dataset=made[0].first.dataset,
        answers=tuple(answers),
        degree_share=share,
        suspicions=tuple(doubts),
        groups=tuple(said),
        check=check,
        warnings=tuple(audited),
        advice=(),
        notes=(*judging.notes, *judging.failed, *_how(judging, fixed)),
        tables=tuple(made),
        sliced=tuple(sliced),
        records=tuple(judging.records),
        seconds=seconds,
    )
    # With more seeds than one: which of them a verdict could have.
    more = [replace(one, seeds=tuple(range(plan.SEEDS))) for one in judging.requests]
    noun = "seeds" if all(map(plan.has_one_split, more)) else "splits"
    return replace(verdict, advice=tuple(advice.advice(verdict, fixed, noun)))


def _doubts(
    judging: Judging, check: CheckReport | None, audited: Mapping[str, Sequence[Any]]
) -> list[Suspicion]:
    """Return the reasons to doubt, each once, with the protocols under which it was found."""
    found: dict[str, Suspicion] = {}
    where: dict[str, list[str]] = {}
    for place, protocol in enumerate(judging.first):
        task, scorer = judging.scorer(protocol)
        evidence = Evidence(
            judging.method,
            task,
            scorer,
            judging.own(protocol),
            judging.others(protocol),
            audited[protocol],
            check if place == 0 else None,
            judging.refit(),
            first=place == 0,
        )
        for one in suspicions(evidence):
            found.setdefault(one.name, one)
            where.setdefault(one.name, []).append(protocol)
    named = [
        one
        if one.general or len(judging.first) == 1
        else replace(one, sentence=f"{', '.join(where[name])}: {one.sentence}")
        for name, one in found.items()
    ]
    return sorted(named, key=lambda one: not one.grave)


def _at_chance(judging: Judging, made: Sequence[Table], label: str) -> list[Suspicion]:
    """Return a doubt for each protocol under which the model may be random."""
    found = [
        (table.protocol, one)
        for table in made
        if (one := at_chance(table, label, judging.first[table.first.protocol][0])) is not None
    ]
    if len(made) == 1:
        return [one for _, one in found]
    return [replace(one, sentence=f"{protocol}: {one.sentence}") for protocol, one in found]


def _check(judging: Judging) -> CheckReport | None:
    protocol = next(iter(judging.first))
    task, scorer = judging.scorer(protocol)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ScoreWarning)
        return check_scorer(scorer, task)


def _audit(task: Task) -> list[Any]:
    """Return what an audit finds wrong with a benchmark."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ScoreWarning)
        try:
            found = audit(task, sample=AUDIT_SAMPLE)
        except InputError:
            return []
    return [one for one in found.by_verdict() if one.wrong]


def _share(made: Sequence[Table], label: str) -> float | None:
    """Return the share of the model's AUC that is degree, if both protocols were run."""
    values = {
        table.first.protocol: line.row.means["auc"]
        for table in made
        for line in table.lines
        if line.label == label and "auc" in line.row.means and _units(line.records) >= LEAST_UNITS
    }
    easy = next((values[one] for one in ("uniform", "existing") if one in values), None)
    if easy is None or "degree-corrected" not in values:
        return None
    return degree_share(easy, values["degree-corrected"])


def _units(records: Sequence[Record]) -> int:
    """Return the number of test units of some records."""
    return sum(len(found) for one in records if (found := one.unit_values("auc")) is not None)


def _how(judging: Judging, fixed: bool) -> list[str]:
    ran = {one.method for one in judging.records}
    names = ", ".join(one.name for one in judging.baselines if one.name in ran)
    splits = _splits(judging)
    if judging.options.get("split") == "time":
        splits = "one split by time, which has no other seeds"
    said = [f"beside {names}" if names else "", splits]
    notes = [f"Evaluated {' on '.join(one for one in said if one)}"]
    task, _ = next(iter(judging.first.values()))
    notes += getattr(getattr(task, "graph", None), "notes", ())
    said_of_tasks = [note for task, _ in judging.first.values() for note in task.settings.get("notes", ())]
    notes += [note for note in dict.fromkeys(said_of_tasks) if note not in notes]
    if fixed:
        answers = {"triples": "test triples", "typed": "labels of test nodes"}
        known = "test edges" if task.kind == "typed-links" else answers.get(task.data, "test edges")
        notes.append(
            f"{judging.method.name} is a fixed scorer, so there is one split; if it was trained on {known},"
            " its scores mean nothing"
        )
    one_graph = scores_one_graph(judging.method) and not holds_scores(judging.method)
    if isinstance(task, TripleTask) and task.test_graph is not None and one_graph:
        notes.append(
            f"It has no with_graph(graph), so its numbers are taken for those of {task.test_graph.name}, and"
            " it was evaluated on the test part alone"
        )
    return notes


def _same_test_part(records: Sequence[Record]) -> str:
    """Say of seeds that have the same test part in what they differ."""
    first = {
        name: value for name, value in records[0].provenance["hashes"].items() if name.startswith("test_")
    }
    redrawn = any(one.provenance["hashes"].get(name) != first[name] for one in records for name in first)
    differ = "training, validation and negatives" if redrawn else "training and validation alone"
    return f"the same test {plural(records[0].unit)}: they differ in {differ}"


def _splits(judging: Judging) -> str:
    """Return in words how many splits and seeds were run: some data has one split, whatever the seed."""
    seeds, splits = 1, 1
    same = ""
    for protocol in judging.first:
        records = [one for one in judging.records if one.protocol == protocol]
        seeds = max(seeds, len({one.seed for one in records}))
        splits = max(splits, len({one.provenance.get("task", one.seed) for one in records}))
        if len({test_part(one) for one in records}) == 1 and splits > 1:
            same = _same_test_part(records)
    if same:
        return f"{splits} seeds with {same}"
    if splits > 1:
        return f"{splits} random splits"
    return "one split" if seeds == 1 else f"one split, with {seeds} seeds"
