"""TAGNet: as NBFNet, but only paths that are little longer than a shortest one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from trueedge.methods.method import setting
from trueedge.methods.paths.path_method import HasMessages
from trueedge.methods.trained import open_setting

if TYPE_CHECKING:
    from trueedge.tasks import TripleTask
    from trueedge.training.paths.model import PathModel


@dataclass(frozen=True)
class TAGNet(HasMessages):
    """States that spread from the head of a query; an entity receives only while its paths are short.

    An entity at distance d aggregates in rounds d to d + delta, from entities that were reached by then. The
    number of messages hardly grows with the number of rounds.
    """

    name: ClassVar[str] = "tagnet"
    title: ClassVar[str] = "Truncated Propagation Network"
    citation: ClassVar[str] = (
        "Shomer et al., Distance-Based Propagation for Efficient Knowledge Graph Reasoning, 2023"
    )
    defaults: ClassVar[dict[str, Any]] = {
        "delta": 3,
        "epochs": 16,
        "negatives": 128,
        "start_messages": True,
        "degree_messages": False,
        "bias": False,
        "attention": "own",
        "attention_temperature": 1.0,
    }

    delta: int = open_setting(
        int, "how much longer than a shortest path a path may be", low=0, high=64, search=(1, 2, 3)
    )
    specific: bool = setting(False, "let attention choose the length of paths for each entity")
    degree_messages: bool = open_setting(bool, "add a learned message for each edge that is pruned")
    start_messages: bool = open_setting(bool, "count an entity's initial state as a message in each round")
    bias: bool = open_setting(bool, "additive weights in layers, and weights in their normalisation")
    attention: str = open_setting(
        str,
        "with specific: weigh states by a function of its own, or by their score",
        choices=("own", "score"),
    )
    attention_temperature: float = open_setting(
        float, "with specific: temperature of the attention", low=1e-6, high=1e6, search=(0.5, 1.0, 5.0)
    )
    aggregation: str = setting(
        "pna",
        "aggregation of messages: statistics scaled by degree (pna), as the published code computes them"
        " (published-pna), or one of them",
        choices=("pna", "published-pna", "sum", "max", "min"),
    )

    update_all: bool = setting(
        False, "let a layer also change states that receive no messages, as the published code does"
    )

    @property
    def published_as(self) -> str:
        """The name under which settings are looked up."""
        return "tagnet-specific" if self.specific else "tagnet"

    def build(self, task: TripleTask) -> PathModel:
        """Return a network that prunes by distance."""
        from trueedge.methods.paths.models.truncated import TruncatedNetwork

        shape = self.shape(
            task,
            start_messages=self.start_messages,
            degree_messages=self.degree_messages,
            bias=self.bias,
            update_all=self.update_all,
        )
        attention = self.attention if self.specific else None
        return TruncatedNetwork(shape, self.delta, attention, self.attention_temperature)
