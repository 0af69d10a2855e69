"""Training of recommenders on interactions and a knowledge graph."""
