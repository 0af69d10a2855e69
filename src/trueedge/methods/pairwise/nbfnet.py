"""NBFNet: paths between the ends of a pair, added up by a learned Bellman-Ford iteration."""

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

    Only states that a source can have changed and a target can hear of are computed; the others are those
    that a graph without a source would have, once for all sources. It reads no features.
    """

    name: ClassVar[str] = "nbfnet"
    title: ClassVar[str] = "Neural Bellman-Ford Network"
    citation: ClassVar[str] = (
        "Zhu et al., Neural Bellman-Ford Networks: A General Graph Neural Network Framework for Link"
        " Prediction, 2021"
    )

    layers: int = setting(6, "rounds of messages", low=1, high=32)
    dim: int = setting(32, "size of hidden states", low=1, high=8192)
    batch_size: int = setting(64, "positives in a batch", low=1, high=1 << 30)
    evaluate_every: int = setting(1, "epochs between validation checks", low=1, high=10**9)
    patience: int = setting(20, "validation checks without improvement before stopping", low=0, high=10**9)
    aggregation: str = setting(
        "pna",
        "how a node takes its messages: mean, maximum, minimum and deviation, scaled by degree, or their sum",
        choices=("pna", "sum"),
    )
    clip: float = setting(0.0, "largest norm of a part's gradient; 0: no clipping", low=0.0, high=1e9)

    def build(self, task: GraphTask, seed: int) -> LinkModel:
        """Return the iteration, and a perceptron on what it leaves at a target."""
        from trueedge.methods.pairwise.models.nbfnet import BellmanFord, NbfModel

        del task, seed
        return NbfModel(BellmanFord(self.layers, self.dim, self.aggregation, self.dropout))
