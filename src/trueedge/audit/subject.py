"""What is audited: a task, its pairs, whole or sampled, and their heuristic scores."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.graph import Graph, as_pairs, in_sorted, pair_keys
from trueedge.graph.bipartite import sides_of
from trueedge.methods import create
from trueedge.metrics.units import plural
from trueedge.randomness import generator
from trueedge.tasks import GraphTask, LinkTask, Part, Task

# Leaks are looked for in all pairs up to this many: a sample could miss them, and sorting a few million is
# quick.
PAIRS_FOR_LEAKS = 5_000_000
# Above this many edges a shortest path can take a thousand times a common neighbour's time.
EDGES_FOR_PATHS = 5_000_000
PAIRS_FOR_PATHS = 20_000
# Whole lists of hundreds of negatives take more pairs to hold enough positives: a rank is a positive's.
PAIRS_IN_LISTS = 5


@dataclass(frozen=True, eq=False)
class View:
    """Some pairs of a part.

    Attributes:
        positives: int64 (p, 2).
        negatives: int64 (m, 2) that all share, or (p, k, 2) each positive's own.
        whole_lists: whether each positive stands against all its negatives, or all shared ones.
        whole: whether these are all pairs of the part.
    """

    positives: NDArray[np.int64]
    negatives: NDArray[np.int64]
    whole_lists: bool
    whole: bool

    @property
    def per_positive(self) -> bool:
        """Whether each positive has its own negatives."""
        return self.negatives.ndim == 3

    def sizes(self) -> str:
        """How many pairs, in words."""
        count = self.negatives.size // 2
        sampled = "" if self.whole else " (a sample)"
        return f"{len(self.positives):,} positives and {count:,} negatives{sampled}"


class Subject:
    """A task as the checks of its kind see it.

    Args:
        task: what is audited.
        seed: for the samples.
        sample: the most positives, and negatives, that a slow check examines.
    """

    def __init__(self, task: Task, seed: int = 0, sample: int = 100_000) -> None:
        self.seed, self.sample = seed, sample
        self.task: Any = task

    def sizes(self) -> dict[str, int]:
        """Return how much there is of what, by name."""
        task = self.task
        found = {f"{part} {plural(task.unit)}": len(task.questions(part)) for part in task.part_names}
        return graph_sizes(task) | found if isinstance(task, GraphTask) else found

    def sampling(self) -> list[str]:
        """Return what was examined in part, a sentence each."""
        return []


class LinkSubject(Subject):
    """A link task as the checks see it; for its arguments see :class:`Subject`.

    Args:
        whole: the graph that the split was made of, where it may have edges that are in no part.
        timed: the graph that the user's own split was made of, whose edges may have times.
    """

    task: LinkTask

    def __init__(
        self,
        task: LinkTask,
        seed: int = 0,
        sample: int = 100_000,
        whole: Graph | None = None,
        timed: Graph | None = None,
    ) -> None:
        super().__init__(task, seed, sample)
        self.whole, self.timed = whole, timed
        self._scores: dict[tuple[str, int], tuple[NDArray[np.float64], NDArray[np.float64]]] = {}
        self._views: dict[tuple[str, str, int], View] = {}
        for name in task.part_names:
            part = task.part(name)
            as_pairs(part.positives, task.num_nodes, f"{name} positives")
            as_pairs(part.negatives.reshape(-1, 2), task.num_nodes, f"{name} negatives")
            # A user's own validation part may have no negatives: its positives are examined all the same.
            if not len(part.positives) or (name == "test" and not part.negatives.size):
                what = "negatives" if len(part.positives) else "positives"
                raise InputError(
                    f"the {name} part of {task.dataset} has no {what}: there is nothing to audit"
                )

    def sizes(self) -> dict[str, int]:
        """Return how many nodes, edges, positives and negatives there are."""
        found = graph_sizes(self.task)
        for name, part in self.task.parts.items():
            words = "validation" if name == "valid" else name
            found |= {
                f"{words} positives": len(part.positives),
                f"{words} negatives": part.negatives.size // 2,
            }
        return found

    def sampling(self) -> list[str]:
        """Return what was examined in part, a sentence each."""
        notes = []
        if not self.pairs().whole:
            notes.append(f"distributions are those of {self.pairs().sizes()}")
        if not self.lists().whole:
            notes.append(f"scorers were evaluated on {self.lists().sizes()}")
        if self.path_limit < self.sample:
            notes.append(f"shortest paths were computed for {self.path_limit:,} pairs of either kind")
        notes += [
            f"leaks of the {part} part were looked for in {self.listed_for_leaks(part).sizes()}"
            for part in self.judged
            if not self.listed_for_leaks(part).whole
        ]
        return notes

    @property
    def graph(self) -> Graph:
        """The graph the test part is scored with."""
        return self.task.graph_for("test")

    @property
    def judged(self) -> tuple[str, ...]:
        """The parts that have negatives; ``test`` is one of them."""
        return tuple(name for name in self.task.part_names if self.task.part(name).negatives.size)

    @property
    def per_positive(self) -> bool:
        """Whether each test positive has its own negatives."""
        return self.task.part("test").per_positive

    @cached_property
    def degrees(self) -> NDArray[np.int64]:
        """Each node's degree in the whole graph, hidden edges and all, int64 (n,)."""
        found = self.task.graph.degrees.copy()
        for name in self.task.part_names:
            found += np.bincount(self.task.part(name).positives.ravel(), minlength=self.task.num_nodes)
        return found

    @cached_property
    def hidden_keys(self) -> NDArray[np.int64]:
        """One int64 for each positive of any part, sorted."""
        parts = [self.task.part(name).positives for name in self.task.part_names]
        return np.sort(pair_keys(np.concatenate(parts), self.task.num_nodes))

    @cached_property
    def other_keys(self) -> NDArray[np.int64] | None:
        """One int64 for each edge of the whole graph that is in no part, sorted; None without such."""
        if self.whole is None:
            return None
        keys = self.whole.edge_keys
        return keys[~in_sorted(keys, self.task.graph.edge_keys) & ~in_sorted(keys, self.hidden_keys)]

    def lists(self, limit: int | None = None) -> View:
        """Test positives with all their negatives, in some lists where each has its own.

        Shared negatives beyond the limit are sampled too, and the lists are then not whole.
        """
        most = self.sample if limit is None else limit
        return self._view("lists", "test", most * (PAIRS_IN_LISTS if self.per_positive else 1))

    def listed_for_leaks(self, part: str = "test") -> View:
        """Return all pairs of a part, up to a few million."""
        return self._view("lists", part, max(self.sample, PAIRS_FOR_LEAKS))

    def looked_for_leaks(self) -> str:
        """Return how many pairs of each part leaks are looked for in, in words."""
        sizes = {name: self.listed_for_leaks(name).sizes() for name in self.judged}
        return " and ".join(f"{size} of the {name} part" for name, size in sizes.items())

    def pairs(self, limit: int | None = None) -> View:
        """Return as many test positives as the limit allows, and as many negatives: (p, 2), (m, 2)."""
        return self._view("pairs", "test", self.sample if limit is None else limit)

    @property
    def path_limit(self) -> int:
        """How many positives, and negatives, shortest paths are looked for between."""
        return self.sample if self.graph.num_edges <= EDGES_FOR_PATHS else min(self.sample, PAIRS_FOR_PATHS)

    def scores(self, method: str, view: View) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return a heuristic's scores of the pairs of a view, in the shapes of both."""
        key = method, id(view)
        if key not in self._scores:
            scorer = create(method).fit(self.task)
            bound = self.task.bind(scorer, "test")
            above = bound.score(view.positives)
            below = bound.score(view.negatives.reshape(-1, 2))
            shape = view.negatives.shape[:-1]
            self._scores[key] = np.asarray(above, np.float64), np.asarray(below, np.float64).reshape(shape)
        return self._scores[key]

    @cached_property
    def without_common_neighbours(self) -> str:
        """Why common neighbours say nothing: no pair has any; empty if some pair has one."""
        if any(scores.any() for scores in self.scores("cn", self.pairs())):
            return ""
        why = "" if sides_of(self.graph) is None else ": the graph is bipartite"
        return f"no test pair has a common neighbour{why}"

    def random_pairs(self, count: int) -> NDArray[np.int64]:
        """Return random pairs of two different nodes, uniform: int64 (count, 2)."""
        rng = generator(self.seed, "audit", "random pairs")
        nodes = self.task.num_nodes
        first = rng.integers(0, nodes, size=count)
        second = (first + rng.integers(1, max(nodes, 2), size=count)) % nodes
        return np.column_stack([first, second])

    def _view(self, kind: str, part: str, limit: int) -> View:
        found = self.task.part(part)
        # Shared negatives stand against every positive: taken apart or not, the pairs are the same.
        key = (kind if found.per_positive else "shared", part, limit)
        if key not in self._views:
            rng = generator(self.seed, "audit", *key)
            if not found.per_positive:
                made = _shared(found, limit, rng)
            else:
                made = _whole_lists(found, limit, rng) if kind == "lists" else _apart(found, limit, rng)
            self._views[key] = made
        return self._views[key]


