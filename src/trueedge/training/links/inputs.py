"""Inputs of encoders: node features, dense or sparse, or learned vectors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from torch import nn

from trueedge.graph import Graph
from trueedge.randomness import generator
from trueedge.scorers.learned import learned, single
from trueedge.training.links.messages import csr

# Features with a smaller share of nonzero entries are stored sparse: for a bag of words, products are twenty
# times faster.
SPARSE_BELOW = 0.1
# Up to this many nodes, all eigenvectors are computed densely.
DENSE = 800


class Input(nn.Module, ABC):
    """The input of the first layer, with ``dim`` numbers per node; only linear maps of it are computed."""

    dim: int

    @abstractmethod
    def project(self, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
        """Return the linear map of every node's input by a weight (out, dim) and a bias: float (n, out)."""


class States(Input):
    """The output of a layer, as input of the next one."""

    def __init__(self, values: torch.Tensor) -> None:
        super().__init__()
        self.values = values
        self.dim = values.shape[1]

    def project(self, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
        """Return the linear map of every node's state."""
        return F.linear(self.values, weight, bias)


class DenseInput(States):
    """Fixed features, which move to a device with the model.

    Args:
        values: the features, float32 (n, d).
    """

    def __init__(self, values: torch.Tensor) -> None:
        Input.__init__(self)
        self.register_buffer("values", values, persistent=False)
        self.dim = values.shape[1]


class SparseInput(Input):
    """Fixed features that are mostly zero."""

    indptr: torch.Tensor
    indices: torch.Tensor
    values: torch.Tensor

    def __init__(self, features: Any) -> None:
        super().__init__()
        from scipy.sparse import csr_array

        matrix = csr_array(features)
        for prefix, part in (("", matrix), ("turned_", csr_array(matrix.T))):
            for name, array in (("indptr", part.indptr), ("indices", part.indices), ("values", part.data)):
                kind = np.float32 if name == "values" else np.int64
                self.register_buffer(prefix + name, torch.from_numpy(array.astype(kind)), persistent=False)
        self.rows, self.dim = matrix.shape

    def project(self, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
        """Return the linear map of every node's features."""
        matrix = csr(self.indptr, self.indices, self.values, self.dim)
        turned = csr(self.turned_indptr, self.turned_indices, self.turned_values, self.rows)
        mapped: torch.Tensor = FixedProduct.apply(matrix, turned, weight.t())
        return mapped if bias is None else mapped + bias


class LearnedInput(Input):
    """A learned vector for each node, for graphs without features.

    Args:
        num_nodes: the number of nodes.
        dim: the size of a vector.
    """

    def __init__(self, num_nodes: int, dim: int) -> None:
        super().__init__()
        self.vectors = nn.Parameter(torch.empty(num_nodes, dim))
        nn.init.xavier_uniform_(self.vectors)
        self.dim = dim

    def project(self, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
        """Return the linear map of every node's vector."""
        return F.linear(self.vectors, weight, bias)


class FixedProduct(torch.autograd.Function):
    """The product of a fixed sparse matrix, given with its transpose, and learned columns."""

    @staticmethod
    def forward(ctx: Any, matrix: torch.Tensor, turned: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        """Return the product."""
        ctx.turned = turned
        return matrix @ weight

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[None, None, torch.Tensor]:
        """Return the gradient of the columns, by the transpose."""
        return None, None, ctx.turned @ gradients[0]


def input_of(graph: Graph, dim: int) -> Input:
    """Return the features of a graph as input, or learned vectors of size ``dim`` if it has none."""
    if graph.features is None:
        return LearnedInput(graph.num_nodes, dim)
    return feature_input(graph.features)


def feature_input(features: Any) -> Input:
    """Return an input of fixed features (n, d), numpy or scipy; stored sparse if most are zero."""
    from scipy.sparse import issparse

    matrix: Any = features
    nonzero = matrix.nnz if issparse(features) else np.count_nonzero(matrix)
    if nonzero < SPARSE_BELOW * matrix.shape[0] * matrix.shape[1]:
        return SparseInput(matrix)
    dense = matrix.toarray() if issparse(features) else np.asarray(matrix)
    return DenseInput(torch.from_numpy(np.array(dense, dtype=np.float32)))


def spectral_input(graph: Graph, seed: int, vectors: int = 64, noise: int = 64) -> Input:
    """Return leading eigenvectors of the adjacency and standard normal ``noise``, as substitute for features.

    Args:
        graph: the training graph.
        seed: for the noise, and for the first vector of the iteration.
        vectors: the number of eigenvectors; small graphs have fewer.
        noise: the number of random numbers of a node.

    Aiyappa et al.: Implicit Degree Bias in the Link Prediction Task, ICML 2025, A.2.3.
    """

    def compute() -> dict[str, NDArray[np.float32]]:
        rng = generator(seed, "spectral input")
        count = min(vectors, graph.num_nodes - 2) if graph.num_edges else 0
        found = np.empty((graph.num_nodes, 0))
        if count > 0:
            found = _principal(graph, count, rng.standard_normal(graph.num_nodes))
        drawn = rng.standard_normal((graph.num_nodes, noise))
        return {"input": np.hstack([found, drawn]).astype(np.float32)}

    # Eigenvectors depend on the machine's linear algebra: a saved model keeps those it was trained on.
    return DenseInput(torch.from_numpy(single(learned(compute, input=(graph.num_nodes, None))["input"])))


def _principal(graph: Graph, count: int, start: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the eigenvectors of the adjacency with the largest eigenvalues, ascending: (n, count)."""
    matrix = graph.adjacency().astype(np.float64)
    if graph.num_nodes <= DENSE:
        # Asked for nearly all vectors, the iteration would restart from unseeded random numbers.
        return np.asarray(np.linalg.eigh(matrix.toarray())[1][:, -count:])
    from scipy.sparse.linalg import eigsh

    return np.asarray(eigsh(matrix, k=count, which="LA", v0=start)[1])
