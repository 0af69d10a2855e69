"""Loops over plain arrays that other kernels are built from."""
