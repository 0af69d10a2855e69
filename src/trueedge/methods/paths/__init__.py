"""Path-based models of knowledge graphs: states that spread from the head of a query to all entities."""
