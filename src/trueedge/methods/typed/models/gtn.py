"""GTN's encoder: graph convolutions along soft selections of relations.

A layer multiplies the graph composed so far with a mixture of all relations. The composed matrix is only ever
multiplied with states, and its row sums are its product with ones. So the mixtures are applied to the states
one after the other, from the last to the first, and no product of matrices is formed: memory grows with the
number of edges, not with that of composed ones.
"""

from __future__ import annotations

import warnings

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from trueedge.training.typed.features import FeatureInput, sparse_or_dense
from trueedge.training.typed.inputs import TypedEdges, TypedInputs


class GtnModel(nn.Module):
    """Logits of the nodes of one type.

    Args:
        inputs: the typed graph.
        features: which types keep their features.
        dim: the size of the states.
        layers: products of relations; a path has up to ``layers + 1`` steps.
        channels: soft meta-paths.
        dropped: node types that are left out of paths; their neighbours get the mean of their states.
        dropout: of the input and of the states.
        rate: what the selection's weights are multiplied by, so that they learn faster than others.
        out: the number of classes.
    """

    def __init__(
        self,
        inputs: TypedInputs,
        features: str,
        dim: int,
        layers: int,
        channels: int,
        dropped: tuple[int, ...],
        dropout: float,
        rate: float,
        out: int,
    ) -> None:
        super().__init__()
        assert inputs.target is not None
        self.rows, self.dropout, self.rate = inputs.rows(inputs.target), dropout, rate
        self.input = FeatureInput(inputs, features, dim)
        kept = [one for one in inputs.typed if not {one.source_type, one.target_type} & {*dropped}]
        self.steps = [(one.target_type, one.source_type, sparse_edges(inputs, one)) for one in kept]
        self.from_dropped = [
            (one.target_type, one.source_type, sparse_edges(inputs, one, mean=True))
            for one in inputs.typed
            if one.source_type in dropped and one.target_type not in dropped
        ]
        # One choice more: to stay where one is, which gives shorter paths.
        self.selection = nn.Parameter(torch.full((channels, layers + 1, len(kept) + 1), 0.1 / rate))
        self.weight = nn.Linear(dim, dim)
        self.hidden = nn.Linear(dim * channels, dim)
        self.output = nn.Linear(dim, out)

    def forward(self, inputs: TypedInputs) -> torch.Tensor:
        """Return the logits, float (nodes of the target type, classes)."""
        states = self.input(inputs)
        states = states + spread(states, inputs, self.from_dropped)
        states = self.weight(F.dropout(states, self.dropout, self.training))
        shares = self.shares()
        found = [F.relu(self.convolve(inputs, states, shares[channel])) for channel in range(len(shares))]
        hidden = F.dropout(torch.cat(found, dim=1), self.dropout, self.training)[self.rows]
        logits: torch.Tensor = self.output(F.relu(self.hidden(hidden)))
        return logits

    def shares(self) -> torch.Tensor:
        """Return the share of each relation, then of staying: float (channels, steps, relations + 1)."""
        return (self.selection * self.rate).softmax(dim=-1)

    def convolve(self, inputs: TypedInputs, states: torch.Tensor, shares: torch.Tensor) -> torch.Tensor:
        """Return D^-1 (H + I) X for the composed graph H of one channel.

        H is Q1 ... Qn with rows divided by the sums of those of Q1 ... Q(n-1): every product but the last is
        normalised. D has the row sums of H + I. Equations 3 to 6 of GTN.
        """
        ones = states.new_ones(len(states), 1)
        reached = self.walk(inputs, torch.cat([states, ones], dim=1), shares)
        if len(shares) > 2:
            sums = self.walk(inputs, ones, shares[:-1])
            reached = reached * torch.where(sums > 0, 1.0 / sums.clamp_min(1e-12), 0.0)
        return (reached[:, :-1] + states) / (reached[:, -1:] + 1.0)

    def walk(self, inputs: TypedInputs, states: torch.Tensor, shares: torch.Tensor) -> torch.Tensor:
        """Return Q1 ... Qn X, from the last factor to the first."""
        for share in shares.flip(0):
            states = share[-1] * states + spread(states, inputs, self.steps, share)
        return states


def spread(
    states: torch.Tensor,
    inputs: TypedInputs,
    steps: list[tuple[int, int, torch.Tensor]],
    shares: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return the sum over relations of their matrix times the states, each with its share."""
    parts = [states.new_zeros(inputs.count(kind), states.shape[1]) for kind in range(inputs.num_types)]
    for number, (target, source, matrix) in enumerate(steps):
        sent = sparse_or_dense(matrix, states[inputs.rows(source)])
        parts[target] = parts[target] + (sent if shares is None else shares[number] * sent)
    return torch.cat(parts)


def sparse_edges(inputs: TypedInputs, edges: TypedEdges, mean: bool = False) -> torch.Tensor:
    """Return a relation as a sparse matrix (receivers, senders); with ``mean``, each row sums to one."""
    rows, columns = inputs.count(edges.target_type), inputs.count(edges.source_type)
    target = edges.target - inputs.starts[edges.target_type]
    source = edges.source - inputs.starts[edges.source_type]
    starts = torch.searchsorted(target, torch.arange(rows + 1, device=target.device))
    weights = torch.ones(len(target), device=target.device)
    if mean:
        weights = weights / starts.diff()[target]
    with warnings.catch_warnings():
        # torch calls its sparse CSR tensors a beta feature.
        warnings.simplefilter("ignore", UserWarning)
        return torch.sparse_csr_tensor(starts, source, weights, (rows, columns), check_invariants=False)
