"""SEAL."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from trueedge.methods.method import setting
from trueedge.methods.pairwise.pairwise import Pairwise
from trueedge.methods.trained import HasDropout, HasLayers, open_setting

if TYPE_CHECKING:
    from trueedge.tasks import GraphTask
    from trueedge.training import LinkModel

# Nodes of all subgraphs of a block that is scored at a time, on average.
NODES_AT_A_TIME = 1 << 17
# Pairs by whose subgraphs the sizes of all are judged.
SAMPLE = 2048
MIB = 1 << 20


@dataclass(frozen=True)
class SEAL(HasDropout, HasLayers, Pairwise):
    """Graph convolutions on the subgraph around a pair, whose nodes are labelled by their distances from it.

    The pair's own edge is left out of its subgraph, always; other edges of the batch stay in. So there is no
    ``hide_positives``: no pair ever sees itself. Without features nodes start from their labels alone.

    The published runs list each training edge in both directions. Both give the same subgraph, so here an
    epoch goes through them once, and there is an evaluation every two epochs. Their batches count subgraphs,
    those of edges and of other pairs alike; ``batch_size`` counts edges alone, so it is half of theirs.
    """

    name: ClassVar[str] = "seal"
    title: ClassVar[str] = "SEAL"
    citation: ClassVar[str] = "Zhang and Chen, Link Prediction Based on Graph Neural Networks, 2018"
    defaults: ClassVar[Mapping[str, Any]] = {
        "learning_rate": 0.01,
        "dropout": 0.5,
        "layers": 3,
        "dim": 256,
        "batch_size": 32,
        "evaluate_every": 2,
        "patience": 20,
        "features": True,
    }

    head: str = setting(
        "dgcnn",
        "what reads a subgraph: convolutions along its nodes in the order of their last state (dgcnn), or a"
        " perceptron on the product of both ends' states (gcn)",
        choices=("dgcnn", "gcn"),
    )
    features: bool = open_setting(
        bool, "whether nodes start from their features and labels, or from labels alone"
    )
    hops: int = setting(3, "how far a subgraph reaches from the nearer end", low=1, high=32, search=(1, 2, 3))
    nodes_per_hop: int = setting(0, "the most nodes at one distance, drawn at random; 0: all", low=0)
    share_per_hop: float = setting(
        1.0, "share of the nodes at one distance that is taken, drawn at random", low=0.0, high=1.0
    )
    kept_whole: float = setting(
        0.6, "share of training subgraphs all of whose nodes the head dgcnn keeps", low=0.0, high=1.0
    )
    memory: int = setting(
        1024, "MiB of validation subgraphs kept between evaluations, and as many of training edges'", low=0
    )

    def build(self, task: GraphTask, seed: int) -> LinkModel:
        """Labels, convolutions, a head, and what extracts subgraphs."""
        import numpy as np

        from trueedge.methods.pairwise.models.seal import CentreHead, Seal, SortHead, SubgraphEncoder
        from trueedge.methods.pairwise.models.subgraphs import SubgraphSource
        from trueedge.randomness import derive
        from trueedge.training import feature_input

        source = SubgraphSource(
            self.hops, self.nodes_per_hop, self.share_per_hop, derive(seed, "subgraphs"), self.memory * MIB
        )
        sizes = self._sizes(task, seed, source)
        given = task.graph.features if self.features else None
        inputs = feature_input(np.empty((task.graph.num_nodes, 0)) if given is None else given)
        hidden = [self.dim] * self.layers
        if self.head == "gcn":
            encoder = SubgraphEncoder(inputs.dim, [self.dim, *hidden], self.dropout)
            predictor: Any = CentreHead(self.dim, self.dropout)
        else:
            encoder = SubgraphEncoder(inputs.dim, [self.dim, *hidden, 1], None)
            place = max(1, math.ceil(self.kept_whole * len(sizes))) - 1
            predictor = SortHead([*hidden, 1], max(10, int(sizes[place])), self.dropout)
        # A power of two: parts of it are all of one size.
        at_a_time = 1 << (NODES_AT_A_TIME // max(1, int(sizes.mean()))).bit_length()
        return Seal(inputs, encoder, predictor, source, min(1024, max(16, at_a_time // 2)))

    def _sizes(self, task: GraphTask, seed: int, source: Any) -> Any:
        """How many nodes the subgraphs of some training edges and as many drawn pairs have, ascending."""
        import numpy as np

        from trueedge.randomness import generator
        from trueedge.training import Messages

        rng, edges = generator(seed, "sizes of subgraphs"), task.graph.edges
        count = min(SAMPLE, len(edges))
        chosen = edges[rng.choice(len(edges), count, replace=False)]
        drawn = rng.integers(0, task.graph.num_nodes, (max(1, count), 2))
        pairs = np.concatenate([chosen, drawn]).astype(np.int64)
        return np.sort(np.diff(source.extract(Messages.of(task.graph), pairs).starts))
