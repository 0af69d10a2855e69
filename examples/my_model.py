"""A small link predictor of one's own: features, averaged over neighbours, compared by their cosine.

Judge it with ``trueedge judge cora examples/my_model.py:fit``.
"""

import numpy as np
from scipy import sparse


def fit(graph):
    """Return a function that scores pairs of nodes, from the training graph of one split."""
    adjacency = graph.to_scipy() + sparse.eye_array(graph.num_nodes)
    degrees = np.asarray(adjacency.sum(axis=1)).ravel()
    averaging = sparse.diags_array(1 / degrees) @ adjacency
    vectors = averaging @ (averaging @ graph.features)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True).clip(1e-12)

    def score(pairs):
        return np.einsum("ij,ij->i", vectors[pairs[:, 0]], vectors[pairs[:, 1]])

    return score
