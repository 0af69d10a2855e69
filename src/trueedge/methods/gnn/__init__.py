"""Pass messages over the graph, then score a pair by the states of its two nodes."""
