"""Random graphs, each made from its settings and a seed and from nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueedge.datasets.memory_check import check_memory
from trueedge.errors import InputError, is_number, is_whole, must_be, whole_number
from trueedge.graph import Graph
from trueedge.graph.validation import MAX_NODES
from trueedge.randomness import generator

# There is a probability for each two of them.
MOST_BLOCKS = 10_000
# Half-edges and their random order come on top of the edges.
BYTES_A_JOINED_EDGE = 160


def erdos_renyi(nodes: int, edges: int, seed: int = 0) -> Graph:
    """Return a graph drawn uniformly from all with this number of nodes and edges.

    Args:
        nodes: the number of nodes, 1 or more.
        edges: the number of edges.
        seed: the random seed.

    Erdős and Rényi 1959, "On random graphs I".
    """
    from trueedge.kernels.negatives.sampling import distinct

    nodes = check_count("nodes", "erdos-renyi", nodes, 1, MAX_NODES)
    edges = check_count("edges", "erdos-renyi", edges, 0, nodes * (nodes - 1) // 2)
    check_memory("erdos-renyi", nodes, edges)
    rng = generator(seed, "synthetic", "erdos-renyi", nodes, edges)
    pairs = _triangle(distinct(rng, nodes * (nodes - 1) // 2, edges))
    return Graph.from_edges(pairs, nodes, name=graph_name("erdos-renyi", nodes=nodes, edges=edges, seed=seed))


def barabasi_albert(nodes: int, attach: int, seed: int = 0) -> Graph:
    """Grow a graph by preferential attachment: a new node joins ``attach`` others in proportion to degree.

    Args:
        nodes: the number of nodes, more than ``attach``.
        attach: how many neighbours a new node gets, 1 or more; the first one joins the ``attach`` before it.
        seed: the random seed.

    Barabási and Albert 1999, "Emergence of scaling in random networks".
    """
    from trueedge.kernels.generators.growth import grow

    attach = check_count("attach", "barabasi-albert", attach, 1, MAX_NODES - 1)
    nodes = check_count("nodes", "barabasi-albert", nodes, attach + 1, MAX_NODES)
    check_memory("barabasi-albert", nodes, attach * (nodes - attach))
    quotas = np.full(nodes, attach, dtype=np.int64)
    quotas[:attach] = 0
    rng = generator(seed, "synthetic", "barabasi-albert", nodes, attach)
    name = graph_name("barabasi-albert", nodes=nodes, attach=attach, seed=seed)
    return Graph.from_edges(grow(rng, quotas, 0.0, 2), nodes, name=name)


def price(nodes: int, edges: int, exponent: float = 3.0, seed: int = 0) -> Graph:
    """Return a graph of Price's citation model, undirected: degrees follow ``p(k) ∝ k^-exponent``.

    Node t cites about ``edges / nodes`` distinct earlier nodes, each in proportion to the citations it has
    plus ``(exponent - 2) * edges / nodes``; the first nodes cite all before them.

    Args:
        nodes: the number of nodes, 1 or more.
        edges: the number of edges.
        exponent: that of the degree distribution, above 2.
        seed: the random seed.

    Price 1976, "A general theory of bibliometric and other cumulative advantage processes"; with exponent 3
    the graph of Figure 1 of Aiyappa et al. 2024, "Implicit degree bias in the link prediction task".
    """
    from trueedge.kernels.generators.growth import grow

    nodes = check_count("nodes", "price", nodes, 1, MAX_NODES)
    edges = check_count("edges", "price", edges, 0, nodes * (nodes - 1) // 2)
    check_memory("price", nodes, edges)
    check_above("exponent", "price", exponent, 2)
    rng = generator(seed, "synthetic", "price", nodes, edges, str(float(exponent)))
    pairs = grow(rng, _citations(nodes, edges), (exponent - 2) * edges / nodes, 1)
    name = graph_name("price", nodes=nodes, edges=edges, exponent=float(exponent), seed=seed)
    return Graph.from_edges(pairs, nodes, name=name)


def power_law_configuration(
    nodes: int,
    exponent: float,
    *,
    mean_degree: float | None = None,
    min_degree: int | None = None,
    max_degree: int | None = None,
    seed: int = 0,
) -> Graph:
    """Return a graph that is random except for its degrees, drawn from ``p(k) ∝ k^-exponent`` in a range.

    Half-edges are joined at random; those that would make a self-loop or repeat an edge are erased, and the
    graph's notes say how many.

    Args:
        nodes: the number of nodes, 2 or more.
        exponent: that of the degree distribution, above 1.
        mean_degree: the expected degree before erasure; the lower bound is then mixed from two neighbouring
            ones to match it.
        min_degree: the lower bound, 1 or more; give either this or ``mean_degree`` (by default it is 2).
        max_degree: the upper bound; ``nodes - 1`` where it is not given.
        seed: the random seed.

    Molloy and Reed 1995, "A critical point for random graphs with a given degree sequence".
    """
    owner = "power-law-configuration"
    nodes = check_count("nodes", owner, nodes, 2, MAX_NODES)
    check_memory(owner, nodes, nodes // 2, BYTES_A_JOINED_EDGE)
    check_above("exponent", owner, exponent, 1)
    if mean_degree is not None and min_degree is not None:
        raise InputError(f"{owner}: give mean_degree or min_degree, not both")
    highest = check_count("max_degree", owner, nodes - 1 if max_degree is None else max_degree, 1, nodes - 1)
    if mean_degree is None:
        lowest = min(2, highest) if min_degree is None else min_degree
        check_count("min_degree", owner, lowest, 1, highest)
        law = power_law(exponent, lowest, highest)
    else:
        law = power_law_of_mean(exponent, mean_degree, highest)
    expected = int(nodes * float(law @ np.arange(len(law)))) // 2
    check_memory(owner, nodes, expected, BYTES_A_JOINED_EDGE)
    rng = generator(
        seed, "synthetic", owner, nodes, str(float(exponent)), str(mean_degree), str(min_degree), highest
    )
    settings = {"mean_degree": mean_degree, "min_degree": min_degree, "max_degree": max_degree}
    given = {key: value for key, value in settings.items() if value is not None}
    name = graph_name(owner, nodes=nodes, exponent=float(exponent), **given, seed=seed)
    return _join_half_edges(rng, draw_degrees(rng, law, nodes), name)


def stochastic_block(
    sizes: Sequence[int],
    p_in: float | None = None,
    p_out: float | None = None,
    *,
    matrix: ArrayLike | None = None,
    seed: int = 0,
) -> Graph:
    """Return a graph of blocks: two nodes are joined with a probability that depends on their blocks only.

    Args:
        sizes: the number of nodes of each block; nodes are numbered block by block.
        p_in: the probability within a block.
        p_out: the probability between blocks.
        matrix: in place of these two, a symmetric float array (blocks, blocks) of probabilities.
        seed: the random seed.

    Holland et al. 1983, "Stochastic blockmodels: first steps".
    """
    from trueedge.kernels.negatives.sampling import distinct

    owner = "stochastic-block"
    if not isinstance(sizes, (Sequence, np.ndarray)) or isinstance(sizes, str) or not len(sizes):
        raise must_be("sizes", owner, "a list of at least one block", sizes)
    sizes = [check_count("sizes", owner, size, 1, MAX_NODES) for size in sizes]
    if sum(sizes) > MAX_NODES:
        raise InputError(f"{owner}: {sum(sizes)} nodes are too many, a graph has at most {MAX_NODES}")
    if len(sizes) > MOST_BLOCKS:
        raise InputError(f"{owner}: {len(sizes)} blocks are too many, at most {MOST_BLOCKS} are possible")
    chances = _chances(len(sizes), p_in, p_out, matrix)
    check_memory(owner, sum(sizes), int(sizes @ chances @ sizes) // 2)
    rng = generator(seed, "synthetic", owner, *(int(size) for size in sizes), chances.tobytes().hex())
    starts = np.cumsum([0, *sizes])
    found = [np.empty((0, 2), dtype=np.int64)]
    for a, b in combinations_with_replacement(range(len(sizes)), 2):
        rows, columns = int(sizes[a]), int(sizes[b])
        possible = rows * (rows - 1) // 2 if a == b else rows * columns
        count = int(rng.binomial(possible, chances[a, b]))
        if count:
            drawn = distinct(rng, possible, count)
            pairs = _triangle(drawn) if a == b else np.column_stack(np.divmod(drawn, columns))
            found.append(pairs + [starts[a], starts[b]])
    shown = {"matrix": "given"} if matrix is not None else {"p_in": p_in, "p_out": p_out}
    name = graph_name(owner, sizes="+".join(str(int(size)) for size in sizes), **shown, seed=seed)
    return Graph.from_edges(np.concatenate(found), int(starts[-1]), name=name)


def _triangle(index: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the pairs u < v in the order (0, 1), (0, 2), (1, 2), (0, 3), …, by their place in it."""
    v = ((1 + np.sqrt(1 + 8.0 * index)) / 2).astype(np.int64)
    # The root of a large number is off by at most one.
    v -= v * (v - 1) // 2 > index
    v += v * (v + 1) // 2 <= index
    return np.column_stack([index - v * (v - 1) // 2, v])


def _citations(nodes: int, edges: int) -> NDArray[np.int64]:
    """Return how many earlier nodes each node cites: evenly, ``edges`` in all, node t at most t."""
    low, high = 0, max(nodes - 1, 0)
    while low < high:
        most = (low + high) // 2
        # Node t cites min(t, most).
        if most * (most - 1) // 2 + most * (nodes - most) >= edges:
            high = most
        else:
            low = most + 1
    order = np.arange(nodes, dtype=np.int64)
    quotas = np.minimum(order, low)
    excess = int(quotas.sum()) - edges
    full = order[low:]
    quotas[full[np.arange(excess) * len(full) // max(excess, 1)]] -= 1
    return quotas


def power_law(exponent: float, lowest: int, highest: int) -> NDArray[np.float64]:
    """Return the probabilities of the degrees 0..highest under a power law from ``lowest`` on."""
    degrees = np.arange(highest + 1, dtype=np.float64)
    law = np.zeros(highest + 1)
    law[lowest:] = degrees[lowest:] ** -float(exponent)
    law /= law.sum()
    return law


def power_law_of_mean(exponent: float, mean: float, highest: int) -> NDArray[np.float64]:
    """Return a mixture of the power laws from some k and from k + 1 on that has the mean."""
    weight = np.arange(1, highest + 1, dtype=np.float64) ** -float(exponent)
    degrees = np.arange(1, highest + 1, dtype=np.float64)
    # means[i] is the mean of the law from degree i + 1 on; it rises with i.
    means = np.cumsum((weight * degrees)[::-1])[::-1] / np.cumsum(weight[::-1])[::-1]
    check_above("mean_degree", "power-law-configuration", mean, 0)
    if not means[0] <= mean <= means[-1]:
        allowed = f"from {means[0]:.6g} to {means[-1]:.6g} for this exponent and max_degree"
        raise must_be("mean_degree", "power-law-configuration", allowed, mean)
    lower = max(min(int(np.searchsorted(means, mean, side="right")), highest - 1), 1)
    first = power_law(exponent, lower, highest)
    if highest == 1:
        return first
    share = (mean - means[lower - 1]) / (means[lower] - means[lower - 1])
    mixed: NDArray[np.float64] = (1 - share) * first + share * power_law(exponent, lower + 1, highest)
    return mixed


def draw_degrees(rng: np.random.Generator, law: NDArray[np.float64], nodes: int) -> NDArray[np.int64]:
    """Return degrees drawn from a law, int64 (nodes,)."""
    from trueedge.kernels.negatives.sampling import words

    fractions = (words(rng, nodes) >> np.uint64(11)) * 2.0**-53
    drawn = np.searchsorted(np.cumsum(law), fractions, side="right")
    return np.minimum(drawn, len(law) - 1).astype(np.int64)


def _join_half_edges(rng: np.random.Generator, degrees: NDArray[np.int64], name: str) -> Graph:
    from trueedge.kernels.negatives.sampling import distinct

    halves = np.repeat(np.arange(len(degrees)), degrees)
    # Of an odd number of half-edges the one that comes last stays alone.
    order = distinct(rng, len(halves), len(halves))[: len(halves) // 2 * 2]
    pairs = halves[order].reshape(-1, 2)
    return Graph.from_edges(pairs, len(degrees), self_loops="drop", repeats="drop", name=name)


def _chances(
    blocks: int, p_in: float | None, p_out: float | None, matrix: ArrayLike | None
) -> NDArray[np.float64]:
    owner = "stochastic-block"
    if matrix is None:
        for argument, value in (("p_in", p_in), ("p_out", p_out)):
            if not is_number(value) or not 0 <= value <= 1:
                raise must_be(argument, owner, "a probability", value)
        chances = np.full((blocks, blocks), p_out, dtype=np.float64)
        np.fill_diagonal(chances, p_in)
        return chances
    if p_in is not None or p_out is not None:
        raise InputError(f"{owner}: give matrix, or p_in and p_out, not both")
    try:
        chances = np.array(matrix, dtype=np.float64)
    except (TypeError, ValueError):
        raise must_be("matrix", owner, "a table of probabilities", matrix) from None
    if chances.shape != (blocks, blocks):
        raise must_be("matrix", owner, f"of shape ({blocks}, {blocks}), a row for each block", chances.shape)
    if not ((chances >= 0) & (chances <= 1)).all() or not (chances == chances.T).all():
        raise must_be("matrix", owner, "symmetric, with probabilities", matrix)
    return chances


def check_count(argument: str, owner: str, value: object, low: int, high: int) -> int:
    """Return a whole number within bounds; refuse others."""
    # Mention a bound that every graph has only to someone who goes past it.
    bounded = high < MAX_NODES - 1 or (is_whole(value) and value > high)
    return whole_number(argument, owner, value, low, high if bounded else None)


def check_above(argument: str, owner: str, value: object, low: float) -> None:
    """Refuse anything but a finite number above a bound."""
    if not is_number(value) or not low < value < np.inf:
        raise must_be(argument, owner, f"a number above {low}", value)


def graph_name(family: str, **settings: object) -> str:
    """Return the name of a generated graph: its family and all of its settings, as ``load`` takes them."""
    return f"{family}:" + ",".join(f"{key}={value}" for key, value in settings.items())
