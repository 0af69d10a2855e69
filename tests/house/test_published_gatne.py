"""GATNE with the settings of HGB's code, trained in numba."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.gatne_steps import Weights  # noqa: E402
from benchmarks.hgb_links import published_validation  # noqa: E402
from benchmarks.published_gatne import drawn_by_rank, sampled_neighbors, walked  # noqa: E402

import trueedge as te  # noqa: E402
from trueedge.tasks import TypedLinkTask  # noqa: E402

NODES, KINDS, NEAR, DIM, SIZE, WIDTH, RATE = 30, 3, 4, 12, 5, 6, 1e-2


def test_steps_are_those_of_torch_with_adam_on_all_weights() -> None:
    torch = pytest.importorskip("torch")
    functional = torch.nn.functional
    rng = np.random.default_rng(0)
    near = rng.integers(0, NODES, (NODES, KINDS, NEAR)).astype(np.int32)
    weights = Weights(near, DIM, SIZE, WIDTH, 200, rng)
    tables = [torch.nn.Parameter(torch.from_numpy(one.rows.astype(np.float64))) for one in weights.tables]
    base, edge, context, spread, hidden, score = tables
    adam = torch.optim.Adam(tables, lr=RATE)
    pairs = np.column_stack([rng.integers(0, top, 8 * 150) for top in (NODES, NODES, KINDS)]).astype(np.int32)
    # For a hundred steps, most nodes have no gradient, and yet Adam moves them.
    pairs[400:, :2] %= 5
    drawn = rng.integers(0, NODES, (len(pairs), 5)).astype(np.int32)
    drawn[400:] %= 5
    losses = np.concatenate(
        [weights.train(pairs[part], drawn[part], 8, RATE) for part in (slice(0, 640), slice(640, None))]
    )
    for step, loss in enumerate(losses):
        one = slice(8 * step, 8 * step + 8)
        node, other, kind = torch.from_numpy(pairs[one].T.astype(np.int64))
        far = torch.from_numpy(drawn[one].astype(np.int64))
        rows = torch.from_numpy(near.astype(np.int64))[node] * KINDS + torch.arange(KINDS)[:, None]
        gathered = edge[rows].sum(2)
        active = torch.tanh(torch.einsum("bks,bsw->bkw", gathered, hidden[kind].view(-1, SIZE, WIDTH)))
        share = torch.einsum("bkw,bw->bk", active, score[kind]).softmax(1)
        mixed = (share[:, :, None] * gathered).sum(1)
        added = torch.einsum("bs,bsd->bd", mixed, spread[kind].view(-1, SIZE, DIM))
        vectors = functional.normalize(base[node] + added, dim=1)
        wanted = -functional.logsigmoid((vectors * context[other]).sum(1))
        wanted = wanted - functional.logsigmoid(-(vectors[:, None] * context[far]).sum(2)).sum(1)
        adam.zero_grad()
        wanted.mean().backward()
        adam.step()
        assert loss == pytest.approx(wanted.mean().item(), rel=1e-4)
    found = weights.vectors(1, RATE)
    for mine, theirs in zip(weights.tables, tables, strict=True):
        # 200 steps of 0.01: a weight has moved by up to 2.
        np.testing.assert_allclose(mine.rows, theirs.detach().numpy(), atol=2e-3)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, rtol=1e-5)


def test_what_walks_meet_and_the_neighbours_of_a_node() -> None:
    task = te.task("bibliography", "typed-links", negatives="random")
    assert isinstance(task, TypedLinkTask)
    task = published_validation(task, "every", 0)
    found = walked(task, None, 0)
    graph = task.graph
    joined = {frozenset(pair) for edges in graph.edges for pair in edges.tolist()}
    met = {node for pair in joined for node in pair}
    assert set(found.nodes.tolist()) == met
    # Two nodes that are one step apart in a walk are joined by the relation.
    near = found.nodes[found.pairs[:, :2]]
    one_step = sum(frozenset(pair) in joined for pair in near[:2000].tolist())
    assert one_step > 900
    neighbors = sampled_neighbors(task, found.nodes, np.random.default_rng(0))
    for kind, edges in enumerate(graph.edges):
        both = {tuple(pair) for pair in np.concatenate([edges, edges[:, ::-1]]).tolist()}
        for place in (0, 5, len(found.nodes) - 1):
            node = int(found.nodes[place])
            others = {other for source, other in both if source == node}
            drawn = found.nodes[neighbors[place, kind]].tolist()
            assert set(drawn) <= (others or {node})
            if len(others) <= 10:
                assert set(drawn) == (others or {node})


def test_nodes_are_drawn_by_rank() -> None:
    drawn = drawn_by_rank(50, (100_000, 2), np.random.default_rng(0)).ravel()
    rank = np.arange(1, 51)
    wanted = np.log1p(1 / rank) / np.log(51)
    np.testing.assert_allclose(np.bincount(drawn, minlength=50) / len(drawn), wanted, atol=0.004)
