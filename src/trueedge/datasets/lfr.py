"""Graphs with communities that are known: the benchmark of Lancichinetti, Fortunato and Radicchi.

trueedge.load("lfr:nodes=3000,mixing=0.3,seed=0")
"""

from __future__ import annotations

import inspect
import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueedge.datasets.dataset import Dataset, Rules, register
from trueedge.datasets.memory_check import check_memory
from trueedge.datasets.random_graphs import (
    check_above,
    check_count,
    draw_degrees,
    graph_name,
    power_law,
    power_law_of_mean,
)
from trueedge.datasets.synthetic import Setting, parse_parameters, whole_number
from trueedge.errors import InputError, is_number, must_be
from trueedge.graph import Graph
from trueedge.graph.validation import MAX_NODES
from trueedge.randomness import generator

if TYPE_CHECKING:
    from trueedge.kernels.generators.lfr import JoinedCommunities

# How far the share of edges between communities may be from the one asked for.
MIXING_TOLERANCE = 0.02
# A graph in which more edges than this share found no place is drawn anew, and so often at most.
MOST_DROPPED = 0.01
MOST_TRIES = 10


def lfr(
    nodes: int = 3000,
    mixing: float = 0.3,
    *,
    mean_degree: float = 25.0,
    max_degree: int = 1000,
    degree_exponent: float = 2.5,
    community_exponent: float = 3.0,
    min_community: int = 100,
    max_community: int = 1000,
    seed: int = 0,
) -> tuple[Graph, NDArray[np.int32]]:
    """Return a graph and its communities, int32 (nodes,), with power laws of degrees and of community sizes.

    Each node has about ``1 - mixing`` of its neighbours in its community. An edge that finds no place in its
    community goes outside, and one that finds none there is dropped; the graph's notes count both. The share
    of edges between communities is within 0.02 (plus one edge per community) of ``mixing``; communities that
    miss it are redrawn up to ten times. Sizes follow their law given that they sum to ``nodes``, that every
    node fits into a community larger than its internal degree, and, if there is mixing, that no community has
    more than half of the nodes.

    Args:
        nodes: the number of nodes.
        mixing: μ, the share of a node's neighbours outside its community.
        mean_degree: the expected degree; the lower bound of the power law is mixed from two neighbouring ones
            to match it.
        max_degree: the upper bound of degrees.
        degree_exponent: τ1, above 1.
        community_exponent: τ2, above 0.
        min_community: the smallest community there may be.
        max_community: the largest, above ``(1 - mixing) * max_degree``.
        seed: the random seed.

    Lancichinetti, Fortunato, Radicchi 2008, "Benchmark graphs for testing community detection algorithms";
    the defaults are those of Figure 3 of Aiyappa et al. 2025, "Implicit degree bias in the link prediction
    task".
    """
    from trueedge.kernels.negatives.sampling import words

    largest = _check(nodes, mixing, mean_degree, max_degree, min_community, max_community)
    check_above("degree_exponent", "lfr", degree_exponent, 1)
    check_above("community_exponent", "lfr", community_exponent, 0)
    degree_law = _degree_law(degree_exponent, mean_degree, max_degree)
    settings = {
        "nodes": int(nodes),
        "mixing": float(mixing),
        "mean_degree": float(mean_degree),
        "max_degree": int(max_degree),
        "degree_exponent": float(degree_exponent),
        "community_exponent": float(community_exponent),
        "min_community": int(min_community),
        "max_community": int(max_community),
    }
    rng = generator(seed, "lfr", *(str(value) for value in settings.values()))
    degrees = _even_degrees(rng, degree_law, nodes)
    internal = _internal_degrees(degrees, mixing, int(words(rng, 1)[0] >> np.uint64(48)) / 2**16)
    law = power_law(community_exponent, min_community, max_community)
    bounds, key = (min_community, largest), int(words(rng, 1)[0])
    communities, joined = _join(degrees, internal, mixing, law, bounds, key)
    graph = Graph.from_edges(joined.edges, nodes, name=graph_name("lfr", **settings, seed=seed))
    found = mixing_of(graph, communities)
    notes = [f"{communities.max() + 1} communities, with {found:.4f} of the edges between them"]
    if joined.moved:
        notes.append(f"{joined.moved} edges found no place in their community and go outside")
    if joined.dropped:
        notes.append(f"{joined.dropped} edges found no place and are left out")
    communities.flags.writeable = False
    return replace(graph, notes=tuple(notes)), communities


