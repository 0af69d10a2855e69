"""Modules of trained classifiers; they need torch."""
