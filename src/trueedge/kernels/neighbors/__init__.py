"""Loops over the neighborhoods of pairs: intersections, sketches, subgraphs, distances."""
