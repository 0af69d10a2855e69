"""A published table, run again: a cell for each value and seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from trueedge import datasets, methods
from trueedge.methods import Method
from trueedge.results import Record
from trueedge.runs import Cell
from trueedge.studies.grids import published_grid
from trueedge.studies.published_values import PublishedValue
from trueedge.studies.study import (
    Comparison,
    Finding,
    Plan,
    chosen,
    comparison,
    mean_and_std,
    need,
    places,
    places_of,
    run_all,
)
from trueedge.studies.tuned_tables import Search, run_searches
from trueedge.tasks.protocols import get as get_protocol


@dataclass(frozen=True)
class PrintedTable:
    """A table of a paper, and how its values are run.

    Attributes:
        name: the study's name.
        values: the published values; those without a number, or of a method that is not in the catalogue, are
            left out.
        protocol: returns our protocol for a value.
        method: returns our method, with its settings, for a value.
        seeds: the number of seeds of a trained method.
        beside: returns further values of a record that were not published, by metric.
        measure: returns our mean and standard deviation for a value, in the paper's unit, from its records;
            None: the value's metric in percent.
        options: returns the protocol's options for a value; they are the same for all values of a data set.
        grid: the paper whose grid is searched if the plan asks for tuning, as in ``grids.csv``.
        further: returns metrics that other tables of the paper print for the method of a value. If columns
            share their trainings, these are run and stored with the others.
    """

    name: str
    values: Sequence[PublishedValue]
    protocol: Callable[[PublishedValue], str]
    method: Callable[[PublishedValue], Method]
    seeds: int = 10
    beside: Callable[[Record], Mapping[str, float]] | None = None
    measure: Callable[[PublishedValue, Sequence[Record]], tuple[float, float] | None] | None = None
    options: Callable[[PublishedValue], Mapping[str, Any]] | None = None
    grid: str = ""
    further: Callable[[PublishedValue], Sequence[str]] | None = None

    def run(self, plan: Plan) -> Finding:
        """Run a plan."""
        values = self._values(plan)
        if plan.tuning is not None:
            return self._run_tuned(values, plan)
        cells, missing = self._cells(values, plan)
        records, failed = run_all(cells, plan)
        rows, known = [], places(records.values())
        for value in values:
            method = plan.with_settings(self.method(value))
            found = records.get((value.dataset, self.protocol(value), method))
            measured = None if found is None else (self.measure or _percent)(value, found)
            if found is None or measured is None:
                continue
            ours, std = measured
            where = (value.dataset, self.protocol(value), value.method, value.metric)
            theirs, here = value.mean or 0.0, places_of(found, known)
            rows.append(Comparison(*where, ours, std, len(found), theirs, value.std, places=here))
            rows += self._beside(where[:3], found)
        need(rows, self.name, [*missing, *failed])
        return Finding(rows, [*missing, *failed], known)

    def _run_tuned(self, values: list[PublishedValue], plan: Plan) -> Finding:
        """Search the published grid for each trained method, then run the settings best by each metric."""
        searches, missing = self._searches(values, plan)
        found, failed = run_searches(list(searches.values()), plan.seeds or self.seeds, plan)
        tuned = dict(zip(searches, found, strict=True))
        rows, known = [], places([one.records for by_metric in found for one in by_metric.values()])
        for value in values:
            select = selection_of(plan.with_settings(self.method(value)))
            one = tuned.get(self._group(value, plan), {}).get(select)
            measured = None if one is None else (self.measure or _percent)(value, one.records)
            if one is None or measured is None:
                continue
            where = (value.dataset, self.protocol(value), value.method, value.metric)
            (ours, std), here = measured, places_of(one.records, known)
            theirs, seeds = value.mean or 0.0, len(one.records)
            rows.append(Comparison(*where, ours, std, seeds, theirs, value.std, one.said, here))
        need(rows, self.name, [*missing, *failed])
        return Finding(rows, [*missing, *failed], known)

    def _searches(
        self, values: list[PublishedValue], plan: Plan
    ) -> tuple[dict[tuple[str, str, Method], Search], list[str]]:
        """Return a search for each group of values that share their trainings, in the order of the plan."""
        groups: dict[tuple[str, str, Method], list[PublishedValue]] = {}
        missing: dict[str, str] = {}
        for value in sorted(values, key=lambda one: _place_in(plan.methods, one.method)):
            reason = missing.get(value.dataset) or absent(value.dataset, self.protocol(value))
            if reason:
                missing[value.dataset] = reason
            elif "select" in self.method(value).space():
                groups.setdefault(self._group(value, plan), []).append(value)
        searches = {}
        for (dataset, protocol, method), members in groups.items():
            options = {} if self.options is None else self.options(members[0])
            # What the user or the study has set stays as it is.
            space = published_grid(self.grid, dataset, method, set(method.changed()))
            if space:
                metrics = tuple(self._selections(members, plan))
                searches[dataset, protocol, method] = Search(
                    dataset, protocol, method, metrics, space, options
                )
        return searches, list(missing.values())

    def _group(self, value: PublishedValue, plan: Plan) -> tuple[str, str, Method]:
        """Return what values with the same trainings have in common."""
        return value.dataset, self.protocol(value), training_of(plan.with_settings(self.method(value)))

    def _selections(self, values: Sequence[PublishedValue], plan: Plan) -> list[str]:
        """Return the metrics that select the epochs of a training, for values that share it."""
        methods_of = [plan.with_settings(self.method(value)) for value in values]
        found = [selection_of(method) for method in methods_of]
        asked = plan.metrics or "select" in plan.settings
        if self.further is not None and not asked and shares_training(methods_of[0]):
            found += self.further(values[0])
        return list(dict.fromkeys(found))

    def _beside(self, where: tuple[str, str, str], records: Sequence[Record]) -> list[Comparison]:
        """Return rows of values that were not published."""
        found = [self.beside(record) for record in records] if self.beside is not None else []
        rows = []
        for metric in found[0] if found else ():
            rows.append(comparison((*where, metric), [100 * one[metric] for one in found]))
        return rows

    def _values(self, plan: Plan) -> list[PublishedValue]:
        known = {kind.name for kind in methods.catalogue()}
        values = [v for v in self.values if v.mean is not None and v.method.partition("/")[0] in known]
        names = chosen(
            plan.datasets, list(dict.fromkeys(v.dataset for v in values)), f"data set of {self.name}"
        )
        wanted = chosen(plan.methods, list(dict.fromkeys(v.method for v in values)), f"method of {self.name}")
        columns = chosen(
            plan.metrics, list(dict.fromkeys(v.metric for v in values)), f"metric of {self.name}"
        )
        return [v for v in values if v.dataset in names and v.method in wanted and v.metric in columns]

    def _cells(self, values: list[PublishedValue], plan: Plan) -> tuple[list[Cell], list[str]]:
        """Return the cells of some values, for the data sets whose files are here."""
        groups: dict[tuple[str, str, Method], list[PublishedValue]] = {}
        missing: dict[str, str] = {}
        for value in values:
            reason = missing.get(value.dataset) or absent(value.dataset, self.protocol(value))
            if reason:
                missing[value.dataset] = reason
            else:
                groups.setdefault(self._group(value, plan), []).append(value)
        cells = []
        for (dataset, protocol, method), members in sorted(groups.items(), key=lambda item: item[0][:2]):
            # A heuristic on a fixed split has nothing random.
            seeds = 1 if method.family in ("heuristics", "counting") else plan.seeds or self.seeds
            options = {} if self.options is None else self.options(members[0])
            first, *others = self._selections(members, plan)
            selection: dict[str, Any] = {"select": first} if first else {}
            chosen_method = replace(method, **selection)
            place = (dataset, protocol, chosen_method)
            cells += [
                Cell(*place, seed, options, plan.device, task_seed=0, also_select=tuple(others))
                for seed in range(seeds)
            ]
        return cells, list(missing.values())


def selection_of(method: Method) -> str:
    """Return the metric that selects the epoch of a method; empty: the task's headline metric, or none."""
    return str(getattr(method, "select", None) or "")


