"""Compare methods: which is better, by how much, and whether that is significant."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge import metrics
from trueedge.analysis.summary import alike
from trueedge.errors import InputError
from trueedge.metrics.units import plural
from trueedge.results.record import Record
from trueedge.results.versions import labelled, of_last_code
from trueedge.statistics.rank_tests import RankTest, friedman
from trueedge.statistics.sample import Sample, seeds_compared
from trueedge.statistics.significance import (
    Difference,
    Estimate,
    difference,
    difference_over_tasks,
    gap_at,
    mean_interval,
    mean_over_tasks,
    spread_of,
)
from trueedge.statistics.tie_groups import holm, letters, tie_groups
from trueedge.tasks import protocols
from trueedge.tasks.test_parts import hash_of_test_part

Array = NDArray[np.float64]
Samples = dict[str, Sample]
# The fewest splits for an interval over splits, and the fewest splits or seeds for letters. With two splits,
# Student's quantile is 12.7, and the interval of a share is often all that is possible.
FEWEST = 3
# The first format of records that say whether negatives are shared.
WITH_REDRAWS = 4


@dataclass(frozen=True)
class MethodEstimate:
    """One method of a comparison.

    Attributes:
        label: the method with its non-default settings: ``katz (beta=0.01)``.
        estimate: its mean and interval.
        letters: its tie groups; methods with a shared letter do not differ significantly. There are none if
            some pair of methods cannot be compared (see ``PairComparison.enough``).
        seeds: the number of its records.
        tasks: the number of tasks these are of.
    """

    label: str
    estimate: Estimate
    letters: tuple[str, ...]
    seeds: int
    tasks: int


@dataclass(frozen=True)
class PairComparison:
    """Two methods of a comparison.

    Attributes:
        first: the label of the one with the better mean.
        second: the label of the other one.
        difference: first - second, with its interval, p-value and effect sizes.
        p_holm: the p-value corrected for all pairs of the comparison.
        smallest_gap: the true difference that these units and seeds detect with a power of 0.8 at Holm's
            first step, where the error rate is divided by the number of pairs.
        enough: whether both methods have at least three splits in common, or three seeds each on one split
            or test part. With fewer, the p-value is about this split or these fits, and others may turn it
            round.
    """

    first: str
    second: str
    difference: Difference
    p_holm: float
    smallest_gap: float
    enough: bool = True


@dataclass(frozen=True)
class MethodComparison:
    """All methods on one data set under one protocol.

    Attributes:
        dataset: the data set's name.
        protocol: the protocol's name.
        options: the protocol's options that were set.
        metric: the metric that is compared.
        level: the level of intervals and tie groups.
        methods: the methods, best mean first.
        pairs: all pairs that were evaluated on a common task.
        smallest_gap: the median over pairs; NaN without pairs.
        tasks: the number of tasks (splits and negatives), where those with the same test units count as one.
            With one, intervals are over units and seeds, and for this test part only; with several, over
            tasks. Methods are paired within a task, and within each split that both have.
        splits: the number of tasks that differ in anything, the training part among it.
        left_out: a sentence for each record, and each pair, that could not be compared.
        unit: the noun for a unit of the test part.
    """

    dataset: str
    protocol: str
    options: dict[str, Any]
    metric: str
    level: float
    methods: tuple[MethodEstimate, ...]
    pairs: tuple[PairComparison, ...]
    smallest_gap: float
    tasks: int
    left_out: tuple[str, ...] = ()
    unit: str = "positive"
    splits: int = 1

    @property
    def one_test_part(self) -> bool:
        """Return whether several splits have the same test part."""
        return self.tasks == 1 < self.splits

    @property
    def complete(self) -> bool:
        """Return whether every method was compared with every other, on tasks that both have."""
        return len(self.pairs) == math.comb(len(self.methods), 2)

    @property
    def lettered(self) -> bool:
        """Return whether the methods have letters: every pair was compared, on enough splits or seeds."""
        return self.complete and all(pair.enough for pair in self.pairs)

    def has_interval(self, method: MethodEstimate) -> bool:
        """Return whether a method has an interval: it has three splits, or one whose variation is known.

        If all test positives share their negatives, it is known from other draws of these.
        """
        if method.tasks == 1:
            return math.isfinite(method.estimate.std_error)
        return method.tasks >= FEWEST

    def pair(self, first: str, second: str) -> PairComparison:
        """Return the comparison of two methods by their labels, in any order."""
        for found in self.pairs:
            if {found.first, found.second} == {first, second}:
                return found
        raise InputError(f"{first!r} and {second!r} were not compared on {self.dataset} · {self.protocol}")


def compare(
    records: Iterable[Record], metric: str | None = None, level: float = 0.95
) -> list[MethodComparison]:
    """Compare methods on the same tasks, one comparison per data set and protocol.

    Of repeated runs, and of several versions of a method's code, the latest is used. A record is left out,
    with the reason, if it has no values per unit, or if its metric is unknown or not a mean over units.

    Args:
        records: records of any data sets, protocols and methods, oldest first.
        metric: a metric that is a mean over units (see :func:`unit_values`); by default each headline.
        level: the level of the intervals, and 1 - the family-wise error rate of a comparison.
    """
    if metric is not None:
        metrics.get(metric)
    # Two files may have the same name.
    groups = alike(_last_of_requests(records), "kind", "dataset", "protocol", "options", "source")
    return [_comparison(group, metric or group[0].headline, level) for group in groups]


def unit_values(record: Record, metric: str) -> Array:
    """Return a metric's value for each unit of the test part, float64 (n,); the metric is their mean.

    Metrics of the positives' ranks (``mr``, ``rank-hits@K``) need not have been recorded.
    """
    where = f"{record.method} on {record.dataset} · {record.protocol}, seed {record.seed}"
    try:
        rule = metrics.get(metric)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    name = rule.name
    if not record.units:
        raise InputError(f"{where}: the record holds no values for each test {record.unit or 'positive'}")
    if name not in record.test and not (rule.of_rank and record.ranks is not None):
        raise InputError(f"{where}: {name} was not recorded")
    values = record.unit_values(name)
    if values is None and rule.of_rank is not None and (ranks := record.ranks) is not None:
        values = np.asarray(rule.of_rank(ranks, *(() if rule.k is None else (rule.k,))), dtype=np.float64)
    if values is None:
        raise InputError(f"{where}: {name} is not a mean over {plural(record.unit)}, or was not kept")
    recorded = record.test.get(name)
    if recorded is not None and not math.isclose(values.mean(), recorded, rel_tol=1e-9, abs_tol=1e-9):
        hint = " (a tie at the K-th place counts against a positive)" if rule.takes_k else ""
        found = f"the mean over {plural(record.unit)} gives {name} {values.mean():.6g}"
        raise InputError(f"{where}: {found}, but recorded is {recorded:.6g}{hint}")
    return values


def compare_over_datasets(
    comparisons: Sequence[MethodComparison], level: float = 0.95
) -> tuple[list[str], RankTest]:
    """Run Friedman's test on the methods that all comparisons have; return their labels and the test.

    Args:
        comparisons: from :func:`compare`, of at least two data sets and of one metric.
        level: 1 - the error rate of the test.
    """
    names = {comparison.metric for comparison in comparisons}
    if len(names) != 1:
        raise InputError(f"one metric can be ranked over data sets, got {', '.join(sorted(names)) or 'none'}")
    tables = [{one.label: one.estimate.value for one in found.methods} for found in comparisons]
    labels = [label for label in tables[0] if all(label in table for table in tables)]
    if len(labels) < 2 or len(tables) < 2:
        raise InputError(
            "a test over data sets needs at least two common methods and two data sets, got"
            f" {len(labels)} and {len(tables)}"
        )
    values = [[table[label] for label in labels] for table in tables]
    return labels, friedman(values, level, metrics.get(names.pop()).higher_is_better)


def _last_of_requests(records: Iterable[Record]) -> list[Record]:
    """Return the last record of each request, oldest first."""
    found: dict[tuple[str, str, int], Record] = {}
    for record in records:
        request = (record.key, _task(record), record.seed)
        if not record.is_trial:
            found.pop(request, None)
            found[request] = record
    return list(found.values())


def _task(record: Record) -> str:
    return str(record.provenance.get("task", ""))


def test_part(record: Record) -> str:
    """Return the hash of a record's test part, which several splits may have in common."""
    return hash_of_test_part(record.kind, record.provenance.get("hashes") or {}, _task(record))


