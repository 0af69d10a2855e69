"""Kernels for propagation from many sources: distances, and messages along typed edges."""
