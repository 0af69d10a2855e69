"""Focal loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from trueedge.methods.kg.bias import BiasMethod
from trueedge.methods.method import setting


@dataclass(frozen=True)
class FocalLoss(BiasMethod):
    """A term of the cross-entropy whose label has probability p is multiplied by ``(1 - p) ** gamma``.

    Lin et al. take gamma = 2 and differentiate the factor, too. The published code of KG-Mixup compares with
    gamma = 1 and a factor that is held fixed in each step (``fixed_factor``).
    """

    suffix: ClassVar[str] = "focal"
    addition: ClassVar[str] = "focal loss"
    citation: ClassVar[str] = (
        "Lin, Goyal, Girshick, He and Dollár, Focal Loss for Dense Object Detection, 2017"
    )

    # The training schedule takes them by these names.
    focal: float = setting(2.0, "the exponent gamma", low=0.0, high=20.0, search=(0.5, 1.0, 2.0, 5.0))
    fixed_factor: bool = setting(False, "hold the factor fixed in each step instead of differentiating it")