def _comparison(every: list[Record], metric: str, level: float) -> MethodComparison:
    records, left_out = of_last_code(every)
    table: dict[str, Samples] = {}
    counts: dict[str, int] = {}
    for label, group in labelled(records).items():
        samples, used = _samples(group, metric, left_out)
        if samples:
            table[label], counts[label] = samples, used
    estimates = {label: interval([*samples.values()], metric, level) for label, samples in table.items()}
    # If nothing can be compared, the metric may be unknown.
    sign = -1 if table and metrics.get(metric).higher_is_better else 1
    order = sorted(table, key=lambda label: sign * estimates[label].value)
    pairs = _pairs({label: table[label] for label in order}, level, left_out)
    places = {label: place for place, label in enumerate(order)}
    distinct = [(places[p.first], places[p.second]) for p in pairs if p.p_holm < 1 - level]
    # A pair that was not compared would share a letter, as if it did not differ.
    whole = len(pairs) == math.comb(len(order), 2) and all(pair.enough for pair in pairs)
    marks = letters(len(order), tie_groups(len(order), distinct)) if whole else [()] * len(order)
    gaps = [pair.smallest_gap for pair in pairs]
    return MethodComparison(
        *(records[0].dataset, records[0].protocol, dict(records[0].options), metric, level),
        methods=tuple(
            MethodEstimate(label, estimates[label], marks[place], counts[label], len(table[label]))
            for label, place in places.items()
        ),
        pairs=tuple(pairs),
        smallest_gap=float(np.median(gaps)) if gaps else math.nan,
        tasks=len({task for samples in table.values() for task in samples}),
        left_out=tuple(left_out),
        unit=next((record.unit for record in records if record.unit), "positive"),
        splits=len({name for samples in table.values() for one in samples.values() for name in one.by_split}),
    )


