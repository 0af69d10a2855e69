"""Turn objects, callables and vectors into scorers of typed links: rows (source, relation, target)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.scorers.scorer import (
    CallableScorer,
    as_module_scorer,
    as_scorer,
    check_takes,
    is_module,
    is_table,
    scorer_name,
)


def as_link_scorer(thing: object, num_nodes: int) -> CallableScorer:
    """Return a scorer of links, int64 (n, 3).

    Args:
        thing: an object with ``score_links(links)``; an object with ``score(pairs)``, which ignores the
            relation; vectors of nodes (n, d), whose dot product is the score; a torch module or a function
            of links.
        num_nodes: the number of nodes.
    """
    if isinstance(thing, type):
        raise InputError(f"{thing.__name__} is a class: create an object, and give that as the scorer")
    name = scorer_name(thing)
    links: Any = getattr(thing, "score_links", None)
    if callable(links):
        check_takes(links, f"{name}.score_links", "links")
        return CallableScorer(links, name, (1,))
    if is_table(thing) or (hasattr(thing, "score") and not is_module(thing)):
        pairs = as_scorer(thing, num_nodes)
        return CallableScorer(lambda rows: pairs.score(_ends(rows)), name, (1,))
    if is_module(thing):
        return CallableScorer(as_module_scorer(thing, "links").score, name, (1,))
    if callable(thing):
        check_takes(thing, name, "links")
        return CallableScorer(thing, name, (1,))
    raise InputError(f"this task needs an object with score_links(links) or a function of links, got {name}")


def _ends(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.ascontiguousarray(rows[:, [0, 2]])
