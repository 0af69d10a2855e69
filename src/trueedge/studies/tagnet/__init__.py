"""Tables of Shomer et al., Distance-Based Propagation for Efficient Knowledge Graph Reasoning, EMNLP 2023."""
