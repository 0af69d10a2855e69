"""A small link predictor: features, averaged over neighbours, and compared by their cosine.

Judge it with ``trueedge judge cora examples/my_model.py:fit``.
"""

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import svds


def fit(graph):
    """Return a vector for each node, from the training graph of one split; dot products are the scores."""
    adjacency = graph.to_scipy() + sparse.eye_array(graph.num_nodes)
    averaging = sparse.diags_array(1 / adjacency.sum(axis=1)) @ adjacency
    left, sizes, _ = svds(sparse.csr_array(graph.features), k=64, v0=np.ones(min(graph.features.shape)))
    vectors = averaging @ (averaging @ (left * sizes))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True).clip(1e-12)
