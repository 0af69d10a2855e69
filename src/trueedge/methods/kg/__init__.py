"""Knowledge graphs: give each entity and relation a vector, and score a triple by its three vectors."""
