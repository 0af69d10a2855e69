"""NBFNet and TAGNet on knowledge graphs: their layers against plain formulas, and what they may see."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import trueedge as te  # noqa: E402
from trueedge.errors import InputError  # noqa: E402
from trueedge.methods.method import create  # noqa: E402
from trueedge.methods.paths.models.network import FullNetwork, PathNetwork, Shape  # noqa: E402
from trueedge.methods.paths.models.truncated import TruncatedNetwork  # noqa: E402
from trueedge.training.loop import seeded  # noqa: E402
from trueedge.training.paths.edges import Edges  # noqa: E402
from trueedge.training.paths.objective import KnownAnswers, PathObjective, as_queries  # noqa: E402
from trueedge.training.paths.scorer import PathScorer  # noqa: E402

ENTITIES, RELATIONS = 14, 3


def random_triples(seed: int = 0, count: int = 40) -> np.ndarray:
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, [ENTITIES, RELATIONS, ENTITIES], (count, 3))
    return np.unique(drawn[drawn[:, 0] != drawn[:, 2]], axis=0).astype(np.int32)


def edges_of(seed: int = 0, count: int = 40) -> Edges:
    return Edges.of_triples(random_triples(seed, count), ENTITIES, RELATIONS)


def make(kind: type[PathNetwork], *more: object, seed: int = 0, **settings: object) -> PathNetwork:
    shape = {"dim": 6, "layers": 4, **settings}
    with seeded(seed):
        model = kind(Shape(2 * RELATIONS, **shape), *more)  # type: ignore[arg-type]
    return model.double().eval()


QUERIES = torch.tensor([0, 3, 3, 7]), torch.tensor([0, 4, 1, 5])


def plain_nbfnet(model: PathNetwork, edges: Edges, head: int, relation: int) -> torch.Tensor:
    """The states of all entities, written as the paper's formulas, one entity and one message at a time."""
    dim, query = model.shape.dim, model.query.weight[relation]
    start = torch.zeros(edges.num_entities, dim, dtype=torch.float64)
    start[head] = query
    states, logs = start, torch.log1p(edges.degrees.double())
    triples = list(zip(edges.head.tolist(), edges.relation.tolist(), edges.tail.tolist(), strict=True))
    for layer in model.layers:
        vectors, new = layer.relations(query.unsqueeze(0)), []
        for entity in range(edges.num_entities):
            messages = [start[entity]]
            for h, r, t in triples:
                if t == entity:
                    messages.append(
                        states[h] * vectors[r]
                        if model.shape.message == "distmult"
                        else states[h] + vectors[r]
                    )
            stacked = torch.stack(messages)
            scale = torch.log(torch.tensor(float(len(messages)))) / logs.mean()
            if model.shape.aggregation == "pna":
                spread = stacked.var(0, unbiased=False).clamp(min=1e-6).sqrt()
                four = torch.cat([stacked.mean(0), stacked.amax(0), stacked.amin(0), spread])
                update = torch.cat([four, scale * four, four / scale.clamp(min=0.01)])
            else:
                update = {"sum": stacked.sum(0), "max": stacked.amax(0), "min": stacked.amin(0)}[
                    model.shape.aggregation
                ]
            hidden = layer.norm(layer.linear(torch.cat([states[entity], update])))
            new.append(torch.relu(hidden) + states[entity])
        states = torch.stack(new)
    return states


@pytest.mark.parametrize("dependent", [True, False])
@pytest.mark.parametrize(
    ("message", "aggregation"),
    [("distmult", "pna"), ("distmult", "sum"), ("distmult", "max"), ("distmult", "min"), ("transe", "pna")],
)
def test_nbfnet_equals_its_formulas(message: str, aggregation: str, dependent: bool) -> None:
    edges = edges_of()
    model = make(FullNetwork, message=message, aggregation=aggregation, dependent=dependent)
    with torch.no_grad():
        found = model.score(edges, *QUERIES)
        for row, (head, relation) in enumerate(zip(*(each.tolist() for each in QUERIES), strict=True)):
            states = plain_nbfnet(model, edges, head, relation)
            query = model.query.weight[relation].expand_as(states)
            # Scales are computed in single precision.
            assert torch.allclose(found[row], model.logits(states, query), atol=1e-5)


