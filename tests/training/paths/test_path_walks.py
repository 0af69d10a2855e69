"""Triton's kernels for plans and layers against lists of edges and plain torch.

On a machine without a GPU: TRITON_INTERPRET=1.
"""

from __future__ import annotations

import os

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from trueedge.methods.paths.models.network import FullNetwork, PathNetwork, Shape  # noqa: E402
from trueedge.methods.paths.models.truncated import TruncatedNetwork  # noqa: E402
from trueedge.training.loop import seeded  # noqa: E402
from trueedge.training.paths import walks  # noqa: E402
from trueedge.training.paths.edges import Edges  # noqa: E402
from trueedge.training.paths.steps import Plan, full_plan, pruned_plan  # noqa: E402
from trueedge.training.paths.walks import WalkedPlan, walked_full_plan, walked_pruned_plan  # noqa: E402

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
ENTITIES, RELATIONS, LAYERS = 9, 3, 3

pytestmark = pytest.mark.skipif(
    walks.gpu_kernels() is None or (DEVICE == "cpu" and os.environ.get("TRITON_INTERPRET") != "1"),
    reason="needs triton, and a GPU or TRITON_INTERPRET=1",
)


def make_edges(seed: int, removed: bool, count: int = 9) -> Edges:
    """Return random edges; entity 8 has none, and 6 and 7 only each other."""
    rng = np.random.default_rng(seed)
    triples = rng.integers(0, [6, RELATIONS, 6], (count, 3))
    triples = np.unique(np.concatenate([triples, [[6, 0, 7]]]), axis=0)
    edges = Edges.of_triples(triples, ENTITIES, RELATIONS, DEVICE)
    return edges.without(torch.from_numpy(triples[::4]).to(DEVICE)) if removed else edges


def listed_messages(plan: Plan) -> list[set[tuple[int, ...]]]:
    """The messages of each round: query, sender, relation, receiver."""
    query, entity = plan.query.tolist(), plan.entity.tolist()
    rounds = []
    for step in plan.steps:
        target = (step.targets() + step.first).tolist()
        found = zip(step.source.tolist(), step.relation.tolist(), target, strict=True)
        width = plan.edges.num_relations
        rounds.append({(query[v], entity[u], r - query[v] * width, entity[v]) for u, r, v in found})
    return rounds


def walked_messages(plan: WalkedPlan) -> list[set[tuple[int, ...]]]:
    """The same, by the rule that kernels follow."""
    edges, row_of = plan.edges, plan.row_of.tolist()
    kept = [True] * len(edges) if edges.kept is None else edges.kept.tolist()
    every = list(zip(edges.head.tolist(), edges.relation.tolist(), edges.tail.tolist(), kept, strict=True))
    rounds = []
    for step in plan.steps:
        found = set()
        for row in range(step.first, step.last):
            query, entity = int(plan.query[row]), int(plan.entity[row])
            bound = int(plan.described[row, 2])
            assert row_of[entity][query] == row
            found |= {
                (query, u, r, v)
                for u, r, v, keep in every
                if keep and v == entity and 0 <= row_of[u][query] < bound
            }
        rounds.append(found)
    return rounds


SOURCES = torch.tensor([0, 6, 8], device=DEVICE)
RELATION = torch.tensor([0, 5, 2], device=DEVICE)


