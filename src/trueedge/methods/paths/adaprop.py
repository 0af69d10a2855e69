"""AdaProp: as RED-GNN, but only the best of the entities that are new in a round are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from trueedge.methods.paths.red_gnn import REDGNN
from trueedge.methods.trained import open_setting


@dataclass(frozen=True)
class AdaProp(REDGNN):
    """RED-GNN that samples: after each round, the best new entities of a query are kept."""

    name: ClassVar[str] = "adaprop"
    title: ClassVar[str] = "Adaptive Propagation"
    citation: ClassVar[str] = (
        "Zhang et al., AdaProp: Learning Adaptive Propagation for Graph Neural Network based Knowledge Graph"
        " Reasoning, 2023"
    )
    defaults: ClassVar[dict[str, Any]] = {**REDGNN.defaults, "top": 100}

    top: int = open_setting(
        int, "new entities that are kept after a round", low=1, high=1 << 30, search=(100, 200, 500)
    )

    @property
    def kept_entities(self) -> int | None:
        """How many new entities are kept after a round."""
        return self.top
