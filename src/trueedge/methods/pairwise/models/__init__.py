"""Modules of the pairwise methods; they need torch."""
