"""How many nodes lie within some hops of both ends of a pair, from sketches or exactly, on any device.

The sets of a node are those within 1, 2, ... hops, including itself. On the CPU compiled loops compute the
whole numbers behind the estimates, on a GPU torch does, with the same results.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import cache
from weakref import WeakKeyDictionary

import torch
from torch import nn

from trueedge.errors import InputError
from trueedge.kernels.neighbors import sketches as kernels
from trueedge.training.links.messages import Messages

# Numbers of sketches gathered at a time on a GPU.
BLOCK = 1 << 27
# Exact sets are refused above this many nodes, where two hops take 1 GB.
MOST_EXACT = 1 << 16


class Neighborhoods(ABC):
    """The sets around all nodes of one graph."""

    @abstractmethod
    def sizes(self) -> torch.Tensor:
        """Return how large the sets are, float64 (n, hops)."""

    @abstractmethod
    def shared(self, pairs: torch.Tensor) -> torch.Tensor:
        """Return the overlap of each set of one end and each of the other, float64 (m, hops, hops)."""


class CountedPairs(nn.Module):
    """Counts of nodes around pairs; the sets of a graph are computed once."""

    registers: torch.Tensor
    minima: torch.Tensor

    def __init__(self, num_nodes: int, hops: int, permutations: int, exact: bool, key: int) -> None:
        super().__init__()
        self.hops = hops
        self.exact = exact
        if exact and num_nodes > MOST_EXACT:
            raise InputError(
                f"exact counts take n² bits per hop and are limited to {MOST_EXACT:,} nodes, this graph has"
                f" {num_nodes:,}; use counts=sketches"
            )
        found = kernels.own_sketches(0 if exact else num_nodes, permutations, key)
        for name, array in zip(("registers", "minima"), found, strict=True):
            self.register_buffer(name, torch.from_numpy(array), persistent=False)
        self._seen: WeakKeyDictionary[Messages, Neighborhoods] = WeakKeyDictionary()

    def around(self, messages: Messages) -> Neighborhoods:
        """Return the sets around the nodes of a graph."""
        found = self._seen.get(messages)
        if found is None:
            if self.exact:
                found = ExactSets(messages, self.hops)
            else:
                found = Sketches(messages, self.registers, self.minima, self.hops)
            self._seen[messages] = found
        return found

    def forward(self, pairs: torch.Tensor, messages: Messages) -> torch.Tensor:
        """Return the counts of pairs, float32 (m, hops (hops + 2)).

        First, for each d and e from 1 to hops, the nodes d hops from one end and e from the other; then, for
        each d, those d hops from the first end and out of reach of the second, and vice versa. An end counts
        as one hop away from itself.
        """
        sets = self.around(messages)
        within = sets.shared(pairs)
        shells = within.diff(dim=1, prepend=torch.zeros_like(within[:, :1]))
        shells = shells.diff(dim=2, prepend=torch.zeros_like(within[:, :, :1]))
        sizes = sets.sizes()
        alone = sizes.diff(dim=1, prepend=torch.zeros_like(sizes[:, :1]))
        first = alone[pairs[:, 0]] - shells.sum(dim=2)
        second = alone[pairs[:, 1]] - shells.sum(dim=1)
        return torch.cat([shells.flatten(1), first, second], dim=1).float()

    def turned(self, counts: torch.Tensor) -> torch.Tensor:
        """Return the counts of the pairs in the other direction."""
        hops = self.hops
        shells, first, second = counts.split([hops * hops, hops, hops], dim=1)
        shells = shells.unflatten(1, (hops, hops)).transpose(1, 2).flatten(1)
        return torch.cat([shells, second, first], dim=1)


class Sketches(Neighborhoods):
    """HyperLogLog and MinHash sketches: hops times 256 + 4 (hash functions) bytes per node."""

    def __init__(self, messages: Messages, registers: torch.Tensor, minima: torch.Tensor, hops: int) -> None:
        self.registers: list[torch.Tensor] = []
        self.minima: list[torch.Tensor] = []
        for _ in range(hops):
            registers, minima = _spread(messages, registers, minima)
            self.registers.append(registers)
            self.minima.append(minima)
        nodes = torch.arange(messages.num_nodes, device=registers.device)
        same = torch.stack([nodes, nodes], dim=1)
        self._sizes = torch.stack([union_size(same, one, one) for one in self.registers], dim=1)

    def sizes(self) -> torch.Tensor:
        """Return how large the sets are, float64 (n, hops)."""
        return self._sizes

    def shared(self, pairs: torch.Tensor) -> torch.Tensor:
        """Return how many nodes two sets share: the share of equal minima, of the union's size."""
        rows = []
        for registers, minima in zip(self.registers, self.minima, strict=True):
            for others, values in zip(self.registers, self.minima, strict=True):
                share = _equal_minima(pairs, minima, values).double() / minima.shape[1]
                rows.append(share * union_size(pairs, registers, others))
        return torch.stack(rows, dim=1).unflatten(1, (len(self.registers), -1))


