"""Modules of trained embeddings; they need torch."""
