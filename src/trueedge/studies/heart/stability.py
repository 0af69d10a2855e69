"""HeaRT's Figures 6 and 7 and Table 6: how validation predicts test performance, and how much seeds vary."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Self

import numpy as np

from trueedge import datasets, methods, tasks
from trueedge.analysis.figure import Figure, Series
from trueedge.errors import InputError
from trueedge.files.writing import write_text
from trueedge.methods import Method
from trueedge.metrics import Evaluation
from trueedge.results.record import request_key
from trueedge.runs.code import method_code, task_code
from trueedge.runs.provenance import provenance
from trueedge.studies.heart.figures import thinned
from trueedge.studies.printed_tables import PrintedTable, selected_by
from trueedge.studies.published_values import PublishedValue, published
from trueedge.studies.study import Comparison, Finding, Plan, chosen, need, register_listed
from trueedge.tasks import LinkTask
from trueedge.version import VERSION

DATASET = "ogbl-ddi"
METRIC = "hits@20"
METHODS = ("gcn", "buddy", "ncn", "neo-gnn")
PROTOCOLS = {6: "existing", 7: "heart"}
SEEDS = 10
# Both parts are evaluated every five epochs, without early stopping.
SCHEDULE = {"epochs": 100, "evaluate_every": 5, "patience": 100, "select": METRIC}
# Evaluating all positives under HeaRT would score 67 million pairs each time.
POSITIVES_PER_EVALUATION = 2000

# The value of the metric on the validation part and on the test part.
Observed = tuple[float, float]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ObservedTask(LinkTask):
    """A task that evaluates its test part, too, whenever training evaluates the validation part.

    Training does not see the test values and selects as it always does.

    Attributes:
        evaluations: the metric on both parts each time, in order.
    """

    evaluations: list[Observed] = field(default_factory=list)

    @classmethod
    def of(cls, task: LinkTask) -> ObservedTask:
        """Return the same task, observed."""
        return cls(**{one.name: getattr(task, one.name) for one in fields(task)})

    def for_fitting(self) -> Self:
        """Return the task itself: its test part is evaluated during training, and only recorded."""
        return self

    def evaluate(
        self, scorer: object, part: str = "test", metrics: Sequence[str] | None = None
    ) -> Evaluation:
        """Evaluate a scorer; see :meth:`LinkTask.evaluate`."""
        values = LinkTask.evaluate(self, scorer, part, metrics)
        if part == "valid":
            (name,) = values
            self.evaluations.append((values[name], LinkTask.evaluate(self, scorer, "test", [name])[name]))
        return values


def _observe(plan: Plan, *, number: int) -> Finding:
    study = f"heart/figure-{number}"
    chosen(plan.datasets, [DATASET], f"data set of {study}")
    known = {kind.name for kind in methods.catalogue()}
    wanted = chosen(plan.methods, [name for name in METHODS if name in known], f"method of {study}")
    datasets.available(DATASET)
    task = tasks.task(DATASET, "existing", 0)
    assert isinstance(task, LinkTask)
    task = thinned(task, most=POSITIVES_PER_EVALUATION) if PROTOCOLS[number] == "heart" else task
    # Evaluations are of one metric, which the figure's axes name.
    for key in {"select", "stop"}.intersection(plan.settings):
        raise InputError(f"{study} is about {METRIC}: remove the setting {key}")
    seeds = plan.seeds or SEEDS
    found: dict[str, list[Observed]] = {}
    missing: dict[str, None] = {}
    for place, name in enumerate(wanted):
        method = plan.with_settings(methods.create(name, SCHEDULE))
        for seed in range(seeds):
            if plan.progress is not None:
                plan.progress(f"{name} · seed {seed}", place * seeds + seed, len(wanted) * seeds)
            try:
                found.setdefault(name, []).extend(observed(task, method, seed, plan))
            except InputError as error:
                missing[f"{name} under {task.protocol}: {error}"] = None
    drawn = {name: evaluations for name, evaluations in found.items() if evaluations}
    rows = [row for name, pairs in drawn.items() for row in _correlation(task, name, pairs, seeds)]
    if not drawn:
        raise InputError(f"nothing of {study} could be drawn: {next(iter(missing), 'no method matches')}")
    origin = provenance(task, plan.device)
    place_of_run = {name: origin[name] for name in ("device", "machine", "versions")}
    return Finding(rows, list(missing), [place_of_run], [_points(study, task, drawn, plan)])


def observed(task: LinkTask, method: Method, seed: int, plan: Plan) -> list[Observed]:
    """Train a method and return both parts' values at every evaluation, or read them from the store."""
    key = request_key(
        task=task.hash,
        method=method.name,
        settings=method.settings(),
        seed=seed,
        device=plan.device,
        version=VERSION,
        code=[method_code(type(method)).hash, task_code(task, task.protocol).hash],
    )
    path = None if plan.store is None else plan.store.folder / "looks" / f"{key}.json"
    if path is not None and path.is_file():
        return _read(path)
    watched = ObservedTask.of(task)
    method.for_task(watched).fit(watched, seed=seed, device=plan.device)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        card = {"method": method.name, "seed": seed, "looks": watched.evaluations}
        write_text(path, json.dumps(card) + "\n", "the evaluations")
    return watched.evaluations


