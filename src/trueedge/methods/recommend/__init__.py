"""Recommenders: they learn from interactions of users with items, and some from a knowledge graph."""