def shares_training(method: Method) -> bool:
    """Return whether runs of a method that are selected by different metrics are one training."""
    return bool(getattr(method, "stop", ""))


def training_of(method: Method) -> Method:
    """Return what runs of a method that share their training have in common."""
    nothing: dict[str, Any] = {"select": ""}
    return replace(method, **nothing) if shares_training(method) else method


def _place_in(order: Sequence[str], name: str) -> int:
    return order.index(name) if name in order else len(order)


def _percent(value: PublishedValue, records: Sequence[Record]) -> tuple[float, float] | None:
    found = mean_and_std(records, value.metric)
    return None if found is None else (100 * found[0], 100 * found[1])


def selected_by(value: PublishedValue, **settings: object) -> Method:
    """Return the method of a value; a trained one is selected by the value's metric, as in the paper."""
    if "select" in methods.get(value.method.partition("/")[0]).space():
        settings = {"select": value.metric, **settings}
    return methods.create(value.method.partition("/")[0], settings)


def on_released_files(value: PublishedValue) -> str:
    """Return the protocol of a value: released files where there are some, else OGB's split."""
    return value.protocol if value.dataset.startswith("ogbl") else f"{value.protocol}-released"


def absent(dataset: str, protocol: str) -> str:
    """Return why a data set cannot be read here; empty where it can."""
    try:
        datasets.available(dataset, released=get_protocol(protocol).released)
    except datasets.MissingFile as error:
        return str(error)
    return ""
