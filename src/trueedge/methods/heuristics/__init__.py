"""Heuristics: a formula over the graph (or the features) for each pair, nothing to train. One file each."""
