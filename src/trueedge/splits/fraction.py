"""A fraction of the edges held out, with or without a spanning forest left in train."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError, must_be
from trueedge.graph import Graph
from trueedge.graph.graph import check_graph
from trueedge.randomness import generator
from trueedge.splits.split import Split, check_share, hold_out, no_test_edges, share_of

TREES = ("random", "minimum")


def fraction(
    graph: Graph,
    fraction: float = 0.25,
    seed: int = 0,
    keep_connected: bool = True,
    valid: float = 0.0,
    tree: str = "random",
) -> Split:
    """Hold out a fraction of the edges for the test part.

    With ``keep_connected`` a random spanning forest (the minimum one for independent uniform weights) stays
    in train, so that train has the components of the graph; the held-out edges are drawn uniformly from the
    others. Without, they are drawn from all edges. They are listed in the order they were drawn, each as in
    ``graph.edges`` (``u < v``).

    Args:
        graph: the whole graph.
        fraction: the share of all edges that becomes the test part, rounded down.
        seed: the same seed gives the same parts on every machine.
        keep_connected: leave a spanning forest in train, as the published runs did; Algorithm 1 does not.
        valid: the share of all edges that becomes the valid part, held out the same way.
        tree: the spanning forest that is kept: a ``random`` one, or the ``minimum`` one of equal weights,
            which takes edges in the order of their ids, as scipy's ``minimum_spanning_tree`` does. The
            published runs kept the latter; it favours edges of nodes with small ids.

    Aiyappa et al. 2025, "Implicit Degree Bias in the Link Prediction Task", Algorithm 1.
    """
    from trueedge.kernels.negatives.sampling import distinct

    check_graph(graph, "fraction")
    test_share = check_share(fraction, "fraction", "fraction")
    valid_share = check_share(valid, "valid", "fraction")
    if not isinstance(keep_connected, (bool, np.bool_)):
        raise must_be("keep_connected", "fraction", "True or False", keep_connected)
    if tree not in TREES:
        raise must_be("tree", "fraction", " or ".join(map(repr, TREES)), tree)
    if test_share + valid_share > 1 + 1e-9:
        raise InputError(f"fraction: fraction {test_share:g} and valid {valid_share:g} sum to more than 1")
    num_test, num_valid = (share_of(share, graph.num_edges) for share in (test_share, valid_share))
    if num_test == 0:
        raise no_test_edges("fraction", test_share, graph)
    rng = generator(seed, "split", "fraction")
    free = _edges_off_a_tree(graph, rng, tree) if keep_connected else np.arange(graph.num_edges)
    if num_test + num_valid > len(free):
        raise InputError(
            f"fraction: {num_test + num_valid} of the {graph.num_edges} edges of {graph.name} are asked for,"
            f" but only {len(free)} can be held out with a spanning forest left in train;"
            " pass keep_connected=False to hold out any"
        )
    rows = free[distinct(rng, len(free), num_test + num_valid)]
    more = f", valid {valid_share:g}" if valid_share else ""
    kept = "spanning forest kept" if keep_connected else "any edges"
    kept = f"{tree} {kept}" if keep_connected and tree != "random" else kept
    name = f"fraction {test_share:g}{more}, {kept}, seed {seed}"
    return hold_out(graph, rows[num_test:], rows[:num_test], name)


def _edges_off_a_tree(graph: Graph, rng: np.random.Generator, tree: str) -> NDArray[np.int64]:
    """Return the rows of the edges that are not in a spanning forest."""
    from trueedge.kernels.negatives.sampling import distinct
    from trueedge.kernels.neighbors.spanning import spanning_forest

    if tree == "minimum":
        in_order = np.arange(graph.num_edges)
        return np.flatnonzero(~spanning_forest(graph.edges, in_order, graph.num_nodes))
    order = distinct(rng, graph.num_edges, graph.num_edges)
    # The held-out edges are drawn anew, not taken in this order: off the tree, an edge comes late in it where
    # its cycle is long, so the first ones would be those of dense regions.
    return np.flatnonzero(~spanning_forest(graph.edges, order, graph.num_nodes))
