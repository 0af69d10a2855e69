"""Tasks whose candidates do not give their labels away, derived from tasks whose candidates would.

What gives a label away although order and direction do not:

- The negatives of HeaRT share one of the two nodes of their positive, so the positive is the one pair that
  both halves of its list meet in. Here a secret coin chooses one end, and only its negatives are kept.
- HeaRT's negatives can be computed again from the training graph, so whoever is listed but not among them is
  the positive. Here a secret half of them is kept, and as many are drawn uniformly from all other nodes.
- A triple that is asked for its tail and for its head is answered by matching both lists of queries. Here
  only tails are asked for.
- In the MRR over negatives that all positives share, a few negatives decide: an answer then tells their
  labels, and asking often pays. Such tasks are refused; the AUC over shared negatives, and lists, are judged.
- Negatives of typed links that are two steps from their head lie so in the graph with the test part. In the
  training graph most links do not, so what is no two steps away is a link. Such tasks are refused.
- Negatives of the validation part are never test positives, so pairs in both are negatives. Here the
  published validation part has negatives that were drawn without the test part.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.graph import in_sorted, pair_keys
from trueedge.leaderboard.hidden.keyed import keyed_numbers
from trueedge.splits import Split
from trueedge.tasks import LinkTask, Task
from trueedge.tasks.link import Part
from trueedge.tasks.nodes import NodeTask
from trueedge.tasks.triples import TripleTask
from trueedge.tasks.typed_links import TypedLinkTask

RECOMPUTABLE = ("heart",)
PUBLISHED = ("existing-released", "heart-released")
KINDS = (LinkTask, TripleTask, NodeTask, TypedLinkTask)
TWO_STEPS = "two-hop"
ROUNDS = 64


def without_hints(task: Task, key: bytes) -> Task:
    """Return a task whose candidates do not tell their labels; it is what submissions are judged on.

    Args:
        task: links with shared negatives or lists, triples, typed links, or classes of nodes.
        key: the secret key of all draws.
    """
    if not isinstance(task, KINDS):
        raise InputError(f"a task of the kind {task.kind!r} cannot be hidden: its scores cannot be certified")
    if task.protocol in PUBLISHED:
        raise InputError(f"{task.protocol} cannot be hidden: its test part is in published files")
    if isinstance(task, LinkTask):
        if task.test.per_positive:
            return _one_sided(task, key)
        if task.headline != "auc":
            raise InputError(
                f"{task.protocol} cannot be hidden: in the {task.headline} over shared negatives a few of"
                " these decide, and answers would tell them; use uniform, degree-corrected, triplet or heart"
            )
    if isinstance(task, TypedLinkTask) and task.settings.get("negatives") == TWO_STEPS:
        raise InputError(
            f"{task.protocol} cannot be hidden with negatives=two-hop: a candidate that is not two steps from"
            " its head is a link; use --option negatives=random"
        )
    if isinstance(task, TripleTask):
        if task.test_graph is not None:
            raise InputError(
                "an inductive task cannot be hidden: the graph of its test part is not published"
            )
        return replace(task, sides="tail", settings={**task.settings, "sides": "tail"})
    return task


def for_everyone(task: Task) -> Task:
    """Return the published part of a task: training data, and validation data drawn without the test part."""
    if isinstance(task, LinkTask):
        return _links_for_everyone(task)
    return replace(task.for_fitting(), settings=_said(task))


def _links_for_everyone(task: LinkTask) -> LinkTask:
    fitting = task.for_fitting()
    if "valid" not in task.parts:
        return replace(fitting, settings=_said(task))
    positives = task.valid.positives
    split = Split(task.graph, np.empty((0, 2), dtype=np.int32), positives, "the validation part alone")
    drawn = LinkTask.from_split(split, "uniform", task.seed, task.dataset)
    part = Part(positives, drawn.test.negatives)
    return replace(fitting, parts={"valid": part}, settings=_said(task))


def _said(task: Task) -> dict[str, Any]:
    """Return the settings of a task, without notes about its test part."""
    return {name: value for name, value in task.settings.items() if name != "notes"}


def _one_sided(task: LinkTask, key: bytes) -> LinkTask:
    """Keep the negatives at one end of each positive, which a secret coin chooses."""
    positives, negatives = task.test.positives, task.test.negatives
    sharing = np.stack([(negatives == positives[:, None, end, None]).any(axis=2) for end in (0, 1)])
    counts = sharing.sum(axis=2)
    if not (counts.max(axis=0) > 0).all():
        return task
    coin = (keyed_numbers(key, "end", len(positives)) & np.uint64(1)).astype(np.int64)
    # Where only one end has negatives, as in triplets, there is no choice.
    end = np.where(counts[1] == 0, 0, np.where(counts[0] == 0, 1, coin))
    rows = np.arange(len(positives))
    size = int(counts[end, rows].min())
    order = keyed_numbers(key, "negatives", negatives.shape[0] * negatives.shape[1]).reshape(
        counts.shape[1], -1
    )
    order[~sharing[end, rows]] = np.iinfo(np.uint64).max
    first = np.argsort(order, axis=1, kind="stable")[:, :size]
    kept = np.take_along_axis(negatives, first[:, :, None], axis=1)
    source = positives[rows, end]
    if task.protocol in RECOMPUTABLE:
        kept = _half_replaced(task, key, source, kept)
    part = replace(task.test, negatives=np.ascontiguousarray(kept, dtype=np.int32))
    settings = {**task.settings, "hidden": "one end of each positive"}
    return replace(task, parts={**task.parts, "test": part}, settings=settings)


def _half_replaced(
    task: LinkTask, key: bytes, source: NDArray[np.int32], kept: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Replace half of the negatives by pairs of the same source with any other node that is no known edge."""
    size = kept.shape[1]
    hard = size // 2
    nodes = task.num_nodes
    parts = [part.positives for part in task.parts.values()]
    known = np.unique(pair_keys(np.concatenate([task.graph.edges, *parts]).astype(np.int64), nodes))
    result = kept.copy()
    for row, node in enumerate(source.tolist()):
        taken = set(np.where(kept[row, :hard, 0] == node, kept[row, :hard, 1], kept[row, :hard, 0]).tolist())
        found: list[int] = []
        for turn in range(ROUNDS):
            drawn = keyed_numbers(key, f"fill {row} {turn}", 2 * size) % np.uint64(nodes)
            partners = drawn.astype(np.int64)
            pairs = np.column_stack([np.full(len(partners), node), partners])
            free = (partners != node) & ~in_sorted(pair_keys(pairs, nodes), known)
            for partner in partners[free].tolist():
                if partner not in taken and len(found) < size - hard:
                    taken.add(partner)
                    found.append(partner)
            if len(found) == size - hard:
                break
        if len(found) < size - hard:
            raise InputError(f"{task.dataset} is too dense: node {node} has fewer than {size} free partners")
        result[row, hard:, 0], result[row, hard:, 1] = node, found
    return result
