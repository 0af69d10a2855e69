"""Give each node a vector, from the graph or from its features, and score a pair by its two vectors."""