def _shared(part: Part, limit: int, rng: np.random.Generator) -> View:
    positives, negatives = _some(part.positives, limit, rng), _some(part.negatives, limit, rng)
    whole_lists = len(negatives) == len(part.negatives)
    return View(positives, negatives, whole_lists, whole_lists and len(positives) == len(part.positives))


def _whole_lists(part: Part, limit: int, rng: np.random.Generator) -> View:
    rows = _rows(len(part.positives), max(1, limit // part.negatives.shape[1]), rng)
    chosen = part.negatives[rows].astype(np.int64)
    return View(part.positives[rows].astype(np.int64), chosen, True, len(rows) == len(part.positives))


def _apart(part: Part, limit: int, rng: np.random.Generator) -> View:
    """Negatives of as many lists as can be: they are drawn over all of them."""
    count, size = part.negatives.shape[:2]
    places = _rows(count * size, limit, rng)
    negatives = part.negatives[places // size, places % size].astype(np.int64)
    positives = _some(part.positives, limit, rng)
    return View(positives, negatives, False, len(negatives) == count * size and len(positives) == count)


def _some(pairs: NDArray[np.int32], limit: int, rng: np.random.Generator) -> NDArray[np.int64]:
    return pairs[_rows(len(pairs), limit, rng)].astype(np.int64)


def _rows(count: int, limit: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """All rows where there are no more than the limit, else that many of them, ascending."""
    if count <= limit:
        return np.arange(count)
    return np.sort(rng.choice(count, size=limit, replace=False, shuffle=False))


def graph_sizes(task: GraphTask) -> dict[str, int]:
    """Return how many nodes, training edges and features a task has."""
    found = {"nodes": task.num_nodes, "training edges": task.graph.num_edges}
    return found if task.features is None else found | {"features": task.features.shape[1]}
