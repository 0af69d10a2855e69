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

# Mean number of nodes in the subgraphs of a scored block.
NODES_AT_A_TIME = 1 << 17
# Pairs whose subgraphs are used to estimate subgraph sizes.
SAMPLE = 2048
MIB = 1 << 20


@dataclass(frozen=True)
class SEAL(HasDropout, HasLayers, Pairwise):
    """Graph convolutions on the subgraph around a pair, with nodes labelled by their distances from its ends.

    A pair's own edge is always left out of its subgraph, other edges of the batch are not, so there is no
    setting ``hide_positives``. Without features, nodes only have their labels.

    The published runs list each training edge in both directions, with the same subgraph. Here an epoch uses
    each edge once, and there is an evaluation every two epochs. ``batch_size`` counts edges without
    negatives, so it is half of the published batch size.
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
        "readout of a subgraph: convolutions along its nodes sorted by their last state (dgcnn), or an MLP on"
        " the product of both ends' states (gcn)",
        choices=("dgcnn", "gcn"),
    )
    features: bool = open_setting(bool, "use node features in addition to labels")
    hops: int = setting(3, "radius of a subgraph, from the nearer end", low=1, high=32, search=(1, 2, 3))
    nodes_per_hop: int = setting(0, "largest number of nodes per distance, sampled; 0: all", low=0)
    share_per_hop: float = setting(1.0, "share of the nodes per distance that is sampled", low=0.0, high=1.0)
    kept_whole: float = setting(
        0.6, "share of training subgraphs of which dgcnn keeps all nodes", low=0.0, high=1.0
    )
    memory: int = setting(
        1024, "MiB for cached validation subgraphs, and the same again for training subgraphs", low=0
    )

    def build(self, task: GraphTask, seed: int) -> LinkModel:
        """Return a model of labels, convolutions, readout and subgraph extraction."""
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
        """Return the sizes of subgraphs of sampled edges and of as many random pairs, ascending."""
        import numpy as np

        from trueedge.randomness import generator
        from trueedge.training import Messages

        rng, edges = generator(seed, "sizes of subgraphs"), task.graph.edges
        count = min(SAMPLE, len(edges))
        chosen = edges[rng.choice(len(edges), count, replace=False)]
        drawn = rng.integers(0, task.graph.num_nodes, (max(1, count), 2))
        pairs = np.concatenate([chosen, drawn]).astype(np.int64)
        return np.sort(np.diff(source.extract(Messages.of(task.graph), pairs).starts))
