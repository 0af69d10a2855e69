"""Use the graph around each pair, for example its common neighbours, paths or enclosing subgraph."""
