"""Link prediction as HGB's code evaluates it: its validation links, its order, what it leaves out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import trueedge as te
from benchmarks.hgb_cases import GATNE_FIRST
from trueedge.metrics import get as get_metric
from trueedge.tasks import TypedLinkTask


@cache
def link_tasks(dataset: str) -> dict[str, TypedLinkTask]:
    """Return the tasks with negatives two steps away and with random ones."""
    hard = "published" if dataset == "lastfm-hgb" else "two-hop"
    found = {one: te.task(dataset, "typed-links", negatives=one) for one in (hard, "random")}
    return {name: task for name, task in found.items() if isinstance(task, TypedLinkTask)}


def ordered_scores(task: TypedLinkTask, scorer: Any, negatives: str) -> Iterator[tuple[str, float]]:
    """Yield the scores of links that are asked in HGB's order: by head, positives before negatives."""
    links = task.questions("test")
    far = np.arange(len(links)) >= len(task.positives["test"])
    order = np.lexsort((far, links[:, 0]))
    answers = np.empty(len(links))
    answers[order] = scorer.score_links(links[order].astype(np.int64))
    found = task.scores_of("test", answers)
    for name in ("roc-auc", "head-mrr"):
        yield f"{name}, {negatives} in order", 100 * float(np.mean(get_metric(name).per_unit(found)))


def published_validation(task: TypedLinkTask, kind: str, seed: int) -> TypedLinkTask:
    """Return a task for fitting whose validation links are drawn as HGB's code does.

    The first link of each head stays, and one in ten of the others is drawn, whatever happens to its reverse:
    between nodes of one type, the graph still tells nearly all of them. Negatives have any target.

    Args:
        task: the task; its test part is not read.
        kind: ``one-way`` takes links from the graph in their own direction; ``every`` does so for the links
            of all relations, of which those that are not predicted are not used; ``shared`` does, too, but
            between nodes of one type a link takes its reverse with it, unlike in the code; ``kept`` leaves
            them in the graph, as undirected models see it.
        seed: the seed of the drawing.
    """
    rng = np.random.default_rng(seed)
    edges, links, far = list(task.graph.edges), [], []
    for number in task.relations:
        drawn = task.positives["valid"][task.positives["valid"][:, 1] == number]
        every = np.concatenate([edges[number], drawn[:, [0, 2]]]).astype(np.int32)
        every, held = drawn_links(every, rng)
        if kind == "shared":
            held = with_reverses(every, held)
        edges[number] = every if kind == "kept" else every[~held]
        heads = every[held, 0]
        tails = rng.integers(*task.graph.starts[task.graph.relations[number].target :][:2], len(heads))
        links.append(np.insert(every[held], 1, number, axis=1))
        far.append(np.column_stack([heads, np.full(len(heads), number), tails]))
    for number in set(range(len(edges))) - set(task.relations) if kind in ("every", "shared") else ():
        every, held = drawn_links(edges[number], rng)
        edges[number] = every[~held]
    return replace(
        task,
        graph=task.graph.with_edges(edges),
        positives={**task.positives, "valid": np.concatenate(links).astype(np.int32)},
        negatives={**task.negatives, "valid": np.concatenate(far).astype(np.int32)},
    )


def drawn_links(
    pairs: NDArray[np.int32], rng: np.random.Generator
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Return pairs sorted by head, and which are drawn: one in ten, but never the first of a head."""
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    first = np.append(True, np.diff(pairs[:, 0]) > 0)
    return pairs, ~first & (rng.random(len(pairs)) < 0.1)


def with_reverses(pairs: NDArray[np.int32], drawn: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which pairs are drawn if a pair does as its reverse, where that comes before it."""
    fates = dict(zip(map(tuple, pairs.tolist()), drawn.tolist(), strict=True))
    return np.array([fates.get((v, u), one) if v < u else one for (u, v), one in fates.items()], dtype=bool)


def random_pair_scores(task: TypedLinkTask, scorer: Any) -> Iterator[tuple[str, float]]:
    """Yield the scores against pairs with random heads and tails, as many as there are test links.

    Most heads then have no negative, and a reciprocal rank of 1.
    """
    rng = np.random.default_rng(0)
    links = task.positives["test"].astype(np.int64)
    known = {tuple(pair) for one in task.graph.edges for pair in one.tolist()}
    known |= {(source, target) for part in task.positives.values() for source, _, target in part.tolist()}
    drawn = []
    for _, number, _ in links.tolist():
        relation = task.graph.relations[number]
        pair = tuple(
            int(rng.integers(*task.graph.starts[kind : kind + 2]))
            for kind in (relation.source, relation.target)
        )
        # A known link is drawn so rarely that leaving it out changes nothing.
        if pair not in known and pair[::-1] not in known:
            drawn.append((pair[0], number, pair[1]))
    negatives = np.array(drawn)
    near, far = (np.asarray(scorer.score_links(one), dtype=np.float64) for one in (links, negatives))
    below = np.searchsorted(np.sort(far), near, side="left")
    tied = np.searchsorted(np.sort(far), near, side="right") - below
    yield "roc-auc, random pairs", 100 * float((below + tied / 2).mean() / len(far))
    ranks = []
    for head in np.unique(links[:, 0]):
        ranks.append(1 + int((far[negatives[:, 0] == head] > near[links[:, 0] == head].max()).sum()))
    yield "head-mrr, random pairs", 100 * float(np.mean(1 / np.array(ranks)))


def links_of_seen_nodes(task: TypedLinkTask) -> TypedLinkTask:
    """Return a task without the test links of nodes that have no training edges."""
    seen = np.zeros(task.graph.num_nodes, dtype=bool)
    for edges in task.graph.edges:
        seen[edges] = True
    return links_of_nodes(task, seen)


def links_of_walks(task: TypedLinkTask, walked: str) -> TypedLinkTask:
    """Return a task without the test links of nodes that are in no walk of HGB's GATNE on PubMed.

    Its walks begin at the nodes of the right type in every relation, but follow ``walked`` alone.
    """
    found = np.zeros(task.graph.num_nodes, dtype=bool)
    names = walked.split(", ")
    for relation, edges in zip(task.graph.relations, task.graph.edges, strict=True):
        nodes = np.unique(edges)
        first = None if relation.name in names else GATNE_FIRST.get(relation.name, "")
        kinds = np.array(task.graph.node_types)[task.graph.types[nodes]]
        found[nodes if first is None else nodes[kinds == first]] = True
    return links_of_nodes(task, found)


def links_of_nodes(task: TypedLinkTask, kept: NDArray[np.bool_]) -> TypedLinkTask:
    """Return a task without the test links of the other nodes."""
    positives, negatives = (
        links[kept[links[:, 0]] & kept[links[:, 2]]]
        for links in (task.positives["test"], task.negatives["test"])
    )
    # A head that has lost all its positives leaves with its negatives.
    negatives = negatives[np.isin(negatives[:, 0], positives[:, 0])]
    return replace(task, positives={"test": positives}, negatives={"test": negatives})
