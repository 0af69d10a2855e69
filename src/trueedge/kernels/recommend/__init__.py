"""Loops over users and items: learning by BPR, similarity of items."""
