"""Groups that are joined more or less, whoever is in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from trueedge.methods.blockmodels.blockmodel import BlockModel


@dataclass(frozen=True)
class SBM(BlockModel):
    """The plain model: a pair scores ``e_rs / (n_r n_s)``, with n_r nodes in group r."""

    name: ClassVar[str] = "sbm"
    title: ClassVar[str] = "Stochastic Block Model"
    citation: ClassVar[str] = "Holland, Laskey and Leinhardt, Stochastic Blockmodels: First Steps, 1983"
    corrected: ClassVar[bool] = False