@pytest.mark.parametrize("aggregation", ["sum", "max", "min"])
def test_a_window_as_wide_as_the_rounds_gives_nbfnet(aggregation: str) -> None:
    # Without additive weights, what is not reached stays zero in NBFNet too.
    edges = edges_of(1, 60)
    assert int(edges.distances(QUERIES[0], 4).max()) <= 4, "all entities must be reached"
    settings = {"aggregation": aggregation, "bias": False}
    full, pruned = make(FullNetwork, **settings), make(TruncatedNetwork, 9, **settings)
    with torch.no_grad():
        assert torch.allclose(full.score(edges, *QUERIES), pruned.score(edges, *QUERIES), atol=1e-9)
        narrow = make(TruncatedNetwork, 0, **settings)
        assert not torch.allclose(full.score(edges, *QUERIES), narrow.score(edges, *QUERIES))


@pytest.mark.parametrize("attention", [None, "own", "score"])
@pytest.mark.parametrize("aggregation", ["pna", "published-pna", "sum"])
@pytest.mark.parametrize("start_messages", [True, False])
def test_chosen_targets_score_as_among_all(aggregation: str, start_messages: bool, attention) -> None:
    edges = edges_of(2, 20)
    model = make(
        TruncatedNetwork,
        1,
        attention,
        aggregation=aggregation,
        start_messages=start_messages,
        degree_messages=True,
    )
    targets = torch.tensor([[1, 2], [0, 13], [5, 5], [7, 8]])
    with torch.no_grad():
        every = model.score(edges, *QUERIES)
        assert every.shape == (4, ENTITIES)
        assert torch.isfinite(every).all()
        assert torch.allclose(model.score(edges, *QUERIES, targets), every.gather(1, targets))
        # A query does not depend on the others of its batch (the published scales do).
        if aggregation != "published-pna":
            alone = model.score(edges, QUERIES[0][1:2], QUERIES[1][1:2])
            assert torch.allclose(alone, every[1:2])


@pytest.mark.parametrize("bias", [True, False])
def test_layers_may_also_change_states_that_receive_nothing(bias: bool) -> None:
    edges = edges_of(2, 20)
    kept, changed = (make(TruncatedNetwork, 1, bias=bias, update_all=all) for all in (False, True))
    plan, query = kept.plan(edges, QUERIES[0]), kept.query(QUERIES[1])
    with torch.no_grad():
        states, others = kept.propagate(plan, query), changed.propagate(plan, query)
        # Sources receive in round 1 only.
        sources = slice(0, 4)
        assert torch.equal(states[4][sources], states[1][sources])
        expected = others[3][sources]
        layer = changed.layers[3]
        mapped = layer.linear(torch.cat([expected, expected.new_zeros(4, 12 * 6)], dim=1))
        assert torch.allclose(others[4][sources], torch.relu(layer.norm(mapped)) + expected)
        # Without additive weights, nothing comes from nothing.
        unreached = changed.unreached_state(query)
        assert bool((unreached != 0).any()) == bias
        targets = torch.arange(ENTITIES).expand(4, -1)
        assert torch.allclose(changed.score(edges, *QUERIES), changed.score(edges, *QUERIES, targets))


def test_attention_is_a_mean_over_the_window() -> None:
    edges = edges_of(3)
    model = make(TruncatedNetwork, 2, "score", 0.7)
    plan, query = model.plan(edges, QUERIES[0]), model.query(QUERIES[1])
    with torch.no_grad():
        states, found = model.propagate(plan, query), model.final_states(plan, query)
        for row in range(plan.num_rows):
            distance = int(plan.distance[row])
            window = torch.stack(states)[distance : min(distance + 2, 4) + 1, row]
            weights = model.logits(window, query[plan.query[row]].expand_as(window))
            expected = (torch.softmax(weights / 0.7, 0).unsqueeze(1) * window).sum(0)
            assert torch.allclose(found[row], expected)


def test_degree_messages_stand_for_the_edges_that_are_pruned() -> None:
    edges = edges_of(4)
    model = make(TruncatedNetwork, 0, aggregation="sum", degree_messages=True, layers=1, start_messages=False)
    plan = model.plan(edges, QUERIES[0][:1])
    step = plan.steps[0]
    with torch.no_grad():
        query = model.query(QUERIES[1][:1])
        layer = model.layers[0]
        relations, neighbours = layer.relations(query), plan.entity[step.first : step.last]
        for row, entity in enumerate(neighbours.tolist()):
            enters = (edges.tail == entity).nonzero().flatten()
            sent = [relations[edges.relation[e]] * query[0] for e in enters if edges.head[e] == QUERIES[0][0]]
            total = torch.stack(sent).sum(0) + (len(enters) - len(sent)) * layer.degree
            hidden = layer.linear(torch.cat([torch.zeros(6, dtype=torch.float64), total]))
            expected = torch.relu(layer.norm(hidden))
            assert torch.allclose(model.propagate(plan, query)[1][step.first + row], expected)


