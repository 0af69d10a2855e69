"""Splits and degree-corrected negatives."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.graphs import Sizes, heavy_tailed
from benchmarks.timing import OURS, Bar, Contender, Row, race
from trueedge.graph import Graph
from trueedge.negatives import degree_corrected
from trueedge.splits import Split, fraction


def measure(sizes: Sizes, repeats: int, with_peers: bool = True) -> list[Row]:
    """A fraction of the edges held out, a spanning forest kept, and as many negatives; and both apart."""
    del with_peers  # nobody else does this
    graph = heavy_tailed(*sizes.wide)
    share = (sizes.negatives + 0.5) / graph.num_edges
    split = fraction(graph, share)

    def draw(split: Split) -> NDArray[np.int32]:
        return degree_corrected(split.train, split.test)

    def both() -> NDArray[np.int32]:
        # A graph that is new each time, so that nothing it keeps from the turn before is used again.
        fresh = Graph(graph.num_nodes, graph.edges)
        return draw(fraction(fresh, share))

    size = f"{graph.num_edges:,} edges, {sizes.negatives:,} positives and negatives"
    return [
        *race(
            f"fraction split and degree-corrected negatives, {size}",
            Contender(OURS, both, bar=Bar("seconds", 0.5)),
            [],
            repeats,
        ),
        *race(f"of that, the split, {size}", Contender(OURS, lambda: fraction(graph, share)), [], repeats),
        *race(f"of that, the negatives, {size}", Contender(OURS, lambda: draw(split)), [], repeats),
    ]
