"""Steps of training NCN as one writes it with torch_geometric and torch's own sparse or dense matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn


class PlainNCN(nn.Module):
    """The model of ``trueedge``'s ncn, layer for layer, on an edge index and a matrix of all nodes."""

    def __init__(self, graph: Any, method: Any) -> None:
        super().__init__()
        from torch_geometric import nn as pyg

        dim, dropout = method.dim, method.dropout
        self.method = method
        if graph.features is None:
            self.vectors = nn.Parameter(torch.empty(graph.num_nodes, dim))
            nn.init.xavier_uniform_(self.vectors)
            size = dim
        else:
            matrix = graph.features.toarray() if hasattr(graph.features, "toarray") else graph.features
            self.register_buffer("features", torch.from_numpy(np.array(matrix, dtype=np.float32)))
            size = matrix.shape[1]
        if method.encoder == "gcn":
            sizes = [size, *[dim] * method.layers]
            self.layers = nn.ModuleList(pyg.GCNConv(*sizes[n : n + 2]) for n in range(method.layers))
            self.norms = nn.ModuleList(nn.LayerNorm(dim) for _ in range(method.layers - 1))
        else:
            self.linear = nn.Linear(size, dim) if graph.features is not None else nn.Identity()
            self.layers = nn.ModuleList(pyg.SimpleConv(aggr="sum") for _ in range(method.layers))
            self.mix = nn.Parameter(torch.ones(method.layers))

        def hidden() -> list[nn.Module]:
            return [nn.Linear(dim, dim), nn.LayerNorm(dim), nn.Dropout(dropout), nn.ReLU()]

        def two() -> nn.Sequential:
            return nn.Sequential(nn.Linear(dim, dim), nn.Dropout(dropout), nn.ReLU(), *hidden())

        self.mapped, self.sums, self.products = two(), two(), nn.Sequential(*hidden())
        between = [part for _ in range(method.predictor_layers - 1) for part in hidden()]
        self.last = nn.Sequential(*between, nn.Linear(dim, 1))
        self.share = nn.Parameter(torch.ones(1))

    def encode(self, edge_index: torch.Tensor, nodes: int) -> torch.Tensor:
        """The states of all nodes."""
        from torch_geometric.nn.conv.gcn_conv import gcn_norm

        method = self.method
        learned = hasattr(self, "vectors")
        states = self.vectors if learned else F.dropout(self.features, method.input_dropout)
        if method.encoder == "gcn":
            for place, layer in enumerate(self.layers):
                found = layer(states, edge_index)
                if place < len(self.norms):
                    found = F.relu(F.dropout(self.norms[place](found), method.dropout))
                states = found + states if method.residual and found.shape == states.shape else found
            return states
        weights = None
        if method.encoder == "pure-gcn":
            edge_index, weights = gcn_norm(edge_index, None, nodes)
        states = F.dropout(self.linear(states), method.dropout)
        rounds = []
        for place, layer in enumerate(self.layers):
            found = layer(states, edge_index, weights)
            if place == len(self.layers) - 1:
                found = F.dropout(found, method.tail_dropout)
            states = found + states if method.residual else found
            rounds.append(self.mix[place] * states)
        return states if method.residual else torch.stack(rounds).sum(0)

    def score(self, states: torch.Tensor, adjacency: torch.Tensor, pairs: torch.Tensor) -> torch.Tensor:
        """A logit for each pair: the rows of both ends are multiplied, sparse or dense."""
        others = states + self.mapped(states)
        left, right = adjacency.index_select(0, pairs[:, 0]), adjacency.index_select(0, pairs[:, 1])
        common = left * right
        sums = torch.sparse.mm(common, others) if common.is_sparse else common @ others
        products = states[pairs[:, 0]] * states[pairs[:, 1]]
        logits: torch.Tensor = self.last(self.sums(sums) * self.share + self.products(products))
        return logits.squeeze(1)


def plain_ncn(
    task: Any, method: Any, steps: int, device: str, dense: bool = False
) -> Callable[[], list[float]]:
    """Some steps of training; what is returned runs them, and says the loss of each.

    Args:
        task: its training graph is learned from.
        method: an NCN whose settings are filled in, ``methods.get("ncn")().for_task(task)``.
        steps: how many.
        device: ``cpu`` or ``cuda``.
        dense: hold the adjacency as a full matrix, which small graphs allow; else a sparse tensor.
    """
    torch.manual_seed(0)
    graph = task.graph
    edges = torch.from_numpy(graph.edges.astype(np.int64)).to(device)
    model = PlainNCN(graph, method).to(device)
    optimizer = torch.optim.Adam(
        model.parameters(), lr=method.learning_rate, weight_decay=method.weight_decay
    )

    def matrix(edge_index: torch.Tensor) -> torch.Tensor:
        values = torch.ones(edge_index.shape[1], device=device)
        sparse = torch.sparse_coo_tensor(edge_index, values, (graph.num_nodes,) * 2).coalesce()
        return sparse.to_dense() if dense else sparse

    def run() -> list[float]:
        losses = []
        order = torch.randperm(len(edges), device=device)
        for number in range(steps):
            batch = order[number * method.batch_size : (number + 1) * method.batch_size]
            optimizer.zero_grad()
            kept = torch.ones(len(edges), dtype=torch.bool, device=device)
            if method.hide_positives:
                kept[batch] = False
            edge_index = torch.cat([edges[kept].t(), edges[kept].t().flip(0)], dim=1)
            adjacency = matrix(edge_index)
            states = model.encode(edge_index, graph.num_nodes)
            negatives = torch.randint(0, graph.num_nodes, (len(batch), 2), device=device)
            loss = F.softplus(-model.score(states, adjacency, edges[batch])).mean()
            loss = loss + F.softplus(model.score(states, adjacency, negatives)).mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    return run
