"""Pairs with unknown candidates, and their scores as rows."""

from __future__ import annotations

import numpy as np

from trueedge.kernels.ranking.unknown_pairs import spread_scores, unknown_pairs


def test_pairs_are_all_candidates_that_are_not_known_and_scores_return_to_their_place():
    rng = np.random.default_rng(0)
    queries, columns = np.array([3, 5, 9, 12]), 40
    known = [rng.permutation(columns)[:size] for size in (0, 7, 40, 1)]
    lists = np.cumsum([0, *map(len, known)]), np.concatenate(known).astype(np.int32)
    starts, pairs = unknown_pairs(queries, lists, columns)
    expected = [
        (query, candidate)
        for query, own in zip(queries, known, strict=True)
        for candidate in range(columns)
        if candidate not in own
    ]
    assert pairs.tolist() == [list(pair) for pair in expected]
    assert starts.tolist() == [0, 40, 73, 73, 112]
    table = rng.random((13, columns))
    rows = spread_scores(table[pairs[:, 0], pairs[:, 1]], starts, lists, columns)
    for row, (query, own) in enumerate(zip(queries, known, strict=True)):
        table[query, own] = 0.0
        assert np.array_equal(rows[row], table[query])
