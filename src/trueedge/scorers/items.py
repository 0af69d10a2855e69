"""Scorers of items: a row of scores, one for each item, for every user."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.metrics.scores import as_scores
from trueedge.scorers.capabilities import as_candidate_scorer
from trueedge.scorers.item_files import read_item_scores
from trueedge.scorers.named_ids import NamedIds
from trueedge.scorers.scorer import CallableScorer, check_takes, is_module, is_table, score_pairs, scorer_name


class FactorScorer:
    """Scores items by the dot product of the vectors of user and item, plus a bias of the item.

    Attributes:
        name: the name in messages.
        users: float32 (users, d).
        items: float32 (items, d).
        bias: float32 (items,), or None.
    """

    def __init__(
        self,
        users: NDArray[np.float32],
        items: NDArray[np.float32],
        bias: NDArray[np.float32] | None = None,
        name: str = "the vectors of users and items",
    ) -> None:
        self.users, self.items, self.bias, self.name = users, items, bias, name

    def score_candidates(self, users: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the score of every item for each user, float32 (n, items)."""
        with np.errstate(over="ignore", invalid="ignore"):  # infinite scores are refused, with a sentence
            scores = self.users[users] @ self.items.T
        if self.bias is not None:
            scores += self.bias
        return np.asarray(scores)


def as_item_scorer(
    thing: object,
    num_users: int,
    num_items: int,
    users: Sequence[str] | None = None,
    items: Sequence[str] | None = None,
) -> CallableScorer:
    """Return a scorer that answers users, int64 (n,), with a row of scores, one for each item.

    Args:
        thing: an object with ``score_candidates(users)``; a pair of arrays, the vectors of users and of
            items, whose dot product is the score; an array (users, items); an object with ``score(pairs)``,
            which is asked for every pair of user and item; a torch module or a function of users; or the
            path of a file of recommended lists or scores.
        num_users: the number of users.
        num_items: the number of items.
        users: the names of the users, which a file may use.
        items: the names of the items, which a file may use.
    """
    if isinstance(thing, (str, Path)):
        ids = NamedIds("user", users, num_users), NamedIds("item", items, num_items)
        thing = read_item_scores(thing, *ids)
    if isinstance(thing, (tuple, list)) and len(thing) == 2 and all(is_table(one) for one in thing):
        return as_candidate_scorer(_factors(thing, num_users, num_items))
    if is_table(thing):
        table = as_scores(thing, "scores")
        if table.shape != (num_users, num_items):
            raise InputError(
                f"an array of scores must have the shape ({num_users}, {num_items}), got {table.shape}"
            )
        return CallableScorer(lambda users: table[users], "the array of scores", (2,))
    pairwise: Any = getattr(thing, "score", None)
    if callable(pairwise) and not hasattr(thing, "score_candidates") and not is_module(thing):
        check_takes(pairwise, f"{scorer_name(thing)}.score", "pairs")
        return CallableScorer(lambda users: _by_pairs(thing, users, num_items), scorer_name(thing), (2,))
    return as_candidate_scorer(thing, "users", "an array of scores, a pair of arrays of vectors, ")


def _factors(given: Any, num_users: int, num_items: int) -> FactorScorer:
    users, items = as_scores(given[0], "vectors of users"), as_scores(given[1], "vectors of items")
    for table, count, noun in ((users, num_users, "users"), (items, num_items, "items")):
        if table.ndim != 2 or len(table) != count:
            raise InputError(f"there are {count} {noun}, but their vectors have the shape {table.shape}")
    if users.shape[1] != items.shape[1]:
        raise InputError(f"vectors of users have {users.shape[1]} numbers, those of items {items.shape[1]}")
    return FactorScorer(users, items)


def _by_pairs(scorer: Any, users: NDArray[np.int64], num_items: int) -> NDArray[np.float64]:
    pairs = np.column_stack([np.repeat(users, num_items), np.tile(np.arange(num_items), len(users))])
    return score_pairs(scorer, pairs).reshape(len(users), num_items)