class ExactSets(Neighborhoods):
    """Exact sets as bits, n² per hop, always on the CPU."""

    def __init__(self, messages: Messages, hops: int) -> None:
        self.device = messages.indices.device
        indptr, indices = messages.indptr.cpu().numpy(), messages.indices.cpu().numpy()
        self.bits = [kernels.own_bits(messages.num_nodes)]
        for _ in range(hops):
            self.bits.append(kernels.spread_bits(indptr, indices, self.bits[-1]))
        del self.bits[0]
        nodes = torch.arange(messages.num_nodes, device=self.device)
        self._sizes = self.shared(torch.stack([nodes, nodes], dim=1)).diagonal(dim1=1, dim2=2)

    def sizes(self) -> torch.Tensor:
        """Return how large the sets are, float64 (n, hops)."""
        return self._sizes

    def shared(self, pairs: torch.Tensor) -> torch.Tensor:
        """Return how many nodes two sets share."""
        asked = pairs.cpu().numpy()
        found = [
            torch.from_numpy(kernels.shared_bits(asked, one, other))
            for one in self.bits
            for other in self.bits
        ]
        rows = torch.stack(found, dim=1).to(self.device, torch.float64)
        return rows.unflatten(1, (len(self.bits), -1))


def union_size(pairs: torch.Tensor, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Return the estimated size of the union of two sets, float64 (m,).

    The estimator needs no table of biases and no change of formula between small and large sets.

    Ertl: New Cardinality Estimation Algorithms for HyperLogLog Sketches, 2017, algorithm 6; sets here are far
    from filling the registers, so what corrects for full ones is left out.
    """
    powers, zeros = _union_sums(pairs, left, right)
    count = kernels.REGISTERS
    total = powers.double() / 2.0**kernels.TOP + count * _of_empty(pairs.device)[zeros]
    return count * count / (2 * math.log(2)) / total


@cache
def _of_empty(device: torch.device) -> torch.Tensor:
    """σ of the share of registers that are zero, for 0 to 256 of them: float64 (257,)."""
    count = kernels.REGISTERS
    values = [_sigma(zeros / count) for zeros in range(count + 1)]
    return torch.tensor(values, dtype=torch.float64, device=device)


def _sigma(share: float) -> float:
    """Return what registers that are zero add up to: x + Σ x^(2^k) 2^(k-1)."""
    if share == 1.0:
        return math.inf
    total, power, weight = share, share * share, 1.0
    while power * weight > total * 1e-17:
        total += power * weight
        power, weight = power * power, 2 * weight
    return total


def _spread(
    messages: Messages, registers: torch.Tensor, minima: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    indptr, indices = messages.indptr, messages.indices
    if indices.device.type == "cpu":
        arrays = (indptr.numpy(), indices.numpy(), registers.numpy(), minima.numpy())
        most, least = kernels.spread(*arrays)
        return torch.from_numpy(most), torch.from_numpy(least)
    return spread_here(messages, registers, "amax"), spread_here(messages, minima, "amin")


def spread_here(messages: Messages, sketch: torch.Tensor, reduce: str) -> torch.Tensor:
    """Return the sketches one hop further, by torch, on any device."""
    # In 32 bits, of which a GPU computes a maximum in one instruction.
    found = sketch.to(torch.int32, copy=True)
    step = max(1, BLOCK // sketch.shape[1])
    for start in range(0, len(messages.indices), step):
        block = slice(start, start + step)
        places = messages.targets[block, None].expand(-1, sketch.shape[1])
        found.scatter_reduce_(0, places, sketch[messages.indices[block]].to(torch.int32), reduce)
    return found.to(sketch.dtype)


def _union_sums(
    pairs: torch.Tensor, left: torch.Tensor, right: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    if pairs.device.type == "cpu":
        powers, zeros = kernels.union_sums(pairs.numpy(), left.numpy(), right.numpy())
        return torch.from_numpy(powers), torch.from_numpy(zeros)
    return union_sums_here(pairs, left, right)


def union_sums_here(
    pairs: torch.Tensor, left: torch.Tensor, right: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return :func:`kernels.union_sums` by torch."""
    ranks = torch.arange(kernels.TOP + 1, device=pairs.device)
    value = torch.where(ranks == 0, 0, 1 << (kernels.TOP - ranks))
    powers, zeros = [], []
    for block in pairs.split(max(1, BLOCK // (8 * kernels.REGISTERS))):
        union = torch.maximum(left[block[:, 0]], right[block[:, 1]]).to(torch.int32)
        powers.append(value[union].sum(dim=1))
        zeros.append((union == 0).sum(dim=1))
    return torch.cat(powers), torch.cat(zeros)


def _equal_minima(pairs: torch.Tensor, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    if pairs.device.type == "cpu":
        return torch.from_numpy(kernels.equal_minima(pairs.numpy(), left.numpy(), right.numpy()))
    return equal_minima_here(pairs, left, right)


def equal_minima_here(pairs: torch.Tensor, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Return :func:`kernels.equal_minima` by torch."""
    blocks = pairs.split(max(1, BLOCK // (8 * left.shape[1])))
    return torch.cat([(left[block[:, 0]] == right[block[:, 1]]).sum(dim=1) for block in blocks])
