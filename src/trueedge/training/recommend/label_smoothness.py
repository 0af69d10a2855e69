"""Label smoothness: items near each other in a user's knowledge graph should have equal labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812

from trueedge.training.links.messages import row_starts
from trueedge.training.recommend.inputs import RecommendInputs
from trueedge.training.recommend.neighborhoods import cells_of, ranges, summed
from trueedge.training.recommend.objective import RankingObjective, Step
from trueedge.training.recommend.rows import rows_of

# Pairs of a user and a labelled item whose neighbours are counted at a time.
BLOCK = 1 << 18
# A predicted label stays this far from 0 and 1.
MARGIN = 1e-6


class LabelSmoothness:
    """Predicts a user's label of an item by two steps of label propagation, without the label itself.

    A user's labels are 1 for the items of the training part, and 0 for as many items that the user does not
    have, drawn once. Everything else, the item in question included, begins with 0.5. In a step, an entity
    without a label takes the mean of its neighbours, weighted by what relations mean to the user; labels
    stay. Two steps lead from an item over an entity to other items. All neighbours count, exactly: the labels
    around an entity are counted beforehand for each user, by relation.

    Wang et al., Knowledge-aware Graph Neural Networks with Label Smoothness Regularization, KDD 2019.

    Args:
        inputs: the training interactions.
        seed: for the items with label 0.

    Attributes:
        keys: int64 (labels,), user * items + item, ascending.
        signs: float32 (labels,), 1 for label 1 and -1 for label 0.
        places: int64 (places,), user * entities + entity, ascending: the entities next to labelled items.
        starts: int64 (places + 1,), where the cells of each place begin.
        relation: int64 (cells,), the relation of each cell.
        balance: float32 (cells,), the sum of the signs of the labels that a user has among the neighbours of
            an entity by a relation.
    """

    def __init__(self, inputs: RecommendInputs, seed: int) -> None:
        self.inputs, self.near = inputs, inputs.neighborhoods
        device = inputs.device
        random = torch.Generator(device)
        random.manual_seed(seed)
        objective = RankingObjective(inputs, 1, "interactions", 0.0)
        users = objective.pairs[:, 0]
        ones = inputs.pairs[:, 0] * inputs.num_items + inputs.pairs[:, 1]
        zeros = torch.unique(users * inputs.num_items + objective.negatives(users, random))
        self.keys, order = torch.sort(torch.cat([ones, zeros]))
        signs = torch.ones(len(order), device=device)
        signs[len(ones) :] = -1
        self.signs = signs[order]
        self.count_labels()

    def count_labels(self) -> None:
        """Count the labels around each entity, by user and relation."""
        device, relations = self.inputs.device, max(1, self.near.num_relations)
        parts = torch.arange(len(self.keys), device=device).split(BLOCK)
        found, values = zip(*(self._counted(part) for part in parts), strict=True)
        cells, cell = torch.unique(torch.cat(found), return_inverse=True)
        self.balance = summed(torch.cat(values), cell, len(cells))
        self.relation = cells % relations
        self.places, counts = torch.unique(cells // relations, return_counts=True)
        self.starts = row_starts(counts)

    def _counted(self, labels: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the cells that some labels count in, each once, and the sums of their signs."""
        near, keys = self.near, self.keys[labels]
        users, items = keys // self.inputs.num_items, keys % self.inputs.num_items
        arcs = near.arcs(items)
        entity = users[arcs.rows] * self.inputs.num_entities + near.members.nodes[arcs.nodes]
        cells = entity * near.num_relations + near.arc_relation[arcs.nodes]
        found, place = torch.unique(cells, return_inverse=True)
        return found, summed(self.signs[labels][arcs.rows], place, len(found))

    def loss(self, weights: torch.Tensor, step: Step) -> torch.Tensor:
        """Return the mean cross-entropy of the labels of items and others, float ().

        Args:
            weights: float (b, relations), what relations weigh for each user.
            step: users, items with label 1 and items with label 0, int64 (b,) each.
        """
        users, items, others = step
        # Labels of one user lie side by side, and so they should be looked up.
        order = torch.argsort(users)
        asked = torch.cat([items[order], others[order]])
        predicted = self.predict(weights, users, order.repeat(2), asked)
        truth = torch.zeros_like(predicted)
        truth[: len(items)] = 1
        return F.binary_cross_entropy(predicted.clamp(MARGIN, 1 - MARGIN), truth)

    def predict(
        self, weights: torch.Tensor, users: torch.Tensor, owner: torch.Tensor, items: torch.Tensor
    ) -> torch.Tensor:
        """Return the labels of items after two steps, float (p,); 0.5 for an item without neighbours.

        Args:
            weights: float (b, relations), what relations weigh for each user.
            users: int64 (b,).
            owner: int64 (p,), the row of the user who is asked about an item.
            items: int64 (p,).
        """
        near = self.near
        arcs = near.arcs(items)
        row, neighbor = owner[arcs.rows], near.members.nodes[arcs.nodes]
        weight = cells_of(weights, row, near.arc_relation[arcs.nodes])
        # Signs instead of labels: 1, -1, and 0 for 0.5, so that unknown labels vanish from all sums.
        known = self.sign(users[row], neighbor)
        held_out = neighbor == items[arcs.rows]
        # Several relations may join the item with its neighbour: all of them led to its label.
        first = arcs.indptr()[arcs.rows] + near.first_arc[arcs.nodes]
        joint = summed(weight, first, len(weight)).index_select(0, first)
        own = self.sign(users[owner], items)[arcs.rows] * joint
        received = self._received(weights, users, row, neighbor, own)
        signs = torch.where((known == 0) | held_out, received, known)
        total = summed(weight, arcs.rows, len(items))
        return 0.5 + 0.5 * summed(weight * signs, arcs.rows, len(items)) / total.clamp(min=1e-30)

    def sign(self, users: torch.Tensor, entities: torch.Tensor) -> torch.Tensor:
        """Return 1 for label 1, -1 for label 0, and 0 for no label, float (n,)."""
        result = torch.zeros(len(entities), device=entities.device)
        item = torch.nonzero(entities < self.inputs.num_items).flatten()
        wanted = users[item] * self.inputs.num_items + entities[item]
        place = torch.searchsorted(self.keys, wanted).clamp_(max=len(self.keys) - 1)
        result[item] = torch.where(self.keys[place] == wanted, self.signs[place], 0.0)
        return result

    def _received(
        self,
        weights: torch.Tensor,
        users: torch.Tensor,
        row: torch.Tensor,
        entities: torch.Tensor,
        own: torch.Tensor,
    ) -> torch.Tensor:
        """Return the weighted mean of the signs around entities, float (k,).

        Args:
            weights: float (b, relations), what relations weigh for each user.
            users: int64 (b,).
            row: int64 (k,), the row of the user of each entity.
            entities: int64 (k,).
            own: float (k,), what the item in question adds to the sum: it is taken away.
        """
        near, result = self.near, torch.zeros_like(own)
        if not len(self.places):
            return result
        wanted = users[row] * self.inputs.num_entities + entities
        place = torch.searchsorted(self.places, wanted).clamp_(max=len(self.places) - 1)
        # The others have no labels around them.
        found = torch.nonzero(self.places[place] == wanted).flatten()
        place, row = place[found], row[found]
        cells = ranges(self.starts[place], self.starts[place + 1])
        values = cells_of(weights, row[cells.rows], self.relation[cells.nodes])
        sums = summed(values * self.balance[cells.nodes], cells.rows, len(found))
        groups = near.groups(entities[found])
        values = cells_of(weights, row[groups.rows], near.relation[groups.nodes])
        total = summed(values * near.sizes[groups.nodes], groups.rows, len(found))
        return result.index_add(0, found, (sums - own.index_select(0, found)) / total)


class SmoothnessObjective(RankingObjective):
    """The ranking loss, and the loss of labels that are predicted from those nearby.

    Args:
        inputs: the training interactions.
        batch_size: triples of a step.
        sampling: see :class:`RankingObjective`.
        regularization: what the model's penalty is multiplied by.
        smoothness: predicts labels.
        weight: what the loss of labels is multiplied by.
    """

    def __init__(
        self,
        inputs: RecommendInputs,
        batch_size: int,
        sampling: str,
        regularization: float,
        smoothness: LabelSmoothness,
        weight: float,
    ) -> None:
        super().__init__(inputs, batch_size, sampling, regularization)
        self.smoothness, self.weight = smoothness, weight

    def backward(self, model: Any, step: Step, rng: np.random.Generator) -> torch.Tensor:
        """Compute the loss of a batch and its gradients; return the loss, float ()."""
        del rng
        above, below, penalty = model.batch(self.inputs, *step)
        ranking = F.softplus(below - above).mean() + self.regularization * penalty
        weights = model.relation_weights(rows_of(model.users, step[0]))
        loss: torch.Tensor = ranking + self.weight * self.smoothness.loss(weights, step)
        loss.backward()
        return loss.detach()
