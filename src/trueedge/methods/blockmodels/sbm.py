"""Groups that are joined more or less, whoever is in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from trueedge.methods.blockmodels.blockmodel import BlockModel


@dataclass(frozen=True)
class SBM(BlockModel):
    """Edges between two groups over pairs between them, ``e_rs / (n_r n_s)``.

    ``e_rr`` is twice the edges within a group. Groups and their number are those of least description length,
    or of the least that the search finds:
    :func:`trueedge.methods.blockmodels.description.description_length` has the formula (the microcanonical
    model of Peixoto, Parsimonious Module Inference in Large Networks, 2013), and
    :func:`trueedge.methods.blockmodels.fitting.fit_partition` the search.
    """

    name: ClassVar[str] = "sbm"
    title: ClassVar[str] = "Stochastic Block Model"
    citation: ClassVar[str] = "Holland, Laskey and Leinhardt, Stochastic Blockmodels: First Steps, 1983"
    corrected: ClassVar[bool] = False
