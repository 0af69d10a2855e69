"""Graphs: immutable, validated when built."""

from trueedge.graph.graph import Graph
from trueedge.graph.pairs import as_pairs, in_sorted, pair_keys

__all__ = ["Graph", "as_pairs", "in_sorted", "pair_keys"]
