"""Training of path-based models of knowledge graphs: edges, steps, messages, objective, scorer."""
