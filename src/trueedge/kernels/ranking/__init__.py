"""Loops that rank scores."""
