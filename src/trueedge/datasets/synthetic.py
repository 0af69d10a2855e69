"""Generated graphs in the catalogue: a family's name, a colon, and its settings.

trueedge.load("price:nodes=100000,edges=1000000,seed=0")
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from trueedge.datasets.dataset import Dataset, Rules, register
from trueedge.datasets.random_graphs import (
    barabasi_albert,
    erdos_renyi,
    graph_name,
    power_law_configuration,
    price,
    stochastic_block,
)
from trueedge.errors import InputError, unknown
from trueedge.graph import Graph

__all__ = ["barabasi_albert", "erdos_renyi", "power_law_configuration", "price", "stochastic_block"]


def whole_number(text: str) -> int:
    return int(text)


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(int(size) for size in text.split("+"))


Setting = Callable[[str], object]
_ALLOWED: dict[Setting, str] = {
    whole_number: "a whole number",
    float: "a number",
    _sizes: "whole numbers joined by +",
}


def _register(
    name: str,
    title: str,
    citation: str,
    make: Callable[..., Graph],
    settings: Mapping[str, Setting],
    defaults: Mapping[str, object],
) -> None:
    """Add a family to the catalogue; by its bare name it is the graph of its defaults."""
    takes = {**settings, "seed": whole_number}

    def configure(text: str) -> Dataset:
        given = {**defaults, "seed": 0, **parse_parameters(name, text, takes)}
        ordered = {key: given[key] for key in takes if key in given}
        shown = {
            key: "+".join(map(str, value)) if isinstance(value, tuple) else value
            for key, value in ordered.items()
        }
        return replace(card, name=graph_name(name, **shown), read=partial(make, **ordered), configure=None)

    card = Dataset(
        name=name,
        family="synthetic",
        title=f"{title}; settings: {', '.join(takes)}",
        num_nodes=None,
        num_edges=None,
        num_features=0,
        licence="none (generated)",
        source="generated",
        citation=citation,
        read=lambda: configure("").read(),
        rules=Rules(heart_features=False),
        configure=configure,
    )
    register(card)


def parse_parameters(name: str, text: str, takes: Mapping[str, Setting]) -> dict[str, object]:
    """Read ``key=value,key=value``."""
    given: dict[str, object] = {}
    for item in filter(None, text.split(",")):
        key, equals, value = (part.strip() for part in item.partition("="))
        if not equals:
            raise InputError(f"{name}: settings look like {next(iter(takes))}=…, got {item!r}")
        if key not in takes:
            raise unknown(f"setting of {name}", key, takes)
        if key in given:
            raise InputError(f"{name}: the setting {key} is given twice")
        try:
            given[key] = takes[key](value)
        except ValueError:
            raise InputError(f"{name}: {key} must be {_ALLOWED[takes[key]]}, got {value!r}") from None
    return given


_register(
    "erdos-renyi",
    "random graph with given numbers of nodes and edges",
    "Erdős and Rényi, On Random Graphs I, 1959",
    erdos_renyi,
    {"nodes": whole_number, "edges": whole_number},
    {"nodes": 1000, "edges": 5000},
)
_register(
    "barabasi-albert",
    "growth by preferential attachment",
    "Barabási and Albert, Emergence of Scaling in Random Networks, Science 1999",
    barabasi_albert,
    {"nodes": whole_number, "attach": whole_number},
    {"nodes": 1000, "attach": 5},
)
_register(
    "price",
    "growth by citations, with power-law degrees",
    "Price, A General Theory of Bibliometric and Other Cumulative Advantage Processes, 1976",
    price,
    {"nodes": whole_number, "edges": whole_number, "exponent": float},
    {"nodes": 10_000, "edges": 100_000, "exponent": 3.0},
)
_register(
    "power-law-configuration",
    "random graph with power-law degrees",
    "Molloy and Reed, A Critical Point for Random Graphs with a Given Degree Sequence, 1995",
    power_law_configuration,
    {
        "nodes": whole_number,
        "exponent": float,
        "mean_degree": float,
        "min_degree": whole_number,
        "max_degree": whole_number,
    },
    {"nodes": 1000, "exponent": 2.5},
)
_register(
    "stochastic-block",
    "blocks with more edges within than between them",
    "Holland et al., Stochastic Blockmodels: First Steps, 1983",
    stochastic_block,
    {"sizes": _sizes, "p_in": float, "p_out": float},
    {"sizes": (100, 100, 100), "p_in": 0.1, "p_out": 0.01},
)
