"""Loops that follow walks: PageRank pushes, Katz, random walks, skip-gram."""
