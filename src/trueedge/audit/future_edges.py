"""Times of edges: does a model know what came after a test edge?"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from trueedge.audit.check import STANDARD_ERRORS, Finding, Skipped, check, graded, percent, picture, smallest
from trueedge.audit.subject import LinkSubject
from trueedge.graph import in_sorted, pair_keys
from trueedge.splits.split import TIME

# A split by time has none; a twentieth can be edges of equal times, or a part with its own cut.
FUTURE_LOOK = 0.05
BINS = 5


def chance_median(edges: int) -> float:
    """Return how far the median of so few edges is from the middle of all, one time in a thousand."""
    return STANDARD_ERRORS * 0.5 / math.sqrt(edges)


@check(
    "future-edges",
    "leaks",
    title="training edges that are newer than test edges",
    question="Does a model know which edges came after a test edge?",
    rule=f"look: more than {percent(FUTURE_LOOK)} of the training edges are newer than the median test edge",
    advice="Use `--option split=time`, so that later edges are predicted from earlier ones",
    fewest={"test positives": smallest(chance_median, 0.5 - FUTURE_LOOK)},
    picture=picture("Training and test edges over time", "bars", "share of the edges", "time"),
)
def _future_edges(subject: LinkSubject) -> Finding | Skipped:
    train = subject.task.graph.edge_data.get(TIME)
    if train is None:
        return Skipped("the edges have no times")
    test = _test_times(subject)
    if test is None:
        return Skipped("the times of the test edges are not known")
    times = np.asarray(train, dtype=np.float64)
    median = float(np.median(test))
    share = float((times > median).mean())
    # What a model knows of the future of each test edge.
    newer = 1 - float(np.searchsorted(np.sort(times), test, side="right").mean()) / len(times)
    bounds = np.quantile(np.concatenate([times, test]), np.arange(1, BINS) / BINS)
    columns = {
        name: np.bincount(np.searchsorted(bounds, one), minlength=BINS) / len(one)
        for name, one in (("training edges", times), ("test edges", test))
    }
    return Finding(
        "future-edges",
        graded(share, FUTURE_LOOK, 1.0),
        percent(share),
        f"{percent(share)} of the training edges are newer than the median test edge, and on average"
        f" {percent(newer)} are newer than a test edge",
        {"share": share, "newer than a test edge": newer},
        {
            "time": np.array([f"{place + 1}. fifth" for place in range(BINS)]),
            **columns,
        },
        f"{len(test):,} test edges",
    )


def _test_times(subject: LinkSubject) -> NDArray[np.float64] | None:
    """Return the times of the test edges; None if they are not known."""
    whole, part = subject.timed, subject.task.part("test")
    if part.times is not None:
        return np.asarray(part.times, dtype=np.float64)
    if whole is None or TIME not in whole.edge_data or whole.num_nodes != subject.task.num_nodes:
        return None
    keys = pair_keys(part.positives.astype(np.int64), whole.num_nodes)
    keys = keys[in_sorted(keys, whole.edge_keys)]
    rows = np.searchsorted(whole.edge_keys, keys)
    return np.asarray(whole.edge_data[TIME][rows], dtype=np.float64) if len(keys) else None
