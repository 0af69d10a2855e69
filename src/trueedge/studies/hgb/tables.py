"""HGB's tables: node classification, link prediction with hard and random negatives, and ablations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from trueedge import methods
from trueedge.methods import Method
from trueedge.splits.typed import published as published_data
from trueedge.studies.hgb.differences import difference_rows
from trueedge.studies.printed_tables import PrintedTable
from trueedge.studies.published_values import PublishedValue, published
from trueedge.studies.study import Finding, Plan, register_listed

#: The table that each study reproduces.
TABLES = {
    "hgb/table-3": "hgb/table-3",
    "hgb/table-4": "hgb/table-4",
    "hgb/table-7": "hgb/table-7",
    "hgb/ablation": "hgb/table-6",
}
SEEDS = 5
NODE_METRICS = ("macro-f1", "micro-f1")
NODES = "node-classification"
DATASETS = {"lastfm": "lastfm-hgb", "amazon": "amazon-hgb"}
#: The published MRR is that of the best positive of each head.
METRICS = {"mrr": "head-mrr"}
ABLATIONS: dict[str, dict[str, Any]] = {
    "no-type-embedding": {"edge_types": False},
    "no-l2-normalization": {"normalize": False},
    # For links there are no residuals; what reaches past layers there is that all of them are joined.
    "no-residual-connections": {"residual": False, "beta": 0.0, "every_layer": False},
}


def _run(plan: Plan, *, study: str) -> Finding:
    values = [_ours(value) for value in published("hgb") if value.table == TABLES[study]]
    kept = [value for value in values if value.protocol in (NODES, "two-hop", "random")]
    finding = PrintedTable(study, kept, _protocol, _method, SEEDS, options=_options).run(plan)
    if study != "hgb/table-3":
        return finding
    rows, said = difference_rows(plan.used, plan.metrics or NODE_METRICS)
    return replace(finding, rows=[*finding.rows, *rows], notes=said)


def _ours(value: PublishedValue) -> PublishedValue:
    name, slash, part = value.method.partition("/")
    known = {kind.name for kind in methods.catalogue()}
    other = name + methods.SUFFIXES["typed"]
    return replace(
        value,
        dataset=DATASETS.get(value.dataset, value.dataset),
        method=(other if other in known else name) + slash + part,
        metric=METRICS.get(value.metric, value.metric),
    )


def _protocol(value: PublishedValue) -> str:
    return NODES if value.protocol == NODES else "typed-links"


def _options(value: PublishedValue) -> Mapping[str, Any]:
    """Return the negatives of a value: published pairs, if there are some of that kind."""
    if value.protocol == NODES:
        return {}
    if value.protocol == "two-hop" and value.dataset == "lastfm-hgb":
        return {"negatives": "published"} if "test" in published_data(value.dataset).pairs else {}
    return {"negatives": value.protocol}


def _method(value: PublishedValue) -> Method:
    name, _, part = value.method.partition("/")
    return methods.create(name, ABLATIONS.get(part, {}))


for _study in TABLES:
    register_listed(_study, partial(_run, study=_study))
