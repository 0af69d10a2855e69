"""LPFormer: attention to the nodes around a pair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from trueedge.methods.method import setting
from trueedge.methods.pairwise.pairwise import Pairwise
from trueedge.methods.trained import HasEncoder, HasInputs, HasMessages, HasPredictorLayers, open_setting

if TYPE_CHECKING:
    from trueedge.tasks import GraphTask
    from trueedge.training import LinkModel

ABLATIONS = (
    "",
    "no-learnable-attention",
    "no-features-in-attention",
    "no-rpe-in-attention",
    "no-ppr-rpe",
    "no-ppr-rpe-by-node-type",
    "no-counts",
)

# Sizes of a scored block: numbers in the keys of its entries, and pairs.
MOST_NUMBERS = 1 << 27
MOST_PAIRS = 1 << 12
FEWEST_PAIRS = 1 << 8


@dataclass(frozen=True)
class LPFormer(HasEncoder, HasPredictorLayers, HasInputs, HasMessages, Pairwise):
    """Attention of a pair to common neighbours, one-hop nodes and other nodes of high enough PageRank.

    The edge of a training pair is removed from everything: the messages, the sets of nodes, and, exactly,
    the PageRank.
    """

    name: ClassVar[str] = "lpformer"
    title: ClassVar[str] = "LPFormer"
    citation: ClassVar[str] = (
        "Shomer et al., LPFormer: An Adaptive Graph Transformer for Link Prediction, 2024"
    )
    # The authors advise 0.01 for both thresholds.
    defaults: ClassVar[Mapping[str, Any]] = {
        "learning_rate": 1e-3,
        "decay": 0.975,
        "dropout": 0.1,
        "gnn_dropout": 0.1,
        "feature_dropout": 0.1,
        "attention_dropout": 0.1,
        "predictor_dropout": 0.1,
        "predictor_layers": 2,
        "dim": 128,
        "epochs": 100,
        "patience": 100,
        "threshold_one_hop": 1e-2,
        "threshold_beyond": 1e-2,
        "eps": 1e-5,
        "layer_norm": True,
        "rectifier": True,
        "residual": False,
    }

    decay: float = open_setting(
        float, "factor of the learning rate per epoch", low=1e-3, high=1.0, search=(0.95, 0.975, 1.0)
    )
    gnn_dropout: float = open_setting(float, "dropout in the encoder", low=0.0, high=0.99)
    feature_dropout: float = open_setting(float, "dropout on the input", low=0.0, high=0.99)
    attention_dropout: float = open_setting(float, "dropout on the attended nodes", low=0.0, high=0.99)
    predictor_dropout: float = open_setting(float, "dropout in the scoring MLP", low=0.0, high=0.99)
    layer_norm: bool = open_setting(bool, "layer normalisation in the encoder")
    rectifier: bool = open_setting(bool, "ReLU after each encoder layer")
    residual: bool = open_setting(bool, "residual connections between layers of equal size")
    threshold_common: float = setting(
        0.0, "PageRank threshold for common neighbours; 1: no such nodes are used", low=0.0, high=1.0
    )
    threshold_one_hop: float = open_setting(
        float,
        "PageRank threshold for one-hop nodes; 1: no such nodes are used",
        low=0.0,
        high=1.0,
        search=(1e-4, 1e-3, 1e-2),
    )
    threshold_beyond: float = open_setting(
        float,
        "PageRank threshold for other nodes; 1: no such nodes are used",
        low=1e-9,
        high=1.0,
        search=(1e-4, 1e-3, 1e-2),
    )
    alpha: float = setting(0.15, "teleport probability", low=0.001, high=0.999)
    eps: float = open_setting(float, "PageRank error bound per unit of degree", low=1e-15, high=0.1)
    mask_ranks: bool = setting(True, "remove a hidden positive from the PageRank too")
    mask_input: bool = setting(True, "remove a batch's positives from the encoder's graph too")
    attention_layers: int = setting(1, "number of attention layers", low=1, high=16)
    heads: int = setting(1, "number of attention heads", low=1, high=64)
    head: str = setting(
        "published",
        "scoring MLP: as in the published code, or as in equation 3.11 of the thesis",
        choices=("published", "thesis"),
    )
    ablation: str = setting("", "part of the model that is left out", choices=ABLATIONS)

    def build(self, task: GraphTask, seed: int) -> LinkModel:
        """Return a model of encoder, attention and scoring MLP."""
        from trueedge.methods.pairwise.models.chosen_nodes import Thresholds
        from trueedge.methods.pairwise.models.lpformer import LPFormerModel, NormedEncoder, Ranking

        inputs = self.make_input(task, seed)
        encoder = NormedEncoder(
            [inputs.dim, *[self.dim] * self.layers],
            self.gnn_dropout,
            self.feature_dropout,
            self.layer_norm,
            self.rectifier,
            self.residual,
        )
        thresholds = Thresholds(self.threshold_common, self.threshold_one_hop, self.threshold_beyond)
        model = LPFormerModel(
            inputs,
            encoder,
            Ranking(thresholds, self.alpha, self.eps, self.mask_ranks, self.attention_dropout),
            self.attention_layers,
            self.heads,
            self.dropout,
            self.predictor_layers,
            self.predictor_dropout,
            self.ablation,
            self.head == "thesis",
            self.mask_input,
        )
        model.pairs_at_a_time = self._pairs_at_a_time(task.graph.num_nodes, task.graph.num_edges)
        return model

    def _pairs_at_a_time(self, nodes: int, edges: int) -> int:
        """Return a power of two, assuming that a pair has at most the mean degree of common neighbours."""
        numbers = self.dim * self.heads * (4 + 2 * edges // max(1, nodes))
        wanted = min(MOST_NUMBERS // numbers, MOST_PAIRS, nodes)
        return max(FEWEST_PAIRS, 1 << max(0, wanted - 1).bit_length())
