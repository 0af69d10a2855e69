"""MAGNN."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from trueedge.errors import InputError
from trueedge.methods.method import setting
from trueedge.methods.typed.metapath_method import MetaPathMethod

if TYPE_CHECKING:
    from torch import nn

    from trueedge.graph.metapaths import MetaPath
    from trueedge.tasks import NodeTask, TypedLinkTask
    from trueedge.training.typed.decoders import Decoder
    from trueedge.training.typed.inputs import TypedInputs
    from trueedge.training.typed.train import LinkModel

# Settings of links that are trained in groups.
GROUPED = ("any_source", "kept_instances", "captured")


@dataclass(frozen=True)
class MAGNN(MetaPathMethod):
    """Encodes all nodes along the instances of meta-paths, with attention over instances and meta-paths.

    An instance is encoded by rotations, as in RotatE. There is no batch norm, which let the published code
    see whether a batch of links is positive.

    With ``batches=published``, links are trained and scored in groups of eight, in the order in which they
    are given. In training, a group is all positive or all negative, and attention is averaged over it, so the
    model learns to recognise positive groups. Use this only to study the published scores. Negatives of the
    published code have random sources, too (``any_source``), other instances are drawn in each step
    (``kept_instances``), and attention does not read the node itself (``center=false``).
    """

    name: ClassVar[str] = "magnn"
    title: ClassVar[str] = "MAGNN"
    citation: ClassVar[str] = (
        "Fu, Zhang, Meng and King, MAGNN: Metapath Aggregated Graph Neural Network for Heterogeneous Graph"
        " Embedding, 2020"
    )
    defaults: ClassVar[Mapping[str, Any]] = {
        "learning_rate": 0.005,
        "weight_decay": 1e-3,
        "dropout": 0.5,
        "layers": 1,
        "epochs": 100,
    }

    heads: int = setting(8, "attention heads", low=1, high=64)
    attention_dim: int = setting(128, "hidden size of the attention over meta-paths", low=1, high=8192)
    instances: int = setting(100, "instances of a meta-path for each node, at most", low=1, high=10**6)

    batches: str = setting(
        "mixed",
        "how links are batched: mixed, so that a score depends on its link alone; or in groups of eight as"
        " in the published code, where a score depends on the group",
        choices=("mixed", "published"),
        only="typed-links",
    )
    any_source: bool = setting(
        False,
        "with batches=published, training negatives have a random source too, instead of that of a link",
        only="typed-links",
    )
    kept_instances: int = setting(
        0,
        "with batches=published, how many instances are kept for a node, of which each step draws some; 0: as"
        " many as instances",
        low=0,
        high=10**6,
        only="typed-links",
    )
    captured: bool = setting(
        False,
        "with batches=published, replay the steps on a GPU as a CUDA graph, which is faster",
        only="typed-links",
    )

    center: bool = setting(True, "attention over instances also reads the node itself")

    def link_model(
        self, task: TypedLinkTask, inputs: TypedInputs, encoder: nn.Module, decoder: Decoder
    ) -> LinkModel:
        """Return the encoder and the decoder as one model; the published one sees links in groups."""
        if self.batches == "mixed":
            for name in GROUPED:
                if getattr(self, name):
                    raise InputError(f"magnn: {name} needs batches=published")
            return super().link_model(task, inputs, encoder, decoder)
        from trueedge.methods.typed.models.magnn import MagnnModel
        from trueedge.methods.typed.models.magnn_groups import GroupedLinks, GroupShape

        if self.layers > 1 or self.decoder != "dot" or len(task.relations) > 1:
            raise InputError("magnn: batches=published needs layers=1, decoder=dot and one relation")
        assert isinstance(encoder, MagnnModel)
        if 0 < self.kept_instances <= self.instances:
            raise InputError(
                f"magnn: kept_instances must be above instances, which is {self.instances}, got"
                f" {self.kept_instances}"
            )
        _, source, target = task.graph.relations[task.relations[0]]
        shape = GroupShape(most=self.instances, any_source=self.any_source, captured=self.captured)
        return GroupedLinks(encoder, decoder, inputs, (source, target), shape)

    def build(self, task: NodeTask | TypedLinkTask, inputs: TypedInputs, out: int) -> nn.Module:
        """Return the model, with the instances drawn."""
        import torch

        from trueedge.methods.typed.models.magnn import Instances, MagnnModel

        if self.dim % 2:
            raise InputError(f"magnn: dim must be even, got {self.dim}")
        # Torch is seeded here with the seed of the fit.
        key = int(torch.randint(1 << 62, ()))
        kept = (self.kept_instances if inputs.target is None else 0) or self.instances
        found = {
            kind: [Instances.of(inputs, path, kept, key) for path in paths]
            for kind, paths in self.paths_by_type(task, inputs).items()
        }
        return MagnnModel(
            inputs,
            found,
            self.features,
            self.dim,
            self.heads,
            self.layers,
            self.attention_dim,
            self.dropout,
            out,
            self.center,
        )

    def paths_by_type(self, task: NodeTask | TypedLinkTask, inputs: TypedInputs) -> dict[int, list[MetaPath]]:
        """Return the meta-paths of the types that are predicted, and of others that have some."""
        graph = task.graph
        if inputs.target is not None:
            wanted = {inputs.target}
        else:
            relations = [graph.relations[number] for number in getattr(task, "relations", ())]
            wanted = {end for relation in relations for end in (relation.source, relation.target)}
        found = {kind: self.paths_of(graph, kind) for kind in sorted(wanted)}
        if self.metapaths is not None and self.layers > 1:
            found = {**self.given_paths(graph), **found}
        return found
