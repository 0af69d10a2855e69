"""Train a torch module that gives each node a vector, such as a GNN of PyTorch Geometric."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueedge.errors import InputError, is_number, must_be, whole_number
from trueedge.graph import Graph
from trueedge.scorers.scorer import is_module

if TYPE_CHECKING:
    import torch

NAME = "train_encoder"
MOST_EPOCHS = 1_000_000


def train_encoder(
    encoder: Any,
    graph: Graph,
    epochs: int = 100,
    lr: float = 0.01,
    features: ArrayLike | None = None,
    device: str = "cpu",
) -> NDArray[np.float32]:
    """Train an encoder to score edges of a graph above random pairs, and return the vectors of its nodes.

    In every epoch, each edge is compared with a new random pair: the loss is ``log(1 + exp(n - p))``, where p
    and n are the dot products of their vectors. All edges are used at once, with the optimiser Adam. Random
    numbers are torch's: ``torch.manual_seed`` makes training repeatable, and :func:`trueedge.judge` calls it.

    Args:
        encoder: a torch module, called as ``encoder(x, edge_index)`` with a float tensor (n, d) and an int
            tensor (2, arcs) of edges in both directions; it returns a tensor (n, k).
        graph: the training graph.
        epochs: how often all edges are used.
        lr: the learning rate.
        features: float array (n, d); by default the graph's own.
        device: ``cpu`` or ``cuda``.

    Returns:
        float32 array (n, k): the dot product of two rows is the score of a pair.
    """
    x = _checked(encoder, graph, epochs, lr, features)
    import torch

    from trueedge.training.loop import check_device
    from trueedge.training.order import one_order

    check_device(device)
    both = np.concatenate([graph.edges, graph.edges[:, ::-1]]).T.astype(np.int64)
    inputs = torch.from_numpy(x).to(device), torch.from_numpy(both).to(device)
    encoder.to(device).train()
    optimizer = torch.optim.Adam(encoder.parameters(), lr=lr)
    with one_order(device):
        for epoch in range(1, epochs + 1):
            optimizer.zero_grad()
            vectors = encoder(*inputs)
            _check_vectors(vectors, graph)
            loss = _loss(vectors, inputs[1])
            if not torch.isfinite(loss):
                raise InputError(
                    f"{NAME}: the loss of epoch {epoch} is not a number: try a smaller lr than {lr:g}"
                )
            loss.backward()
            optimizer.step()
    encoder.eval()
    with torch.no_grad():
        found: NDArray[np.float32] = encoder(*inputs).float().cpu().numpy()
    return found


def _loss(vectors: torch.Tensor, arcs: torch.Tensor) -> torch.Tensor:
    """Return the mean loss over edges, each beside a random pair."""
    import torch

    edges = arcs[:, : arcs.shape[1] // 2]
    pairs = torch.randint(len(vectors), edges.shape, device=edges.device)
    embedding = torch.nn.functional.embedding
    score, other = (embedding(both, vectors).prod(0).sum(1) for both in (edges, pairs))
    return torch.nn.functional.softplus(other - score).mean()


def _checked(
    encoder: object, graph: object, epochs: object, lr: object, features: ArrayLike | None
) -> NDArray[np.float32]:
    """Return the features to train on; raise an InputError for what cannot be trained."""
    if not is_module(encoder):
        raise must_be("encoder", NAME, "a torch module", encoder)
    if not isinstance(graph, Graph):
        raise must_be("graph", NAME, "a Graph, such as task.graph", graph)
    whole_number("epochs", NAME, epochs, 1, MOST_EPOCHS)
    if not is_number(lr) or not 0 < lr < np.inf:
        raise must_be("lr", NAME, "a number above 0", lr)
    if next(iter(encoder.parameters()), None) is None:  # type: ignore[attr-defined]
        raise InputError(f"{NAME}: the encoder has nothing to train")
    try:
        inspect.signature(encoder.forward).bind(None, None)  # type: ignore[attr-defined]
    except TypeError:
        kind = type(encoder).__name__
        raise InputError(
            f"{NAME}: the encoder is called as encoder(x, edge_index), which {kind} does not take: wrap it in"
            " a module that does"
        ) from None
    except ValueError:
        pass  # the signature is not known
    if graph.num_edges == 0:
        raise InputError(f"{NAME}: {graph.name} has no edges")
    if features is None and graph.features is None:
        raise InputError(f"{NAME}: {graph.name} has no node features: give features, an array (n, d)")
    table = np.array(graph.features if features is None else features, dtype=np.float32)
    if table.ndim != 2 or len(table) != graph.num_nodes:
        raise must_be("features", NAME, f"an array ({graph.num_nodes}, d)", table.shape)
    return table


def _check_vectors(vectors: object, graph: Graph) -> None:
    shape = tuple(getattr(vectors, "shape", ()))
    if len(shape) != 2 or shape[0] != graph.num_nodes:
        raise InputError(
            f"{NAME}: the encoder must return a tensor ({graph.num_nodes}, k), a row for each node, and"
            f" returned {f'one of shape {shape}' if shape else type(vectors).__name__}"
        )
