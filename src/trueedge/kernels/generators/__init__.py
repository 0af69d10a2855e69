"""Loops that generate random graphs."""
