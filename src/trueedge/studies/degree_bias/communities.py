"""What negatives a graph neural network should be trained with, judged by the communities it finds."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from typing import Any

from trueedge import methods
from trueedge.datasets.lfr import lfr
from trueedge.runs import Cell
from trueedge.studies.degree_bias.community_designs import (
    COMMUNITIES,
    DESIGNS,
    GRAPHS,
    METHODS,
    Design,
    Place,
)
from trueedge.studies.degree_bias.community_findings import figures_of, rows_of
from trueedge.studies.study import Finding, Plan, chosen, need, places, register_listed, run_all
from trueedge.tasks.communities import CommunityTask

SEEDS = 5


def _run(plan: Plan, *, design: Design) -> Finding:
    asked = cells(plan, design=design)
    records, missing = run_all(list(asked.values()), plan)
    found = {}
    for place, cell in asked.items():
        of_cell = records.get((cell.name, cell.protocol, cell.method))
        if of_cell:
            found[place] = of_cell[0]
    rows = rows_of(found, design)
    need(rows, design.name, missing)
    return Finding(rows, missing, places(records.values()), figures_of(found, design))


def cells(
    plan: Plan, settings: Mapping[str, Any] | None = None, *, design: Design = COMMUNITIES
) -> dict[Place, Cell]:
    """Return all cells: every kind of graph, μ, graph number, network and sampler.

    The numbers of graphs come first, so that a run which is cut short has fewer graphs and nothing else is
    missing.

    Args:
        plan: data sets (kinds of graphs), methods, the number of graphs, and the device.
        settings: further settings of every network, for a quick look.
        design: which graphs, mixings and samplers there are.
    """
    kinds = chosen(plan.datasets, design.graphs, f"data set of {design.name}")
    names = chosen(plan.methods, METHODS, f"method of {design.name}")
    found = {}
    for number in range(plan.seeds or SEEDS):
        for kind in kinds:
            for mixing in design.mixings:
                for name in names:
                    for sampler in design.samplers:
                        place = Place(kind, name, sampler, mixing, number)
                        found[place] = _cell(place, plan, settings or {})
    return found


def _cell(place: Place, plan: Plan, settings: Mapping[str, Any]) -> Cell:
    # The paper's negatives are pairs that are not joined.
    how = {"negatives": place.sampler, "reject_edges": True, **settings}
    task = community_task(place.graphs, place.mixing, place.number)
    method = plan.with_settings(methods.create(place.method, how))
    return Cell(task, task.protocol, method, place.number, device=plan.device)


@cache
def community_task(graphs: str, mixing: float, number: int) -> CommunityTask:
    """Return a graph with 3,000 nodes and its communities; other settings are those of the paper."""
    settings: Mapping[str, Any] = GRAPHS[graphs]
    return CommunityTask.of(*lfr(mixing=mixing, seed=number, **settings))


for _design in DESIGNS.values():
    register_listed(_design.name, partial(_run, design=_design))
