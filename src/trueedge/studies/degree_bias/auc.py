"""The degree-corrected benchmark's AUC on each network."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from trueedge import datasets, methods
from trueedge.datasets.sources import locate
from trueedge.errors import InputError
from trueedge.methods import Method
from trueedge.runs import Cell
from trueedge.runs.provenance import machine, versions
from trueedge.studies.study import (
    Comparison,
    Finding,
    Plan,
    chosen,
    mean_and_std,
    need,
    places,
    places_of,
    register_listed,
    run_all,
)

# What the published runs did differently from the paper.
PUBLISHED_RUNS: dict[str, Any] = {"redraw": "target"}
# The tree that the published training graphs contain: their node ids, which decide it, are not published.
MINIMUM_TREE = {**PUBLISHED_RUNS, "tree": "minimum"}
SAMPLERS = {"uniform": "uniform", "degree-corrected": "degreeBiased"}
# Learned methods are run on networks with at most this many edges.
SMALL = 20_000


@dataclass(frozen=True)
class Entry:
    """A published column.

    Attributes:
        theirs: its name in the published file.
        ours: the method's name.
        settings: our settings that match the published ones.
        blocks: fix the number of blocks as the published runs did.
        large: whether it is run on networks of any size.
        trained: whether it can use a GPU.
        pairwise: whether it scores pairs one by one, so that another method must retrieve candidates.
        variant: what follows the method's name in tables; empty: nothing.
    """

    theirs: str
    ours: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    blocks: bool = False
    large: bool = True
    trained: bool = False
    pairwise: bool = False
    variant: str = ""

    @property
    def label(self) -> str:
        """Return its name in tables."""
        return f"{self.ours}/{self.variant}" if self.variant else self.ours

    def runs_on(self, network: str) -> bool:
        """Return whether a network is small enough for it."""
        return self.large or (datasets.get(network).num_edges or 0) <= SMALL

    def method(self, network: str) -> Method:
        """Return the method as it was run on a network."""
        settings = dict(self.settings)
        if self.blocks:
            settings["blocks"] = min(128, (datasets.get(network).num_nodes or 0) // 5)
        return methods.create(self.ours, settings)


TOPOLOGY = (
    Entry("preferentialAttachment", "pa"),
    Entry("commonNeighbors", "cn"),
    Entry("adamicAdar", "aa", {"log_floor": 1.0}),
    Entry("jaccardIndex", "jaccard"),
    Entry("resourceAllocation", "ra"),
    Entry("localRandomWalk", "lrw"),
    Entry("localPathIndex", "lpi"),
)
# Readings of the published code where it differs from the paper; they do not give the published AUC either.
VARIANTS = (
    Entry(
        "LinearClassifier",
        "linear",
        {"variant": "published"},
        large=False,
        pairwise=True,
        variant="published",
    ),
    Entry("SGTLaplacianExp", "exp-l", {"variant": "published"}, variant="published"),
    Entry("SGTLaplacianNeumann", "vn-l", {"variant": "published"}, variant="published"),
)
LEARNED = (
    Entry("leigenmap", "eigenmap"),
    Entry("modspec", "modularity"),
    Entry("fastrp", "fastrp"),
    Entry("SGTAdjacencyExp", "exp-a"),
    Entry("SGTAdjacencyNeumann", "vn-a"),
    Entry("SGTLaplacianExp", "exp-l"),
    Entry("SGTLaplacianNeumann", "vn-l"),
    Entry("SGTNormAdjacencyExp", "exp-nl"),
    Entry("SGTNormAdjacencyNeumann", "vn-nl"),
    Entry("node2vec", "node2vec", large=False),
    Entry("deepwalk", "deepwalk", large=False),
    Entry("line", "line", large=False),
    Entry("SBM", "sbm", {"affinity": "positive"}, blocks=True, large=False),
    Entry("dcSBM", "dc-sbm", {"affinity": "positive"}, blocks=True, large=False),
    Entry("LinearClassifier", "linear", large=False, pairwise=True),
    Entry("GCN", "gcn", large=False, trained=True),
    Entry("GAT", "gat", large=False, trained=True),
    Entry("GIN", "gin", large=False, trained=True),
    Entry("GraphSAGE", "sage", large=False, trained=True),
)


def _run(
    plan: Plan,
    *,
    name: str,
    protocol: str,
    entries: tuple[Entry, ...],
    splits: int,
    options: Mapping[str, Any] = PUBLISHED_RUNS,
) -> Finding:
    theirs = published_auc(SAMPLERS[protocol])
    names = networks(plan)
    wanted = chosen(plan.methods, [entry.ours for entry in entries], "method of the study")
    pairs = [
        (network, entry)
        for network in names
        for entry in entries
        if entry.ours in wanted and entry.runs_on(network)
    ]
    cells = [
        Cell(network, protocol, plan.with_settings(entry.method(network)), seed, options, plan.device)
        for network in names
        for seed in range(plan.seeds or splits)
        for entry in [entry for where, entry in pairs if where == network]
    ]
    records, missing = run_all(cells, plan)
    rows, known = [], places(records.values())
    for network, entry in pairs:
        found = records.get((network, protocol, plan.with_settings(entry.method(network))))
        if found is None or (network, entry.theirs) not in theirs:
            continue
        measured = mean_and_std(found, "auc")
        assert measured is not None
        where = (network, protocol, entry.label, "auc")
        numbers = (*measured, len(found), theirs[network, entry.theirs])
        rows.append(Comparison(*where, *numbers, places=places_of(found, known)))
    need(rows, name, missing)
    return Finding(rows, missing, known)


def networks(plan: Plan) -> list[str]:
    """Return the networks of a plan, small ones first."""
    there = sorted({network for network, _ in published_auc("uniform")})
    return sorted(chosen(plan.datasets, there, "network"), key=lambda name: datasets.get(name).num_edges or 0)


def here() -> list[dict[str, Any]]:
    """Return this machine and its versions, for studies without records."""
    return [{"device": "cpu", "machine": machine(), "versions": versions()}]


def refuse_runs(plan: Plan, name: str) -> None:
    """Refuse seeds and settings, which would do nothing in a study that runs no method."""
    for option, given in (("--seeds", plan.seeds is not None), ("--set", bool(plan.settings))):
        if given:
            raise InputError(f"{name} runs no method: remove {option}")


def published_auc(sampler: str) -> dict[tuple[str, str], float]:
    """Return the published AUC of each network and method under a sampler."""
    with locate(datasets.SourceFile("networks/published_auc.csv")).open(newline="", encoding="utf-8") as file:
        return {
            (row["network"], row["method"]): float(row["auc"])
            for row in csv.DictReader(file)
            if row["negatives"] == sampler and row["auc"]
        }


def published_statistics(column: str) -> dict[str, float]:
    """Return the published value of a statistic of each network.

    Args:
        column: its name in the published file, such as ``lognorm_sigma``.
    """
    with locate(datasets.SourceFile("networks/published_stats.csv")).open(
        newline="", encoding="utf-8"
    ) as file:
        return {row["network"]: float(row[column]) for row in csv.DictReader(file) if row.get(column)}


for _protocol in SAMPLERS:
    for _part, _entries, _splits in (("auc", TOPOLOGY, 5), ("learned", LEARNED, 3)):
        _name = f"degree-bias/{_part}-{_protocol}"
        register_listed(
            _name, partial(_run, name=_name, protocol=_protocol, entries=_entries, splits=_splits)
        )
    _name = f"degree-bias/variants-{_protocol}"
    register_listed(_name, partial(_run, name=_name, protocol=_protocol, entries=VARIANTS, splits=3))
    _name = f"degree-bias/minimum-tree-{_protocol}"
    register_listed(
        _name, partial(_run, name=_name, protocol=_protocol, entries=TOPOLOGY, splits=5, options=MINIMUM_TREE)
    )
