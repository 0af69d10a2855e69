"""Scores of new pairs, by the names or the numbers of their nodes."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError, ScoreWarning
from trueedge.graph import Graph
from trueedge.graph.bipartite import NEITHER, names_by_side
from trueedge.scorers.fitted import task_of
from trueedge.scorers.named_ids import NamedIds
from trueedge.scorers.scorer import ask, score_pairs, scorer_name
from trueedge.scorers.triples import as_query_scorer
from trueedge.tasks.base import GraphTask, Task
from trueedge.tasks.full_ranking import SCORES_IN_A_BLOCK, ask_for_all
from trueedge.tasks.items import ItemTask
from trueedge.tasks.link import LinkTask
from trueedge.tasks.named_places import places_by_name
from trueedge.tasks.recommend import RecommendTask
from trueedge.tasks.triples import TripleTask
from trueedge.tasks.typed_links import TypedLinkTask

Row = Sequence[int | str]


def predict(scorer: object, pairs: Any, task: Task | None = None) -> NDArray[np.float64]:
    """Return the score of each pair, float64 (n,): the higher, the likelier an edge.

    A text is the name of a node, and a whole number is its number. A data frame holds names as its file has
    them, so its numbers are names if the names of the nodes are numbers; its columns may come in any order if
    they have usual names. In a bipartite graph, the first ``1`` of a row is ``user 1`` and the second is
    ``item 1``.

    Args:
        scorer: what a method's ``fit`` or ``te.load_scorer`` returned, or anything that ``task.evaluate``
            takes.
        pairs: rows of two nodes, of a user and an item, of head, relation and tail, or of source, relation
            and target: a list of tuples, an array or a data frame.
        task: the task, for names and the training graph; not needed for what ``fit`` returned.
    """
    given = task_for(scorer, task, "predict")
    return scores_of(given, scorer, ids_of(pairs, columns_of(given)))


def task_for(scorer: object, task: Task | None, asked: str) -> Task:
    """Return the task whose nodes a scorer scores: the given one, or the one it was fitted on.

    Args:
        scorer: the scorer.
        task: the task, or None.
        asked: what is asked for, in errors: ``predict``.
    """
    if task is not None:
        if not isinstance(task, Task):
            raise InputError(f"{asked}: task must be a task, got {type(task).__name__}")
        return task
    if hasattr(scorer, "fit") and hasattr(scorer, "settings"):
        raise InputError(f"the method {scorer_name(scorer)!r} has not been fitted: give what its fit returns")
    found = task_of(scorer)
    if not isinstance(found, Task):
        raise InputError(f"{asked} does not know whose nodes {scorer_name(scorer)} scores: give its task=")
    return found


def columns_of(task: Task) -> tuple[NamedIds, ...]:
    """Return what the columns of a row of :func:`predict` are: two nodes, a user and an item, a triple."""
    if isinstance(task, (LinkTask, RecommendTask)):
        first, second = names_by_side(task.graph) or ({}, {})
        labels, count = task.graph.labels, task.num_nodes
        return NamedIds("node", labels, count, (first,)), NamedIds("node", labels, count, (second,))
    if isinstance(task, ItemTask):
        data = task.graph
        return NamedIds("user", data.users, data.num_users), NamedIds("item", data.items, data.num_items)
    if isinstance(task, TripleTask):
        entities = NamedIds("entity", task.graph.entities, task.graph.num_entities)
        return entities, NamedIds("relation", task.graph.relations, task.num_relations), entities
    if isinstance(task, TypedLinkTask):
        names = [one.name for one in task.graph.relations]
        nodes = NamedIds("node", task.graph.names, task.graph.num_nodes)
        return nodes, NamedIds("relation", names, len(names)), nodes
    raise InputError(f"predict scores links, and {task} has none")


def ids_of(pairs: Any, columns: Sequence[NamedIds]) -> NDArray[np.int64]:
    """Return rows of names and numbers as ids, int64 (n, columns); an unknown name is an error."""
    width, nouns = len(columns), ", ".join(one.noun for one in columns)
    framed = hasattr(pairs, "itertuples")
    if framed:
        rows: list[Any] = list(pairs.itertuples(index=False, name=None))
        order = places_by_name(list(map(str, getattr(pairs, "columns", ()))), columns)
        rows = rows if order is None else [[row[place] for place in order] for row in rows]
    elif isinstance(pairs, (str, bytes)) or not isinstance(pairs, Iterable):
        raise InputError(f"pairs must be rows ({nouns}), got {type(pairs).__name__}")
    else:
        rows = pairs.tolist() if isinstance(pairs, np.ndarray) else list(pairs)
    found = np.empty((len(rows), width), dtype=np.int64)
    for place, row in enumerate(rows):
        if not isinstance(row, (tuple, list, np.ndarray)) or len(row) != width:
            raise InputError(f"row {place} of the pairs must be ({nouns}), got {row!r}")
        found[place] = [ids.id_of(one, framed) for one, ids in zip(row, columns, strict=True)]
    return found


def scores_of(task: Task, scorer: object, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the scores of rows of ids, float64 (n,), as :func:`ids_of` returns them."""
    if isinstance(task, GraphTask):
        _check_ends(task.graph, rows)
        # As in an evaluation on the training graph: the smaller node first, so the order does not matter.
        return score_pairs(task.bind(scorer, "valid"), np.sort(rows, axis=1))
    if isinstance(task, TypedLinkTask):
        return ask(task.bind(scorer, "valid"), rows).astype(np.float64)
    if isinstance(task, ItemTask):
        bound = task.bind(scorer, "valid")
        return _by_query(
            lambda users: ask_for_all(bound, users[:, 0], task.num_items, ("users", "items")),
            rows,
            task.num_items,
        )
    assert isinstance(task, TripleTask)
    count = task.graph.num_entities
    asked = as_query_scorer(scorer, count, task.num_relations)
    return _by_query(lambda queries: ask(asked, queries), rows, count)


def _check_ends(graph: Graph, pairs: NDArray[np.int64]) -> None:
    """Refuse a node with itself, and warn of pairs on one side of a bipartite graph."""
    names = NamedIds("node", graph.labels, graph.num_nodes)
    loops = np.flatnonzero(pairs[:, 0] == pairs[:, 1])
    if len(loops):
        name = names.name_of(int(pairs[loops[0], 0]))
        raise InputError(f"row {loops[0]} of the pairs is node {name} with itself: a pair has two nodes")
    if graph.sides is None:
        return
    sides = graph.sides[pairs]
    same = np.flatnonzero((sides[:, 0] == sides[:, 1]) & (sides[:, 0] != NEITHER))
    if len(same):
        first, second = map(names.name_of, pairs[same[0]].tolist())
        warnings.warn(
            f"{len(same):,} of {len(pairs):,} pairs are on one side of the bipartite graph {graph.name},"
            f" where no edge is: their scores mean little, for example ({first}, {second})",
            ScoreWarning,
            stacklevel=4,
        )


def _by_query(score: Any, rows: NDArray[np.int64], candidates: int) -> NDArray[np.float64]:
    """Return the score of the last column of each row; each query, the other columns, is asked once."""
    queries, place = np.unique(rows[:, :-1], axis=0, return_inverse=True)
    place = place.reshape(-1)
    found = np.empty(len(rows), dtype=np.float64)
    step = max(1, SCORES_IN_A_BLOCK // max(1, candidates))
    for first in range(0, len(queries), step):
        chosen = np.flatnonzero((place >= first) & (place < first + step))
        table = np.asarray(score(queries[first : first + step]))
        found[chosen] = table[place[chosen] - first, rows[chosen, -1]]
    return found
