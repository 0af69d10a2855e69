"""The published training as one writes it by hand: does a published value follow from its settings?

    python -m benchmarks.plain_training citeseer existing-released gcn --seeds 10 -o benchmarks/results

A plain torch_geometric script: dense features, an edge index, one Adam with weight decay for everything,
learned vectors included, and each metric read off the test part at the evaluation where its own validation
value is highest, which is how the published tables were made. Ours keeps one state and judges that.

The published settings are those whose ten seeds have the highest mean on the validation part, and the
published value is the mean of the same ten seeds on the test part. With twenty seeds or more, ``chosen tens``
says what this alone adds: the test mean of the best of some tens by validation, all of the same settings.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import warnings
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn
from torch_geometric import nn as pyg

from trueedge import methods, tasks

LAYERS: dict[str, Callable[..., nn.Module]] = {
    "gcn": pyg.GCNConv,
    "sage": pyg.SAGEConv,
    "gat": pyg.GATConv,
    "mlp": nn.Linear,
    "mf": nn.Linear,
}
# How many tens one is chosen from; the published grid has 324 settings, each with ten seeds.
TENS = (1, 10, 100, 324)
HITS = ("hits@1", "hits@3", "hits@10", "hits@100")
METRICS = {"heart-released": ("mrr", *HITS), "existing-released": ("mrr", "auc", *HITS)}


class Plain(nn.Module):
    """An encoder of torch_geometric's layers on features or learned vectors, and a perceptron on the product.

    Matrix factorisation has a vector of as many normal numbers as there are features, and linear layers.
    """

    def __init__(self, graph: Any, method: Any) -> None:
        super().__init__()
        self.method = method
        features = graph.features.toarray() if hasattr(graph.features, "toarray") else graph.features
        if method.name == "mf":
            self.features = nn.Parameter(torch.randn(features.shape))
        else:
            self.register_buffer("features", torch.from_numpy(np.array(features, dtype=np.float32)))
        sizes = [features.shape[1], *[method.dim] * method.layers]
        self.convolutions = nn.ModuleList(LAYERS[method.name](*pair) for pair in pairwise(sizes))
        widths = [method.dim] * method.predictor_layers + [1]
        self.predictor = nn.ModuleList(nn.Linear(*pair) for pair in pairwise(widths))

    def encode(self, edge_index: torch.Tensor) -> torch.Tensor:
        """The states of all nodes."""
        states = self.features
        for place, layer in enumerate(self.convolutions):
            states = layer(states) if isinstance(layer, nn.Linear) else layer(states, edge_index)
            if place < len(self.convolutions) - 1:
                states = F.dropout(F.relu(states), self.method.dropout, self.training)
        return states

    def score(self, states: torch.Tensor, pairs: torch.Tensor) -> torch.Tensor:
        """The probability of each pair."""
        hidden = states[pairs[:, 0]] * states[pairs[:, 1]]
        for layer in self.predictor[:-1]:
            hidden = F.dropout(F.relu(layer(hidden)), self.method.dropout, self.training)
        return torch.sigmoid(self.predictor[-1](hidden)).squeeze(1)


def clipped_together(model: Plain, apart: bool) -> list[list[nn.Parameter]]:
    """The weights whose gradients share one norm: learned vectors are a part of the encoder as published.

    Args:
        model: the model.
        apart: whether learned vectors have a norm of their own.
    """
    vectors = [model.features] if isinstance(model.features, nn.Parameter) else []
    encoder, predictor = list(model.convolutions.parameters()), list(model.predictor.parameters())
    groups = [vectors, encoder, predictor] if apart else [vectors + encoder, predictor]
    return [group for group in groups if group]


def train(task: Any, method: Any, seed: int, device: str, apart: bool = False) -> dict[str, Any]:
    """The validation value of each metric where it is highest, the test value there, and the last epoch."""
    torch.manual_seed(seed)
    edges = torch.from_numpy(task.graph.edges.astype(np.int64)).to(device)
    both_ways = torch.cat([edges.t(), edges.t().flip(0)], dim=1)
    model = Plain(task.graph, method).to(device)
    optimizer = torch.optim.Adam(
        model.parameters(), lr=method.learning_rate, weight_decay=method.weight_decay
    )
    metrics = METRICS[task.protocol]
    clipped = clipped_together(model, apart)
    best: dict[str, tuple[float, float]] = {}
    waited = 0
    for epoch in range(1, method.epochs + 1):
        model.train()
        for batch in torch.randperm(len(edges), device=device).split(method.batch_size):
            optimizer.zero_grad()
            kept = torch.ones(len(edges), dtype=torch.bool, device=device)
            kept[batch] = False
            left = edges[kept]
            states = model.encode(torch.cat([left.t(), left.t().flip(0)], dim=1))
            negatives = torch.randint(0, task.graph.num_nodes, (len(batch), 2), device=device)
            loss = -torch.log(model.score(states, edges[batch]) + 1e-15).mean()
            loss = loss - torch.log(1 - model.score(states, negatives) + 1e-15).mean()
            loss.backward()
            for part in clipped:
                nn.utils.clip_grad_norm_(part, 1.0)
            optimizer.step()
        if epoch % method.evaluate_every:
            continue
        valid, test = evaluated(task, model, both_ways, metrics)
        waited = 0 if "mrr" not in best or valid["mrr"] > best["mrr"][0] else waited + 1
        for metric in metrics:
            if metric not in best or valid[metric] > best[metric][0]:
                best[metric] = (valid[metric], test[metric])
        if waited > method.patience:
            break
    valid, test = ({metric: pair[place] for metric, pair in best.items()} for place in (0, 1))
    return {"seed": seed, "valid": valid, "test": test, "epochs": epoch}


def evaluated(
    task: Any, model: Plain, edge_index: torch.Tensor, metrics: tuple[str, ...]
) -> list[dict[str, float]]:
    """The metrics of both parts."""
    model.eval()
    with torch.no_grad():
        states = model.encode(edge_index)

        def score(pairs: Any) -> Any:
            asked = torch.from_numpy(np.array(pairs, dtype=np.int64)).to(states.device)
            with torch.no_grad():
                return torch.cat([model.score(states, block) for block in asked.split(1 << 16)]).cpu().numpy()

        return [task.evaluate(score, part, metrics) for part in ("valid", "test")]


def chosen_tens(runs: list[dict[str, Any]], metric: str, tens: int, repeats: int = 2000) -> float:
    """The expected test mean of that of some random tens of runs whose validation mean is highest.

    Args:
        runs: what :func:`train` returned, for twenty seeds or more.
        metric: the metric of both means.
        tens: the number of tens to choose from.
        repeats: how often tens are drawn.
    """
    valid, test = (np.array([run[part][metric] for run in runs]) for part in ("valid", "test"))
    rng = np.random.default_rng(0)
    found = []
    for _ in range(repeats):
        drawn = np.array([rng.choice(len(runs), 10, replace=False) for _ in range(tens)])
        found.append(test[drawn[valid[drawn].mean(axis=1).argmax()]].mean())
    return float(np.mean(found))


def one_seed(asked: argparse.Namespace, seed: int) -> dict[str, Any]:
    """Train one seed, in a process of its own where there are several."""
    if asked.jobs > 1:
        torch.set_num_threads(1)
    # Warnings about the scores of an evaluation on the way are no news here.
    warnings.simplefilter("ignore")
    task = tasks.task(asked.dataset, asked.protocol, 0)
    limit = {} if asked.epochs is None else {"epochs": asked.epochs}
    method: Any = methods.create(asked.method, limit).for_task(task)
    found = train(task, method, seed, asked.device, asked.clip_apart)
    print(json.dumps(found), flush=True)
    return found


def main() -> None:
    """Train with some seeds and write down mean and standard deviation of each metric."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dataset")
    parser.add_argument("protocol", choices=sorted(METRICS))
    parser.add_argument("method", choices=sorted(LAYERS))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--clip-apart", action="store_true", help="learned vectors have a norm of their own")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--name", default="", help="appended to the name of the file")
    parser.add_argument("-o", "--output", type=Path, default=Path("benchmarks/results"))
    asked = parser.parse_args()
    seeds = range(asked.first_seed, asked.first_seed + asked.seeds)
    asked.output.mkdir(parents=True, exist_ok=True)
    path = asked.output / f"plain-{asked.dataset}-{asked.protocol}-{asked.method}{asked.name}.json"
    found: list[dict[str, Any]] = []
    with multiprocessing.get_context("spawn").Pool(asked.jobs) as pool:
        # The file is written after every seed, so that what is done lasts if the command is stopped.
        for one in pool.imap_unordered(partial(one_seed, asked), seeds):
            found.append(one)
            table = summary(found, METRICS[asked.protocol])
            path.write_text(json.dumps(table, indent=1) + "\n")
    print(json.dumps({metric: table[metric] for metric in METRICS[asked.protocol]}))
    print(path)


def summary(found: list[dict[str, Any]], metrics: tuple[str, ...]) -> dict[str, Any]:
    """Return the mean and standard deviation of each metric, and the runs, by seed."""
    # In the order of seeds, whichever ends first: the draws of tens depend on it.
    found = sorted(found, key=lambda one: int(one["seed"]))
    table: dict[str, Any] = {}
    for metric in metrics:
        values = [one["test"][metric] for one in found]
        spread = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
        table[metric] = {"mean": float(np.mean(values)), "std": spread, "seeds": len(values)}
        if len(values) >= 20:
            both = [[one[part][metric] for one in found] for part in ("valid", "test")]
            table[metric]["correlation with validation"] = float(np.corrcoef(both)[0, 1])
            table[metric]["chosen tens"] = {tens: chosen_tens(found, metric, tens) for tens in TENS}
    return {**table, "runs": found}


if __name__ == "__main__":
    main()
