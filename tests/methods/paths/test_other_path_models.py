"""A*Net, RED-GNN, AdaProp, DRUM and NeuralLP: what they select, count and see."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import trueedge as te  # noqa: E402
from trueedge.methods.method import create  # noqa: E402
from trueedge.methods.paths.models.attentive import AttentiveNetwork  # noqa: E402
from trueedge.methods.paths.models.network import FullNetwork, Shape  # noqa: E402
from trueedge.methods.paths.models.rules import DrumNetwork, NeuralLpNetwork  # noqa: E402
from trueedge.methods.paths.models.searching import SearchingNetwork  # noqa: E402
from trueedge.methods.paths.models.subgraphs import SubgraphNetwork  # noqa: E402
from trueedge.training.loop import seeded  # noqa: E402
from trueedge.training.paths.edges import Edges  # noqa: E402
from trueedge.training.paths.frontier import Frontier  # noqa: E402
from trueedge.training.paths.model import PathModel  # noqa: E402
from trueedge.training.paths.objective import SoftmaxObjective  # noqa: E402

ENTITIES, RELATIONS = 14, 3
HEADS, ASKED = torch.tensor([0, 3, 3, 7]), torch.tensor([0, 4, 1, 5])


def edges_of(seed: int = 0, count: int = 40) -> Edges:
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, [ENTITIES, RELATIONS, ENTITIES], (count, 3))
    triples = np.unique(drawn[drawn[:, 0] != drawn[:, 2]], axis=0)
    return Edges.of_triples(triples, ENTITIES, RELATIONS)


def searching(node_share: float, **settings: object) -> SearchingNetwork:
    with seeded(0):
        shape = Shape(2 * RELATIONS, 4, 3, aggregation="sum")
        return SearchingNetwork(shape, node_share, 1.0, **settings)  # type: ignore[arg-type]


MODELS = {
    "astarnet": lambda: searching(0.3),
    "tagnet+astarnet": lambda: searching(0.3, delta=1),
    "red-gnn": lambda: AttentiveNetwork(2 * RELATIONS, 4, 3, 2, 0.0),
    "adaprop": lambda: AttentiveNetwork(2 * RELATIONS, 4, 3, 2, 0.0, top=2),
    "drum": lambda: DrumNetwork(2 * RELATIONS, 4, 3, 2),
    "grail": lambda: SubgraphNetwork(2 * RELATIONS, 4, 2, 2, 2, 3, 0.0),
    "neurallp": lambda: NeuralLpNetwork(2 * RELATIONS, 4, 3),
}


@pytest.fixture(params=sorted(MODELS))
def model(request: pytest.FixtureRequest) -> PathModel:
    with seeded(0):
        made: PathModel = MODELS[request.param]()
    return made


def test_chosen_targets_score_as_among_all_and_alone(model: PathModel) -> None:
    edges, targets = edges_of(), torch.tensor([[1, 2], [0, 13], [5, 5], [7, 8]])
    with torch.no_grad():
        every = model.score(edges, HEADS, ASKED)
        assert every.shape == (4, ENTITIES)
        assert torch.isfinite(every).all()
        assert torch.equal(model.score(edges, HEADS, ASKED, targets), every.gather(1, targets))
        assert torch.allclose(model.score(edges, HEADS[2:3], ASKED[2:3]), every[2:3], atol=1e-5)


def test_every_weight_gets_a_gradient(model: PathModel) -> None:
    edges = edges_of(1)
    loss = model.score(edges, HEADS, ASKED).square().sum()
    loss.backward()
    unused = [name for name, value in model.named_parameters() if value.grad is None]
    assert unused == []


def test_entities_out_of_reach_all_score_alike(model: PathModel) -> None:
    edges = Edges.of_triples(np.array([[0, 0, 1], [2, 1, 3], [3, 2, 4]]), 6, RELATIONS)
    with torch.no_grad():
        scores = model.score(edges, torch.tensor([0]), torch.tensor([1]))[0]
    assert torch.unique(scores[2:]).numel() == 1
    assert scores[1] != scores[2]


def test_grail_sees_the_subgraph_between_a_pair_and_nothing_else() -> None:
    chain = np.array([[0, 0, 1], [1, 0, 2], [2, 0, 3], [3, 0, 4], [4, 0, 5], [0, 1, 2]])
    edges = Edges.of_triples(chain, 6, RELATIONS)
    with seeded(0):
        model = SubgraphNetwork(2 * RELATIONS, 4, 2, 2, 2, 3, 0.0)

    def ask(*gone: list[int]) -> torch.Tensor:
        seen = edges.without(torch.tensor([*gone])) if gone else edges
        return model.score(seen, torch.tensor([0]), torch.tensor([1]), torch.tensor([[2]]))

    with torch.no_grad():
        # Entities 4 and 5 are more than two hops from the head: their edges do not matter.
        assert torch.allclose(ask([4, 0, 5]), ask())
        assert torch.allclose(ask([4, 0, 5], [3, 0, 4]), ask())
        assert not torch.allclose(ask([1, 0, 2]), ask())


def slow_frontier(edges: Edges, chosen: set[int], allowed: set[tuple[int, int]] | None = None) -> list:
    triples = zip(edges.head.tolist(), edges.relation.tolist(), edges.tail.tolist(), strict=True)
    return sorted((h, r, t) for h, r, t in triples if h in chosen and (allowed is None or (h, t) in allowed))


def test_a_frontier_gives_the_edges_that_leave_chosen_entities() -> None:
    edges, chosen = edges_of(2), {1, 4, 9}
    frontier = Frontier(edges, torch.tensor([1]))
    mask = torch.zeros(1, ENTITIES, dtype=torch.bool)
    mask[0, list(chosen)] = True
    step, rows = frontier.step(*frontier.leaving(mask, 1))
    expected = slow_frontier(edges, chosen)
    target = rows[step.targets()]
    found = sorted(zip(step.source.tolist(), step.relation.tolist(), target.tolist(), strict=True))
    assert found == expected
    assert frontier.num_messages == [len(expected)]


def test_tagnet_with_astarnet_keeps_what_both_keep() -> None:
    edges, source = edges_of(3), 2
    distance = edges.distances(torch.tensor([source]), 3)[0].tolist()
    for t in range(1, 4):
        frontier = Frontier(edges, torch.tensor([source]), delta=1, layers=3)
        everyone = torch.ones(1, ENTITIES, dtype=torch.bool)
        step, rows = frontier.step(*frontier.leaving(everyone, t))
        kept = {
            (u, v)
            for u in range(ENTITIES)
            for v in range(ENTITIES)
            if t - 1 <= distance[v] <= t and distance[u] < distance[v] + 1
        }
        expected = slow_frontier(edges, set(range(ENTITIES)), kept)
        target = rows[step.targets()]
        assert (
            sorted(zip(step.source.tolist(), step.relation.tolist(), target.tolist(), strict=True))
            == expected
        )


def test_a_smaller_share_sends_fewer_messages_and_the_whole_share_all() -> None:
    edges = edges_of(4, 60)
    counts = []
    for share in (0.1, 0.5, 1.0):
        model = searching(share).train()
        model.score(edges, HEADS, ASKED)
        counts.append(model.num_messages)
    assert sum(counts[0]) < sum(counts[1]) < sum(counts[2])
    degrees = edges.degrees
    # In the first round only sources send.
    assert counts[2][0] == int(degrees[HEADS].sum())
    reached = edges.distances(HEADS, 2) <= 2
    assert counts[2][2] == int((reached * degrees).sum())
    full = FullNetwork(Shape(2 * RELATIONS, 4, 3)).plan(edges, HEADS)
    assert counts[2][2] <= full.num_messages[2]


def test_adaprop_keeps_few_new_entities_and_red_gnn_all() -> None:
    edges = edges_of(5, 60)
    with seeded(0):
        every, few = MODELS["red-gnn"](), AttentiveNetwork(2 * RELATIONS, 4, 3, 2, 0.0, top=1)
    every.score(edges, HEADS, ASKED)
    few.score(edges, HEADS, ASKED)
    assert every.num_messages[0] == few.num_messages[0]
    # After one round, a query has its source and one more; each sends along its edges and to itself.
    assert few.num_messages[1] <= 4 * 2 * (1 + int(edges.degrees.max()))
    assert sum(few.num_messages) < sum(every.num_messages)
    within = edges.distances(HEADS, 2) <= 2
    assert every.num_messages[2] == int((within * (edges.degrees + 1)).sum())


def test_drum_counts_the_walks_of_its_rules() -> None:
    edges = edges_of(6)
    with seeded(0):
        model = DrumNetwork(2 * RELATIONS, 4, 3, 2)
    matrices = torch.zeros(2 * RELATIONS + 1, ENTITIES, ENTITIES)
    matrices[edges.relation.long(), edges.tail.long(), edges.head.long()] = 1
    matrices[-1] = torch.eye(ENTITIES)
    with torch.no_grad():
        weights, scores = model.attention(ASKED), model.score(edges, HEADS, ASKED)
        for query in range(4):
            total = torch.zeros(ENTITIES)
            for rule in range(2):
                walks = torch.zeros(ENTITIES)
                walks[HEADS[query]] = 1
                for step in range(3):
                    walks = torch.einsum("r,rij,j->i", weights[query, step, :, rule], matrices, walks)
                total += walks
            assert torch.allclose(scores[query], torch.log(total.clamp(min=1e-20)), atol=1e-4)


def test_the_softmax_objective_asks_for_both_sides_of_a_triple() -> None:
    edges, triples = edges_of(7), np.array([[0, 0, 1]])
    with seeded(0):
        model = DrumNetwork(2 * RELATIONS, 4, 2, 1)
    batch = torch.from_numpy(triples)
    with torch.no_grad():
        found = SoftmaxObjective(triples, edges, 4).loss(model, batch)
        without = edges.without(batch)
        tail = model.score(without, batch[:, 0], batch[:, 1])[0].log_softmax(0)[1]
        head = model.score(without, batch[:, 2], batch[:, 1] + RELATIONS)[0].log_softmax(0)[0]
    assert float(found) == pytest.approx(-float(tail + head) / 2, rel=1e-5)


@pytest.mark.parametrize("name", sorted(MODELS))
def test_a_method_is_fitted_and_scores_entities_it_has_never_seen(name: str) -> None:
    # Relation 1 follows from relation 0 taken twice.
    chain = [[i, 0, i + 1] for i in range(11)] + [[i, 1, i + 2] for i in range(10)]
    graph = te.KnowledgeGraph.from_triples(np.array(chain), 12, 2)
    task = te.task(graph, "filtered", ratios=(0.8, 0.1, 0.1))
    scorer = create(name, {"epochs": 1, "dim": 4, "batch_size": 8}, "triples").fit(task, seed=0)
    other = te.KnowledgeGraph.from_triples(np.array([[0, 0, 1], [1, 0, 2]]), 5, 2)
    scores = scorer.with_graph(other).score_tails(np.array([0, 2]), np.array([1, 3]))
    assert scores.shape == (2, 5)
    assert task.evaluate(scorer)["mrr"] > 0
