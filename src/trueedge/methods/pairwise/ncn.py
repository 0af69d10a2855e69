"""Neural Common Neighbor."""

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


@dataclass(frozen=True)
class NCN(HasEncoder, HasPredictorLayers, HasInputs, HasMessages, Pairwise):
    """Scores the states of both ends and the summed states of their common neighbours."""

    name: ClassVar[str] = "ncn"
    title: ClassVar[str] = "Neural Common Neighbor"
    citation: ClassVar[str] = (
        "Wang, Yang and Zhang, Neural Common Neighbor with Completion for Link Prediction, 2024"
    )
    defaults: ClassVar[Mapping[str, Any]] = {
        "encoder": "pure-gcn",
        "residual": False,
        "input_dropout": 0.0,
        "tail_dropout": 0.0,
        "linear_tail": False,
    }

    encoder: str = open_setting(
        str,
        "message passing without weights, normalised as in a GCN (pure-gcn) or summed (pure-sum), or GCN"
        " layers (gcn)",
        choices=("pure-gcn", "pure-sum", "gcn"),
    )
    residual: bool = open_setting(bool, "residual connections instead of a learned mix of the rounds")
    input_dropout: float = open_setting(float, "dropout on the input", low=0.0, high=0.99)
    tail_dropout: float = open_setting(float, "dropout on the output of the encoder", low=0.0, high=0.99)
    linear_tail: bool = open_setting(
        bool, "one more linear layer on products and on sums, before they are added"
    )
    clip: float = setting(0.0, "largest gradient norm per module; 0: no clipping", low=0.0, high=1e9)

    def build(self, task: GraphTask, seed: int) -> LinkModel:
        """Return a model of input, encoder and predictor."""
        from trueedge.methods.pairwise.models.common_neighbors import CommonNeighborModel

        return CommonNeighborModel(*self.parts(task, seed))

    def parts(self, task: GraphTask, seed: int) -> tuple[Any, Any, Any]:
        """Return the input, the encoder and the predictor."""
        from trueedge.methods.pairwise.models.common_neighbors import (
            CommonNeighborPredictor,
            WithNeighborStates,
        )
        from trueedge.methods.pairwise.models.propagation import NormalisedEncoder, PropagationEncoder
        from trueedge.training import LearnedInput

        inputs = self.make_input(task, seed)
        encoder: NormalisedEncoder | PropagationEncoder
        if self.encoder == "gcn":
            encoder = NormalisedEncoder(
                inputs.dim, self.dim, self.layers, self.dropout, self.input_dropout, self.residual
            )
        else:
            encoder = PropagationEncoder(
                inputs.dim,
                self.dim,
                self.layers,
                self.dropout,
                self.input_dropout,
                self.tail_dropout,
                normalised=self.encoder == "pure-gcn",
                residual=self.residual,
                mapped=not isinstance(inputs, LearnedInput),
            )
        predictor = CommonNeighborPredictor(self.dim, self.predictor_layers, self.dropout, self.linear_tail)
        return inputs, WithNeighborStates(encoder, self.dropout), predictor
