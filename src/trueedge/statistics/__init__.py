"""Intervals, tests and comparisons of rankings."""