def _read(path: Path) -> list[Observed]:
    try:
        return [(float(valid), float(test)) for valid, test in json.loads(path.read_text("utf-8"))["looks"]]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise InputError(f"{path} is damaged: delete it to compute it again") from error


def _correlation(
    task: LinkTask, method: str, evaluations: Sequence[Observed], seeds: int
) -> list[Comparison]:
    """Return the rank correlation of the validation and the test values; nothing where it is undefined."""
    from scipy.stats import spearmanr

    valid, test = np.array(evaluations).T
    value = float(spearmanr(valid, test).statistic) if np.ptp(valid) and np.ptp(test) else math.nan
    if math.isnan(value):
        return []
    metric = f"rank correlation of validation and test, {METRIC}"
    return [Comparison(task.dataset, task.protocol, method, metric, value, 0.0, seeds, None)]


def _points(study: str, task: LinkTask, evaluations: dict[str, list[Observed]], plan: Plan) -> Figure:
    series = tuple(
        Series(name, tuple(100 * valid for valid, _ in found), tuple(100 * test for _, test in found))
        for name, found in evaluations.items()
    )
    seeds, positives = plan.seeds or SEEDS, len(task.test.positives)
    epochs, every = (plan.settings.get(key, SCHEDULE[key]) for key in ("epochs", "evaluate_every"))
    return Figure(
        name=study.replace("/", "-"),
        title=f"Validation and test while training on {task.dataset}, {task.protocol}",
        kind="points",
        x_label=f"validation {METRIC}, %",
        y_label=f"test {METRIC}, %",
        series=series,
        diagonal=True,
        note=f"{seeds} seed{'s' * (seeds > 1)} of {epochs} epochs, an evaluation every {every}; "
        f"{positives:,} positives",
    )


TABLE = "heart/table-6"
# The metric the table takes the spread of, on each data set.
SPREAD_OF = {"ogbl-ddi": "hits@20", "ogbl-collab": "hits@50", "ogbl-ppa": "hits@100"}


def _spread(plan: Plan) -> Finding:
    """Return the mean over methods of the standard deviation over seeds, both settings."""
    values = [
        value
        for value in published("heart")
        if value.std is not None
        and value.table not in (TABLE, "heart/table-3", "heart/table-9")
        and value.protocol in ("existing", "heart")
        and value.metric == SPREAD_OF.get(value.dataset, "mrr")
    ]
    released = {name for name in {value.dataset for value in values} if _released(name)}

    def protocol(value: PublishedValue) -> str:
        return value.protocol + ("-released" if value.dataset in released else "")

    finding = PrintedTable(TABLE, values, protocol, selected_by, SEEDS).run(plan)
    printed = {(v.dataset, v.protocol): v.mean for v in published("heart") if v.table == TABLE}
    groups: dict[tuple[str, str, str], list[Comparison]] = {}
    for row in finding.rows:
        if row.seeds > 1:
            groups.setdefault((row.dataset, row.protocol, row.metric), []).append(row)
    rows = []
    for (dataset, setting, metric), found in groups.items():
        stds = [row.std for row in found]
        theirs = printed[dataset, setting.removesuffix("-released")]
        # Over methods, not over seeds.
        apart = float(np.std(stds, ddof=1)) if len(stds) > 1 else 0.0
        seeds = min(row.seeds for row in found)
        where = (dataset, setting, "all", f"mean std of {metric}")
        rows.append(Comparison(*where, float(np.mean(stds)), apart, seeds, theirs))
    need(rows, TABLE, [*finding.missing, "a standard deviation takes two seeds or more"])
    return Finding(rows, finding.missing, finding.places, [_bars(rows, finding.rows)])


def _released(dataset: str) -> bool:
    """Return whether the released files are here; if not, a split of our own is used."""
    try:
        for negatives in ("shared", "heart"):
            datasets.available(dataset, released=negatives)
    except InputError:
        return False
    return True


def _bars(rows: Sequence[Comparison], methods_rows: Sequence[Comparison]) -> Figure:
    """Draw the spread of each method and the mean of all, for each data set and setting."""
    places = [f"{row.dataset}, {row.protocol}" for row in rows]
    found = {(f"{row.dataset}, {row.protocol}", row.method): row.std for row in methods_rows}
    names = dict.fromkeys(row.method for row in methods_rows)
    series = [
        Series(name, tuple(places), tuple(found.get((place, name), math.nan) for place in places))
        for name in names
    ]
    series += [
        Series("mean", tuple(places), tuple(row.ours for row in rows)),
        Series("published mean", tuple(places), tuple(row.theirs or math.nan for row in rows)),
    ]
    return Figure(
        name="heart-table-6",
        title="Standard deviation over seeds, existing setting and HeaRT",
        kind="bars",
        x_label="data set and setting",
        y_label="standard deviation, points",
        series=tuple(series),
        note=f"the mean is over {', '.join(names)}",
    )


for _number in PROTOCOLS:
    register_listed(f"heart/figure-{_number}", partial(_observe, number=_number))
register_listed(TABLE, _spread)
