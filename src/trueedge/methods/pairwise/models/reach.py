"""The states that matter when messages spread from a source and only some targets are read.

After t rounds a source has changed only the states within t hops; all others are as without any source. And
of L rounds, only states within L - t hops of a target matter after round t. So a source needs few states of
its own, besides one state per node, the background, that all sources share. The result is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import torch

from trueedge.training.links.messages import Messages
from trueedge.training.links.pair_sets import NodeSets, neighbors


@dataclass(frozen=True)
class Round:
    """Who receives from whom in one round.

    Attributes:
        nodes: int64 (rows,), the node whose state a row is.
        own: int64 (rows,), the row of the same state before the round.
        senders: int64 (k,), the rows before the round whose messages are received, row after row.
        rows: int64 (k,), the row that receives each.
        ends: int64 (rows + 1,), where the messages of each row start and end.
        is_source: float (rows,), 1 where the node is the source itself.
    """

    nodes: torch.Tensor
    own: torch.Tensor
    senders: torch.Tensor
    rows: torch.Tensor
    ends: torch.Tensor
    is_source: torch.Tensor


class Reach:
    """The rows of each round.

    The key of a row is (source + 1) n + node, or the node itself for the background; rows are sorted by key,
    so the background comes first.

    Attributes:
        first: float (rows,), 1 for the rows of sources before the first round.
        rounds: the rounds.
        asked: int64 (m,), the last round's rows of the targets.
        size: the number of messages in all rounds.
    """

    def __init__(self, messages: Messages, asked: torch.Tensor, rounds: int) -> None:
        """Find the rows for ``asked``, the keys source * n + target, int64 (m,), ascending."""
        self.messages = messages
        nodes = messages.num_nodes
        self.background = torch.arange(nodes, device=asked.device)
        sources = torch.unique_consecutive(asked // nodes)
        targets = asked + nodes
        balls = [(sources + 1) * nodes + sources]
        for _ in range(rounds):
            balls.append(torch.unique(torch.cat([balls[-1], self._around(balls[-1])[1]])))
        needed = [_among(targets, balls[-1])]
        for ball in balls[-2::-1]:
            after = needed[0]
            needed.insert(0, _among(torch.unique(torch.cat([after, self._around(after)[1]])), ball))
        rows = [torch.cat([self.background, keys]) for keys in needed]
        self.first = self._is_source(rows[0])
        self.rounds = [self._round(before, after) for before, after in pairwise(rows)]
        self.asked = self._find(rows[-1], targets)
        self.size = sum(len(step.senders) for step in self.rounds)

    def _round(self, before: torch.Tensor, after: torch.Tensor) -> Round:
        found, keys = self._around(after)
        return Round(
            nodes=after % self.messages.num_nodes,
            own=self._find(before, after),
            senders=self._find(before, keys),
            rows=found.rows,
            ends=found.indptr(),
            is_source=self._is_source(after),
        )

    def _around(self, keys: torch.Tensor) -> tuple[NodeSets, torch.Tensor]:
        """Return the neighbours of rows' nodes, and the keys of their states as seen from the same source."""
        nodes = keys % self.messages.num_nodes
        found = neighbors(self.messages, nodes)
        return found, (keys - nodes)[found.rows] + found.nodes

    def _find(self, rows: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
        """Return the place of each key among rows; that of the background where it is not there."""
        places = torch.searchsorted(rows, keys).clamp_(max=len(rows) - 1)
        return torch.where(rows[places] == keys, places, keys % self.messages.num_nodes)

    def _is_source(self, keys: torch.Tensor) -> torch.Tensor:
        nodes = self.messages.num_nodes
        return (keys // nodes - 1 == keys % nodes).float()


def _among(keys: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
    """Return the keys that are among others; both ascending."""
    if len(others) == 0:
        return others
    places = torch.searchsorted(others, keys).clamp_(max=len(others) - 1)
    return keys[others[places] == keys]
