"""KGCN's model: states of items that depend on the user."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import nn

from trueedge.methods.recommend.models.first_vectors import Pretrained
from trueedge.training.recommend.inputs import RecommendInputs
from trueedge.training.recommend.model import ItemModel
from trueedge.training.recommend.neighborhoods import Neighborhoods, cells_of, summed
from trueedge.training.recommend.rows import rows_of

# The least weight of a relation, relative to the user's largest, as a logarithm: sums of such weights are
# still far from the smallest float32.
LEAST = -60.0
# Numbers of a table that are computed at a time.
BLOCK = 1 << 21
# The largest table of all relations and items.
LARGEST = 1 << 28


class KGCNModel(ItemModel):
    """Scores of items by their neighbours in the knowledge graph, weighted for each user.

    With u the vector of a user, a relation r weighs exp(u · r), divided by the sum over all neighbours of an
    entity v. The state of v is act(W (v + weighted sum of its neighbours) + b).

    Args:
        inputs: the training interactions.
        sizes: the size of the first vectors, and of each layer.
        concat: put the first vector of an item beside its state.
        use: what pretrained vectors are for.
        pretrained: vectors of users and of items, or None.
    """

    def __init__(
        self, inputs: RecommendInputs, sizes: Sequence[int], concat: bool, use: str, pretrained: Pretrained
    ) -> None:
        super().__init__()
        dim, out = sizes[0], sizes[-1]
        self.concat, self.num_items = concat, inputs.num_items
        counts = (inputs.num_users, inputs.num_entities, inputs.neighborhoods.num_relations)
        tables = [nn.init.xavier_uniform_(torch.empty(count, dim)) for count in counts]
        if use == "input" and pretrained is not None:
            tables[0][:] = pretrained[0]
            tables[1][: self.num_items] = pretrained[1]
        self.users, self.entities, self.relations = (nn.Parameter(table) for table in tables)
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in pairwise(sizes))
        for layer in self.layers:
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)
        # The user's side of the last product.
        self.user_map: nn.Module = nn.Identity() if dim == out else nn.Linear(dim, out, bias=False)
        fixed = pretrained if use == "bias" and pretrained is not None else (None, None)
        self.register_buffer("fixed_users", fixed[0])
        self.register_buffer("fixed_items", fixed[1])

    def batch(
        self, inputs: RecommendInputs, users: torch.Tensor, items: torch.Tensor, others: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return the scores of items and of others for users, and half the mean squared norm of vectors."""
        both = torch.cat([items, others])
        above, below = self.pair_scores(inputs, users, both).chunk(2)
        vectors = (rows_of(self.users, users), rows_of(self.entities, both))
        penalty = sum((one * one).sum() for one in vectors) / (2 * len(users))
        return above, below, penalty

    def pair_scores(self, inputs: RecommendInputs, users: torch.Tensor, items: torch.Tensor) -> torch.Tensor:
        """Return the scores of items for users, who take turns: float (items,).

        Args:
            inputs: the training interactions.
            users: int64 (n,).
            items: int64 (k n,), an item for each user, k times.
        """
        owner = torch.arange(len(users), device=users.device).repeat(len(items) // len(users))
        asking = rows_of(self.users, users)
        states = self.states(inputs.neighborhoods, self.relation_weights(asking), owner, items)
        scores = (rows_of(self.user_map(asking), owner) * states).sum(1)
        if self.concat:
            scores = scores + (rows_of(asking, owner) * rows_of(self.entities, items)).sum(1)
        if self.fixed_users is not None:
            scores = scores + (self.fixed_users[users][owner] * self.fixed_items[items]).sum(1)
        return scores

    def relation_weights(self, users: torch.Tensor) -> torch.Tensor:
        """Return the weight of each relation for vectors of users, float (n, relations), 1 at most."""
        logits = users @ self.relations.T
        if not logits.shape[1]:
            return logits
        largest = logits.detach().amax(1, keepdim=True)
        return (logits - largest).clamp(min=LEAST).exp()

    def states(
        self,
        near: Neighborhoods,
        weights: torch.Tensor,
        owner: torch.Tensor,
        entities: torch.Tensor,
        depth: int | None = None,
    ) -> torch.Tensor:
        """Return the states of entities after a number of layers, float (p, size); None: all layers.

        Args:
            near: the neighbours of entities.
            weights: float (n, relations), of relations for users.
            owner: int64 (p,), the row of the user for whom the state is computed.
            entities: int64 (p,).
            depth: the number of layers.
        """
        depth = len(self.layers) if depth is None else depth
        layer = self.layers[depth - 1]
        groups = near.groups(entities)
        weight = cells_of(weights, owner[groups.rows], near.relation[groups.nodes])
        total = summed(weight * near.sizes[groups.nodes], groups.rows, len(entities))
        if depth == 1:
            # The map is linear, so neighbours are mapped and summed by relation before users weigh them.
            mapped = self.entities @ layer.weight.T
            # With one layer, only items are asked for.
            members = near.item_members if len(self.layers) == 1 else near.members
            own, received = rows_of(mapped, entities), groups.sums(members.sums(mapped), weight)
        else:
            arcs = near.arcs(entities)
            asked = torch.cat([entities, near.members.nodes[arcs.nodes]])
            askers = torch.cat([owner, owner[arcs.rows]])
            below = self.states(near, weights, askers, asked, depth - 1) @ layer.weight.T
            own, others = below[: len(entities)], below[len(entities) :]
            weight = cells_of(weights, owner[arcs.rows], near.arc_relation[arcs.nodes])
            received = summed(weight.unsqueeze(1) * others, arcs.rows, len(entities))
        # An entity without neighbours receives nothing.
        found = own + received / total.clamp(min=1e-30).unsqueeze(1) + layer.bias
        return torch.tanh(found) if depth == len(self.layers) else torch.relu(found)

    def prepare(self, inputs: RecommendInputs) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor] | None:
        """Return items, and the sums and numbers of their neighbours by relation; None if that is large.

        Returns:
            float (items, size), (relations, items * size) and (relations, items).
        """
        near, layer = inputs.neighborhoods, self.layers[0]
        size, cells = len(layer.weight), near.num_relations * self.num_items
        if len(self.layers) > 1 or size * cells > LARGEST:
            return None
        mapped = self.entities @ layer.weight.T
        items = torch.arange(self.num_items, device=mapped.device)
        groups = near.groups(items)
        cell = near.relation[: len(groups.nodes)] * self.num_items + groups.rows
        sums, counts = mapped.new_zeros(cells, size), mapped.new_zeros(cells)
        sums[cell] = near.item_members.sums(mapped)
        counts[cell] = near.sizes[: len(cell)]
        shape = (near.num_relations, self.num_items)
        return mapped[items] + layer.bias, sums.view(shape[0], -1), counts.view(shape)

    def table(self, inputs: RecommendInputs, prepared: Any, users: torch.Tensor) -> torch.Tensor:
        """Return the score of every item for users, float (n, items)."""
        width = self.num_items * max(layer.out_features for layer in self.layers)
        if prepared is None:
            # Every neighbour of every item has a state of its own.
            width *= 1 + len(inputs.neighborhoods.members.nodes) // self.num_items
        blocks = users.split(max(1, BLOCK // width))
        return torch.cat([self._rows(inputs, prepared, block) for block in blocks])

    def _rows(self, inputs: RecommendInputs, prepared: Any, users: torch.Tensor) -> torch.Tensor:
        if prepared is None:
            items = torch.arange(self.num_items, device=users.device).repeat_interleave(len(users))
            return self.pair_scores(inputs, users, items).view(self.num_items, -1).T
        own, sums, counts = prepared
        asking = self.users[users]
        weights = self.relation_weights(asking)
        states = (weights @ sums).view(len(users), *own.shape)
        states /= (weights @ counts).clamp(min=1e-30).unsqueeze(2)
        states += own
        states.tanh_()
        scores = (states @ self.user_map(asking).unsqueeze(2)).squeeze(2)
        if self.concat:
            scores += asking @ self.entities[: self.num_items].T
        if self.fixed_users is not None:
            scores += self.fixed_users[users] @ self.fixed_items.T
        return scores
