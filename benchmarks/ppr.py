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
# Sources whose answers are compared.
COMPARED = 200


def measure(sizes: Sizes, repeats: int, with_peers: bool = True) -> list[Row]:
    """Rows of estimates of some sources; every answer is within the bound of the exact PageRank."""
    graph = heavy_tailed(*sizes.wide)
    rows: list[Row] = []
    for count in sizes.sources:
        sources = np.random.default_rng(0).choice(graph.num_nodes, count, replace=False)
        makers: dict[str, Callable[[], Contender]] = {
            "PyG get_ppr": partial(pyg, graph, sources, Bar("ratio", 20)),
            "scikit-network": partial(scikit_network, graph, sources[: sizes.few_sources], count),
        }
        peers, absent = invite(makers if with_peers else {})
        task = f"PageRank of {count:,} sources, alpha {ALPHA:g}, eps {EPS:g}"
        check = partial(within_bound, EPS * graph.degrees)
        rows += race(task, pushed(graph, sources), peers, repeats, check) + absent_rows(task, absent)
    return rows


def pushed(graph: Graph, sources: NDArray[np.int64]) -> Contender:
    """Our push."""
    from trueedge.kernels.walks.push import SparseRows, push_rows

    def run() -> SparseRows:
        return push_rows(graph.indptr, graph.indices, sources, ALPHA, EPS)

    def read(rows: SparseRows) -> NDArray[np.float64]:
        place = np.repeat(np.arange(len(sources)), np.diff(rows.starts))
        return first_rows(place, rows.nodes, rows.scores, len(sources), graph.num_nodes)

    return Contender(OURS, run, read)


def first_rows(
    place: NDArray[Any], node: NDArray[Any], score: NDArray[Any], sources: int, nodes: int
) -> NDArray[np.float64]:
    """The scores of the first sources as dense rows; of all they would not fit into memory."""
    dense = np.zeros((min(sources, COMPARED), nodes))
    kept = place < len(dense)
    dense[place[kept], node[kept]] = score[kept]
    return dense


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
        places = place[source.numpy()]
        return first_rows(places, node.numpy(), value.numpy(), len(sources), graph.num_nodes)

    return Contender("PyG get_ppr", run, read, bar=bar)


def scikit_network(graph: Graph, sources: NDArray[np.int64], of: int) -> Contender:
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
    return Contender("scikit-network", run, share=len(sources) / of, note=note)
