"""The learned predictors against hard negatives as the paper describes them: nobody has published these."""

from __future__ import annotations

from trueedge import methods
from trueedge.runs import Cell
from trueedge.studies import study

NAME = "planetoid/heart"
DATASETS = ("cora", "citeseer", "pubmed")
HEURISTICS = ("cn", "aa", "ra", "shortest-path", "katz")
LEARNED = ("mf", "mlp", "node2vec", "gcn", "gat", "sage", "gae")
METRICS = ("mrr", "hits@10", "auc")
SEEDS = 10


def _run(plan: study.Plan) -> study.Finding:
    names = study.chosen(plan.datasets, DATASETS, f"data set of {NAME}")
    wanted = study.chosen(plan.methods, [*HEURISTICS, *LEARNED], f"method of {NAME}")
    cells = [
        Cell(name, "heart", plan.with_settings(methods.create(method)), seed, device=plan.device, task_seed=0)
        for name in names
        for method in wanted
        # A heuristic on a fixed split has nothing left to draw.
        for seed in range(1 if method in HEURISTICS else plan.seeds or SEEDS)
    ]
    records, missing = study.run_all(cells, plan)
    rows = []
    for (name, protocol, method), found in records.items():
        for metric in METRICS:
            measured = study.mean_and_std(found, metric)
            if measured is not None:
                ours, std = 100 * measured[0], 100 * measured[1]
                rows.append(
                    study.Comparison(name, protocol, method.name, metric, ours, std, len(found), None)
                )
    study.need(rows, NAME, missing)
    return study.Finding(rows, missing, study.places(records.values()))


study.register_listed(NAME, _run)
