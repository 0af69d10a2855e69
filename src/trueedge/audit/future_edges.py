"""Times of edges: does a model know what came after a test edge?"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from trueedge.audit.check import STANDARD_ERRORS, Finding, Skipped, check, graded, percent, picture, smallest
from trueedge.audit.subject import LinkSubject
from trueedge.graph import in_sorted, pair_keys
from trueedge.randomness import generator
from trueedge.splits.time import TIME

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
    found = _test_times(subject, np.asarray(train, dtype=np.float64))
    if isinstance(found, Skipped):
        return found
    times, test, looked = found
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
        looked,
    )


def _test_times(
    subject: LinkSubject, train: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], str] | Skipped:
    """Return times of training and of test edges; training edges can stand for a random test part."""
    whole, positives = subject.timed, subject.task.part("test").positives
    if whole is not None and whole.num_nodes == subject.task.num_nodes:
        keys = pair_keys(positives.astype(np.int64), whole.num_nodes)
        keys = keys[in_sorted(keys, whole.edge_keys)]
        if len(keys):
            rows = np.searchsorted(whole.edge_keys, keys)
            return train, whole.edge_data[TIME][rows].astype(np.float64), f"{len(keys):,} test edges"
    how = str(subject.task.settings.get("split", ""))
    if not how.startswith(("ratio", "fraction")) or len(train) < 2:
        return Skipped("the times of the test edges are not known")
    order = generator(subject.seed, "audit", "future edges").permutation(len(train))
    few = max(1, min(len(positives), len(train) // 2))
    looked = f"{few:,} training edges that stand for the random test part, whose times the task does not keep"
    return train[order[few:]], train[order[:few]], looked
