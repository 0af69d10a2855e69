"""The parts of a benchmark graph of communities: their sizes, who is in them, and the edges.

Lancichinetti, Fortunato, Radicchi: Benchmark graphs for testing community detection algorithms, Physical
Review E 2008.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from trueedge.kernels.arrays.dtypes import Float64s, Int32s, Int64s
from trueedge.kernels.generators.rewiring import Dice, join_half_edges, rewire, throw, throw_unit


class JoinedCommunities(NamedTuple):
    """The edges of a graph of communities.

    Attributes:
        edges: int32 array (m, 2), each once.
        moved: how many edges found no place within their community and were joined anew outside.
        dropped: how many found no place outside either; they are not in ``edges``.
    """

    edges: Int32s
    moved: int
    dropped: int


def draw_communities(sizes: Int64s, internal: Int64s, dice: Dice) -> Int32s:
    """Put each node in a community larger than its internal degree, every way to do so equally likely.

    Args:
        sizes: int64 array (c,), falling, from :func:`draw_sizes` for these degrees.
        internal: int64 array (n,), how many neighbours each node has within its community.
        dice: from :func:`trueedge.kernels.generators.rewiring.dice`.

    Returns:
        int32 array (n,): the community of each node, numbered as the sizes are.
    """
    order = np.argsort(-internal, kind="stable")
    communities: Int32s = _assign(order, internal, sizes, dice)
    return communities


def join_communities(degrees: Int64s, internal: Int64s, communities: Int32s, dice: Dice) -> JoinedCommunities:
    """Join nodes at random within communities and between them, without loops and repeats.

    Args:
        degrees: int64 array (n,), with an even sum.
        internal: int64 array (n,), how many of each node's neighbours are in its community; where their sum
            over a community is odd, that of one node is changed by one, in place.
        communities: int32 array (n,), numbered from 0.
        dice: from :func:`trueedge.kernels.generators.rewiring.dice`.
    """
    members = np.argsort(communities, kind="stable")
    bounds = np.zeros(int(communities.max(initial=-1)) + 2, dtype=np.int64)
    np.cumsum(np.bincount(communities), out=bounds[1:])
    even_out(internal, degrees, members, bounds, dice)
    halves = np.repeat(members, internal[members]).astype(np.int32)
    before = np.concatenate([[0], np.cumsum(internal[members])])
    inner = join_half_edges(halves, before[bounds], dice)
    lost = rewire(inner, before[bounds] // 2, communities, False, dice)
    outer_halves = np.repeat(np.arange(len(degrees)), degrees - internal).astype(np.int32)
    outer_halves = np.concatenate([outer_halves, inner[lost].ravel()])
    outer = join_half_edges(outer_halves, np.array([0, len(outer_halves)]), dice)
    dropped = rewire(outer, np.array([0, len(outer)]), communities, True, dice)
    edges = np.concatenate([inner[~lost], outer[~dropped]])
    return JoinedCommunities(edges, int(lost.sum()), int(dropped.sum()))


@njit(cache=True, nogil=True)
def draw_sizes(
    cumulative: Float64s, smallest: int, largest: int, nodes: int, reaching: Int64s, draws: int, dice: Dice
) -> Int64s:
    """Draw community sizes from a distribution, given that they sum to the nodes and have room for each.

    Sizes are drawn until they reach the number of nodes, and all anew where they pass it. One of as many
    tries as a community has nodes on average meets it (the renewal theorem): the work grows with the nodes.

    Args:
        cumulative: float64 array (s,), the law's distribution function at ``smallest``, ``smallest + 1``, …
        smallest: the smallest size, 1 or more.
        largest: no community may have more nodes, whatever the law says.
        nodes: what the sizes sum to.
        reaching: int64 array (smallest + s,), how many nodes have at least so many internal neighbours.
        draws: after so many sizes it is given up.
        dice: from :func:`trueedge.kernels.generators.rewiring.dice`.

    Returns:
        int64 array (c,), falling; empty where none were found.
    """
    sizes = np.empty(nodes // smallest + 1, dtype=np.int64)
    while draws > 0:
        total, count = 0, 0
        while total < nodes:
            place = np.searchsorted(cumulative, throw_unit(dice), side="right")
            sizes[count] = smallest + min(place, len(cumulative) - 1)
            total += sizes[count]
            count += 1
        draws -= count
        if total == nodes:
            falling = np.sort(sizes[:count])[::-1].copy()
            if falling[0] <= largest and has_room(falling, reaching):
                return falling
    return sizes[:0].copy()


@njit(cache=True, nogil=True)
def has_room(sizes: Int64s, reaching: Int64s) -> bool:
    """Return whether every node can be in a community larger than its internal degree, all at the same time.

    Args:
        sizes: int64 array (c,), falling.
        reaching: int64 array, how many nodes have at least so many internal neighbours.
    """
    larger, same = 0, 0
    for i in range(len(sizes)):
        if i > 0 and sizes[i] != sizes[i - 1]:
            larger += same
            same = 0
        same += sizes[i]
        # Whoever has as many internal neighbours as this community has nodes must be in a larger one.
        if reaching[sizes[i]] > larger:
            return False
    return True


@njit(cache=True, nogil=True)
def even_out(internal: Int64s, degrees: Int64s, members: Int64s, bounds: Int64s, dice: Dice) -> None:
    """Make the internal degrees of each community sum to an even number, by one link of one random member.

    Links are moved in and out of communities by turns, so that their number stays what it is.

    Args:
        internal: int64 array (n,), changed in place.
        degrees: int64 array (n,).
        members: int64 array (n,), the nodes, community after community.
        bounds: int64 array (c + 1,), where each community starts.
        dice: from :func:`trueedge.kernels.generators.rewiring.dice`.
    """
    step = 1 if throw(dice, 2) == 0 else -1
    for community in range(len(bounds) - 1):
        inside = members[bounds[community] : bounds[community + 1]]
        total = 0
        for node in inside:
            total += internal[node]
        if total % 2 == 1 and _shift(internal, degrees, inside, step, dice):
            step = -step
        elif total % 2 == 1:
            _shift(internal, degrees, inside, -step, dice)


@njit(cache=True, nogil=True)
def _shift(internal: Int64s, degrees: Int64s, inside: Int64s, step: int, dice: Dice) -> bool:
    start = throw(dice, len(inside))
    for i in range(len(inside)):
        node = inside[(start + i) % len(inside)]
        changed = internal[node] + step
        if 0 <= changed <= min(degrees[node], len(inside) - 1):
            internal[node] = changed
            return True
    return False


@njit(cache=True, nogil=True)
def _assign(order: Int64s, internal: Int64s, sizes: Int64s, dice: Dice) -> Int32s:
    """Nodes choose among free places by falling internal degree.

    The places one may choose are among those of the next, so that how many there are does not depend on what
    was chosen before: every assignment is equally likely.
    """
    communities = np.empty(len(internal), dtype=np.int32)
    places = np.empty(len(internal), dtype=np.int32)
    free, opened = 0, 0
    for node in order:
        while opened < len(sizes) and sizes[opened] > internal[node]:
            places[free : free + sizes[opened]] = opened
            free += sizes[opened]
            opened += 1
        chosen = throw(dice, free)
        communities[node] = places[chosen]
        free -= 1
        places[chosen] = places[free]
    return communities
