"""HetGNN."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from trueedge.errors import InputError
from trueedge.methods.method import setting
from trueedge.methods.typed.typed_method import TypedMethod
from trueedge.randomness import derive, generator
from trueedge.scorers.learned import learned, single

if TYPE_CHECKING:
    from torch import nn

    from trueedge.tasks import NodeTask, TypedLinkTask
    from trueedge.training.typed.inputs import TypedInputs


@dataclass(frozen=True)
class HetGNN(TypedMethod):
    """Combines the nodes of each type that random walks with restart visit most, then the types.

    Vectors are trained on the context of random walks. Then they are fixed, and a linear classifier, or the
    decoder of links, is trained on them. A node has a single feature vector here, so the recurrent network
    over its attributes sees a sequence of one.
    """

    name: ClassVar[str] = "hetgnn"
    title: ClassVar[str] = "HetGNN"
    citation: ClassVar[str] = "Zhang, Song, Huang, Swami and Chawla, Heterogeneous Graph Neural Network, 2019"
    defaults: ClassVar[Mapping[str, Any]] = {
        "learning_rate": 1e-3,
        "weight_decay": 0.0,
        "dropout": 0.0,
        "dim": 128,
        "layers": 1,
        "epochs": 1000,
        "patience": 100,
        "decoder": "dot",
    }

    supervised: bool = setting(False, "train the encoder for the classes of nodes instead of walks")
    aggregate: str = setting(
        "lstm", "how neighbours of a type are combined: recurrent network or mean", choices=("lstm", "mean")
    )
    neighbors: int = setting(10, "neighbours of each type", low=1, high=1000)
    walk_length: int = setting(30, "nodes in a walk", low=2, high=1000)
    window: int = setting(5, "how far apart two nodes of a walk may be to be trained on", low=1, high=100)
    context_steps: int = setting(2000, "steps of the training on walks", low=1, high=10**9)
    context_batch: int = setting(200, "pairs of nodes in such a step", low=1, high=1 << 24)
    balanced: bool = setting(
        False, "a step has as many pairs of each two node types, as in the published code"
    )

    @classmethod
    def unused(cls, kind: str) -> frozenset[str]:
        """Return the number of layers, too: there is always one."""
        return super().unused(kind) | {"layers"}

    def build(self, task: NodeTask | TypedLinkTask, inputs: TypedInputs, out: int) -> nn.Module:
        """Return vectors that are trained on walks; or the encoder, if it is trained for classes."""
        import torch

        from trueedge.methods.typed.models import hetgnn

        del task
        if self.dim % 2:
            raise InputError(f"hetgnn: dim must be even, got {self.dim}")
        if self.window >= self.walk_length:
            raise InputError(f"hetgnn: window must be below walk_length, which is {self.walk_length}")
        if not self.supervised and not len(hetgnn.untyped(inputs)[1]):
            raise InputError(
                f"hetgnn: there are no walks to train on, since no edge of {inputs.graph.name} connects two"
                " nodes; supervised=true trains without walks"
            )
        # Torch is seeded here with the seed of the fit.
        seed = int(torch.randint(1 << 62, ()))
        found = hetgnn.neighbors_by_type(inputs, self.neighbors, derive(seed, "restarts"))
        encoder = hetgnn.HetGnnEncoder(inputs, self.features, self.dim, found, self.aggregate, self.dropout)
        rows = None if inputs.target is None else inputs.rows(inputs.target)
        if self.supervised:
            return encoder if rows is None else hetgnn.Classified(encoder, rows, out)
        learn = partial(
            hetgnn.learn_context,
            encoder,
            inputs,
            self.context_steps,
            self.context_batch,
            self.walk_length,
            self.window,
            self.learning_rate,
            derive(seed, "walks"),
            generator(seed, "context"),
            self.balanced,
        )
        saved = learned(lambda: {"vectors": learn().cpu().numpy()}, vectors=(inputs.num_nodes, self.dim))
        vectors = torch.from_numpy(single(saved["vectors"])).to(inputs.device)
        return hetgnn.FrozenVectors(vectors, rows, out)
