"""Loops that draw or rank negatives."""
