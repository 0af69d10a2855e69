"""Tables of records: one line per method, with intervals, letters and remarks."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from trueedge import metrics
from trueedge.analysis.below_baseline import BelowBaseline, below_baseline
from trueedge.analysis.comparison import FEWEST, MethodComparison, MethodEstimate, compare, test_part
from trueedge.analysis.summary import Row, alike, summarise
from trueedge.errors import InputError
from trueedge.metrics.units import plural
from trueedge.results.record import Record
from trueedge.results.versions import labelled, of_last_code

# What a warning about one prediction for all nodes ends with.
CONSTANT = "all nodes get the same classes: the predictions separate nothing"
# Warnings about ties, with the part and the share, and what the sentence about all lines begins with.
TIES = {
    "ties between positives and negatives": re.compile(r" (valid|test): (\d+)% of the comparisons"),
    "answers that tie with other entities": re.compile(
        r" (valid|test): (\d+)\.\d % of the answers (?:tie|are ties) with other entities"
    ),
    "hidden items that tie with others": re.compile(
        r" (valid|test): (\d+)\.\d % of the hidden items tie with another item"
    ),
}
# A smallest detectable gap of at least half a share's range is not worth a sentence.
LARGEST_GAP = 0.5


@dataclass(frozen=True)
class Line:
    """A method's line of a table.

    Attributes:
        label: the method with its non-default settings, unique in the table.
        row: its means and standard deviations.
        estimate: the interval and the letters of its headline, if its records allow them.
        records: its records.
    """

    label: str
    row: Row
    estimate: MethodEstimate | None
    records: tuple[Record, ...]

    @property
    def value(self) -> float:
        """Return the mean of the headline."""
        return self.row.means[self.row.headline]


@dataclass(frozen=True)
class Table:
    """One data set under one protocol.

    Attributes:
        lines: its methods, best headline first.
        found: intervals, letters and pairs of the methods whose records allow them.
        left_out: a sentence for each method that has records of an earlier version of its code.
    """

    lines: tuple[Line, ...]
    found: MethodComparison
    left_out: tuple[str, ...] = ()

    @property
    def compared(self) -> MethodComparison | None:
        """Return intervals, letters and pairs, or None if they cannot be shown."""
        return self.found if self._several and any(map(self.found.has_interval, self.found.methods)) else None

    @property
    def _several(self) -> bool:
        return len(self.found.methods) > 1 and len(self.found.pairs) > 0

    @property
    def records(self) -> list[Record]:
        """Return all its records."""
        return [record for line in self.lines for record in line.records]

    @property
    def first(self) -> Record:
        """Return one of its records, for what they have in common."""
        return self.lines[0].records[0]

    @property
    def where(self) -> str:
        """Return the data set and the protocol: ``cora · heart (k=100)``."""
        return self.lines[0].row.where

    @property
    def protocol(self) -> str:
        """Return the protocol with the options that were set."""
        return self.where.removeprefix(f"{self.first.dataset} · ")

    @property
    def headline(self) -> str:
        """Return the metric that tables show first."""
        return self.first.headline

    @property
    def metrics(self) -> tuple[str, ...]:
        """Return the metrics of its lines, the headline first, without tie rules (``mrr.pessimistic``)."""
        names = dict.fromkeys(name for line in self.lines for name in line.row.means if "." not in name)
        return (self.headline, *(name for name in names if name != self.headline))

    @property
    def seeds(self) -> str:
        """Return the number of seeds, in words, and whether all values are of one split."""
        counts = sorted({line.row.seeds for line in self.lines})
        splits = {str(record.provenance.get("task", "")) for record in self.records}
        only = ", this split only" if len(splits) == 1 else ", one test part" if self._one_test_part else ""
        if counts == [1]:
            return f"one seed{only}" if len(_by_splits(self.lines)) == 1 else "one seed each"
        return f"{'–'.join(map(str, dict.fromkeys((counts[0], counts[-1]))))} seeds{only}, mean ± std"

    @property
    def _one_test_part(self) -> bool:
        return len({test_part(record) for record in self.records}) == 1

    def best(self, name: str) -> float | None:
        """Return the best mean of a metric, or None if no line has it."""
        values = [line.row.means[name] for line in self.lines if name in line.row.means]
        if not values:
            return None
        return max(values) if higher_is_better(name) else min(values)

    @cached_property
    def below(self) -> tuple[BelowBaseline, ...]:
        """Return the methods that are worse than the best baseline of the table, if it has any."""
        values = {line.label: line.value for line in self.lines}
        names = {line.label: line.row.method for line in self.lines}
        return below_baseline(values, names, self.headline, self.compared)

    def remarks(self, more_seeds: bool = True) -> list[str]:
        """Return what intervals and letters mean, or why there are none; what is left out; ties.

        Args:
            more_seeds: whether more seeds can be run: a file of scores has one.
        """
        said = []
        if self.compared is not None:
            said = [*how_sure(self.compared), *too_few(self.compared)]
        if self._several and more_seeds:
            said += self._missing()
        found = findings(self.records, {line.label: line.records for line in self.lines})
        return [*said, *self._other_splits(), *self.left_out, *found]

    def _missing(self) -> list[str]:
        """Say how many splits or seeds the missing intervals and letters need, if any are missing."""
        few = [one.label for one in self.found.methods if not self.found.has_interval(one)]
        if few:
            whose = "" if len(few) == len(self.found.methods) else f" ({', '.join(few)})"
            what = f"Intervals of {self.found.metric.upper()}{whose}"
            return [f"{what} need at least {FEWEST} splits: run with --seeds 5"]
        if self.found.complete and not self.found.lettered:
            return [f"Letters need at least {FEWEST} seeds of each method: run with --seeds 5"]
        return []

    def _other_splits(self) -> list[str]:
        """Say that methods were run on different splits, if they were."""
        splits = _by_splits(self.lines)
        if len(splits) < 2:
            return []
        listed = "; ".join(f"{', '.join(labels)}: {seeds}" for seeds, labels in splits.items())
        if self.compared is not None and self.compared.lettered:
            otherwise = ", or else on the same test part" if self.compared.one_test_part else ""
            return [f"Letters compare two methods on the splits that both have{otherwise} ({listed})"]
        so = "" if self.found.complete else ", so they get no letters"
        return [f"The methods were run on different splits{so} ({listed})"]


def tables(records: Iterable[Record]) -> list[Table]:
    """Return a table for each data set and protocol with its options, without trials of a search.

    Of several versions of a method's code, the one that ran last is used. Records come oldest first.
    """
    tested = [record for record in records if not record.is_trial]
    return [_table(group) for group in alike(tested, "kind", "dataset", "protocol", "options", "source")]


def latest(records: Iterable[Record]) -> list[Record]:
    """Return the latest record of each request, oldest first, without trials of a search.

    Of several versions of a method's code, the one that ran last is used. Records come oldest first.
    """
    request = ("kind", "dataset", "protocol", "options", "source", "method", "settings", "seed", "task_seed")
    tested = [record for record in records if not record.is_trial]
    current = {id(record) for record in of_last_code(tested)[0]}
    chosen = {
        id(([record for record in group if id(record) in current] or group)[-1])
        for group in alike(tested, *request)
    }
    return list({id(record): record for record in tested if id(record) in chosen}.values())


def findings(records: Sequence[Record], by_label: Mapping[str, Sequence[Record]] | None = None) -> list[str]:
    """Return the warnings about a table's scores; ties of the test part are joined into one sentence.

    Args:
        records: the records of one table.
        by_label: the same records by the label of their line; by default the method with its settings.
    """
    tied: dict[str, list[str]] = {}
    others: dict[str, list[str]] = {}
    groups = labelled(records) if by_label is None else by_label
    for label, group in groups.items():
        warnings = dict.fromkeys(
            warning for record in group for warning in record.warnings if not _by_design(record, warning)
        )
        rest = set(warnings)
        for beginning, pattern in TIES.items():
            found = {warning: match for warning in warnings if (match := pattern.search(warning))}
            rest -= set(found)
            shares = sorted(int(match[2]) for match in found.values() if match[1] == "test")
            if shares:
                span = f"{shares[0]}%" if shares[0] == shares[-1] else f"{shares[0]}–{shares[-1]}%"
                tied.setdefault(beginning, []).append(f"{label} {span}")
        for warning in (warning for warning in warnings if warning in rest):
            others.setdefault(warning, []).append(label)
    # A warning about every line of the table needs no names.
    said = [
        warning if len(labels) == len(groups) else _by(labels, warning) for warning, labels in others.items()
    ]
    return [*(f"{beginning}: {', '.join(shares)}" for beginning, shares in tied.items()), *said]


def _by_design(record: Record, warning: str) -> bool:
    """Return whether a baseline does on purpose what a warning says."""
    return record.method == "majority" and warning.endswith(CONSTANT)


def _by(labels: Sequence[str], warning: str) -> str:
    """Return a warning after the lines it is about; a method is not named twice."""
    return f"{', '.join(labels)}: {warning.removeprefix(labels[0].partition(' (')[0] + ': ')}"


def how_sure(compared: MethodComparison) -> list[str]:
    """Return what the intervals and letters of a table mean."""
    kinds: dict[str, list[str]] = {}
    for one in filter(compared.has_interval, compared.methods):
        words = over_words(one.estimate.over, compared.unit, compared.one_test_part)
        kinds.setdefault(words, []).append(one.label)
    over, *others = sorted(kinds, key=lambda kind: -len(kinds[kind]))
    # Methods may differ in their number of splits or seeds.
    over += "".join(f" ({', '.join(kinds[kind])}: over {kind})" for kind in others)
    said = [f"{100 * compared.level:.0f} % intervals over {over}"]
    if not compared.lettered:
        return said
    said.append("Shared letter: no significant difference (paired t-test, Holm-corrected)")
    percent = metrics.scale(compared.metric) == 100
    if compared.smallest_gap < (LARGEST_GAP if percent else math.inf):
        gap = metrics.format_value(compared.metric, compared.smallest_gap, 1 if percent else 2)
        said.append(f"Gaps below about {gap}{' points' if percent else ''} cannot be detected here")
    return said


def over_words(over: str, unit: str, one_test_part: bool = False) -> str:
    """Return what an interval is taken over, in words.

    Args:
        over: ``Estimate.over``.
        unit: the noun for a unit.
        one_test_part: whether the seeds have splits of their own with the same test part.
    """
    if over == "tasks":
        return "splits"
    only = "the same test part in all splits" if one_test_part else "this split only"
    return f"test {over.replace('edges', plural(unit))}, {only}"


def too_few(compared: MethodComparison) -> list[str]:
    """Say that there are too few seeds, if methods share a letter although their intervals do not overlap."""
    if not compared.lettered:
        return []
    ends = {one.label: (one.estimate.low, one.estimate.high) for one in compared.methods}
    apart = [
        pair
        for pair in compared.pairs
        if pair.p_holm >= 1 - compared.level
        and max(ends[pair.first][0], ends[pair.second][0]) > min(ends[pair.first][1], ends[pair.second][1])
    ]
    count = f"{len(apart)} pair{'s' if len(apart) > 1 else ''} of methods"
    return [f"Too few seeds to separate {count}: run with more seeds"] if apart else []


def higher_is_better(name: str) -> bool:
    """Return whether larger is better, which is also assumed for unknown metrics."""
    try:
        return metrics.get(name).higher_is_better
    except InputError:
        return True


def _by_splits(lines: Iterable[Line]) -> dict[str, list[str]]:
    """Return the labels of the lines by the seeds of their splits, in words."""
    groups: dict[frozenset[str], tuple[list[int], list[str]]] = {}
    for line in lines:
        tasks = frozenset(str(record.provenance.get("task", "")) for record in line.records)
        seeds = sorted({record.task_seed for record in line.records})
        groups.setdefault(tasks, (seeds, []))[1].append(line.label)
    found: dict[str, list[str]] = {}
    for tasks, (seeds, labels) in groups.items():
        words = f"{'seed' if len(seeds) == 1 else 'seeds'} {_spans(seeds)}"
        # The same seeds, but of other data.
        found[f"{words}, task {min(tasks)[:8]}" if words in found else words] = labels
    return found


def _spans(numbers: Sequence[int]) -> str:
    """Return sorted numbers in words: ``0–4, 7``."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][-1] + 1:
            spans[-1].append(number)
        else:
            spans.append([number])
    return ", ".join(str(one[0]) if len(one) == 1 else f"{one[0]}–{one[-1]}" for one in spans)


def _table(every: list[Record]) -> Table:
    records, left_out = of_last_code(every)
    (found,) = compare(records)
    estimates = {one.label: one for one in found.methods if found.has_interval(one)}
    lines = []
    for label, group in labelled(records).items():
        (row,) = summarise(group)
        lines.append(Line(label, row, estimates.get(label), tuple(group)))
    sign = -1 if higher_is_better(records[0].headline) else 1
    return Table(tuple(sorted(lines, key=lambda line: sign * line.value)), found, tuple(left_out))
