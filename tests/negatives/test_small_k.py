"""Where a graph has fewer candidates than negatives are asked for, k is the most it allows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import trueedge as te
from heart_twin import candidates
from trueedge.errors import InputError
from trueedge.graph import Graph
from trueedge.negatives import heart
from trueedge.negatives.heart import largest_k


class Case(NamedTuple):
    """A small graph with pairs that are no edges, known pairs, and two sides if it is bipartite."""

    graph: Graph
    positives: np.ndarray
    known: np.ndarray | None
    keep_known: bool
    sides: np.ndarray | None

    def free(self, end: int, other: int) -> list[int]:
        """List the nodes that can take the other end's place, one by one."""
        known = [] if self.known is None else self.known.tolist()
        found = candidates(self.graph, end, other, known, self.keep_known)
        return [node for node in found if self.sides is None or self.sides[node] != self.sides[end]]

    @property
    def fewest(self) -> int:
        """The number of candidates of the end that has the fewest."""
        return min(len(self.free(*ends)) for a, b in self.positives.tolist() for ends in ((a, b), (b, a)))


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Draw dense and sparse graphs, so that ends have none, some or all of the nodes left."""
    nodes = draw(st.integers(4, 14))
    seed, share = draw(st.integers(0, 10_000)), draw(st.sampled_from([0.2, 0.5, 0.8, 0.95]))
    rng = np.random.default_rng(seed)
    sides = rng.permutation(np.arange(nodes) % 2) if draw(st.booleans()) else None
    grid = [
        (u, v) for u in range(nodes) for v in range(u + 1, nodes) if sides is None or sides[u] != sides[v]
    ]
    pairs = np.array(grid)[rng.permutation(len(grid))]
    held_out = draw(st.integers(1, 3))
    positives, rest = pairs[:held_out], pairs[held_out:]
    cut = max(1, int(share * len(rest)))
    known = rest[cut : cut + 3] if draw(st.booleans()) else None
    graph = Graph.from_edges(rest[:cut], nodes)
    return Case(graph, positives, known, draw(st.booleans()), sides)


@settings(max_examples=300, deadline=None)
@given(cases(), st.integers(1, 8))
def test_the_largest_k_is_twice_the_fewest_candidates_of_an_end(case: Case, half: int) -> None:
    asked = (case.known, case.keep_known, case.sides)
    assert largest_k(case.graph, case.positives, 2 * half, *asked) == 2 * min(half, case.fewest)


@settings(max_examples=150, deadline=None)
@given(cases(), st.sampled_from(["paper", "released"]))
def test_the_largest_k_can_be_drawn_and_takes_every_candidate_of_the_tightest_end(
    case: Case, ties: str
) -> None:
    half = case.fewest
    options = {"heuristics": ("ppr",), "known": case.known, "keep_known": case.keep_known}
    options |= {"ties": ties, "sides": case.sides}
    with pytest.raises(InputError, match=f"the largest possible k is {2 * half};?" if half else "no k is"):
        heart(case.graph, case.positives, 2 * half + 2, **options)
    if not half:
        return
    found = heart(case.graph, case.positives, 2 * half, **options)
    for (a, b), rows in zip(case.positives.tolist(), found.tolist(), strict=True):
        for end, other, part, column in ((a, b, rows[:half], 0), (b, a, rows[half:], 1)):
            picked = [pair[1 - column] for pair in part]
            among = case.free(end, other)
            assert {pair[column] for pair in part} == {end}
            assert len(set(picked)) == half
            assert set(picked) <= set(among)
            if len(among) == half:
                assert sorted(picked) == among


@settings(max_examples=30, deadline=None)
@given(st.integers(10, 20), st.integers(0, 10_000), st.sampled_from([0.3, 0.6, 0.9]))
def test_a_task_takes_the_largest_k_of_its_parts_and_says_so(nodes: int, seed: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    grid = np.array([(u, v) for u in range(nodes) for v in range(u + 1, nodes)])
    graph = Graph.from_edges(rng.permutation(grid)[: max(24, int(share * len(grid)))], nodes)
    try:
        task = te.task(graph, "heart", 0)
    except InputError as error:
        # Some end is joined to everybody.
        assert "no k is possible" in str(error)  # noqa: PT017
        return
    known = {"valid": None, "test": task.valid.positives}
    fewest = min(
        Case(task.graph, part.positives, known[name], False, None).fewest for name, part in task.parts.items()
    )
    assert task.test.negatives.shape[1] == task.settings["k"] == min(500, 2 * fewest)
    assert any(f"k = {2 * fewest}, the most this graph allows" in note for note in task.settings["notes"])
