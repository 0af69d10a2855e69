"""GATNE-T."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from trueedge.errors import InputError
from trueedge.methods.method import setting
from trueedge.methods.typed.typed_method import TypedMethod
from trueedge.randomness import derive, generator

if TYPE_CHECKING:
    from torch import nn

    from trueedge.graph.typed import HeteroGraph
    from trueedge.tasks import NodeTask, TypedLinkTask
    from trueedge.training.typed.inputs import TypedInputs


@dataclass(frozen=True)
class GATNE(TypedMethod):
    """Skip-gram on walks along each relation; a node's vectors share a base and what its neighbours add.

    A link is scored by the cosine of the two vectors for its relation, so no decoder is trained. Features
    are not used.

    HGB's code draws negatives from all nodes by the rank of their frequency (``noise=rank``). On PubMed, the
    meta-paths of its command fit only four of the ten relations, and walks follow no others (``walked``).
    """

    name: ClassVar[str] = "gatne"
    title: ClassVar[str] = "GATNE-T"
    citation: ClassVar[str] = (
        "Cen, Zou, Zhang, Yang, Zhou and Tang, Representation Learning for Attributed Multiplex Heterogeneous"
        " Network, 2019"
    )
    kinds: ClassVar[tuple[str, ...]] = ("typed-links",)
    defaults: ClassVar[Mapping[str, Any]] = {
        "learning_rate": 0.01,
        "weight_decay": 0.0,
        "dropout": 0.0,
        "dim": 200,
        "layers": 1,
        "epochs": 50,
        "patience": 5,
        "features": "one-hot",
        "decoder": "dot",
    }

    edge_dim: int = setting(10, "size of edge embeddings", low=1, high=8192)
    attention_dim: int = setting(20, "hidden size of the attention over relations", low=1, high=8192)
    neighbors: int = setting(10, "neighbours of each relation that a node is computed from", low=1, high=1000)
    walks: int = setting(1, "walks that begin at each node in an epoch", low=1, high=1000)
    walk_length: int = setting(30, "nodes in a walk", low=2, high=1000)
    window: int = setting(5, "how far apart two nodes of a walk may be to be trained on", low=1, high=100)
    negatives: int = setting(5, "nodes drawn against each pair", low=1, high=1000)
    noise: str = setting(
        "type",
        "how negatives are drawn: from nodes of the predicted node's type, by degree to the power of 3/4"
        " (type); or from all nodes, with weight log(1 + 1 / rank) by the rank of their degree (rank)",
        choices=("type", "rank"),
    )
    walked: str = setting(
        None,
        "relations to walk along, separated by commas; by default all",
        kind=str,
        optional=True,
    )
    fixed_walks: bool = setting(
        False, "draw the walks once, as the published code does, instead of in each epoch"
    )
    captured: bool = setting(False, "replay the steps on a GPU as a CUDA graph, which is faster")
    select: str = setting("roc-auc", "what is compared on the validation part: a metric")

    @classmethod
    def unused(cls, kind: str) -> frozenset[str]:
        """Return the settings of other models of typed graphs, too."""
        return super().unused(kind) | {"dropout", "layers", "features", "decoder"}

    def build(self, task: NodeTask | TypedLinkTask, inputs: TypedInputs, out: int) -> nn.Module:
        """Return the untrained vectors."""
        import torch

        from trueedge.methods.typed.models.gatne import GatneModel

        relations: tuple[int, ...] = getattr(task, "relations", ())
        # Torch is seeded here with the seed of the fit.
        rng = generator(int(torch.randint(1 << 62, ())), "neighbors")
        return GatneModel(inputs, relations, out, self.edge_dim, self.attention_dim, self.neighbors, rng)

    def walked_relations(self, graph: HeteroGraph) -> tuple[int, ...]:
        """Return the relations that are walked along, by number."""
        if self.walked is None:
            return tuple(range(graph.num_relations))
        names = [one.name for one in graph.relations]
        wanted = [name.strip() for name in self.walked.split(",")]
        unknown = [name for name in wanted if name not in names]
        if unknown:
            raise InputError(
                f"gatne: walked: there is no relation {unknown[0]!r}; there are {', '.join(names)}"
            )
        return tuple(names.index(name) for name in wanted)

    def _fit_one(self, task: NodeTask | TypedLinkTask, seed: int, device: str) -> Any:
        """Train by skip-gram instead of on links against random ones."""
        from trueedge.methods.typed.models.gatne import SkipGramObjective
        from trueedge.training.loop import optimize, seeded
        from trueedge.training.typed.inputs import TypedInputs
        from trueedge.training.typed.scorer import TypedLinkScorer
        from trueedge.training.validation import validation

        if self.select == "loss":
            raise InputError("gatne: select must be a metric; its loss is that of walks")
        inputs = TypedInputs.of(task.graph, device)
        with seeded(seed, device):
            model = self.build(task, inputs, self.dim)
        objective = SkipGramObjective(
            inputs,
            self.walked_relations(task.graph),
            self.walks,
            self.walk_length,
            self.window,
            self.negatives,
            self.batch_size,
            derive(seed, "walks"),
            self.epoch_steps,
            self.noise,
            self.fixed_walks,
        )
        objective.capturable = self.captured  # type: ignore[misc]
        valid = "valid" in task.part_names
        evaluate = validation(
            task,
            self.select if valid else None,
            lambda: TypedLinkScorer(model, inputs, None),  # type: ignore[arg-type]
        )
        history = optimize(
            model,
            objective,
            self.schedule(),
            evaluate,
            metric=self.select,
            seed=seed,
            device=device,
            name=f"on {task.dataset}",
            request={"task": task.hash, "settings": {"method": self.name, **self.settings()}},
        )
        return TypedLinkScorer(model, inputs, history)
