"""Networks of the degree-bias paper: the largest component of each, as a plain list of edges."""

from __future__ import annotations

from functools import partial

from trueedge.datasets.dataset import Dataset, Rules, SourceFile, register, table
from trueedge.datasets.sources import locate
from trueedge.graph import Graph


def read(file: SourceFile, name: str, num_nodes: int) -> Graph:
    """Read ``networks/<name>.edges.gz``: two node ids per line, each edge once."""
    # Its negatives are published among all nodes, whatever its columns hold.
    return Graph.from_edges(locate(file, name), num_nodes, name=name, bipartite=False)


def _register(name: str, nodes: int, edges: int, sha256: str, title: str) -> None:
    why = "these networks have no official address of their own"
    file = SourceFile(f"networks/{name}.edges.gz", sha256=sha256, note=why)
    register(
        Dataset(
            name=name,
            family="networks",
            title=title,
            num_nodes=nodes,
            num_edges=edges,
            num_features=0,
            licence="not stated; see the collections the paper names",
            source="https://github.com/skojaku/degree-corrected-link-prediction-benchmark",
            citation="Aiyappa et al., Implicit Degree Bias in the Link Prediction Task, ICML 2025",
            read=partial(read, file, name, nodes),
            files=(file,),
            rules=Rules(heart_features=False),
        )
    )


for _row in table("networks.csv"):
    _register(_row["name"], int(_row["nodes"]), int(_row["edges"]), _row["sha256"], _row["title"])
