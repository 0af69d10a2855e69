"""Some steps of torch_geometric's own LPFormer, at the settings of ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def pyg_lpformer(task: Any, method: Any, steps: int, device: str) -> Callable[[], list[float]]:
    """What trains torch_geometric's LPFormer for some steps and returns their losses.

    It needs no compiled extension: adjacency and PageRank are torch's own COO tensors. Its one-hop mode (a
    threshold of 1 for nodes beyond) fails in 2.8.1, where parts of an answer that is None are asked for; the
    class below mends that and nothing else. It has one dropout for the encoder and one for the rest, no
    separate one for features, and drops no node where that is 0. The PageRank is made beforehand, not timed.

    Args:
        task: gives the graph.
        method: an LPFormer with its settings filled in (``for_task``).
        steps: how many.
        device: ``cpu`` or ``cuda``.
    """
    import torch
    import torch.nn.functional as F  # noqa: N812

    graph, dim = task.graph, method.dim
    torch.manual_seed(0)
    edges = torch.from_numpy(graph.edges.astype(np.int64)).to(device)
    learned = graph.features is None
    if learned:
        features = torch.nn.Parameter(torch.empty(graph.num_nodes, dim, device=device))
        torch.nn.init.xavier_uniform_(features)
    else:
        matrix = graph.features.toarray() if hasattr(graph.features, "toarray") else graph.features
        features = torch.from_numpy(np.array(matrix, dtype=np.float32)).to(device)
    model = _model_class()(
        features.shape[1],
        dim,
        num_gnn_layers=method.layers,
        gnn_dropout=method.gnn_dropout,
        num_transformer_layers=1,
        num_heads=method.heads,
        transformer_dropout=method.dropout,
        ppr_thresholds=[method.threshold_common, method.threshold_one_hop, method.threshold_beyond],
    ).to(device)
    ranks = _ranks(graph, method.alpha, method.eps).to(device)
    weights = [*model.parameters(), *([features] if learned else [])]
    optimizer = torch.optim.Adam(weights, lr=method.learning_rate, weight_decay=method.weight_decay)

    def run() -> list[float]:
        model.train()
        losses = []
        order = torch.randperm(len(edges), device=device)
        for number in range(steps):
            batch = order[number * method.batch_size : (number + 1) * method.batch_size]
            kept = torch.ones(len(edges), dtype=torch.bool, device=device)
            kept[batch] = False
            left = edges[kept].t()
            index = torch.cat([left, left.flip(0)], dim=1)
            negatives = torch.randint(0, graph.num_nodes, (len(batch), 2), device=device)
            optimizer.zero_grad()
            # Both kinds of pairs at once, as ours: two calls would encode the graph twice.
            logits = model(torch.cat([edges[batch], negatives]).t(), features, index, ranks)
            loss = F.softplus(-logits[: len(batch)]).mean() + F.softplus(logits[len(batch) :]).mean()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(weights, 1.0)
            optimizer.step()
            losses.append(loss.detach())
        return [float(loss) for loss in losses]

    return run


def _ranks(graph: Any, alpha: float, eps: float) -> Any:
    """The PageRank of the whole graph as torch_geometric's model wants it: a COO tensor, rows the sources."""
    import torch

    from trueedge.kernels.walks.push import push_rows

    nodes = graph.num_nodes
    rows = push_rows(graph.indptr, graph.indices, np.arange(nodes), alpha, eps)
    places = np.stack([np.repeat(np.arange(nodes), np.diff(rows.starts)), rows.nodes.astype(np.int64)])
    values = torch.from_numpy(rows.scores.astype(np.float32))
    return torch.sparse_coo_tensor(torch.from_numpy(places), values, (nodes, nodes)).coalesce()


def _model_class() -> Any:
    import torch
    from torch_geometric.nn.models import LPFormer

    class Mended(LPFormer):  # type: ignore[misc]
        """LPFormer whose modes without nodes beyond, or without one-hop nodes, run."""

        def get_pos_encodings(self, *ranks: Any) -> Any:
            """Leave out what is empty."""
            encoders = (self.ppr_encoder_cn, self.ppr_encoder_onehop, self.ppr_encoder_non1hop)
            found = []
            for encoder, (left, right) in zip(encoders, filter(len, ranks), strict=False):
                found += [encoder(torch.stack(order).t()) for order in ((left, right), (right, left))]
            return torch.cat([a + b for a, b in zip(found[::2], found[1::2], strict=True)])

        def compute_node_mask(self, *args: Any) -> Any:
            """Sets that are off come out empty, not as None."""
            common, *others = super().compute_node_mask(*args)
            nothing = (common[0][:, :0], common[1][:0], common[2][:0])
            return common, *(nothing if one is None else one for one in others)

    return Mended
