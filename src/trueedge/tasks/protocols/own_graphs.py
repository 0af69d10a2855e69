"""What protocols do with graphs of one's own: splits by time, and negatives between two sides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge import splits
from trueedge.errors import InputError
from trueedge.graph import Graph
from trueedge.graph.bipartite import check_sides, coloured, has_triangle, is_forest, sides_of
from trueedge.splits import Split
from trueedge.tasks.protocols.protocol import Request

SPLIT_OPTIONS: dict[str, Any] = {"split": "random", "cut": None}
OPTIONS: dict[str, Any] = {**SPLIT_OPTIONS, "bipartite": "auto"}
CHOICES = {"split": ("random", "time"), "bipartite": ("auto", "yes", "no")}
HELP = {
    "split": "'random', or 'time': the latest edges are the test part, and those before them the valid part",
    "cut": "with split=time, when the test part begins, or when valid and test begin: numbers or dates",
    "bipartite": "whether negatives join the two sides of a bipartite graph: 'auto' if your own graph is one,"
    " 'yes' or 'no'",
}
# Of what counts common neighbours, and of what follows longer paths.
ZERO_ACROSS = "cn, aa, ra and jaccard"
NOT_ZERO_ACROSS = "katz, lpi, lrw and ppr"


def divide(request: Request, graph: Graph, ratios: Sequence[float], random: Callable[[], Split]) -> Split:
    """Return the split by time if the request asks for it, else the random one."""
    if request.options.get("split", "random") == "time":
        return splits.by_time(graph, ratios, request.seed, request.options["cut"])
    if request.options.get("cut") is not None:
        raise InputError("cut is for splits by time: add split=time")
    return random()


def recorded(request: Request, split: Split, options: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return a task's settings: how the split was made, and the options.

    What the name of the split says is not repeated, so the settings of a random split are those of older
    versions.
    """
    used = dict(request.options) if options is None else options
    return {"split": split.name, **{key: value for key, value in used.items() if key not in OPTIONS}}


def two_sides(request: Request, split: Split) -> tuple[Split, dict[str, Any], tuple[str, ...]]:
    """Return a split whose training graph has its sides, between which negatives are drawn, or none.

    Data sets that are read by name are published with negatives among all nodes, so they are not looked at
    unless the option says ``yes``.

    Returns:
        the split, what the settings of the task say of it, and what its notes say.
    """
    asked = request.options.get("bipartite", "no")
    if asked == "no" or (asked == "auto" and request.source.given is None):
        return _with_sides(split, None), {}, ()
    known = split.train.sides is not None
    if asked == "auto" and not known and has_triangle(split.train):
        return split, {}, ()
    whole = split.train.with_edges(np.concatenate([split.valid, split.test]))
    sides = check_sides(whole) if asked == "yes" else sides_of(whole)
    if sides is None:
        return split, {}, _undecided(whole)
    first, second = (int((sides == side).sum()) for side in (0, 1))
    note = (
        f"{whole.name} is bipartite ({first:,} and {second:,} nodes): negatives join the two sides, where"
        f" {ZERO_ACROSS} are 0 by construction; {NOT_ZERO_ACROSS} are not"
    )
    return _with_sides(split, sides), {"bipartite": "yes"}, (note,)


def _with_sides(split: Split, sides: NDArray[np.int8] | None) -> Split:
    return split if split.train.sides is sides else replace(split, train=replace(split.train, sides=sides))


def with_notes(settings: dict[str, Any], *notes: str) -> dict[str, Any]:
    """Return settings with notes, if there are any."""
    return {**settings, "notes": notes} if notes else settings


def _undecided(graph: Graph) -> tuple[str, ...]:
    """Return a sentence on a graph that may be bipartite, but whose sides are not known."""
    colours, components = (None, 0) if has_triangle(graph) or is_forest(graph) else coloured(graph)
    if colours is None or components == 1:
        return ()
    return (
        f"{graph.name} may be bipartite, but its edges are in {components:,} components, so its sides are not"
        " known and negatives are drawn among all nodes; with bipartite=True (--bipartite) its two columns"
        " are the sides",
    )
