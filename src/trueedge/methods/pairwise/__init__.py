"""Methods that read the graph around a pair."""
