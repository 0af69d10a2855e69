"""Embeddings: a vector for each node, from the graph or from its features."""