def _samples(records: list[Record], metric: str, left_out: list[str]) -> tuple[Samples, int]:
    """Return a method's values on each test part, by split, and the number of records they are from."""
    values: dict[str, dict[str, list[Array]]] = {}
    redraws: dict[str, list[Array | None]] = {}
    ends: dict[str, NDArray[np.int64] | None] = {}
    used = 0
    for record in records:
        part, split = test_part(record), _task(record)
        try:
            found = unit_values(record, metric), shared_redraws(record, metric), record.ends
        except InputError as error:
            left_out.append(str(error))
            continue
        values.setdefault(part, {}).setdefault(split, []).append(found[0])
        redraws.setdefault(split, []).append(found[1])
        ends[part] = found[2]
        used += 1
    samples = {
        part: Sample.of_splits(rows, f"{metric} values", ends[part], redraws) for part, rows in values.items()
    }
    return samples, used


def shared_redraws(record: Record, metric: str) -> Array | None:
    """Return a metric with other draws of the negatives that test positives share, float64 (R,).

    It is empty without other draws, as in records of earlier versions, and None if each positive has its own
    negatives.
    """
    found = record.redraws(metric)
    if found is not None or record.format >= WITH_REDRAWS:
        return found
    protocol = protocols.find(record.protocol)
    return None if protocol is None or protocol.redraw is None else np.empty(0)


def interval(samples: Sequence[Sample], metric: str, level: float) -> Estimate:
    """Return the mean over the samples of some tasks, with an interval within the metric's range."""
    rule = metrics.get(metric)
    if len(samples) > 1:
        found = mean_over_tasks(samples, level, (rule.low, rule.high))
    else:
        found = mean_interval(samples[0], level, (rule.low, rule.high))
    if rule.low <= found.low and found.high <= rule.high:
        return found
    return replace(found, low=max(found.low, rule.low), high=min(found.high, rule.high))


def _pairs(table: dict[str, Samples], level: float, left_out: list[str]) -> list[PairComparison]:
    found = []
    for first, second in combinations(table, 2):
        common = [task for task in table[first] if task in table[second]]
        if not common:
            left_out.append(f"{first} and {second} have no task in common")
            continue
        shared = [(table[first][task], table[second][task]) for task in common]
        gap = difference_over_tasks(shared, level) if len(shared) > 1 else difference(*shared[0], level)
        found.append((first, second, gap, _enough(shared, gap)))
    if not found:
        return []
    first_step = 1.0 - (1.0 - level) / len(found)
    corrected = holm([gap.p for _, _, gap, _ in found])
    return [
        PairComparison(first, second, gap, float(p), gap_at(spread_of(gap), level=first_step), enough)
        for (first, second, gap, enough), p in zip(found, corrected, strict=True)
    ]


def _enough(shared: Sequence[tuple[Sample, Sample]], gap: Difference) -> bool:
    """Return whether two methods have enough common splits, or enough seeds on a part of known variation."""
    if len(shared) > 1 or not math.isfinite(gap.std_error):
        return len(shared) >= FEWEST
    return seeds_compared(*shared[0]) >= FEWEST
