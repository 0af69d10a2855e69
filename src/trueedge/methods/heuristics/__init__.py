"""methods/heuristics."""
