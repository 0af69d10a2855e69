"""Train, valid and test by ratios: the common random split."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trueedge.errors import InputError
from trueedge.graph import Graph
from trueedge.graph.graph import check_graph
from trueedge.randomness import generator
from trueedge.splits.split import Split, check_share, hold_out, no_test_edges, share_of


def ratio(graph: Graph, ratios: Sequence[float] = (0.85, 0.05, 0.10), seed: int = 0) -> Split:
    """Divide the edges of a graph at random into train, valid and test.

    The counts of valid and test are rounded down, the rest is train. Both are listed in the order they were
    drawn, each edge as in ``graph.edges`` (``u < v``).

    Args:
        graph: the whole graph.
        ratios: the shares of train, valid and test, which sum to 1.
        seed: the same seed gives the same parts on every machine.

    The 85/5/10 split of Li et al. 2023, "Evaluating Graph Neural Networks for Link Prediction".
    """
    from trueedge.kernels.negatives.sampling import distinct

    check_graph(graph, "split")
    shares = check_ratios(ratios)
    num_valid, num_test = (share_of(share, graph.num_edges) for share in shares[1:])
    if num_test == 0:
        raise no_test_edges("split", shares[2], graph)
    rng = generator(seed, "split", "ratio")
    rows = distinct(rng, graph.num_edges, num_valid + num_test)
    name = "ratio " + "/".join(f"{100 * share:g}" for share in shares) + f", seed {seed}"
    return hold_out(graph, rows[:num_valid], rows[num_valid:], name)


def check_ratios(ratios: Sequence[float], owner: str = "split") -> tuple[float, float, float]:
    """Return the shares of train, valid and test, or raise an InputError unless they sum to 1."""
    try:
        given = list(ratios)
    except TypeError:
        given = []
    if len(given) != 3:
        raise InputError(f"{owner}: the ratios must be three shares (train, valid, test), got {ratios!r}")
    train, valid, test = (
        check_share(value, f"the share of {part}", owner)
        for part, value in zip(("train", "valid", "test"), given, strict=True)
    )
    if not np.isclose(train + valid + test, 1.0, rtol=0, atol=1e-9):
        total = f"{train:g} + {valid:g} + {test:g} is {train + valid + test:g}"
        raise InputError(f"{owner}: the ratios of train, valid and test must sum to 1, but {total}")
    return train, valid, test
