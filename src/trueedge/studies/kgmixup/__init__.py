"""Tables of Shomer et al., Toward Degree Bias in Embedding-Based Knowledge Graph Completion, WWW 2023."""
