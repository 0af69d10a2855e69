"""One epoch of training, beside a plain torch_geometric script of the same model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.graphs import Sizes
from benchmarks.timing import OURS, Bar, Contender, DisagreementError, Row, absent_rows, invite, race
from trueedge import datasets, methods, tasks
from trueedge.graph import Graph

# Enough steps to time: a plain script takes minutes for an epoch on two cores.
MOST_STEPS = {"cpu": 2, "cuda": 64}
# Sizes from which on real data sets are taken.
REAL = 1_000_000
NETWORKS = {"gcn": "GCNConv", "sage": "SAGEConv"}


def measure(sizes: Sizes, repeats: int, with_peers: bool = True, device: str = "cpu") -> list[Row]:
    """GCN and SAGE with their published settings on Pubmed and ogbl-ddi; on a small graph without those."""
    from trueedge.training.links.dense import dense_enough

    rows: list[Row] = []
    for name, task in _tasks(sizes):
        for network, layer in NETWORKS.items():
            method: Any = methods.create(network).for_task(task)
            ours, steps, total = steps_of_ours(task, method, device, MOST_STEPS[device])
            shown = "an epoch" if steps == total else f"{steps} of an epoch's {total} steps"
            label = f"{network}, {name}, {shown}, {device}"
            makers: dict[str, Callable[[], Contender]] = {
                "plain PyG": partial(plain_pyg, task, network, layer, steps, device, Bar("ratio", 1))
            }
            if device == "cuda" and dense_enough(task.graph.num_nodes, 2 * task.graph.num_edges):
                # What messages along the edges of a dense graph would take.
                makers["ours, sparse"] = partial(sparse, task, method, device)
            peers, absent = invite(makers if with_peers else {})
            rows += race(label, ours, peers, repeats, check) + absent_rows(label, absent)
    return rows


def _tasks(sizes: Sizes) -> list[tuple[str, Any]]:
    found = []
    if sizes.separated >= REAL:
        for name in ("pubmed", "ogbl-ddi"):
            try:
                found.append((name, tasks.task(name, "existing", 0)))
            except datasets.MissingFile:
                continue
    return found or [("a random graph", small_task())]


def small_task() -> Any:
    """A random graph with features, to see that everything runs."""
    rng = np.random.default_rng(0)
    features = (rng.random((400, 60)) < 0.05).astype(np.float32)
    graph = Graph.from_edges(
        rng.integers(0, 400, (1_500, 2)), 400, features, self_loops="drop", repeats="drop"
    )
    return tasks.task(graph, "existing", 0)


def check(ours: list[float], theirs: list[float]) -> None:
    """The first steps from the same kind of first weights come to much the same loss."""
    if abs(ours[0] - theirs[0]) > 0.2 * abs(theirs[0]):
        raise DisagreementError(f"the first loss is {ours[0]:.3f} in ours and {theirs[0]:.3f} in theirs")


def sparse(task: Any, method: Any, device: str) -> Contender:
    """Our loop without the dense table of a dense graph."""
    ours = steps_of_ours(task, method, device, MOST_STEPS[device], dense=False)[0]
    return replace(ours, who=f"{OURS}, sparse")


def steps_of_ours(
    task: Any, method: Any, device: str, most: int, dense: bool | None = None
) -> tuple[Contender, int, int]:
    """Some steps of our loop, how many, and how many an epoch has.

    Args:
        task: its training graph is learned from.
        method: a trained method whose settings are filled in.
        device: ``cpu`` or ``cuda``.
        most: at most so many steps.
        dense: whether messages are products with a dense table; None: as for any user.
    """
    import torch

    from trueedge.randomness import generator
    from trueedge.training import Messages, PairObjective, seeded

    schedule = method.schedule(task)
    with seeded(0, device):
        model = method.build(task, 0).to(device)
    messages = Messages.of(task.graph, device)
    messages.dense = dense
    objective = PairObjective(task.graph, messages, schedule)
    optimizer = torch.optim.Adam(model.parameters(), lr=schedule.learning_rate)
    total = -(-task.graph.num_edges // schedule.batch_size)
    steps = min(total, most)
    parts = [list(part.parameters()) for part in model.children()]

    def run() -> list[float]:
        model.train()
        rng, losses = generator(0, "batches"), []
        for _, step in zip(range(steps), objective.steps(rng), strict=False):
            optimizer.zero_grad()
            losses.append(objective.backward(model, step, rng))
            for part in parts:
                if part and schedule.clip:
                    torch.nn.utils.clip_grad_norm_(part, schedule.clip)
            optimizer.step()
        return [float(loss) for loss in losses]

    return Contender(OURS, run), steps, total


def plain_pyg(task: Any, network: str, layer: str, steps: int, device: str, bar: Bar) -> Contender:
    """The same model as one writes it with torch_geometric: its layers, dense features, an edge index."""
    import torch
    import torch.nn.functional as F  # noqa: N812
    from torch_geometric import nn as pyg

    method: Any = methods.get(network)().for_task(task)
    graph, dim = task.graph, method.dim
    torch.manual_seed(0)
    edges = torch.from_numpy(graph.edges.astype(np.int64)).to(device)
    if graph.features is None:
        features = torch.nn.Parameter(torch.empty(graph.num_nodes, dim, device=device))
        torch.nn.init.xavier_uniform_(features)
    else:
        matrix = graph.features.toarray() if hasattr(graph.features, "toarray") else graph.features
        features = torch.from_numpy(np.array(matrix, dtype=np.float32)).to(device)
    sizes = [features.shape[1], *[dim] * method.layers]
    layers = torch.nn.ModuleList(getattr(pyg, layer)(*pair) for pair in pairwise(sizes))
    widths = [dim] * method.predictor_layers + [1]
    predictor = torch.nn.ModuleList(torch.nn.Linear(*pair) for pair in pairwise(widths))
    model = torch.nn.ModuleList([layers, predictor]).to(device)
    learned = [features] if isinstance(features, torch.nn.Parameter) else []
    optimizer = torch.optim.Adam([*model.parameters(), *learned], lr=method.learning_rate)

    def score(states: Any, pairs: Any) -> Any:
        hidden = states[pairs[:, 0]] * states[pairs[:, 1]]
        for linear in predictor[:-1]:
            hidden = F.dropout(F.relu(linear(hidden)), method.dropout)
        return predictor[-1](hidden).squeeze(1)

    def run() -> list[float]:
        losses = []
        order = torch.randperm(len(edges), device=device)
        for number in range(steps):
            batch = order[number * method.batch_size : (number + 1) * method.batch_size]
            optimizer.zero_grad()
            kept = edges
            if method.hide_positives:
                mask = torch.ones(len(edges), dtype=torch.bool, device=device)
                mask[batch] = False
                kept = edges[mask]
            edge_index = torch.cat([kept.t(), kept.t().flip(0)], dim=1)
            states = features
            for place, one in enumerate(layers):
                states = one(states, edge_index)
                if place < len(layers) - 1:
                    states = F.dropout(F.relu(states), method.dropout)
            negatives = torch.randint(0, graph.num_nodes, (len(batch), 2), device=device)
            loss = F.softplus(-score(states, edges[batch])).mean()
            loss = loss + F.softplus(score(states, negatives)).mean()
            loss.backward()
            for part in (layers, predictor):
                torch.nn.utils.clip_grad_norm_(part.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
        return losses

    return Contender("plain PyG", run, bar=bar)
