"""Classifiers: a few numbers of a pair of nodes, and what is learned to tell edges by them."""
