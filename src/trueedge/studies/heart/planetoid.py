"""The learned predictors against hard negatives as the paper describes them: nobody has published these."""

from __future__ import annotations

from trueedge import methods
from trueedge.runs import Cell
from trueedge.studies.study import (
    Comparison,
    Finding,
    Plan,
    Study,
    chosen,
    mean_and_std,
    need,
    places,
    register,
    run_all,
)

NAME = "planetoid/heart"
DATASETS = ("cora", "citeseer", "pubmed")
HEURISTICS = ("cn", "aa", "ra", "shortest-path", "katz")
LEARNED = ("mf", "mlp", "node2vec", "gcn", "gat", "sage", "gae")
METRICS = ("mrr", "hits@10", "auc")
SEEDS = 10


def _run(plan: Plan) -> Finding:
    names = chosen(plan.datasets, DATASETS, f"data set of {NAME}")
    wanted = chosen(plan.methods, [*HEURISTICS, *LEARNED], f"method of {NAME}")
    cells = [
        Cell(name, "heart", methods.create(method), seed, device=plan.device, task_seed=0)
        for name in names
        for method in wanted
        # A heuristic on a fixed split has nothing left to draw.
        for seed in range(1 if method in HEURISTICS else plan.seeds or SEEDS)
    ]
    records, missing = run_all(cells, plan)
    rows = []
    for (name, protocol, method), found in records.items():
        for metric in METRICS:
            measured = mean_and_std(found, metric)
            if measured is not None:
                ours, std = 100 * measured[0], 100 * measured[1]
                rows.append(Comparison(name, protocol, method.name, metric, ours, std, len(found), None))
    need(rows, NAME, missing)
    return Finding(rows, missing, places(records.values()))


register(
    Study(
        name=NAME,
        title="Cora, Citeseer and Pubmed against negatives made as the paper describes them",
        citation="Li et al., Evaluating Graph Neural Networks for Link Prediction, NeurIPS 2023",
        decimals=2,
        run=_run,
    )
)
