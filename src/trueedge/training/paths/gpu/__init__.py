"""Triton's kernels for NBFNet and TAGNet on a GPU."""
