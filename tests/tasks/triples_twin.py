"""Filtered ranks by plain loops, and random knowledge graphs to compare them on."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from trueedge.graph import KnowledgeGraph
from trueedge.splits import TripleSplit
from trueedge.tasks import TripleTask


def random_triples(seed: int, entities: int, relations: int, count: int) -> np.ndarray:
    """Distinct triples in random order, so that slices of them share none."""
    rng = np.random.default_rng(seed)
    limits = (entities, relations, entities)
    drawn = np.column_stack([rng.integers(0, limit, size=2 * count) for limit in limits])
    return rng.permutation(np.unique(drawn, axis=0))[:count].astype(np.int32)


def random_task(
    seed: int = 0, entities: int = 12, relations: int = 3, count: int = 60, **options: object
) -> TripleTask:
    """A task of random triples: half of them for training, a quarter each to predict."""
    triples = random_triples(seed, entities, relations, count)
    half, rest = len(triples) // 2, 3 * len(triples) // 4
    train = KnowledgeGraph.from_triples(triples[:half], entities, relations, name="random")
    split = TripleSplit(train, triples[half:rest], triples[rest:], "random")
    return TripleTask.from_split(split, **options)


def inductive_task(seed: int = 0, relations: int = 3, filter: str = "all") -> TripleTask:
    """A task whose test triples are on another graph of the same relations."""
    seen = random_triples(seed, 12, relations, 60)
    unseen = random_triples(seed + 1, 10, relations, 60)
    train = KnowledgeGraph.from_triples(seen[:40], 12, relations, name="random")
    names = [f"new {number}" for number in range(10)]
    facts = KnowledgeGraph.from_triples(
        unseen[:30], entities=names, relations=train.relations, name="random_ind"
    )
    split = TripleSplit(train, seen[40:], unseen[45:], "random", facts, unseen[30:45])
    return TripleTask.from_split(split).with_filter(filter)


def known_triples(task: TripleTask, part: str) -> set[tuple[int, ...]]:
    """All triples that are left out when a part is evaluated."""
    lists: list[Iterable[np.ndarray]] = [task.graph_for(part).triples]
    if task.filter == "all":
        lists.append(task.parts[part])
        if part == "test":
            lists.append(task.known)
            if task.test_graph is None:
                lists.append(task.parts.get("valid", []))
    return {tuple(map(int, triple)) for one in lists for triple in one}


def twin(task: TripleTask, part: str, score) -> dict[str, list[int]]:
    """The candidates above each answer, those tied with it, and all others, by plain loops.

    Args:
        task: the task.
        part: its part.
        score: gives the score of a triple (head, relation, tail).
    """
    known, everyone = known_triples(task, part), range(task.graph_for(part).num_entities)
    found: dict[str, list[int]] = {"above": [], "tied": [], "negatives": []}
    sides = {"both": ("tail", "head")}.get(task.sides, (task.sides,))
    for side in sides:
        for head, relation, tail in task.parts[part].tolist():
            true, answer = score(head, relation, tail), tail if side == "tail" else head
            others = [
                (head, relation, one) if side == "tail" else (one, relation, tail)
                for one in everyone
                if one != answer
            ]
            scores = [score(*triple) for triple in others if triple not in known]
            found["above"].append(sum(one > true for one in scores))
            found["tied"].append(sum(one == true for one in scores))
            found["negatives"].append(len(scores))
    return found
