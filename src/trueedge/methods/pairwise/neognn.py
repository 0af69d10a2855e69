"""Neo-GNN."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from trueedge.methods.method import setting
from trueedge.methods.pairwise.pairwise import Pairwise
from trueedge.methods.trained import HasEncoder, HasInputs, HasMessages, HasPredictor, open_setting

if TYPE_CHECKING:
    from trueedge.tasks import GraphTask
    from trueedge.training import LinkModel


@dataclass(frozen=True)
class NeoGNN(HasEncoder, HasPredictor, HasInputs, HasMessages, Pairwise):
    """A GCN, mixed with a learned weighted overlap of neighbourhoods.

    HeaRT's published runs read each edge in one direction alone, let the edge network act on the entries of
    ``A + beta A^2``, and left a batch's edges in the graph: ``adjacency="directed", hide_positives=False``.
    """

    name: ClassVar[str] = "neo-gnn"
    title: ClassVar[str] = "Neo-GNN"
    citation: ClassVar[str] = (
        "Yun et al., Neo-GNNs: Neighborhood Overlap-aware Graph Neural Networks for Link Prediction, 2021"
    )
    defaults: ClassVar[Mapping[str, Any]] = {"hops": 2}

    hops: int = open_setting(int, "size of the neighbourhoods in hops", low=1, high=4)
    beta: float = setting(0.1, "damping factor per hop", low=1e-9, high=10.0)
    edge_dim: int = setting(8, "hidden size of the edge MLP", low=1, high=8192)
    node_dim: int = setting(128, "hidden size of the node MLP", low=1, high=8192)
    overlap_dim: int = setting(128, "hidden size of the overlap MLP", low=1, high=8192)
    adjacency: str = setting(
        "undirected",
        "edges in both directions in the overlap, or from the smaller to the larger id alone",
        choices=("undirected", "directed"),
    )

    def build(self, task: GraphTask, seed: int) -> LinkModel:
        """Return a model of GCN, learned overlap weights, and mixed predictor."""
        from trueedge.methods.pairwise.models.directed_overlap import DirectedEncoder, DirectedOverlapModel
        from trueedge.methods.pairwise.models.neognn import MixedPredictor, OverlapModel, StructureEncoder
        from trueedge.training.links.convolutions import GcnLayer

        inputs = self.make_input(task, seed)
        network = self.make_encoder(GcnLayer, inputs.dim)
        predictor = MixedPredictor(self.make_predictor(self.dim), self.overlap_dim)
        if self.adjacency == "directed":
            directed = DirectedEncoder(network, self.edge_dim, self.node_dim, self.hops, self.beta)
            return DirectedOverlapModel(inputs, directed, predictor, self.hops, self.beta)
        encoder = StructureEncoder(network, self.edge_dim, self.node_dim)
        return OverlapModel(inputs, encoder, predictor, self.hops, self.beta)
