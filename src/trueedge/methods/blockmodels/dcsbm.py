"""Groups that are joined more or less, each node taking part by its degree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from trueedge.methods.blockmodels.blockmodel import BlockModel


@dataclass(frozen=True)
class DegreeCorrectedSBM(BlockModel):
    """Edges between two groups, shared out by degree, ``k_u k_v e_rs / (e_r e_s)``.

    ``e_rr`` is twice the edges within a group, and ``e_r`` the sum of its degrees. Groups and their number
    are those of least description length, or of the least that the search finds:
    :func:`trueedge.methods.blockmodels.description.description_length` has the formula (the microcanonical
    model of Peixoto, Parsimonious Module Inference in Large Networks, 2013, with his later prior of degrees),
    and :func:`trueedge.methods.blockmodels.fitting.fit_partition` the search.
    """

    name: ClassVar[str] = "dc-sbm"
    title: ClassVar[str] = "Degree-corrected Stochastic Block Model"
    citation: ClassVar[str] = (
        "Karrer and Newman, Stochastic Blockmodels and Community Structure in Networks, 2011"
    )
    corrected: ClassVar[bool] = True
