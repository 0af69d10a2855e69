"""Cheats and mistakes that a verdict must name, and honest models that it must not accuse.

Each function takes the whole graph and returns what is judged: the model, and the data if it is another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray
from scipy.sparse.linalg import eigsh

from trueedge import methods
from trueedge.graph import Graph

Array = NDArray[np.float64]
Make = Callable[[Graph], "Case"]
DIMENSIONS = 64


@dataclass(frozen=True)
class Case:
    """A model, what it is judged on if not on the whole graph, and how a verdict names what is wrong."""

    model: Any
    data: Graph | None = None
    named: str = ""


def heuristic(name: str) -> Callable[..., Any]:
    """Return a function that scores pairs by a heuristic on the graph it is fitted to."""

    def fit(graph: Graph) -> Any:
        made: Any = methods.create(name)
        return lambda pairs: made.score(graph, pairs)

    return fit


def spectral_vectors(graph: Graph) -> Array:
    """Return the leading eigenvectors of the normalised adjacency."""
    adjacency = sparse.csr_array(graph.adjacency())
    root = sparse.diags_array(1 / np.sqrt(np.maximum(graph.degrees, 1.0)))
    start = np.random.default_rng(0).random(graph.num_nodes)
    # Not the smallest eigenvalues, which say who is not a neighbour.
    values, vectors = eigsh(
        root @ adjacency @ root, k=min(DIMENSIONS, graph.num_nodes - 2), which="LA", v0=start
    )
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def dot_products(vectors: Array) -> Callable[[NDArray[np.int64]], Array]:
    """Return a function that scores pairs by the product of their vectors."""

    def score(pairs: NDArray[np.int64]) -> Array:
        # Long vectors of many pairs would not fit into memory.
        blocks = np.array_split(pairs, 1 + len(pairs) // 4096)
        return np.concatenate([(vectors[one[:, 0]] * vectors[one[:, 1]]).sum(axis=1) for one in blocks])

    return score


def is_edge(graph: Graph) -> Callable[[NDArray[np.int64]], Array]:
    """Return a function that scores edges of a graph 1 and other pairs 0."""
    return lambda pairs: graph.has_edges(pairs).astype(np.float64)


def communities(nodes: int = 600, size: int = 12, seed: int = 0) -> Graph:
    """Return a graph of small communities with a few edges between them, and features that hint at them."""
    rng = np.random.default_rng(seed)
    group = np.arange(nodes) // size
    first, second = np.triu_indices(nodes, 1)
    chance = np.where(group[first] == group[second], 0.35, 0.002)
    kept = rng.random(len(first)) < chance
    centres = rng.normal(size=(group.max() + 1, 16))
    features = centres[group] + rng.normal(size=(nodes, 16))
    edges = np.column_stack([first[kept], second[kept]])
    return Graph.from_edges(edges, num_nodes=nodes, features=features.astype(np.float32), name="communities")


# Cheats and mistakes.


def test_edges_in_the_score(whole: Graph) -> Case:
    """Add the edges of the whole graph to an honest score."""
    known = is_edge(whole)

    def fit(graph: Graph) -> Any:
        honest = heuristic("ra")(graph)
        return lambda pairs: honest(pairs) + 10 * known(pairs)

    return Case(fit, named="perfect")


def adjacency_of_the_whole_graph(whole: Graph) -> Case:
    """Return the edges themselves."""
    return Case(is_edge(whole), named="adjacency")


def vectors_of_the_whole_graph(whole: Graph) -> Case:
    """Embed the whole graph and give the vectors."""
    return Case(spectral_vectors(whole), named="test-edges")


def fit_that_ignores_its_task(whole: Graph) -> Case:
    """Embed the whole graph, whatever the task is."""
    vectors = spectral_vectors(whole)

    def fit(task: Any) -> Any:
        del task
        return dot_products(vectors)

    return Case(fit, named="outside-knowledge")


def test_part_read_in_fit(whole: Graph) -> Case:
    """Read the test part while fitting."""
    del whole

    def fit(task: Any) -> Any:
        return is_edge(task.graph.with_edges(task.parts["test"].positives))

    return Case(fit, named="error")


def sign_flipped(whole: Graph) -> Case:
    """Return distances in place of similarities."""
    del whole

    def fit(graph: Graph) -> Any:
        honest = heuristic("ppr")(graph)
        return lambda pairs: -honest(pairs)

    return Case(fit, named="upside-down")


def constant(whole: Graph) -> Case:
    """Return the same score for all pairs."""
    del whole
    return Case(lambda pairs: np.ones(len(pairs)), named="constant")


def saturated(whole: Graph) -> Case:
    """Return probabilities in float32, most of which are 1."""
    del whole

    def fit(graph: Graph) -> Any:
        honest = dot_products(spectral_vectors(graph))
        return lambda pairs: (1 / (1 + np.exp(-3000 * (honest(pairs) + 0.004)))).astype(np.float32)

    return Case(fit, named="saturation")


def rounded(whole: Graph) -> Case:
    """Return scores with two decimals."""
    del whole

    def fit(graph: Graph) -> Any:
        honest = dot_products(spectral_vectors(graph))
        return lambda pairs: np.round(honest(pairs), 2)

    return Case(fit, named="rounding")


def batch_statistics(whole: Graph) -> Case:
    """Normalise scores within a batch."""
    del whole

    def fit(graph: Graph) -> Any:
        honest = heuristic("ppr")(graph)

        def score(pairs: NDArray[np.int64]) -> Array:
            values = honest(pairs)
            return (values - values.mean()) / (values.std() + 1e-9)

        return score

    return Case(fit, named="batch")


def order_dependence(whole: Graph) -> Case:
    """Add something that depends on the place of a pair."""
    del whole

    def fit(graph: Graph) -> Any:
        honest = heuristic("ppr")(graph)
        return lambda pairs: honest(pairs) - 0.1 * np.arange(len(pairs)) / len(pairs)

    return Case(fit, named="order")


def direction_dependence(whole: Graph) -> Case:
    """Score (u, v) and (v, u) differently."""
    del whole

    def fit(graph: Graph) -> Any:
        honest = heuristic("ppr")(graph)
        return lambda pairs: honest(pairs) * (1 + (pairs[:, 0] > pairs[:, 1]))

    return Case(fit, named="direction")


def validation_edges_in_training(whole: Graph) -> Case:
    """Embed the training graph together with the validation edges."""
    del whole

    def fit(task: Any) -> Any:
        return dot_products(spectral_vectors(task.graph.with_edges(task.valid.positives)))

    return Case(fit, named="validation-edges")


def features_that_hold_the_answer(whole: Graph) -> Case:
    """Use features that are the adjacency matrix of the whole graph."""
    table = whole.adjacency().toarray() + np.eye(whole.num_nodes)

    def fit(graph: Graph) -> Any:
        assert graph.features is not None
        length = np.linalg.norm(graph.features, axis=1, keepdims=True)
        return dot_products(graph.features.astype(np.float64) / length)

    return Case(fit, replace(whole, features=table.astype(np.float32)), named="features")


def two_epochs(whole: Graph) -> Case:
    """Train a network for two epochs."""
    del whole
    return Case(methods.create("gcn", {"epochs": 2}), named="epoch-limit")


CHEATS: dict[str, Make] = {
    one.__name__.replace("_", " "): one
    for one in (
        test_edges_in_the_score,
        adjacency_of_the_whole_graph,
        vectors_of_the_whole_graph,
        fit_that_ignores_its_task,
        test_part_read_in_fit,
        sign_flipped,
        constant,
        saturated,
        rounded,
        batch_statistics,
        order_dependence,
        direction_dependence,
        validation_edges_in_training,
        features_that_hold_the_answer,
        two_epochs,
    )
}


# Honest models.


def _method(name: str, **settings: Any) -> Make:
    def make(whole: Graph) -> Case:
        del whole
        fitted = methods.create(name, settings)

        def fit(task: Any, seed: int = 0) -> Any:
            return fitted.for_task(task).fit(task, seed=seed)

        return Case(fit)

    return make


def _of_graph(name: str) -> Make:
    return lambda whole: Case(heuristic(name))


def spectral(whole: Graph) -> Case:
    """Embed the training graph."""
    del whole
    return Case(lambda graph: dot_products(spectral_vectors(graph)))


def logistic_regression(whole: Graph) -> Case:
    """Learn from heuristics and degrees of pairs."""
    del whole

    def fit(task: Any) -> Any:
        from sklearn.linear_model import LogisticRegression
        from sklearn.preprocessing import StandardScaler

        heuristics: list[Any] = [methods.create(name) for name in ("ra", "jaccard", "lrw", "pa")]

        def table(pairs: NDArray[np.int64]) -> Array:
            return np.column_stack([np.log1p(100 * one.score(task.graph, pairs)) for one in heuristics])

        edges = task.valid.positives.astype(np.int64)
        others = np.random.default_rng(0).integers(0, task.num_nodes, (3 * len(edges), 2))
        others = others[others[:, 0] != others[:, 1]]
        scale = StandardScaler().fit(table(np.concatenate([edges, others])))
        rows = scale.transform(table(np.concatenate([edges, others])))
        learned = LogisticRegression().fit(rows, np.arange(len(rows)) < len(edges))
        return lambda pairs: learned.decision_function(scale.transform(table(pairs)))

    return Case(fit)


def random_scores(whole: Graph) -> Case:
    """Return a random number for each pair, always the same one."""
    del whole

    def score(pairs: NDArray[np.int64]) -> Array:
        mixed = pairs.min(axis=1) * 7919 + pairs.max(axis=1) * 104729
        return np.sin(mixed.astype(np.float64)) * 1e4 % 1

    return Case(score)


def weak(whole: Graph) -> Case:
    """Count the neighbours of both ends, with much noise."""
    del whole

    def fit(graph: Graph) -> Any:
        noise = np.random.default_rng(0).normal(size=graph.num_nodes)
        values = np.log1p(graph.degrees) + noise
        return lambda pairs: values[pairs].sum(axis=1)

    return Case(fit)


HONEST: dict[str, Make] = {
    "resource allocation": _of_graph("ra"),
    "common neighbours": _of_graph("cn"),
    "katz index": _of_graph("katz"),
    "popularity": _of_graph("pa"),
    "spectral": spectral,
    "fastrp": _method("fastrp"),
    "logistic regression": logistic_regression,
    "random scores": random_scores,
    "weak": weak,
    "matrix factorisation": _method("mf", epochs=30),
    "node2vec": _method("node2vec"),
    "gcn": _method("gcn", epochs=40),
    "mlp": _method("mlp", epochs=40),
}
NEED_FEATURES = ("mlp",)
NEED_TORCH = ("two epochs", "matrix factorisation", "gcn", "mlp")
