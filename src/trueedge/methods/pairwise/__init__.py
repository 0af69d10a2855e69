"""Methods that look at the graph around a pair."""
