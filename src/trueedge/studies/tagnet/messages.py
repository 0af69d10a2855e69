"""What TAGNet prunes, and why: Tables D.3 to D.5 and Figure 5.3."""

from __future__ import annotations

from functools import cache

from trueedge import datasets, tasks
from trueedge.analysis.figure import Figure, Series
from trueedge.methods.paths.statistics import (
    MessageCounts,
    distance_distribution,
    mean_degree,
    message_counts,
)
from trueedge.studies.published_values import PublishedValue, published
from trueedge.studies.study import Comparison, Finding, Plan, chosen, need, register_listed
from trueedge.tasks import TripleTask

STUDY = "tagnet/messages"
TABLES = ("tagnet/table-d.3", "tagnet/table-d.4", "tagnet/table-d.5")
#: The largest offset of each data set in Table D.3.
DELTAS = {"fb15k-237": 2, "wn18rr": 3}
LAYERS = 6
LIMIT = 6


def _run(plan: Plan) -> Finding:
    values = [value for value in published("tagnet") if value.table in TABLES]
    names = chosen(plan.datasets, list(DELTAS), f"data set of {STUDY}")
    rows, missing, series = [], [], []
    for name in names:
        try:
            datasets.available(name)
        except datasets.MissingFile as error:
            missing.append(str(error))
            continue
        rows += [_row(value) for value in values if value.dataset == name]
        deltas = list(range(LAYERS))
        saved = [100 * _counts(name, delta).reduction for delta in deltas]
        series.append(Series(name, tuple(map(float, deltas)), tuple(saved)))
        rows += [
            Comparison(name, "filtered", "tagnet", f"messages saved, delta {delta}", value, 0.0, 1, None)
            for delta, value in zip(deltas, saved, strict=True)
        ]
    need(rows, STUDY, missing)
    title = "Messages that TAGNet saves"
    figure = Figure("figure-5.3", title, "lines", "delta", "percent of NBFNet's messages", tuple(series))
    return Finding(rows, missing, figures=[figure])


def _row(value: PublishedValue) -> Comparison:
    """Return our number next to a published one, in its unit."""
    task = _task(value.dataset)
    if value.metric == "mean-degree":
        ours = mean_degree(task.graph)
    elif value.metric.startswith("test-distance"):
        place = int(value.metric.removeprefix("test-distance-").rstrip("+"))
        ours = 100 * float(distance_distribution(task.graph, task.parts["test"], LIMIT)[place - 1])
    else:
        empty = _counts(value.dataset, DELTAS[value.dataset]).empty_share
        ours = 100 * (empty if value.metric == "pruned-empty" else 1 - empty)
    where = (value.dataset, "filtered", "tagnet", value.metric)
    return Comparison(*where, ours, 0.0, 1, value.mean, value.std)


@cache
def _task(dataset: str) -> TripleTask:
    made = tasks.task(dataset, "filtered")
    assert isinstance(made, TripleTask)
    return made


@cache
def _counts(dataset: str, delta: int) -> MessageCounts:
    return message_counts(_task(dataset).graph, delta, LAYERS)


register_listed(STUDY, _run)