def test_all_weights_get_gradients_that_finite_differences_confirm(thorough: bool) -> None:
    edges = edges_of(5, 20)
    model = make(TruncatedNetwork, 1, "own", dim=2, layers=2, degree_messages=True, dependent=False)
    names = [name for name, _ in model.named_parameters()]

    def score(*weights: torch.Tensor) -> torch.Tensor:
        given = dict(zip(names, weights, strict=True))
        return torch.func.functional_call(
            _Scorer(model), {f"model.{k}": v for k, v in given.items()}, (edges,)
        )

    weights = tuple(value.detach().clone().requires_grad_() for value in model.parameters())
    assert torch.autograd.gradcheck(score, weights, atol=1e-4, fast_mode=not thorough)


class _Scorer(torch.nn.Module):
    def __init__(self, model: PathNetwork) -> None:
        super().__init__()
        self.model = model

    def forward(self, edges: Edges) -> torch.Tensor:
        return self.model.score(edges, *QUERIES)


def test_half_of_a_batch_asks_for_tails_and_half_for_heads() -> None:
    heads, relations, answers = as_queries(torch.tensor([[1, 0, 2], [3, 1, 4], [5, 2, 6]]), RELATIONS)
    assert heads.tolist() == [1, 3, 6]
    assert relations.tolist() == [0, 1, 2 + RELATIONS]
    assert answers.tolist() == [2, 4, 5]


def test_negatives_are_never_known_answers_and_all_others_are_drawn() -> None:
    triples = random_triples()
    known = KnownAnswers(Edges.of_triples(triples, ENTITIES, RELATIONS))
    true = {(h, r, t) for h, r, t in triples.tolist()} | {
        (t, r + RELATIONS, h) for h, r, t in triples.tolist()
    }
    heads, relations = torch.arange(ENTITIES).repeat_interleave(6), torch.arange(6).repeat(ENTITIES)
    torch.manual_seed(0)
    drawn, exist = known.sample_others(heads, relations, 400)
    assert exist.all()
    for h, r, row in zip(heads.tolist(), relations.tolist(), drawn.tolist(), strict=True):
        assert set(row) == {t for t in range(ENTITIES) if (h, r, t) not in true}


class _Watched(TruncatedNetwork):
    """Notes the edges that it is given."""

    def score(self, edges, heads, relations, targets=None):
        self.given = edges
        return super().score(edges, heads, relations, targets)


@pytest.mark.parametrize(("remove_all", "left"), [(False, [1, 1 + RELATIONS]), (True, [])])
def test_the_edge_that_is_asked_for_is_not_seen(remove_all: bool, left: list[int]) -> None:
    # Two relations between the same entities.
    triples = np.array([[0, 0, 1], [0, 1, 1]])
    objective = PathObjective(triples, Edges.of_triples(triples, 4, RELATIONS), 1, 2, 0.5, remove_all)
    model = make(_Watched, 1).float()
    assert torch.isfinite(objective.loss(model, torch.tensor([[0, 0, 1]])))
    assert sorted(model.given.compact().relation.tolist()) == left


def test_negatives_weigh_as_much_as_the_softmax_of_their_scores() -> None:
    triples = random_triples()
    edges, batch = Edges.of_triples(triples, ENTITIES, RELATIONS), torch.from_numpy(triples[:4].astype(int))
    model = make(TruncatedNetwork, 1).float()
    torch.manual_seed(0)
    found = PathObjective(triples, edges, 4, 5, 0.5).loss(model, batch)
    heads, relations, answers = as_queries(batch, RELATIONS)
    torch.manual_seed(0)
    negatives, _ = KnownAnswers(edges).sample_others(heads, relations, 5)
    with torch.no_grad():
        scores = model.score(edges.without(batch), heads, relations)
    expected = 0.0
    for row in range(4):
        false = scores[row, negatives[row]].double()
        weights = torch.exp(false / 0.5) / torch.exp(false / 0.5).sum()
        true = torch.log1p(torch.exp(-scores[row, answers[row]]))
        expected += float(true + (weights * torch.log1p(torch.exp(false))).sum()) / 8
    assert float(found.detach()) == pytest.approx(expected, rel=1e-5)


