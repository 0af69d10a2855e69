"""Learn a vector for each entity and relation of a knowledge graph, and score a triple by these."""
