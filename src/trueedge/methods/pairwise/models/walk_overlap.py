"""The overlap of multi-hop neighbourhoods of two nodes, by walk counts."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from trueedge.training.links.messages import Messages
from trueedge.training.links.pair_sets import LOOKUPS, NodeSets, neighbors, runs
from trueedge.training.links.pair_sets import searched_common_neighbors as searched


@dataclass(frozen=True)
class WalkRows:
    """Rows of a weighted sum of powers of the adjacency, of some nodes; those of the others are empty.

    Attributes:
        rows: the places of the entries, read as a graph is.
        values: float64 (entries,).
    """

    rows: Messages
    values: torch.Tensor

    def overlaps(self, pairs: torch.Tensor) -> tuple[NodeSets, torch.Tensor]:
        """Return the common nodes of the rows of both ends, and the products of values, float64 (k,)."""
        if pairs.device.type == "cpu":
            from trueedge.kernels.walks.walk_rows import row_overlaps

            given = (self.rows.indptr, self.rows.indices, self.values, pairs)
            found = row_overlaps(*(part.numpy() for part in given))
            starts, nodes, products = (torch.from_numpy(part) for part in found)
            return NodeSets.of_starts(starts, nodes), products
        return self.searched_overlaps(pairs)

    def searched_overlaps(self, pairs: torch.Tensor) -> tuple[NodeSets, torch.Tensor]:
        """Return :meth:`overlaps` by searches."""
        sets = searched(self.rows, pairs)
        keys = pairs[sets.rows] * self.rows.num_nodes + sets.nodes.unsqueeze(1)
        places = torch.searchsorted(self.rows.arc_keys, keys)
        return sets, self.values[places].prod(dim=1)


def walk_rows(messages: Messages, ends: torch.Tensor, weights: torch.Tensor) -> WalkRows:
    """Return the rows of nodes (q,), ascending, with weights of each power (hops,), float64 on the CPU."""
    if ends.device.type != "cpu":
        return searched_walk_rows(messages, ends, weights)
    from trueedge.kernels.walks.walk_rows import walk_rows as compiled

    given = (messages.indptr, messages.indices, ends, weights)
    starts, nodes, values = (torch.from_numpy(part) for part in compiled(*(part.numpy() for part in given)))
    return _rows_of(messages, ends, starts.diff(), nodes, values)


def searched_walk_rows(messages: Messages, ends: torch.Tensor, weights: torch.Tensor) -> WalkRows:
    """Return :func:`walk_rows` by sorting the walks, in bounded memory."""
    nodes, parts = messages.num_nodes, []
    for part in runs(walk_counts(messages, len(weights))[ends].long(), LOOKUPS):
        rows = torch.arange(part.start, part.stop, device=ends.device)
        reached, counts = ends[part], torch.ones(len(rows), dtype=torch.float64, device=ends.device)
        keys, values = [], []
        for weight in weights.tolist():
            found = neighbors(messages, reached)
            key, counts = _added_up(rows[found.rows] * nodes + found.nodes, counts[found.rows])
            rows, reached = key // nodes, key % nodes
            keys.append(key)
            values.append(weight * counts)
        parts.append(_added_up(torch.cat(keys), torch.cat(values)))
    keys_of, values_of = (torch.cat(column) for column in zip(*parts, strict=True))
    sizes = torch.bincount(keys_of // nodes, minlength=len(ends))
    return _rows_of(messages, ends, sizes, keys_of % nodes, values_of)


def walk_counts(messages: Messages, hops: int) -> torch.Tensor:
    """Return how many walks of so many hops start at each node, float32 (n,)."""
    counts = messages.degrees.unsqueeze(1)
    for _ in range(hops - 1):
        counts = messages.sum(counts)
    return counts.squeeze(1)


def _added_up(keys: torch.Tensor, values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return each key once, ascending, with the sum of its values."""
    once, place = torch.unique(keys, return_inverse=True)
    return once, torch.zeros(len(once), dtype=values.dtype, device=values.device).index_add_(0, place, values)


def _rows_of(
    messages: Messages, ends: torch.Tensor, sizes: torch.Tensor, nodes: torch.Tensor, values: torch.Tensor
) -> WalkRows:
    all_sizes = torch.zeros(messages.num_nodes + 1, dtype=torch.int64, device=ends.device)
    all_sizes[ends + 1] = sizes
    return WalkRows(Messages(torch.cumsum(all_sizes, 0), nodes), values)
