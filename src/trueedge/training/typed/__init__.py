"""Training on typed graphs: node classification and link prediction."""
