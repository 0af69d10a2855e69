"""Check what a scorer of items looks at: the user, or only how many users an item has."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trueedge.scorers.probe import CheckResult
from trueedge.scorers.triple_check import COUNTED, correlation

# Scores that are compared at a time: with all copies they take 400 MB.
CHECKED_SCORES = 1 << 22
FEWEST_USERS = 50
USERS_COMPARED = 200
USERS_RANKED = 20
# The rank correlation of two orders that are the same, up to rounding.
SAME_ORDER = 1 - 1e-6
# Above this share of tied neighbours in the order of items, ties decide who is recommended.
MANY_TIES = 0.05


def most_users(sample: int, num_items: int) -> int:
    """Return how many users are checked, so that their scores fit into memory."""
    return min(sample, max(FEWEST_USERS, CHECKED_SCORES // max(num_items, 1)))


def check_items(scores: NDArray[np.float64], counts: NDArray[np.int64]) -> list[CheckResult]:
    """Check whether scores (users, items) tell items apart, and depend on the user.

    Args:
        scores: the scores of all items for some users.
        counts: int64 (items,), the number of users of each item in training.
    """
    if not np.isfinite(scores).all() or scores.shape[1] < 2:
        return []
    flat = (scores == scores[:, :1]).all(axis=1)
    if flat.all():
        return [CheckResult("broken", "constant", "all items of a user get the same score")]
    several = f"{int(flat.sum())} of {len(flat)} users give all items the same score" if flat.any() else ""
    found = [
        CheckResult("look" if several else "ok", "constant", several or "the scores of a user differ"),
        _ties(scores[:USERS_COMPARED]),
        _user(scores[:USERS_COMPARED]),
        _popularity(scores[:USERS_RANKED], counts),
    ]
    return [one for one in found if one is not None]


def _ties(scores: NDArray[np.float64]) -> CheckResult:
    ordered = np.sort(scores, axis=1)
    share = float(np.mean(ordered[:, 1:] == ordered[:, :-1]))
    said = f"{share:.2%} of the items of a user tie with the next one"
    return CheckResult("look" if share > MANY_TIES else "ok", "ties", said)


def _user(scores: NDArray[np.float64]) -> CheckResult | None:
    """Compare the order of items of each user with that of the next one."""
    from scipy.stats import rankdata

    ranked = rankdata(scores, axis=1)
    likeness = correlation(ranked[:-1], ranked[1:])
    if not len(likeness):
        return None
    same = int((likeness >= SAME_ORDER).sum())
    if 2 * same < len(likeness):
        return CheckResult("ok", "user", "the scores depend on the user")
    compared = f"{same} of {len(likeness)} pairs of users get the same order of items"
    return CheckResult("look", "user", f"looks only at the item: the user is ignored, {compared}")


def _popularity(scores: NDArray[np.float64], counts: NDArray[np.int64]) -> CheckResult:
    """Compare the order of the items with that by their number of users."""
    from scipy.stats import rankdata

    ranked = rankdata(scores, axis=1)
    found = correlation(ranked, np.broadcast_to(rankdata(counts), ranked.shape))
    if len(found) and np.median(found) >= COUNTED:
        by = f"items are ranked by their number of users (rank correlation {np.median(found):.2f})"
        return CheckResult("look", "popularity", f"only counts: {by}")
    return CheckResult("ok", "popularity", "items are not ranked by their number of users alone")
