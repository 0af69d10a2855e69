"""Where a model wins and loses: groups of test units in which it differs most from the best baseline."""

from __future__ import annotations

from collections.abc import Sequence

from trueedge import metrics
from trueedge.analysis.slices import Sliced
from trueedge.analysis.tables import Table
from trueedge.metrics.units import plural
from trueedge.verdict.answers import Answer, signed

# Fewer units than these say little.
LEAST_UNITS = 30
# Groups made by the scores of heuristics favour these heuristics: they say nothing about a comparison.
CIRCULAR = ("factor",)


def sentences(
    made: Sequence[Table], sliced: Sequence[Sliced], answers: Sequence[Answer], label: str
) -> list[str]:
    """Return a sentence for each protocol on the groups with the largest gain and the largest loss."""
    by_protocol = {one.protocol: one for one in answers}
    found = []
    for table, groups in zip(made, sliced, strict=True):
        if table.protocol in by_protocol:
            said = _sentence(table, groups, by_protocol[table.protocol].best, label)
            found += [said] if said else []
    return found


def _sentence(table: Table, sliced: Sliced, best: str, label: str) -> str:
    """Return the largest gain and the largest loss against the best baseline, if the intervals are apart."""
    gains = []
    for slicing in sliced.slicings:
        ours, theirs = slicing.values.get(label), slicing.values.get(best)
        if slicing.name in CIRCULAR or ours is None or theirs is None:
            continue
        for group, count, own, other in zip(slicing.groups, slicing.counts, ours, theirs, strict=True):
            if own is None or other is None or count < LEAST_UNITS:
                continue
            apart = own.low > other.high or own.high < other.low
            if apart:
                gains.append((own.value - other.value, slicing.title, group, count))
    if not gains:
        return ""
    sign = 1 if metrics.get(sliced.metric).higher_is_better else -1
    gains.sort(key=lambda gain: -sign * gain[0])
    unit = plural(table.found.unit)
    said = []
    if sign * gains[0][0] > 0:
        said.append(f"it gains most on {_group(*gains[0], sliced.metric, unit)}")
    if sign * gains[-1][0] < 0:
        said.append(f"it loses most on {_group(*gains[-1], sliced.metric, unit)}")
    return f"{table.protocol}, against {best}: {', and '.join(said)}"


def _group(gain: float, title: str, group: str, count: int, metric: str, unit: str) -> str:
    return f"the {count:,} {unit} with {title} = {group} ({signed(metric, gain)} {metric.upper()})"