def lfr_communities(name: str) -> NDArray[np.int32]:
    """Return the communities of a graph of the catalogue, int32 (nodes,).

    Args:
        name: the graph's name with its settings, as in ``lfr:nodes=3000,mixing=0.3,seed=1``.
    """
    family, _, text = str(name).partition(":")
    if family != "lfr":
        raise must_be("name", "lfr_communities", "that of a graph 'lfr:…'", name)
    return lfr(**parse_parameters("lfr", text, _SETTINGS))[1]  # type: ignore[arg-type]


def mixing_of(graph: Graph, communities: ArrayLike) -> float:
    """Return the share of a graph's edges that join two communities.

    Args:
        graph: a graph with at least one edge.
        communities: array (n,), the community of each node.
    """
    labels = np.asarray(communities)
    if labels.shape != (graph.num_nodes,):
        raise must_be("communities", "mixing_of", f"of shape ({graph.num_nodes},)", labels.shape)
    if not graph.num_edges:
        raise InputError(f"mixing_of: {graph.name} has no edge")
    return float(np.mean(labels[graph.edges[:, 0]] != labels[graph.edges[:, 1]]))


def _check(
    nodes: int, mixing: float, mean_degree: float, max_degree: int, min_community: int, max_community: int
) -> int:
    """Refuse impossible settings; return the largest size a community may have."""
    nodes = check_count("nodes", "lfr", nodes, 2, MAX_NODES)
    if not is_number(mixing) or not 0 <= mixing <= 1:
        raise must_be("mixing", "lfr", "a number from 0 to 1", mixing)
    check_above("mean_degree", "lfr", mean_degree, 0)
    # Half-edges, places and the table of pairs take as much again as the edges of any generated graph.
    check_memory("lfr", nodes, int(nodes * min(mean_degree, nodes)))
    highest = check_count("max_degree", "lfr", max_degree, 1, nodes - 1)
    smallest = check_count("min_community", "lfr", min_community, 1, nodes)
    largest = check_count("max_community", "lfr", max_community, smallest, nodes)
    if mixing > 0:
        # The half-edges that leave more than half of the nodes find too few others.
        largest = min(largest, nodes // 2)
    needed = math.ceil((1 - mixing) * highest - 1e-9)
    if needed >= largest:
        raise InputError(
            f"lfr: a node of max_degree {highest} has {needed} neighbours in its community with mixing"
            f" {mixing:g}, but a community has {largest} nodes at most (max_community, or half of the nodes)"
        )
    if nodes // smallest * largest < nodes:
        raise InputError(f"lfr: no communities of {smallest} to {largest} nodes sum to {nodes} nodes")
    return largest


def _degree_law(exponent: float, mean: float, highest: int) -> NDArray[np.float64]:
    lowest = float(power_law(exponent, 1, highest) @ np.arange(highest + 1))
    if not lowest <= mean <= highest:
        raise must_be(
            "mean_degree", "lfr", f"from {lowest:.6g} to {highest} for degree_exponent and max_degree", mean
        )
    return power_law_of_mean(exponent, mean, highest)


def _even_degrees(rng: np.random.Generator, law: NDArray[np.float64], nodes: int) -> NDArray[np.int64]:
    """Return degrees drawn from a law; if their sum is odd, the last one is redrawn."""
    degrees = draw_degrees(rng, law, nodes)
    if degrees.sum() % 2:
        other = law * (np.arange(len(law)) % 2 != degrees[-1] % 2)
        if not other.any():
            raise InputError(
                f"lfr: {nodes} nodes of an odd degree cannot be joined: choose another mean_degree"
            )
        degrees[-1] = draw_degrees(rng, other / other.sum(), 1)[0]
    return degrees


def _internal_degrees(degrees: NDArray[np.int64], mixing: float, start: float) -> NDArray[np.int64]:
    """Return the internal degrees, rounded up or down so that their sum is right.

    Args:
        degrees: int64 array (n,).
        mixing: what is taken from them.
        start: random in [0, 1): then each is right in expectation.
    """
    reached = np.floor(start + np.cumsum((1 - mixing) * degrees))
    return np.minimum(np.diff(reached, prepend=0.0).astype(np.int64), degrees)


def _join(
    degrees: NDArray[np.int64],
    internal: NDArray[np.int64],
    mixing: float,
    law: NDArray[np.float64],
    bounds: tuple[int, int],
    key: int,
) -> tuple[NDArray[np.int32], JoinedCommunities]:
    """Return communities and edges, redrawn while too many edges find no place."""
    from trueedge.kernels.generators.lfr import draw_communities, join_communities
    from trueedge.kernels.generators.rewiring import dice

    throws = dice(key)
    for _ in range(MOST_TRIES):
        sizes = _sizes(law, bounds, internal, throws)
        communities = draw_communities(sizes, internal, throws)
        joined = join_communities(degrees, internal.copy(), communities, throws)
        ends = communities[joined.edges]
        found = np.count_nonzero(ends[:, 0] != ends[:, 1]) / max(len(ends), 1)
        near = abs(found - mixing) <= MIXING_TOLERANCE + len(sizes) / max(len(ends), 1)
        if near and joined.dropped <= MOST_DROPPED * len(ends):
            return communities, joined
    raise InputError(
        f"lfr: communities of {bounds[0]} to {bounds[1]} nodes are too small for nodes with up to"
        f" {internal.max()} neighbours inside and {(degrees - internal).max()} outside: mixing came out as"
        f" {found:.4f} in place of {mixing:g}, and {joined.dropped} edges found no place"
    )


def _sizes(
    law: NDArray[np.float64], bounds: tuple[int, int], internal: NDArray[np.int64], throws: NDArray[np.uint64]
) -> NDArray[np.int64]:
    from trueedge.kernels.generators.lfr import draw_sizes

    nodes, (smallest, largest) = len(internal), bounds
    reaching = np.bincount(internal, minlength=len(law))[::-1].cumsum()[::-1].copy()
    # A try costs nodes / size draws and meets the sum once in size tries: a thousand times what that takes.
    draws = 10_000_000 + 1000 * nodes
    sizes: NDArray[np.int64] = draw_sizes(
        np.cumsum(law[smallest:]), smallest, largest, nodes, reaching, draws, throws
    )
    if not len(sizes):
        raise InputError(
            f"lfr: no communities of {smallest} to {largest} nodes were found that sum to {nodes} nodes and"
            f" have room for one with {internal.max()} neighbours inside"
        )
    return sizes


_SETTINGS: dict[str, Setting] = {
    "nodes": whole_number,
    "mixing": float,
    "mean_degree": float,
    "max_degree": whole_number,
    "degree_exponent": float,
    "community_exponent": float,
    "min_community": whole_number,
    "max_community": whole_number,
    "seed": whole_number,
}


def _configure(text: str) -> Dataset:
    given = parse_parameters("lfr", text, _SETTINGS)

    def read() -> Graph:
        return lfr(**given)[0]  # type: ignore[arg-type]

    defaults = inspect.signature(lfr).parameters
    shown = {key: given.get(key, defaults[key].default) for key in _SETTINGS}
    return replace(_CARD, name=graph_name("lfr", **shown), read=read, configure=None)


_CARD = register(
    Dataset(
        name="lfr",
        family="lfr",
        title="known communities, with power-law degrees and community sizes; settings: "
        + ", ".join(_SETTINGS),
        num_nodes=None,
        num_edges=None,
        num_features=0,
        licence="none (generated)",
        source="generated",
        citation="Lancichinetti, Fortunato and Radicchi, Benchmark Graphs for Testing Community Detection"
        " Algorithms, Physical Review E 2008",
        read=lambda: lfr()[0],
        rules=Rules(heart_features=False),
        configure=_configure,
    )
)
