"""Splits of interactions: a share of each user's items, at random or by time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.graph.interactions import Interactions
from trueedge.graph.knowledge import KnowledgeGraph
from trueedge.randomness import generator
from trueedge.splits.ratio import check_ratios

RATIOS = (0.72, 0.08, 0.20)
WAYS = ("random", "time")


def split_interactions(
    data: Interactions, ratios: Sequence[float] = RATIOS, way: str = "random", seed: int = 0
) -> tuple[Interactions, dict[str, NDArray[np.int32]]]:
    """Return the training interactions, and the pairs of ``valid`` and ``test``.

    Each user's interactions are divided by the ratios, and every user keeps one for training. A published
    test part is kept: then only the rest is divided, by the first two ratios.

    Args:
        data: the interactions.
        ratios: the shares of train, valid and test.
        way: ``random``, or ``time``: the latest interactions of each user are the test part, and those before
            them the validation part.
        seed: the seed of the division.
    """
    train, valid, test = check_ratios(ratios)
    for part, share in (("train", train), ("valid", valid), ("test", test)):
        if not share and (part != "test" or data.test is None):
            raise InputError(f"ratios: the share of {part} is 0, but the {part} part cannot be empty")
    if way not in WAYS:
        raise InputError(f"split must be 'random' or 'time', got {way!r}")
    if way == "time" and data.times is None:
        raise InputError(f"{data.name} has no times: use split=random")
    rank = _ranks(data, way, seed)
    held: dict[str, NDArray[np.bool_]] = {}
    free = np.ones(data.num_interactions, dtype=np.bool_)
    if data.test is None:
        held["test"] = _latest(data, rank, free, test)
    else:
        held["test"] = np.array(data.test)
    free &= ~held["test"]
    held["valid"] = _latest(data, rank, free, valid / (train + valid))
    for part in ("valid", "test"):
        if not held[part].any():
            words = "validation" if part == "valid" else part
            raise InputError(f"{data.name}: the users have too few interactions for a {words} part")
    kept = replace(data.keep(free & ~held["valid"]), test=None)
    return kept, {part: np.ascontiguousarray(data.pairs[held[part]]) for part in ("valid", "test")}


def _ranks(data: Interactions, way: str, seed: int) -> NDArray[np.float64]:
    """Return a number for each interaction: those with the highest are held out."""
    drawn = generator(seed, "split", "interactions").permutation(data.num_interactions).astype(np.float64)
    if way == "random" or data.times is None:
        return drawn
    order = np.lexsort((drawn, data.times))
    ranks = np.empty(data.num_interactions)
    ranks[order] = np.arange(data.num_interactions)
    return ranks


def _latest(
    data: Interactions, rank: NDArray[np.float64], free: NDArray[np.bool_], share: float
) -> NDArray[np.bool_]:
    """Choose a share of each user's free interactions, those of the highest rank, but never all."""
    rows = np.flatnonzero(free)
    users = data.pairs[rows, 0]
    counts = np.bincount(users, minlength=data.num_users)
    taken = np.minimum(np.floor(share * counts + 0.5).astype(np.int64), np.maximum(counts - 1, 0))
    order = rows[np.lexsort((-rank[rows], users))]
    starts = np.cumsum(counts) - counts
    place = np.arange(len(order)) - starts[data.pairs[order, 0]]
    chosen = np.zeros(data.num_interactions, dtype=np.bool_)
    chosen[order[place < taken[data.pairs[order, 0]]]] = True
    return chosen


def core(data: Interactions, least: int) -> Interactions:
    """Return the interactions of users and items that have at least ``least`` of them: the k-core.

    Users and items that are left out get no number. A left-out item stays in the knowledge graph.
    """
    kept = np.ones(data.num_interactions, dtype=np.bool_)
    while True:
        users, items = data.pairs[kept].T
        many_users = np.bincount(users, minlength=data.num_users) >= least
        many_items = np.bincount(items, minlength=data.num_items) >= least
        now = kept & many_users[data.pairs[:, 0]] & many_items[data.pairs[:, 1]]
        if not now.any():
            raise InputError(
                f"{data.name}: no user and item have {least} interactions each: lower core={least}"
            )
        if now.sum() == kept.sum():
            break
        kept = now
    return renumbered(data.keep(kept), many_users, many_items)


def renumbered(data: Interactions, users: NDArray[np.bool_], items: NDArray[np.bool_]) -> Interactions:
    """Return the interactions with only some of the users and items, numbered anew in the same order."""
    place_of_user, place_of_item = np.cumsum(users) - 1, np.cumsum(items) - 1
    pairs = np.column_stack([place_of_user[data.pairs[:, 0]], place_of_item[data.pairs[:, 1]]])
    count = int(items.sum())
    knowledge = data.knowledge
    if knowledge is not None:
        # Left-out items come right after the others, as entities.
        place = np.arange(knowledge.num_entities)
        place[: data.num_items] = np.where(items, place_of_item, count + np.cumsum(~items) - 1)
        triples = knowledge.triples.copy()
        triples[:, 0], triples[:, 2] = place[triples[:, 0]], place[triples[:, 2]]
        names = np.empty(knowledge.num_entities, dtype=object)
        names[place] = knowledge.entities
        knowledge = KnowledgeGraph.from_triples(
            triples, entities=names.tolist(), relations=knowledge.relations, name=knowledge.name
        )
    return replace(
        data,
        pairs=pairs.astype(np.int32),
        num_users=int(users.sum()),
        num_items=count,
        users=_chosen(data.users, users),
        items=_chosen(data.items, items),
        knowledge=knowledge,
    )


def _chosen(names: tuple[str, ...] | None, kept: NDArray[np.bool_]) -> tuple[str, ...] | None:
    return None if names is None else tuple(name for name, one in zip(names, kept, strict=True) if one)