@pytest.fixture(params=["no long rows", "long rows"], autouse=True)
def longest(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows with four edges or more count as long."""
    if request.param == "long rows":
        monkeypatch.setattr(walks, "LONG", 4)


@pytest.mark.parametrize("removed", [False, True])
@pytest.mark.parametrize("delta", [None, 0, 1, 2, 3])
def test_a_walk_passes_the_messages_of_the_list(delta: int | None, removed: bool) -> None:
    for seed in range(3):
        edges = make_edges(seed, removed)
        if delta is None:
            plan, walked = full_plan(edges, SOURCES, LAYERS), walked_full_plan(edges, SOURCES, LAYERS)
        else:
            plan = pruned_plan(edges, SOURCES, LAYERS, delta)
            walked = walked_pruned_plan(edges, SOURCES, LAYERS, delta)
            assert torch.equal(torch.sort(walked.distance).values, walked.distance)
        assert walked.num_rows == plan.num_rows
        degrees = edges.whole.degrees[walked.entity]
        for step in walked.steps:
            long = (degrees[step.first : step.last] >= walks.LONG).nonzero().flatten() + step.first
            assert walked.long_rows[step.first_long : step.last_long].tolist() == long.tolist()
        assert listed_messages(plan) == walked_messages(walked)
        assert walked.num_messages == plan.num_messages
        assert torch.equal(walked.rows < 0, plan.rows < 0)
        assert walked.entity[walked.starts].tolist() == SOURCES.tolist()
        assert walked.query[walked.starts].tolist() == list(range(len(SOURCES)))


@pytest.mark.parametrize("removed", [False, True])
def test_distances_equal_those_of_breadth_first_search(removed: bool) -> None:
    kernels = walks.gpu_kernels()
    for seed, limit in ((0, 1), (1, 2), (2, 6)):
        edges = make_edges(seed, removed)
        # More sources than a program takes.
        sources = torch.arange(70, device=DEVICE) % ENTITIES
        found = kernels.level_distances(edges, sources, limit)
        here = make_edges_on_cpu(edges)
        assert torch.equal(found.t().cpu(), here.distances(sources.cpu(), limit))


def make_edges_on_cpu(edges: Edges) -> Edges:
    kept = None if edges.kept is None else edges.kept.cpu()
    arrays = edges.head.cpu(), edges.relation.cpu(), edges.tail.cpu()
    whole = Edges(*arrays, edges.num_entities, edges.num_relations)
    return Edges(*arrays, edges.num_entities, edges.num_relations, whole, kept)


def make(delta: int | None, seed: int = 0, **settings: object) -> PathNetwork:
    shape = Shape(2 * RELATIONS, **{"dim": 6, "layers": LAYERS, **settings})  # type: ignore[arg-type]
    attention = "own" if delta == 3 else None
    with seeded(seed):
        model = FullNetwork(shape) if delta is None else TruncatedNetwork(shape, delta, attention)
        for layer in model.layers:
            if shape.bias:
                torch.nn.init.normal_(layer.norm.weight)
                torch.nn.init.normal_(layer.norm.bias)
    return model.to(DEVICE)


def scores_and_gradients(
    model: PathNetwork, edges: Edges, targets: torch.Tensor | None = None
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    model.zero_grad()
    torch.manual_seed(5)
    found = model.score(edges, SOURCES, RELATION, targets)
    torch.manual_seed(6)
    found.backward(torch.randn(found.shape).to(DEVICE))
    return found.detach(), {name: one.grad for name, one in model.named_parameters() if one.grad is not None}


CASES = [
    {},
    {"message": "transe"},
    {"bias": False, "degree_messages": True},
    {"bias": False, "start_messages": False},
    {"start_messages": False, "degree_messages": True},
    {"dependent": False, "dropout": 0.3, "dim": 5},
    # Too large for one kernel.
    {"dim": 40},
]


@pytest.mark.parametrize("removed", [False, True])
@pytest.mark.parametrize("delta", [None, 0, 1, 2, 3])
@pytest.mark.parametrize("settings", CASES, ids=lambda one: " ".join(one) or "plain")
def test_a_walked_network_equals_the_listed_one(
    settings: dict[str, object], delta: int | None, removed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    edges, model = make_edges(7, removed, 14), make(delta, **settings)
    if settings.get("dropout"):
        # Rows come in another order, so their dropout differs.
        monkeypatch.setattr(torch.nn.functional, "dropout", _alternating)
    monkeypatch.setattr(PathNetwork, "walks", False)
    expected, slopes = scores_and_gradients(model, edges)
    monkeypatch.setattr(PathNetwork, "walks", True)
    found, gradients = scores_and_gradients(model, edges)
    assert torch.allclose(found, expected, atol=1e-5)
    assert gradients.keys() == slopes.keys()
    for name, gradient in gradients.items():
        scale = slopes[name].abs().max().clamp(min=1.0)
        assert torch.allclose(gradient / scale, slopes[name] / scale, atol=2e-5), name


@pytest.mark.parametrize("delta", [0, 1, 2])
def test_the_states_that_kernels_do_not_read_are_zero(delta: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PathNetwork, "walks", True)
    edges, model = make_edges(7, False, 14), make(delta).eval()
    with torch.no_grad():
        plan = model.plan(edges, SOURCES)
        states = model.propagate(plan, model.query(RELATION))
    for number, step in enumerate(plan.steps, start=1):
        assert not states[number - 1][step.reached :].any()
        assert step.reached == int((plan.distance < number).sum())
    assert plan.steps[0].reached == len(SOURCES)


def _alternating(values: torch.Tensor, rate: float, training: bool = True) -> torch.Tensor:
    columns = torch.arange(values.shape[1], device=values.device) % 2
    return values * columns / rate if training else values


def test_only_targets_are_scored_as_among_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PathNetwork, "walks", True)
    targets = torch.tensor([[1, 2], [8, 7], [8, 3]], device=DEVICE)
    for delta in (None, 2):
        model, edges = make(delta).eval(), make_edges(3, True)
        with torch.no_grad():
            every = model.score(edges, SOURCES, RELATION)
            some = model.score(edges, SOURCES, RELATION, targets)
        assert torch.allclose(some, every.gather(1, targets), atol=1e-6)


@pytest.mark.parametrize("delta", [None, 1])
def test_a_batch_in_which_nothing_is_reached_keeps_its_sources(
    delta: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PathNetwork, "walks", True)
    edges, model = make_edges(0, False), make(delta, bias=False)
    alone = torch.tensor([8, 8], device=DEVICE)
    plan = model.plan(edges, alone)
    if delta is not None:
        assert plan.num_messages == [0] * LAYERS
    found = model.score(edges, alone, torch.tensor([0, 1], device=DEVICE))
    found.sum().backward()
    monkeypatch.setattr(PathNetwork, "walks", False)
    expected = model.score(edges, alone, torch.tensor([0, 1], device=DEVICE))
    assert torch.allclose(found, expected, atol=1e-5)


def test_a_graph_without_edges_gives_finite_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PathNetwork, "walks", True)
    edges = Edges.of_triples(np.empty((0, 3), int), 3, RELATIONS, DEVICE)
    for delta in (None, 1):
        model = make(delta)
        found = model.score(edges, torch.tensor([0, 2], device=DEVICE), torch.tensor([0, 1], device=DEVICE))
        found.sum().backward()
        assert torch.isfinite(found).all()


@pytest.mark.parametrize("delta", [None, 2])
def test_queries_that_are_columns_of_a_table_score_the_same(
    delta: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PathNetwork, "walks", True)
    edges, model = make_edges(0, False), make(delta)
    table = torch.stack([SOURCES, RELATION], dim=1)
    found = model.score(edges, table[:, 0], table[:, 1])
    assert torch.equal(found, model.score(edges, SOURCES, RELATION))
