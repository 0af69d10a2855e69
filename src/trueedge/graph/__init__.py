"""Graphs: immutable, validated when built."""

from trueedge.graph.adapters import to_networkx, to_pandas, to_pyg, to_scipy
from trueedge.graph.any_graph import as_graph
from trueedge.graph.edge_columns import EdgeFormat
from trueedge.graph.graph import Graph, check_graph
from trueedge.graph.interactions import Interactions
from trueedge.graph.knowledge import KnowledgeGraph
from trueedge.graph.pairs import as_nodes, as_pairs, in_sorted, pair_keys
from trueedge.graph.reading import EdgeList, read_edges, read_pairs
from trueedge.graph.typed import HeteroGraph, Labels, Relation
from trueedge.graph.validation import Handling

load, save = Graph.load, Graph.save

__all__ = [
    "EdgeFormat",
    "EdgeList",
    "Graph",
    "Handling",
    "HeteroGraph",
    "Interactions",
    "KnowledgeGraph",
    "Labels",
    "Relation",
    "as_graph",
    "as_nodes",
    "as_pairs",
    "check_graph",
    "in_sorted",
    "load",
    "pair_keys",
    "read_edges",
    "read_pairs",
    "save",
    "to_networkx",
    "to_pandas",
    "to_pyg",
    "to_scipy",
]
