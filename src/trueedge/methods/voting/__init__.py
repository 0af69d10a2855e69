"""Baselines of node classification: what labels alone say."""
