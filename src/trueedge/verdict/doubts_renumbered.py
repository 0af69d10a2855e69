"""A model that knows the nodes from elsewhere: it fails where the same nodes have other numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from trueedge.audit.check import chance_auc
from trueedge.errors import InputError
from trueedge.graph import Graph
from trueedge.randomness import generator
from trueedge.tasks import LinkTask, Part
from trueedge.verdict.asked import Asked, ask_around, auc
from trueedge.verdict.suspicions import Evidence, Suspicion, look

# A loss of AUC that is no accident of training.
MARGIN = 0.05
# A model that is not better than this has nothing to lose.
LEAST_AUC = 0.6


@look("outside-knowledge")
def outside_knowledge(evidence: Evidence) -> Iterator[Suspicion]:
    """Fit the model again on the same task with its nodes renumbered: it must be about as good."""
    task, asked = evidence.task, evidence.asked
    if not evidence.first or evidence.refit is None or asked is None or not isinstance(task, LinkTask):
        return
    order = generator(0, "verdict", "renumbering").permutation(task.num_nodes)
    again = _asked(evidence, renumbered(task, order))
    if again is None or not (lost := _lost(asked, again)):
        return
    # Some models differ as much from one training to the next.
    repeated = _asked(evidence, task)
    if repeated is None or not _lost(repeated, again):
        return
    before, after = lost
    yield Suspicion(
        "outside-knowledge",
        f"fitted again on the same graph with its nodes renumbered, its AUC falls from {before:.2f} to"
        f" {after:.2f}: it knows the nodes from outside of the task. If it knows the whole graph, it knows"
        " the answers; if not, give what it knows as features of the nodes",
        general=True,
    )


def renumbered(task: LinkTask, order: NDArray[np.int64]) -> LinkTask:
    """Return the same task with its nodes in another order: node ``order[i]`` becomes node i."""
    numbers = np.empty(task.num_nodes, dtype=np.int32)
    numbers[order] = np.arange(task.num_nodes, dtype=np.int32)
    parts = {
        name: Part(numbers[part.positives], numbers[part.negatives]) for name, part in task.parts.items()
    }
    test_graph = None if task.test_graph is None else _renumbered(task.test_graph, order)
    return replace(task, graph=_renumbered(task.graph, order), parts=parts, test_graph=test_graph)


def _renumbered(graph: Graph, order: NDArray[np.int64]) -> Graph:
    found = graph.subgraph(order)
    return replace(found, labels=found.labels if graph.labels is not None else None, notes=graph.notes)


def _asked(evidence: Evidence, task: LinkTask) -> Asked | None:
    """Return the scores of a model that is fitted to a task; None if it cannot be."""
    assert evidence.refit is not None
    try:
        return ask_around(task, evidence.refit(task))
    except (InputError, ArithmeticError, LookupError, ValueError, RuntimeError, TypeError):
        # Whatever the user's code says about it: the model is judged by the splits it was fitted to.
        return None


def _lost(before: Asked, after: Asked) -> tuple[float, float] | None:
    """Return the AUC before and after, if more is lost than by chance."""
    for kind in ("test", "all"):
        one, other = _auc(before, kind), _auc(after, kind)
        edges = len(before.test) + (len(before.train) if kind == "all" else 0)
        noise = max(MARGIN, chance_auc(edges, len(before.others)))
        if one > LEAST_AUC and one - other > noise:
            return one, other
    return None


def _auc(asked: Asked, kind: str) -> float:
    edges = asked.test if kind == "test" else np.concatenate([asked.test, asked.train])
    return auc(edges, asked.others)
