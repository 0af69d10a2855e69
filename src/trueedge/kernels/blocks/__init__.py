"""Loops that group nodes into blocks."""
