"""NBFNet: paths between the ends of a pair, aggregated by a learned Bellman-Ford iteration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from trueedge.methods.method import setting
from trueedge.methods.pairwise.pairwise import Pairwise
from trueedge.methods.trained import HasDropout, HasLayers, HasMessages

if TYPE_CHECKING:
    from trueedge.tasks import GraphTask
    from trueedge.training import LinkModel


@dataclass(frozen=True)
class NBFNet(HasDropout, HasLayers, HasMessages, Pairwise):
    """States that spread from one end of a pair and are read at the other, in both directions.

    It uses no features. Only states that depend on the source and reach the target are computed per source;
    the others are computed once for all sources.
    """

    name: ClassVar[str] = "nbfnet"
    title: ClassVar[str] = "Neural Bellman-Ford Network"
    citation: ClassVar[str] = (
        "Zhu et al., Neural Bellman-Ford Networks: A General Graph Neural Network Framework for Link"
        " Prediction, 2021"
    )

    layers: int = setting(6, "rounds of message passing", low=1, high=32)
    dim: int = setting(32, "size of the hidden states", low=1, high=8192)
    batch_size: int = setting(64, "positives per batch", low=1, high=1 << 30)
    evaluate_every: int = setting(1, "epochs between validation checks", low=1, high=10**9)
    patience: int = setting(20, "validation checks without improvement before stopping", low=0, high=10**9)
    aggregation: str = setting(
        "pna",
        "aggregation of messages: mean, maximum, minimum and deviation, scaled by degree (pna), or sum",
        choices=("pna", "sum"),
    )
    clip: float = setting(0.0, "largest gradient norm per module; 0: no clipping", low=0.0, high=1e9)

    def build(self, task: GraphTask, seed: int) -> LinkModel:
        """Return a model of the iteration and an MLP on the states of targets."""
        from trueedge.methods.pairwise.models.nbfnet import BellmanFord, NbfModel

        del task, seed
        return NbfModel(BellmanFord(self.layers, self.dim, self.aggregation, self.dropout))
