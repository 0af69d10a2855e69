"""Divide the nodes into groups; a pair is scored by how often its two groups are joined."""
