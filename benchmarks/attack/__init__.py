"""Generated attacks on trueedge: see :mod:`benchmarks.attack.run`."""
