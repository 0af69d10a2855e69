"""R-GCN on typed graphs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from trueedge.errors import InputError
from trueedge.methods.method import setting
from trueedge.methods.trained import open_setting
from trueedge.methods.typed.typed_method import HasRedrawnValidation

if TYPE_CHECKING:
    from torch import nn

    from trueedge.tasks import NodeTask, TypedLinkTask
    from trueedge.training.typed.decoders import Decoder
    from trueedge.training.typed.inputs import TypedInputs


@dataclass(frozen=True)
class RGCNHetero(HasRedrawnValidation):
    """Means over the neighbours of each relation, with a matrix for each relation.

    The published number of layers counts the linear layer of the features, ``layers`` does not. Learning
    rate, weight decay, dropout and the metric for selection are those of the benchmark's code; for links,
    selection by ROC-AUC is our choice. That code has no self loops for node classification, and reports the
    last of 150 epochs, since the best state is not copied when it is kept. For links it averages over all
    edges of a node (``mean=node``), its matrices are block-diagonal, and its loss takes the sigmoid twice. It
    has two layers there, and stops after 40 batches without improvement (``epoch_steps=1 patience=39``), with
    other validation negatives at each check (``redraw_valid``).
    """

    name: ClassVar[str] = "rgcn-hetero"
    title: ClassVar[str] = "R-GCN"
    citation: ClassVar[str] = (
        "Schlichtkrull, Kipf, Bloem, van den Berg, Titov and Welling, Modeling Relational Data with Graph"
        " Convolutional Networks, 2018"
    )
    defaults: ClassVar[Mapping[str, Any]] = {
        "learning_rate": 0.01,
        "weight_decay": 0.0,
        "dropout": 0.0,
        "dim": 16,
        "layers": 4,
        "self_loop": True,
        "select": "loss",
    }

    select: str = open_setting(str, "what is compared on the validation part: its loss, or a metric")
    bases: int = setting(
        0, "matrices that those of all relations are made of; 0: each has its own", low=0, high=1000
    )
    blocks: int = setting(
        0,
        "blocks along the diagonal of each relation's matrix, zero elsewhere; 0: it is full",
        low=0,
        high=1000,
    )
    self_loop: bool = open_setting(bool, "add a product of a node's own state")
    mean: str = setting(
        "relation",
        "what messages are averaged over: the edges of each relation, or all edges of a node and a loop",
        choices=("relation", "node"),
    )
    double_sigmoid: bool = setting(
        False,
        "take the sigmoid of a link's score before the loss takes another, as the published code does",
        only="typed-links",
    )

    output_dropout: bool = setting(False, "drop the last layer's output too, not only those of hidden layers")
    centred: bool = setting(
        False,
        "vectors of the decoder distmult start with a mean of 0 instead of 1, as in the published code",
        only="typed-links",
    )
    penalty: float = setting(
        0.0,
        "weight of the mean squares of node vectors and of the decoder's weights in the loss of links",
        low=0.0,
        high=1e6,
        only="typed-links",
    )

    start: str = setting(
        "xavier",
        "initial values of the input: Glorot's normal ones and no biases (xavier), or as PyTorch draws those"
        " of a linear layer, as in the published code for links",
        choices=("xavier", "linear"),
    )
    single_edges: bool = setting(
        False,
        "keep one edge in each direction between two linked nodes, as in the published code for links: an"
        " edge, or the reverse of one if there is none; with mean=node, loops of all node types then share a"
        " matrix",
    )

    every_relation: bool = setting(
        False,
        "the decoder has a vector for each relation and one for loops, of which the penalty is a mean, as in"
        " the published code; otherwise only for relations that are predicted",
        only="typed-links",
    )

    def link_decoder(self, task: TypedLinkTask, dim: int) -> Decoder:
        """Return the untrained decoder of links."""
        from trueedge.training.typed.decoders import Decoder

        if self.centred and self.decoder != "distmult":
            raise InputError(f"rgcn-hetero: centred needs decoder=distmult, got {self.decoder}")
        if self.every_relation and self.decoder == "dot":
            raise InputError("rgcn-hetero: every_relation needs decoder=distmult or bilinear, got dot")
        relations = range(task.graph.num_relations + 1) if self.every_relation else task.relations
        return Decoder(self.decoder, relations, dim, self.double_sigmoid, self.centred)

    def build(self, task: NodeTask | TypedLinkTask, inputs: TypedInputs, out: int) -> nn.Module:
        """Return a stack of R-GCN layers."""
        from trueedge.methods.typed.models.rgcn import RGCNModel

        del task
        if self.bases and self.blocks:
            raise InputError("rgcn-hetero: set bases or blocks, not both")
        if self.blocks and (self.dim % self.blocks or out % self.blocks):
            raise InputError(
                f"rgcn-hetero: blocks must divide dim and the number of classes; got {self.blocks} blocks,"
                f" dim {self.dim} and {out} outputs"
            )
        shape = (self.features, self.dim, out, self.layers, self.bases, self.blocks)
        dropout = (self.dropout, self.output_dropout)
        model = RGCNModel(inputs, *shape, self.self_loop, self.mean, *dropout, self.single_edges)
        if self.start == "linear":
            model.input.start_as_linear()
        return model
