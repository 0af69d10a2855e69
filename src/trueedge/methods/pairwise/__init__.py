"""Read the graph around each pair, such as common neighbours, paths or the enclosing subgraph."""
