"""Honest scorers that look suspicious: random, buffered, asymmetric, tied, in odd types."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from trueedge import methods

HONEST: dict[str, Callable[[Any], Any]] = {}
for _name in ("cn", "ra", "pa", "katz", "ppr", "shortest-path", "jaccard", "eigenmap"):
    HONEST[_name] = lambda task, name=_name: methods.create(name).fit(task)


def vectors(task: Any, dim: int = 16, dtype: Any = np.float32) -> np.ndarray:
    """Return a spectral embedding, so that scores mean something."""
    table = methods.create("eigenmap", {"dim": dim}).fit(task).vectors
    return np.asarray(table, dtype=dtype)


def dot(task: Any) -> Callable[[np.ndarray], np.ndarray]:
    """Return the dot product of two vectors."""
    table = vectors(task)
    return lambda pairs: np.einsum("ij,ij->i", table[pairs[:, 0]], table[pairs[:, 1]])


def honest(name: str) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """Register a function that makes an honest scorer for a task."""

    def add(make: Callable[[Any], Any]) -> Callable[[Any], Any]:
        HONEST[name] = make
        return make

    return add


def changed(change: Callable[[np.ndarray], Any]) -> Callable[[Any], Any]:
    """Return what makes a scorer that changes the form of dot products."""

    def make(task: Any) -> Callable[[np.ndarray], Any]:
        score = dot(task)
        return lambda pairs: change(score(pairs))

    return make


def noisy(change: Callable[[np.ndarray, np.random.Generator], Any]) -> Callable[[Any], Any]:
    """Return what makes a scorer that adds noise to dot products."""
    rng = np.random.default_rng(0)
    return changed(lambda scores: change(scores, rng))


HONEST["an embedding matrix"] = vectors
HONEST["an embedding in half precision"] = lambda task: vectors(task, dtype=np.float16)
HONEST["a function"] = dot
HONEST["a list of numbers"] = changed(np.ndarray.tolist)
HONEST["a read-only answer"] = changed(lambda scores: _locked(scores))
HONEST["an answer with gaps in memory"] = changed(lambda scores: np.repeat(scores, 3)[::3])
HONEST["float64 sums of float32"] = changed(lambda scores: scores.astype(np.float64))
HONEST["large logits"] = changed(lambda scores: 1e6 * scores)
HONEST["probabilities"] = changed(lambda scores: 1 / (1 + np.exp(-scores)))
HONEST["negative scores"] = changed(lambda scores: scores - 100)
HONEST["logarithms"] = changed(lambda scores: np.log(np.abs(scores) + 1e-12))
HONEST["random scores"] = noisy(lambda scores, rng: rng.random(len(scores)))
HONEST["a sample of the posterior"] = noisy(lambda scores, rng: scores * rng.normal(1, 0.1, len(scores)))
HONEST["noise in the third digit"] = noisy(lambda scores, rng: scores + 1e-3 * rng.normal(size=len(scores)))


def _locked(answer: np.ndarray) -> np.ndarray:
    answer.flags.writeable = False
    return answer


@honest("a buffer that is used again")
def _buffered(task: Any) -> Any:
    score, room = dot(task), np.empty(1 << 20, dtype=np.float32)

    def answer(pairs: np.ndarray) -> np.ndarray:
        room[: len(pairs)] = score(pairs)
        return room[: len(pairs)]

    return answer


@honest("a memory of answers")
def _remembering(task: Any) -> Any:
    score, known = dot(task), {}

    def answer(pairs: np.ndarray) -> np.ndarray:
        keys = [tuple(pair) for pair in pairs.tolist()]
        new = [key for key in dict.fromkeys(keys) if key not in known]
        if new:
            known.update(zip(new, score(np.array(new)).tolist(), strict=True))
        return np.array([known[key] for key in keys])

    return answer


@honest("batches of its own")
def _batched(task: Any) -> Any:
    score = dot(task)
    return lambda pairs: np.concatenate(
        [score(part) for part in np.array_split(pairs, -(-len(pairs) // 100))]
    )


@honest("threads")
def _threaded(task: Any) -> Any:
    score = dot(task)

    def answer(pairs: np.ndarray) -> np.ndarray:
        with ThreadPoolExecutor(2) as pool:
            return np.concatenate(list(pool.map(score, np.array_split(pairs, 2))))

    return answer


@honest("made ready by the first call")
def _lazy(task: Any) -> Any:
    made: list[Any] = []

    def answer(pairs: np.ndarray) -> Any:
        if not made:
            made.append(dot(task))
        return made[0](pairs)

    return answer


@honest("pairs sorted before they are scored")
def _sorting(task: Any) -> Any:
    score = dot(task)

    def answer(pairs: np.ndarray) -> np.ndarray:
        order = np.lexsort(pairs.T)
        found = np.empty(len(pairs), dtype=np.float32)
        found[order] = score(pairs[order])
        return found

    return answer


@honest("a bilinear form")
def _bilinear(task: Any) -> Any:
    table = vectors(task)
    form = np.random.default_rng(3).normal(size=(table.shape[1], table.shape[1]))
    return lambda pairs: np.einsum("ij,jk,ik->i", table[pairs[:, 0]], form, table[pairs[:, 1]])


@honest("a perceptron over both vectors in a row")
def _perceptron(task: Any) -> Any:
    table, rng = vectors(task), np.random.default_rng(4)
    first, last = rng.normal(size=(2 * table.shape[1], 8)), rng.normal(size=8)
    return lambda pairs: np.maximum(np.hstack([table[pairs[:, 0]], table[pairs[:, 1]]]) @ first, 0) @ last


@honest("whole numbers")
def _counts(task: Any) -> Any:
    count = methods.create("cn").fit(task)
    return lambda pairs: count.score(pairs).astype(np.int32)


@honest("a torch module in training mode")
def _module(task: Any) -> Any:
    import torch

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = torch.nn.Parameter(torch.from_numpy(vectors(task)))
            self.dropout = torch.nn.Dropout(0.5)
            self.norm = torch.nn.BatchNorm1d(1)

        def forward(self, pairs: Any) -> Any:
            products = (self.dropout(self.table)[pairs[:, 0]] * self.table[pairs[:, 1]]).sum(1, keepdim=True)
            return self.norm(products)

    return Model().train()


@honest("a torch tensor with gradients")
def _tensor(task: Any) -> Any:
    import torch

    table = torch.from_numpy(vectors(task)).requires_grad_()
    return lambda pairs: (table[pairs[:, 0]] * table[pairs[:, 1]]).sum(1)
