"""Divide the nodes into groups; score a pair by the density of edges between its two groups."""
