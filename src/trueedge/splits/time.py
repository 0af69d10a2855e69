"""Train, valid and test by time: the earliest edges are for training."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError, is_number, must_be
from trueedge.graph import Graph
from trueedge.graph.graph import check_graph
from trueedge.randomness import generator
from trueedge.splits.ratio import check_ratios
from trueedge.splits.split import TIME, Split, hold_out, no_test_edges, share_of


def by_time(
    graph: Graph, ratios: Sequence[float] = (0.85, 0.05, 0.10), seed: int = 0, cut: object = None
) -> Split:
    """Divide the edges of a graph by time: the earliest are train, then come valid and test.

    A pair that occurs several times counts at its first time. The split's notes say how many edges share the
    time of a cut, and how many held-out edges have a node without a training edge. Valid and test are in the
    order of time.

    Args:
        graph: the whole graph, with times in ``edge_data["time"]``.
        ratios: the shares of train, valid and test, which sum to 1; the counts of valid and test are rounded
            down.
        seed: which of the edges that share the time of a cut are held out.
        cut: when the test part begins, or when valid and test begin, in place of the ratios: numbers, or
            dates such as ``"2020-01-31"`` (UTC) where times are seconds since 1970. Edges at that time are
            held out.
    """
    from trueedge.kernels.negatives.sampling import distinct

    times = times_of(check_graph(graph, "by_time"))
    if cut is not None:
        valid_from, test_from = check_cut(cut)
        order = np.argsort(times, kind="stable")
        first, second = np.searchsorted(times[order], [valid_from, test_from])
        name = "time, " + ", ".join(_cut_names(cut))
        if second == len(order):
            raise InputError(
                f"cut: no edge of {graph.name} is at {test_from:.16g} or later, so there is nothing to test"
                f" on; the last one is at {times.max():.16g}"
            )
        if not first:
            raise InputError(
                f"cut: no edge of {graph.name} is before {valid_from:.16g}, so there is nothing to train on;"
                f" the first one is at {times.min():.16g}"
            )
        notes: tuple[str, ...] = ()
    else:
        shares = check_ratios(ratios, "by_time")
        num_valid, num_test = (share_of(share, graph.num_edges) for share in shares[1:])
        if not num_test:
            raise no_test_edges("by_time", shares[2], graph)
        drawn = distinct(generator(seed, "split", "time"), graph.num_edges, graph.num_edges)
        order = np.lexsort((drawn, times))
        first, second = graph.num_edges - num_valid - num_test, graph.num_edges - num_test
        name = "time " + "/".join(f"{100 * share:g}" for share in shares)
        notes = _divided(times[order], first, second)
        name += f", seed {seed}" if notes else ""
    made = hold_out(graph, order[first:second], order[second:], name)
    return replace(made, notes=(*notes, *unseen(made)))


def times_of(graph: Graph) -> NDArray[Any]:
    """Return the times of a graph's edges, (m,), or raise an InputError if it has none."""
    if TIME not in graph.edge_data:
        raise InputError(
            f"the edges of {graph.name} have no times: use split=random, or name the column with --time"
            f" (in Python, edge_data={{{TIME!r}: …}})"
        )
    return graph.edge_data[TIME]


def unseen(split: Split) -> tuple[str, ...]:
    """Return a sentence on each part whose edges have nodes without a training edge."""
    degrees = split.train.degrees
    notes = []
    for part, pairs in (("valid", split.valid), ("test", split.test)):
        new = np.asarray(degrees[pairs] == 0)
        count = int(new.any(axis=1).sum())
        if count:
            nodes = len(np.unique(pairs[new]))
            have, what = ("have", "nodes") if nodes > 1 else ("has", "node")
            notes.append(
                f"{count:,} of {len(pairs):,} {part} edges have a node without a training edge:"
                f" {nodes:,} {what} {have} none"
            )
    return tuple(notes)


def check_cut(cut: object) -> tuple[float, float]:
    """Return when valid and test begin; both are the same if one time is given."""
    listed = _listed(cut)
    if not 1 <= len(listed) <= 2:
        raise must_be("cut", "by_time", "one time, or the times at which valid and test begin", cut)
    found = [_moment(one) for one in listed]
    if found[0] > found[-1]:
        raise InputError(f"cut: valid begins at {listed[0]}, which is after test begins at {listed[-1]}")
    return found[0], found[-1]


def _listed(cut: object) -> list[object]:
    if isinstance(cut, str):
        return [word.strip() for word in cut.split(",") if word.strip()]
    return list(cut) if isinstance(cut, (tuple, list)) else [cut]


def _moment(value: object) -> float:
    """Return a number, or the seconds from 1970 to a date."""
    if is_number(value):
        found = float(value)
    else:
        try:
            found = float(str(value))
        except ValueError:
            try:
                date = datetime.fromisoformat(str(value))
            except ValueError:
                raise must_be("cut", "by_time", "a number or a date such as 2020-01-31", value) from None
            found = (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    if not math.isfinite(found):
        raise must_be("cut", "by_time", "a number or a date such as 2020-01-31", value)
    return found


def _cut_names(cut: object) -> list[str]:
    listed = [str(one) for one in _listed(cut)]
    begins = ["valid", "test"] if len(listed) == 2 else ["test"]
    return [f"{part} from {one}" for part, one in zip(begins, listed, strict=True)]


def _divided(times: NDArray[Any], first: int, second: int) -> tuple[str, ...]:
    """Return a sentence if sorted times are equal on both sides of a cut."""
    shared = {
        float(times[place])
        for place in (first, second)
        if 0 < place < len(times) and times[place - 1] == times[place]
    }
    if not shared:
        return ()
    count = int(np.isin(times, list(shared)).sum())
    return (
        f"{count:,} edges share the time of a cut: which of them are held out is drawn at random; cut= takes"
        " a time instead of shares",
    )
