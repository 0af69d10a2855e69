"""The split of a graph: training edges, and positives to predict."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError, is_number, must_be
from trueedge.graph import Graph
from trueedge.graph.freezing import FrozenFields
from trueedge.html import counted, facts_html, shortened

#: The name of the edges' times in :attr:`trueedge.Graph.edge_data`.
TIME = "time"


@dataclass(frozen=True, eq=False, repr=False)
class Split(FrozenFields):
    """The positives of a graph in three parts that share no edge; immutable.

    Attributes:
        train: the graph of the training edges; it has all nodes and the features.
        valid: int32 array (v, 2), may be empty.
        test: int32 array (t, 2).
        name: how it was made, in words for a record (``ratio 85/5/10, seed 0``).
        notes: what to know about it, a sentence each.
        times: the times of the edges of ``valid`` and ``test``, in their order, if the graph has times.
    """

    train: Graph
    valid: NDArray[np.int32]
    test: NDArray[np.int32]
    name: str
    notes: tuple[str, ...] = ()
    times: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for part, times in self.times.items():
            pairs = {"valid": self.valid, "test": self.test}.get(part)
            if pairs is None or np.shape(times) != (len(pairs),):
                raise InputError(
                    f"times: a split has a time for each edge of valid and test, {part!r} has not"
                )
        super().__post_init__()

    @cached_property
    def hash(self) -> str:
        """A SHA-256 of the training graph and both parts, in their order: equal on every machine."""
        digest = hashlib.sha256(f"split {self.train.hash}".encode())
        for part in (self.valid, self.test):
            digest.update(f" {len(part)} ".encode())
            digest.update(np.ascontiguousarray(part, dtype="<i4").tobytes())
        return digest.hexdigest()

    def __repr__(self) -> str:
        sizes = f"{self.train.num_edges:,} train, {len(self.valid):,} valid, {len(self.test):,} test"
        return f"Split({shortened(self.train.name)}, {shortened(self.name)}: {sizes})"

    def _repr_html_(self) -> str:
        facts = {
            "how": self.name,
            "train": self.train.num_edges,
            "valid": len(self.valid),
            "test": len(self.test),
            "notes": "; ".join(self.notes),
        }
        return facts_html(f"Split of {self.train.name}", facts)


def hold_out(graph: Graph, valid: NDArray[np.int64], test: NDArray[np.int64], name: str) -> Split:
    """Return the split that takes some edges out of a graph; the others keep their edge data.

    Args:
        graph: the whole graph.
        valid: int64 (v,), rows of ``graph.edges``.
        test: int64 (t,), other rows of it.
        name: how the rows were chosen.
    """
    stays = np.ones(graph.num_edges, dtype=np.bool_)
    stays[valid] = stays[test] = False
    rows = np.flatnonzero(stays)
    train = dataclasses.replace(
        graph,
        edges=graph.edges[rows],
        edge_data={key: column[rows] for key, column in graph.edge_data.items()},
    )
    every = graph.edge_data.get(TIME)
    times = {} if every is None else {"valid": every[valid], "test": every[test]}
    return Split(train, graph.edges[valid], graph.edges[test], name, times=times)


def share_of(share: float, num_edges: int) -> int:
    """Return how many whole edges a share of them is, rounded down as in the published splits."""
    # 0.29 * 100 is 28.999999999999996: a whole number may be missed by the last bits, and is meant.
    return int(share * num_edges + 1e-9)


def check_share(value: object, argument: str, owner: str) -> float:
    """Return a share of the edges, a number from 0 to 1; refuse others."""
    # Compared before it is converted: a whole number may be too large for a float.
    if is_number(value) and 0 <= value <= 1:
        return float(value)
    raise must_be(argument, owner, "a number from 0 to 1", value)


def no_test_edges(owner: str, share: float, graph: Graph) -> InputError:
    """Return the error for a test part that would be empty."""
    return InputError(
        f"{owner}: {graph.name} has {counted(graph.num_edges, 'edge')}, so a test part of {100 * share:g} %"
        " is empty"
    )