def test_a_query_that_every_entity_answers_has_no_loss() -> None:
    triples = np.array([[0, 0, tail] for tail in range(4)] + [[1, 1, 2]])
    objective = PathObjective(triples, Edges.of_triples(triples, 4, RELATIONS), 1, 2, 0.5)
    model = make(TruncatedNetwork, 1).float()
    assert float(objective.loss(model, torch.tensor([[0, 0, 1]])).detach()) == 0.0
    assert float(objective.loss(model, torch.tensor([[1, 1, 2]])).detach()) > 0.0


def test_known_answers_take_no_memory_for_pairs_that_are_no_query() -> None:
    relations = 10**12
    edges = Edges.of_triples(np.array([[0, 0, 1], [0, 7, 2]]), 3, 8)
    edges.num_relations = relations
    mask = KnownAnswers(edges).mask(torch.tensor([0, 0, 2]), torch.tensor([0, 7, relations - 1]))
    assert mask.tolist() == [[False, True, False], [False, False, True], [False, False, False]]


@pytest.mark.parametrize("name", ["nbfnet", "tagnet", "astarnet", "tagnet+astarnet"])
def test_an_odd_dimension_of_complex_numbers_is_refused(name: str, nations) -> None:
    with pytest.raises(InputError, match="dim must be even for message=rotate"):
        create(name, {"dim": 3, "message": "rotate"}, "triples").fit(nations)


@pytest.mark.parametrize("name", ["tagnet", "distmult"])
def test_a_metric_that_has_no_ranks_is_refused_before_the_training(name: str, nations) -> None:
    with pytest.raises(InputError, match="select: auc is no metric of ranked answers"):
        create(name, {"select": "auc", "epochs": 10**9}, "triples").fit(nations)


@pytest.fixture(scope="module")
def nations() -> te.tasks.TripleTask:
    return te.task("nations", "filtered")


@pytest.fixture(scope="module")
def few() -> te.tasks.TripleTask:
    """A part of the triples of nations, where it does not matter what is learned."""
    graph = te.load("nations")
    rng = np.random.default_rng(0)
    return te.task(graph.with_triples(rng.permutation(graph.triples)[:200]), "filtered", seed=0)


@pytest.mark.rotating(1)
@pytest.mark.parametrize("name", ["nbfnet", "tagnet"])
def test_a_fitted_method_beats_counting(name: str, nations) -> None:
    settings = {"epochs": 2, "layers": 2, "dim": 8, "learning_rate": 0.01}
    scorer = create(name, settings, "triples").fit(nations, seed=1)
    counted = create("relation-frequency", {}, "triples").fit(nations)
    assert nations.evaluate(scorer)["mrr"] > nations.evaluate(counted)["mrr"] + 0.05


def test_the_same_seed_gives_the_same_scores(few) -> None:
    method = create("tagnet", {"epochs": 1, "layers": 2, "dim": 4, "specific": True}, "triples")
    queries = few.queries("valid")[:5]
    first, second = (method.fit(few, seed=3).score_tails(*queries.T) for _ in range(2))
    assert torch.equal(first, second)
    assert not torch.equal(first, method.fit(few, seed=4).score_tails(*queries.T))


def test_a_scorer_takes_other_entities_and_answers_equal_queries_alike(few) -> None:
    scorer = create("tagnet", {"epochs": 1, "layers": 2, "dim": 4}, "triples").fit(few)
    assert isinstance(scorer, PathScorer)
    relations = few.graph.relations
    other = te.KnowledgeGraph.from_triples(np.array([[0, 1, 2], [2, 3, 3]]), 4, relations=relations)
    scores = scorer.with_graph(other).score_tails(np.array([0, 2, 0]), np.array([1, 3, 1]))
    assert scores.shape == (3, 4)
    assert torch.equal(scores[0], scores[2])


def test_a_plain_graph_is_refused() -> None:
    with pytest.raises(InputError, match="tagnet learns from a knowledge graph, and karate is a plain graph"):
        create("tagnet").fit(te.task("karate", "existing"))


def test_a_path_scorer_refuses_ids_and_graphs_that_do_not_fit(few) -> None:
    scorer = create("tagnet", {"epochs": 1, "layers": 1, "dim": 2}, "triples").fit(few)
    with pytest.raises(InputError, match="trained on 55 relations, and umls has 46"):
        scorer.with_graph(te.task("umls").graph)
    with pytest.raises(InputError, match="no relation has the id 110: there are 110"):
        scorer.score_tails(np.array([0, 1]), np.array([0, 110]))
    with pytest.raises(InputError, match="no entity has the id -1"):
        scorer.score_tails(np.array([-1]), np.array([0]))
    assert scorer.score_tails(np.array([], dtype=int), np.array([], dtype=int)).shape == (0, 14)
