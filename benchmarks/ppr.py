"""Personalised PageRank from single sources, by push, beside PyG's push and whole vectors."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.graphs import Sizes, heavy_tailed
from benchmarks.timing import OURS, Bar, Contender, DisagreementError, Row, absent_rows, invite, race
from trueedge.graph import Graph

ALPHA, EPS = 0.15, 5e-5


def measure(sizes: Sizes, repeats: int, with_peers: bool = True) -> list[Row]:
    """Rows of estimates of some sources; every answer is within the bound of the exact PageRank."""
    from trueedge.kernels.push import SparseRows, push_rows

    graph = heavy_tailed(*sizes.wide)
    sources = np.random.default_rng(0).choice(graph.num_nodes, sizes.sources, replace=False)

    def dense(rows: SparseRows) -> NDArray[np.float64]:
        scores = np.zeros((len(sources), graph.num_nodes))
        scores[np.repeat(np.arange(len(sources)), np.diff(rows.starts)), rows.nodes] = rows.scores
        return scores

    def run() -> SparseRows:
        return push_rows(graph.indptr, graph.indices, sources, ALPHA, EPS)

    task = f"PageRank of {sizes.sources:,} sources, alpha {ALPHA:g}, eps {EPS:g}"
    few = sources[: sizes.few_sources]
    makers: dict[str, Callable[[], Contender]] = {
        "PyG get_ppr": partial(pyg, graph, sources, Bar("ratio", 20)),
        "scikit-network": partial(scikit_network, graph, few, sizes.few_sources / sizes.sources),
    }
    peers, absent = invite(makers if with_peers else {})
    check = partial(within_bound, EPS * graph.degrees)
    return race(task, Contender(OURS, run, dense), peers, repeats, check) + absent_rows(task, absent)


def within_bound(bound: NDArray[Any], ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> None:
    """Refuse estimates further apart than the bound: both, or the exact vector, are at most that far off."""
    for row, (mine, other) in enumerate(zip(ours, theirs, strict=False)):
        # Rounding may add a little to an error that is exactly at the bound.
        outside = np.flatnonzero(np.abs(mine - other) > bound * (1 + 1e-6))
        if len(outside):
            node = outside[0]
            raise DisagreementError(
                f"source {row}, node {node}: {mine[node]} in ours and {other[node]} in theirs"
            )


def pyg(graph: Graph, sources: NDArray[np.int64], bar: Bar | None = None) -> Contender:
    """PyG's compiled push, on the same sources."""
    import torch
    from torch_geometric.utils.ppr import get_ppr

    both = np.concatenate([graph.edges, graph.edges[:, ::-1]]).astype(np.int64)
    edge_index = torch.from_numpy(np.ascontiguousarray(both[np.lexsort((both[:, 1], both[:, 0]))].T))
    target = torch.from_numpy(sources)

    def run() -> Any:
        return get_ppr(edge_index, ALPHA, EPS, target=target, num_nodes=graph.num_nodes)

    def read(found: Any) -> NDArray[np.float64]:
        (source, node), value = found
        place = np.zeros(graph.num_nodes, dtype=np.int64)
        place[sources] = np.arange(len(sources))
        scores = np.zeros((len(sources), graph.num_nodes))
        scores[place[source.numpy()], node.numpy()] = value.numpy()
        return scores

    return Contender("PyG get_ppr", run, read, bar=bar)


def scikit_network(graph: Graph, sources: NDArray[np.int64], share: float) -> Contender:
    """scikit-network's power iteration: the exact vector of a source, which is more than a push gives."""
    from scipy.sparse import csr_matrix
    from sknetwork.ranking import PageRank

    adjacency = csr_matrix(graph.adjacency())
    # 0.85^150 is below 1e-10.
    ranker = PageRank(damping_factor=1 - ALPHA, solver="piteration", n_iter=150, tol=1e-12)

    def run() -> NDArray[np.float64]:
        vectors = [ranker.fit_predict(adjacency, weights={int(source): 1.0}) for source in sources]
        return np.stack(vectors)

    note = f"whole vectors, as context; extrapolated from {len(sources)} sources"
    return Contender("scikit-network", run, share=share, note=note)
