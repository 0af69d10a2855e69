"""How fast trueedge is beside its peers: one module a subject, and ``python -m benchmarks.run`` for all."""
