"""Whether our ranking of the methods on each network is the published one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from trueedge.analysis.figure import Figure, Series
from trueedge.statistics.rank_overlap import rank_groups, rbo
from trueedge.studies.degree_bias.alignment import Scope, scopes
from trueedge.studies.degree_bias.auc import LEARNED, SAMPLERS, TOPOLOGY
from trueedge.studies.study import Comparison, Finding, Plan, chosen, comparison, get, need, register_listed

NAME = "degree-bias/ranks"
P = 0.5
ENTRIES = (*TOPOLOGY, *LEARNED)
Both = Mapping[tuple[str, str], Mapping[str, float]]


def _run(plan: Plan) -> Finding:
    wanted = chosen(plan.methods, [entry.ours for entry in ENTRIES], f"method of {NAME}")
    found = []
    for protocol in SAMPLERS:
        for part, entries in (("auc", TOPOLOGY), ("learned", LEARNED)):
            own = tuple(entry.ours for entry in entries if entry.ours in wanted)
            if own:
                found.append(get(f"degree-bias/{part}-{protocol}").run(replace(plan, methods=own)))
    compared = [row for one in found for row in one.rows]
    missing = list(dict.fromkeys(sentence for one in found for sentence in one.missing))
    rows = rank_rows(compared)
    need(rows, NAME, missing or ["a ranking needs three methods"])
    return Finding(rows, missing, [place for one in found for place in one.places], spread_figures(compared))


def rank_rows(compared: Iterable[Comparison]) -> list[Comparison]:
    """Return the overlap of our AUC rankings with the published ones: per network, its mean, and overall."""
    rows = []
    for protocol, both in _by_protocol(compared).items():
        for scope in scopes(both):
            who = f"ranking of {len(scope.methods)} methods"
            values = [_overlap(both, scope, (network,)) for network in scope.networks]
            for network, value in zip(scope.networks, values, strict=True):
                rows.append(Comparison(network, protocol, who, "rbo", value, 0.0, 1, None))
            many = f"{len(values)} networks"
            whole = _overlap(both, scope, scope.networks)
            rows += [
                comparison((f"mean of {many}", protocol, who, "rbo"), values),
                Comparison(f"mean AUC over {many}", protocol, who, "rbo", whole, 0.0, len(values), None),
            ]
    return rows


def spread_figures(compared: Iterable[Comparison]) -> list[Figure]:
    """Draw the AUC of each method over the networks under each sampler (Figure 1D and E)."""
    by_protocol = _by_protocol(compared)
    found = []
    for number, scope in enumerate(scopes(next(iter(by_protocol.values()), {})), 1):
        series = []
        for protocol, both in by_protocol.items():
            if not all((network, method) in both for network in scope.networks for method in scope.methods):
                continue
            order = _by_mean(by_protocol, scope)
            quarters = [
                np.quantile([both[network, method]["ours"] for network in scope.networks], (0.25, 0.5, 0.75))
                for method in order
            ]
            ends = [tuple(float(one[place]) for one in quarters) for place in range(3)]
            series.append(Series(protocol, tuple(order), ends[1], ends[0], ends[2]))
        found.append(
            Figure(
                f"spread-{number}",
                f"AUC under each sampler, {scope.name}",
                "bars",
                "method",
                "AUC",
                tuple(series),
                note="Medians and quartiles over networks.",
            )
        )
    return found


def _by_protocol(compared: Iterable[Comparison]) -> dict[str, dict[tuple[str, str], dict[str, float]]]:
    found: dict[str, dict[tuple[str, str], dict[str, float]]] = {}
    for row in compared:
        if row.theirs is not None and row.metric == "auc":
            own = found.setdefault(row.protocol, {})
            own[row.dataset, row.method] = {"ours": row.ours, "theirs": row.theirs}
    return found


def _overlap(both: Both, scope: Scope, networks: Sequence[str]) -> float:
    """Return the overlap of the rankings by the mean over some networks."""
    groups = [
        rank_groups({m: float(np.mean([both[n, m][whose] for n in networks])) for m in scope.methods})
        for whose in ("ours", "theirs")
    ]
    return rbo(groups[0], groups[1], P)


def _by_mean(by_protocol: Mapping[str, Both], scope: Scope) -> list[str]:
    """Return the methods, best first by the mean under the first sampler."""
    both = next(iter(by_protocol.values()))
    means = {m: float(np.mean([both[n, m]["ours"] for n in scope.networks])) for m in scope.methods}
    return sorted(scope.methods, key=lambda method: -means[method])


register_listed(NAME, _run)
