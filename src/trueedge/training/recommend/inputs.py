"""Interactions and a knowledge graph on a device, as models see them."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from trueedge.graph import Graph, HeteroGraph, Relation
from trueedge.graph.interactions import Interactions
from trueedge.training.links.messages import Messages
from trueedge.training.recommend.neighborhoods import Neighborhoods
from trueedge.training.typed.inputs import Arcs, TypedInputs

INTERACTS = "interacts with"


class RecommendInputs:
    """Training interactions on a device.

    In a joint graph, users come first, then the entities, of which the first ones are the items.

    Attributes:
        data: the training interactions.
        device: where the tensors are.
        pairs: int64 (m, 2), users and items.
        starts: int64 (users + 1,), where the pairs of each user begin.
    """

    def __init__(self, data: Interactions, device: str | torch.device = "cpu") -> None:
        self.data, self.device = data, torch.device(device)
        self.pairs = self._tensor(data.pairs)
        self.starts = self._tensor(data.by_user[0])
        self._keys = self.pairs[:, 0] * data.num_items + self.pairs[:, 1]

    @property
    def num_users(self) -> int:
        """The number of users."""
        return self.data.num_users

    @property
    def num_items(self) -> int:
        """The number of items."""
        return self.data.num_items

    @property
    def num_entities(self) -> int:
        """The number of entities, items included."""
        return self.data.num_entities

    @property
    def num_nodes(self) -> int:
        """The number of users and entities."""
        return self.num_users + self.num_entities

    @property
    def num_relations(self) -> int:
        """The number of relations of the joint graph: interaction, and those of the knowledge graph."""
        return 1 if self.data.knowledge is None else 1 + self.data.knowledge.num_relations

    def is_known(self, users: torch.Tensor, items: torch.Tensor) -> torch.Tensor:
        """Return whether users have items in training, bool (n,)."""
        wanted = users * self.num_items + items
        place = torch.searchsorted(self._keys, wanted).clamp_(max=len(self._keys) - 1)
        return self._keys[place] == wanted

    @cached_property
    def arcs(self) -> Arcs:
        """The joint graph in both directions, with a loop at each node; relation 0 is interaction."""
        return TypedInputs.of(joint_graph(self.data), self.device).arcs

    @cached_property
    def messages(self) -> Messages:
        """The graph of users and items alone."""
        pairs = self.data.pairs.astype(np.int64) + [0, self.num_users]
        graph = Graph.from_edges(pairs, self.num_users + self.num_items)
        return Messages.of(graph, self.device)

    @cached_property
    def triples(self) -> torch.Tensor:
        """All facts of the joint graph in both directions, int64 (n, 3), sorted by relation.

        With R relations, relation r + R is the reverse of r.
        """
        pairs = self.data.pairs.astype(np.int64)
        facts = [np.column_stack([pairs[:, 0], np.zeros(len(pairs), int), pairs[:, 1] + self.num_users])]
        if self.data.knowledge is not None:
            facts.append(self.data.knowledge.triples + np.array([self.num_users, 1, self.num_users]))
        rows = np.concatenate(facts)
        both = np.concatenate([rows, rows[:, ::-1] + np.array([0, self.num_relations, 0])])
        return self._tensor(both[np.argsort(both[:, 1], kind="stable")])

    @cached_property
    def neighborhoods(self) -> Neighborhoods:
        """The neighbours of each entity in the knowledge graph alone."""
        return Neighborhoods.of(self.data, self.device)

    def _tensor(self, array: NDArray[Any]) -> torch.Tensor:
        # A copy: the arrays of the data are read-only.
        return torch.from_numpy(np.array(array, dtype=np.int64)).to(self.device)


def joint_graph(data: Interactions) -> HeteroGraph:
    """Return users and entities as a typed graph: interactions, and the relations of the knowledge graph."""
    relations = [Relation(INTERACTS, 0, 1)]
    edges = [data.pairs.astype(np.int64) + [0, data.num_users]]
    if data.knowledge is not None:
        triples = data.knowledge.triples.astype(np.int64)
        for number, name in enumerate(data.knowledge.relations):
            rows = triples[triples[:, 1] == number]
            # Names of relations must be different.
            relations.append(Relation(f"{number}: {name}", 1, 1))
            edges.append(rows[:, [0, 2]] + data.num_users)
    starts = np.array([0, data.num_users, data.num_users + data.num_entities], dtype=np.int64)
    return HeteroGraph(
        node_types=("user", "entity"),
        starts=starts,
        relations=tuple(relations),
        edges=tuple(np.ascontiguousarray(one, dtype=np.int32) for one in edges),
        name=data.name,
    )
