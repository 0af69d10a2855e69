"""Draw a hidden task with a secret key, so that nobody can draw its split or its negatives again.

Whoever knows the seed of a task can replay it: the negatives of ``uniform`` follow from the seed and the
published candidates, and what is left are the positives. Small seeds can be tried. So every draw goes through
a seed of 256 secret bits (:func:`trueedge.randomness.secret_seed`), and all of them reach each stream. HeaRT
alone derives 64 bits, to fill up hard negatives, which participants can compute anyway.

The seed stays in the secret folder until the season ends. Tasks and settings show the seed 0 and the words
"secret seed".

The order of a file tells labels too: where nodes are numbered as they first appear in it, the edge by which a
node appears joins neighbouring numbers. So nodes and entities with names are numbered by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge import datasets
from trueedge.errors import InputError
from trueedge.leaderboard.hidden.keyed import new_key
from trueedge.randomness import secret_seed
from trueedge.tasks import LinkTask, Task
from trueedge.tasks.triples import TripleTask

#: Makes the task of a seed: ``partial(te.task, graph, "uniform")``.
Make = Callable[[int], Task]
# What published tasks show in place of their secret seed.
SHOWN_SEED, SHOWN = 0, "secret"
# The arrays of a task that say what its test part is, of each kind.
TEST_PARTS = ("test_positives", "test_triples", "test_nodes")


def drawn(make: Make, key: bytes) -> Task:
    """Return the task that a secret key draws; it does not show its seed.

    Args:
        make: makes the task of a seed. All that is random must depend on this seed.
        key: the secret key, 32 bytes.
    """
    seed = secret_seed(key)
    if isinstance(make, Task) or (task := make(seed)).seed != seed:
        raise InputError(
            "a task that is made already cannot be hidden: its seed is known, and whoever has it can draw the"
            " labels again; name the data instead"
        )
    if datasets.is_name(task.dataset) and _is_fixed(task, make):
        raise InputError(
            f"{task.dataset} under {task.protocol} cannot be hidden: its test part is published with the data"
        )
    shown = {name: _without(value, seed) for name, value in task.settings.items()}
    return numbered_by_name(replace(task, seed=SHOWN_SEED, settings=shown))


def numbered_by_name(task: Task) -> Task:
    """Return a task whose nodes are numbered by their names; one without names stays as it is."""
    names: Sequence[str] | None = None
    if isinstance(task, LinkTask):
        names = task.graph.labels
    elif isinstance(task, TripleTask) and task.test_graph is None:
        names = task.graph.entities
    if names is None:
        return task
    # Shorter names first, so that 9 is before 10.
    order = np.array(sorted(range(len(names)), key=lambda node: (len(names[node]), names[node])))
    if (np.diff(order) > 0).all():
        return task
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order))
    if isinstance(task, LinkTask):
        return _links_in_order(task, order, place)
    assert isinstance(task, TripleTask)
    return _triples_in_order(task, order, place)


def _links_in_order(task: LinkTask, order: NDArray[np.int64], place: NDArray[np.int32]) -> LinkTask:
    graphs = {
        name: None if graph is None else replace(graph.subgraph(order), notes=graph.notes)
        for name, graph in (("graph", task.graph), ("test_graph", task.test_graph))
    }
    parts = {
        name: replace(part, positives=place[part.positives], negatives=place[part.negatives])
        for name, part in task.parts.items()
    }
    return replace(task, parts=parts, **graphs)  # type: ignore[arg-type]


def _triples_in_order(task: TripleTask, order: NDArray[np.int64], place: NDArray[np.int32]) -> TripleTask:
    def numbered(triples: NDArray[np.int32]) -> NDArray[np.int32]:
        return np.column_stack([place[triples[:, 0]], triples[:, 1], place[triples[:, 2]]])

    found = numbered(task.graph.triples)
    found = found[np.lexsort(found.T[::-1])]
    graph = replace(task.graph, triples=found, entities=tuple(task.graph.entities[node] for node in order))
    parts = {name: numbered(part) for name, part in task.parts.items()}
    return replace(task, graph=graph, parts=parts, known=numbered(task.known))


def _is_fixed(task: Task, make: Make) -> bool:
    """Return whether another key would draw the same test part, as one in published files."""
    first = _test_part(task)
    if first is None:
        return False
    second = _test_part(make(secret_seed(new_key())))
    return second is not None and np.array_equal(first, second)


def _test_part(task: Task) -> NDArray[Any] | None:
    arrays = task.arrays()
    found = next((arrays[name] for name in TEST_PARTS if name in arrays), None)
    return None if found is None else np.unique(found, axis=0)


def _without(value: Any, seed: int) -> Any:
    """Return a setting in which nothing tells the seed."""
    if isinstance(value, str):
        return value.replace(f"seed {seed}", f"{SHOWN} seed").replace(str(seed), SHOWN)
    if isinstance(value, Mapping):
        return {name: _without(one, seed) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_without(one, seed) for one in value)
    return SHOWN if type(value) is int and value == seed else value
