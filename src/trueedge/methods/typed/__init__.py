"""Models for typed graphs, in the pipeline of the Heterogeneous Graph Benchmark."""
