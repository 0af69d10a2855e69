"""Content hashes of graphs, the same on every machine."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from trueedge.graph.graph import Graph

LABELS_PER_UPDATE = 1 << 16


def graph_hash(graph: Graph, labels: bool = True) -> str:
    """Return a SHA-256 of nodes, edges, features, edge data and, where there are any, sides and labels.

    Args:
        graph: the graph.
        labels: whether labels count. Graphs and tasks of older formats were saved under a hash without them.
    """
    digest = hashlib.sha256(f"graph {graph.num_nodes}".encode())
    parts: dict[str, NDArray[Any] | None] = {"edges": graph.edges, "features": graph.features}
    parts |= {f"edge data {key}": graph.edge_data[key] for key in sorted(graph.edge_data)}
    parts["sides"] = graph.sides
    for part, array in parts.items():
        if array is not None:
            plain = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
            digest.update(f"|{part}|{plain.dtype.str}{plain.shape}|".encode())
            digest.update(plain.reshape(-1).view(np.uint8).data)
    if labels and graph.labels is not None:
        digest.update(b"|labels|")
        for first in range(0, len(graph.labels), LABELS_PER_UPDATE):
            # As JSON, so that no two lists of names give the same bytes.
            digest.update(json.dumps(graph.labels[first : first + LABELS_PER_UPDATE]).encode())
    return digest.hexdigest()
