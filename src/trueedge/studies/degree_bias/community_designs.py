"""Which graphs, mixings and negatives each study of communities has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

METHODS = ("gcn", "sage", "gin", "gat")
SAMPLERS = ("uniform", "degree-corrected", "heart")
# What is compared with training on uniform negatives, on the same graphs.
AGAINST = "uniform"
MIXINGS = (0.1, 0.3, 0.5, 0.7, 0.9)
# The settings of each kind of graphs; others are the defaults, which are those of Figure 3 of the paper.
EXPONENTS = {"lfr-2.5": 2.5, "lfr-3": 3.0}
DENSE = {f"{name}-degree-50": name for name in EXPONENTS}
SMALLER = {f"{name}-largest-500": name for name in EXPONENTS}
GRAPHS: dict[str, dict[str, float]] = {
    **{name: {"degree_exponent": exponent} for name, exponent in EXPONENTS.items()},
    **{name: {"degree_exponent": EXPONENTS[of], "mean_degree": 50.0} for name, of in DENSE.items()},
    **{
        name: {"degree_exponent": EXPONENTS[of], "max_degree": 500, "max_community": 500}
        for name, of in SMALLER.items()
    },
}
# What is said of the graphs whose settings are not the defaults.
SAID = {
    **dict.fromkeys(DENSE, ", mean degree 50"),
    **dict.fromkeys(SMALLER, ", degrees and communities up to 500"),
}


@dataclass(frozen=True, order=True)
class Place:
    """Where a record belongs.

    Attributes:
        graphs: the name of the graphs' settings, of :data:`GRAPHS`.
        method: the network's name.
        sampler: what its training negatives were drawn by.
        mixing: the graph's μ.
        number: the graph's number, which is its seed and that of the training.
    """

    graphs: str
    method: str
    sampler: str
    mixing: float
    number: int


@dataclass(frozen=True)
class Design:
    """A study of communities.

    Attributes:
        name: the study's name.
        graphs: the names of its graphs, of :data:`GRAPHS`.
        mixings: the values of μ.
        samplers: what training negatives are drawn by.
        curve: the metric of its curves.
        points: whether its values are those at each μ, not the areas under the curves.
    """

    name: str
    graphs: tuple[str, ...] = tuple(EXPONENTS)
    mixings: tuple[float, ...] = MIXINGS
    samplers: tuple[str, ...] = SAMPLERS
    curve: str = "element-centric"
    points: bool = False


COMMUNITIES = Design("degree-bias/communities")
# The paper has no networks trained with HeaRT's negatives on these graphs.
FIGURE_13 = Design("degree-bias/figure-13", tuple(DENSE), samplers=SAMPLERS[:2], curve="nmi")
FIGURE_14 = Design("degree-bias/figure-14", tuple(SMALLER), samplers=SAMPLERS[:2], curve="nmi")
TABLE_3 = Design("degree-bias/table-3", mixings=(0.1, 0.15, 0.2), points=True)
DESIGNS: Mapping[str, Design] = {one.name: one for one in (COMMUNITIES, FIGURE_13, FIGURE_14, TABLE_3)}


def kind_title(graphs: str) -> str:
    """Return what a kind of graphs is called in tables and titles."""
    return f"τ1 = {GRAPHS[graphs]['degree_exponent']:g}{SAID.get(graphs, '')}"
