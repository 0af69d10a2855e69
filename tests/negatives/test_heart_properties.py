"""Properties of the HeaRT negatives over many small graphs."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import trueedge.graph as tg
from trueedge.errors import InputError
from trueedge.negatives.heart import heart


@st.composite
def requests(draw):
    """A small graph, positives, and every option."""
    nodes = draw(st.integers(2, 24))
    ids = st.integers(0, nodes - 1)
    pair = st.tuples(ids, ids).filter(lambda p: p[0] != p[1])
    edges = draw(st.lists(pair, max_size=40))
    features = None
    if draw(st.booleans()):
        values = st.sampled_from([-1.0, 0.0, 0.0, 0.5, 1.0, 2.0])
        features = draw(st.lists(st.lists(values, min_size=3, max_size=3), min_size=nodes, max_size=nodes))
    names = ["ra", "cn", "ppr"] + (["features"] if features is not None else [])
    graph = tg.Graph.from_edges(
        np.array(edges, dtype=np.int64).reshape(-1, 2), nodes, features, self_loops="drop", repeats="drop"
    )
    positives = np.array(draw(st.lists(pair, min_size=1, max_size=6)))
    return (
        graph,
        positives,
        {
            "k": 2 * draw(st.integers(1, 6)),
            "heuristics": draw(st.lists(st.sampled_from(names), min_size=1, unique=True)),
            "known": draw(st.none() | st.lists(pair, max_size=8)),
            "keep_known": draw(st.booleans()),
            "eps": draw(st.sampled_from([1e-2, 1e-4, 1e-6])),
            "ties": draw(st.sampled_from(["paper", "released"])),
            "seed": draw(st.integers(0, 3)),
        },
    )


@settings(max_examples=1500, deadline=None)
@given(requests(), st.randoms(use_true_random=False))
def test_heart_keeps_its_promises(request, random):
    graph, positives, options = request
    try:
        negatives = heart(graph, positives, **options)
    except InputError:
        assert any(too_few(graph, pair, options) for pair in positives.tolist())
        return
    assert not any(too_few(graph, pair, options) for pair in positives.tolist())
    half = options["k"] // 2
    hidden = (
        graph if options["known"] is None else graph.with_edges(np.array(options["known"]).reshape(-1, 2))
    )
    assert negatives.min() >= 0
    assert negatives.max() < graph.num_nodes
    for (u, v), rows in zip(positives.tolist(), negatives, strict=True):
        assert (rows[:half, 0] == u).all()
        assert (rows[half:, 1] == v).all()
        assert (rows[:, 0] != rows[:, 1]).all()
        assert len(set(rows[:half, 1].tolist())) == len(set(rows[half:, 0].tolist())) == half
        assert v not in rows[:half, 1]
        assert u not in rows[half:, 0]
        if not options["keep_known"]:
            assert not hidden.has_edges(rows).any()
    chosen = random.sample(range(len(positives)), random.randint(1, len(positives)))
    assert (heart(graph, positives[chosen], **options) == negatives[chosen]).all()


def too_few(graph: tg.Graph, pair: list[int], options: dict) -> bool:
    known = options["known"] or []
    for a, b in (pair, pair[::-1]):
        out = {a, b}
        if not options["keep_known"]:
            out |= (
                set(graph.neighbors(a).tolist())
                | {v for u, v in known if u == a}
                | {u for u, v in known if v == a}
            )
        if graph.num_nodes - len(out) < options["k"] // 2:
            return True
    return False
