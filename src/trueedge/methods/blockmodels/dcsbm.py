"""Groups that are joined more or less, each node taking part by its degree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from trueedge.methods.blockmodels.blockmodel import BlockModel


@dataclass(frozen=True)
class DegreeCorrectedSBM(BlockModel):
    """The degree-corrected model: a pair scores ``k_u k_v e_rs / (e_r e_s)``."""

    name: ClassVar[str] = "dc-sbm"
    title: ClassVar[str] = "Degree-corrected Stochastic Block Model"
    citation: ClassVar[str] = (
        "Karrer and Newman, Stochastic Blockmodels and Community Structure in Networks, 2011"
    )
    corrected: ClassVar[bool] = True
