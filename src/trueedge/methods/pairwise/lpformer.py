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

# What is scored at a time: numbers in the keys of its entries, and pairs.
MOST_NUMBERS = 1 << 27
MOST_PAIRS = 1 << 12
FEWEST_PAIRS = 1 << 8


@dataclass(frozen=True)
class LPFormer(HasEncoder, HasPredictorLayers, HasInputs, HasMessages, Pairwise):
    """A pair attends to its common neighbours, one-hop nodes and nodes beyond, where PageRank is high enough.

    The edge of a pair that is trained on is taken out of everything that is read: the messages, the sets of
    nodes, and the PageRank itself, exactly.
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
        float,
        "what the learning rate is multiplied by after each epoch",
        low=1e-3,
        high=1.0,
        search=(0.95, 0.975, 1.0),
    )
    gnn_dropout: float = open_setting(float, "share of encoder values dropped", low=0.0, high=0.99)
    feature_dropout: float = open_setting(float, "share of input values dropped", low=0.0, high=0.99)
    attention_dropout: float = open_setting(float, "share of chosen nodes dropped", low=0.0, high=0.99)
    predictor_dropout: float = open_setting(float, "share of head values dropped", low=0.0, high=0.99)
    layer_norm: bool = open_setting(bool, "normalise after each layer of the encoder")
    rectifier: bool = open_setting(bool, "a rectifier after each layer of the encoder")
    residual: bool = open_setting(bool, "add a layer's input to its output where sizes allow")
    threshold_common: float = setting(
        0.0, "PageRank at both ends by which a common neighbour counts; 1: none does", low=0.0, high=1.0
    )
    threshold_one_hop: float = open_setting(
        float,
        "PageRank by which a neighbour of one end counts; 1: none does",
        low=0.0,
        high=1.0,
        search=(1e-4, 1e-3, 1e-2),
    )
    threshold_beyond: float = open_setting(
        float,
        "PageRank by which any other node counts; 1: none does",
        low=1e-9,
        high=1.0,
        search=(1e-4, 1e-3, 1e-2),
    )
    alpha: float = setting(0.15, "the walk's probability of going back", low=0.001, high=0.999)
    eps: float = open_setting(float, "the PageRank's error a unit of degree", low=1e-15, high=0.1)
    mask_ranks: bool = setting(True, "take a hidden positive out of the PageRank as well")
    mask_input: bool = setting(True, "take a batch's positives out of what the encoder sees as well")
    attention_layers: int = setting(1, "layers of attention", low=1, high=16)
    heads: int = setting(1, "heads of attention", low=1, high=64)
    head: str = setting(
        "published",
        "the scoring perceptron: of the published code, or of equation 3.11",
        choices=("published", "thesis"),
    )
    ablation: str = setting("", "what is left out of the model", choices=ABLATIONS)

    def build(self, task: GraphTask, seed: int) -> LinkModel:
        """Return the encoder, the attention, the head."""
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
        """A power of two; a pair has about as many common neighbours as a node has neighbours, or fewer."""
        numbers = self.dim * self.heads * (4 + 2 * edges // max(1, nodes))
        wanted = min(MOST_NUMBERS // numbers, MOST_PAIRS, nodes)
        return max(FEWEST_PAIRS, 1 << max(0, wanted - 1).bit_length())
