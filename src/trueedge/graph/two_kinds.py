"""Whether the two columns of an edge list hold nodes of two kinds, such as users and items."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.graph import column_names
from trueedge.graph.bipartite import bipartite_edges

# Who acts, and on what: a column of either sort holds nodes of another kind.
ACTORS = frozenset(
    {"user", "customer", "reviewer", "author", "actor", "member", "visitor", "client", "reader", "listener"}
    | {"student", "patient", "player", "voter", "subscriber", "viewer", "shopper", "drug", "gene", "employee"}
)
THINGS = frozenset(
    {
        "item",
        "product",
        "movie",
        "film",
        "book",
        "artist",
        "track",
        "song",
        "album",
        "business",
        "asin",
        "game",
    }
    | {
        "paper",
        "article",
        "venue",
        "restaurant",
        "video",
        "course",
        "event",
        "page",
        "playlist",
        "isbn",
        "club",
    }
    | {
        "recipe",
        "hotel",
        "place",
        "location",
        "tag",
        "anime",
        "story",
        "disease",
        "project",
        "company",
        "app",
    }
)
# Words of a name that say nothing about what a node is.
EMPTY_WORDS = frozenset({"id", "ids", "key", "name", "node", "vertex", "index", "idx", "number", "no"})
MAY_BE_TWO = (
    "if the two columns are different kinds of nodes, such as users and items, pass --bipartite"
    " (bipartite=True)"
)
# If ids are in both columns, nearly all files have one among so many rows.
ROWS_LOOKED_AT = 1000


@dataclass(frozen=True, eq=False)
class TwoSides:
    """The two sides of an edge list.

    Attributes:
        of: int8 (n,), the side of each node.
        said: a sentence for the user.
        certain: whether the columns are of two kinds for sure; if not, a graph without a cycle has no sides.
    """

    of: NDArray[np.int8]
    said: str
    certain: bool


@dataclass(frozen=True, eq=False)
class Numbered:
    """Edges with numbered nodes.

    Attributes:
        pairs: int64 array (m, 2).
        num_nodes: the number of nodes n.
        labels: the names of the nodes, n of them, or None where they are ``0..n-1``.
        sides: the sides, if the columns are of two kinds; else None.
        notes: decisions the user should know of.
    """

    pairs: NDArray[np.int64]
    num_nodes: int
    labels: tuple[str, ...] | None
    sides: TwoSides | None = None
    notes: tuple[str, ...] = ()


def tell_apart(
    pairs: NDArray[np.int64],
    num_nodes: int,
    labels: tuple[str, ...] | None,
    titles: tuple[str, str] | None = None,
    bipartite: bool | None = None,
    fixed: bool = False,
) -> Numbered:
    """Return the edges with nodes of two kinds told apart, if the columns hold two kinds.

    They do if the user or the names of the columns say so, or if no id is in both columns.

    Args:
        pairs: int64 array (m, 2), numbered as if the columns were of one kind.
        num_nodes: the number of nodes n.
        labels: the names of the nodes, n of them, or None where they are their numbers.
        titles: the names of the two columns, if they have any.
        bipartite: what the user says; None to detect it.
        fixed: whether ids are node numbers that must stay as they are.
    """
    as_it_is = Numbered(pairs, num_nodes, labels)
    if bipartite is False or not len(pairs):
        return as_it_is
    certain = bool(bipartite) or (titles is not None and two_kinds(*titles))
    ahead = pairs[:ROWS_LOOKED_AT]
    shared = bool(np.intersect1d(ahead[:, 0], ahead[:, 1]).size)
    if shared and not certain:
        return Numbered(pairs, num_nodes, labels, notes=_undecided(titles))
    words = prefixes(titles)
    edges, count, named, sides = bipartite_edges(pairs, num_nodes, labels, words)
    apart = count != num_nodes or named != labels
    if apart and not certain:
        return Numbered(pairs, num_nodes, labels, notes=_undecided(titles))
    if apart and fixed:
        node = int(np.intersect1d(pairs[:, 0], pairs[:, 1])[0])
        raise InputError(
            f"node {node if labels is None else repr(labels[node])} is in both columns, so they are not the"
            " two sides of a bipartite graph; without num_nodes and labels, ids are told apart by column"
        )
    first, second = (int((sides == side).sum()) for side in (0, 1))
    said = f"bipartite: {first:,} {words[0]} nodes and {second:,} {words[1]} nodes"
    if apart:
        assert named is not None
        # A node of either side, by its new name.
        u, v = named[int(edges[0, 0])], named[int(edges[0, 1])]
        said += f"; some ids are in both columns, so nodes are called {u!r} and {v!r}"
    hint = "" if bipartite else " (bipartite=False, --no-bipartite: read them as one kind)"
    return Numbered(edges, count, named, TwoSides(sides, said + hint, certain))


def two_kinds(first: str, second: str) -> bool:
    """Return whether the names of two columns are two kinds of nodes: ``user_id`` and ``item_id``."""
    ends = [set(_words(name)) for name in (first, second)]
    return any(ends[a] & ACTORS and ends[1 - a] & THINGS and not ends[a] & ends[1 - a] for a in (0, 1))


def prefixes(titles: tuple[str, str] | None) -> tuple[str, str]:
    """Return what nodes of two columns are called: ``user`` and ``item`` for ``user_id`` and ``item_id``."""
    if titles is None:
        return "source", "target"
    short = ["_".join(_words(title)) for title in titles]
    if all(short) and short[0] != short[1]:
        return short[0], short[1]
    plain = ["_".join(title.split()) for title in titles]
    return (plain[0], plain[1]) if all(plain) and plain[0] != plain[1] else ("source", "target")


def _undecided(titles: tuple[str, str] | None) -> tuple[str, ...]:
    """Return a note if the names of columns may be those of two kinds, but some ids are in both."""
    if titles is None or not all(map(column_names.is_id, titles)) or column_names.end_pairs(titles):
        return ()
    first, second = prefixes(titles)
    if first == second:
        return ()
    return (
        f"some ids are in both {titles[0]} and {titles[1]}, which are read as one kind of nodes:"
        " if they are two kinds, pass bipartite=True (--bipartite)",
    )


def _words(name: str) -> list[str]:
    words = [word.casefold() for word in re.findall("[A-Z]?[a-z]+|[A-Z]+", name)]
    return [_singular(word) for word in words if word not in EMPTY_WORDS]


def _singular(word: str) -> str:
    """Return ``user`` for ``userid`` and ``users``; a word that is no kind of node stays as it is."""
    short = re.sub("(ids?|s|key)$", "", word)
    return short if short in ACTORS | THINGS else word
