"""Neural Common Neighbor with completion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from trueedge.methods.method import setting
from trueedge.methods.pairwise.ncn import NCN
from trueedge.methods.trained import open_setting

if TYPE_CHECKING:
    from trueedge.tasks import GraphTask
    from trueedge.training import LinkModel


@dataclass(frozen=True)
class NCNC(NCN):
    """NCN in which a neighbour of one end counts by the predicted probability of its missing edge."""

    name: ClassVar[str] = "ncnc"
    title: ClassVar[str] = "Neural Common Neighbor with Completion"
    # These values give the probability itself.
    defaults: ClassVar[Mapping[str, Any]] = {
        **NCN.defaults,
        "completion_scale": 1.0,
        "completion_offset": 0.0,
        "completion_prior": 1.0,
        "completion_weight": 1.0,
    }

    completion_scale: float = open_setting(
        float, "scale of a missing edge's logit, after the offset", low=0.0, high=1e3
    )
    completion_offset: float = open_setting(
        float, "offset subtracted from a missing edge's logit", low=-1e3, high=1e3
    )
    completion_prior: float = open_setting(float, "factor of a missing edge's odds", low=1e-6, high=1e6)
    completion_weight: float = open_setting(
        float, "weight of a completed edge of probability 1 relative to an observed edge", low=0.0, high=1e3
    )
    completion_gradient: bool = setting(False, "backpropagate through completed edges")
    completion_block: int = setting(
        1 << 14, "missing edges scored at a time; bounds the memory", low=1, high=1 << 30
    )

    def build(self, task: GraphTask, seed: int) -> LinkModel:
        """Return NCN's model with completion."""
        from trueedge.methods.pairwise.models.completion import CompletedModel, Completion

        completion = Completion(
            block=self.completion_block,
            with_gradient=self.completion_gradient,
            scale=self.completion_scale,
            offset=self.completion_offset,
            prior=self.completion_prior,
            weight=self.completion_weight,
        )
        return CompletedModel(*self.parts(task, seed), completion)
