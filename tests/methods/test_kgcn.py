"""KGCN: states of items that depend on the user."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.planted_interactions import planted, tangled  # noqa: E402

import trueedge as te  # noqa: E402
from trueedge.errors import InputError  # noqa: E402
from trueedge.graph.interactions import Interactions  # noqa: E402
from trueedge.methods import create  # noqa: E402
from trueedge.methods.recommend.models import kgcn  # noqa: E402
from trueedge.methods.recommend.models.kgcn import KGCNModel  # noqa: E402
from trueedge.training.recommend.inputs import RecommendInputs  # noqa: E402

QUICK = {
    "pretrained": "none",
    "dim": 8,
    "out_dim": 6,
    "epochs": 30,
    "evaluate_every": 10,
    "batch_size": 128,
    "learning_rate": 0.02,
}
SIZES = {"published": [5, 5], "smaller": [5, 3], "two layers": [5, 5, 3]}


def model_of(data, sizes, concat=False, use="none", pretrained=None):
    """A model whose vectors are large enough for relations to matter."""
    torch.manual_seed(1)
    model = KGCNModel(RecommendInputs(data), sizes, concat, use, pretrained)
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(torch.randn_like(weight))
    return model


def brute_force(data, model):
    """The score of every item for every user, one neighbour at a time."""
    arrays = {name: weight.detach().double().numpy() for name, weight in model.state_dict().items()}
    facts = {tuple(map(int, fact)) for fact in data.knowledge.triples}
    facts |= {(tail, relation, head) for head, relation, tail in facts}
    depth = len(model.layers)

    def state(user, entity, layer):
        if layer == 0:
            return arrays["entities"][entity]
        total, sums = 0.0, 0.0
        for head, relation, tail in facts:
            if head == entity:
                weight = np.exp(arrays["users"][user] @ arrays["relations"][relation])
                total, sums = total + weight, sums + weight * state(user, tail, layer - 1)
        mean = sums / total if total else 0.0
        weight, bias = arrays[f"layers.{layer - 1}.weight"], arrays[f"layers.{layer - 1}.bias"]
        found = weight @ (state(user, entity, layer - 1) + mean) + bias
        return np.tanh(found) if layer == depth else np.maximum(found, 0)

    scores = np.zeros((data.num_users, data.num_items))
    for user, item in np.ndindex(scores.shape):
        vector = arrays["users"][user]
        mapped = arrays["user_map.weight"] @ vector if "user_map.weight" in arrays else vector
        scores[user, item] = mapped @ state(user, item, depth)
        if model.concat:
            scores[user, item] += vector @ arrays["entities"][item]
        if model.fixed_users is not None:
            scores[user, item] += arrays["fixed_users"][user] @ arrays["fixed_items"][item]
    return scores


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("concat", [False, True], ids=["state", "concat"])
def test_all_scores_equal_those_of_one_neighbour_at_a_time(sizes, concat):
    data = tangled(users=4)
    model, inputs = model_of(data, sizes, concat), RecommendInputs(data)
    with torch.no_grad():
        table = model.table(inputs, model.prepare(inputs), torch.arange(data.num_users))
    assert np.allclose(table, brute_force(data, model), atol=1e-5)


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_the_scores_of_a_batch_are_those_of_the_table(sizes):
    data = tangled()
    fixed = (torch.rand(data.num_users, 2), torch.rand(data.num_items, 2))
    model, inputs = model_of(data, sizes, True, "bias", fixed), RecommendInputs(data)
    rng = np.random.default_rng(0)
    users, items, others = (
        torch.tensor(rng.integers(0, count, 30)) for count in (data.num_users, data.num_items, data.num_items)
    )
    with torch.no_grad():
        above, below, penalty = model.batch(inputs, users, items, others)
        table = model.table(inputs, model.prepare(inputs), torch.arange(data.num_users))
    assert torch.allclose(above, table[users, items], atol=1e-5)
    assert torch.allclose(below, table[users, others], atol=1e-5)
    vectors = (model.users[users], model.entities[items], model.entities[others])
    norms = sum((one.detach() ** 2).sum() for one in vectors)
    assert penalty.item() == pytest.approx(norms.item() / 60, rel=1e-5)


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_small_blocks_and_a_table_without_sums_by_relation_give_the_same_scores(sizes, monkeypatch):
    data = tangled()
    model, inputs = model_of(data, sizes, True), RecommendInputs(data)
    users = torch.tensor([3, 0, 3, 6, 5])
    with torch.no_grad():
        whole = model.table(inputs, model.prepare(inputs), users)
        monkeypatch.setattr(kgcn, "BLOCK", 1)
        assert torch.allclose(model.table(inputs, model.prepare(inputs), users), whole, atol=1e-5)
        monkeypatch.setattr(kgcn, "LARGEST", 1)
        assert model.prepare(inputs) is None
        assert torch.allclose(model.table(inputs, None, users), whole, atol=1e-5)


def test_the_gradient_of_a_batch_is_that_of_finite_differences():
    data = tangled()
    model, inputs = model_of(data, [4, 4, 3], True), RecommendInputs(data)
    step = tuple(torch.tensor(one) for one in ([0, 1, 5, 6], [0, 3, 2, 8], [4, 1, 0, 7]))

    def loss():
        above, below, penalty = model.batch(inputs, *step)
        return (above - 0.3 * below).sum() + 0.1 * penalty

    loss().backward()
    torch.manual_seed(0)
    for name, weight in model.named_parameters():
        direction = torch.randn_like(weight)
        values = []
        for sign in (1, -1):
            with torch.no_grad():
                weight += sign * 1e-3 * direction
                values.append(loss().item())
                weight -= sign * 1e-3 * direction
        slope = (values[0] - values[1]) / 2e-3
        assert float((weight.grad * direction).sum()) == pytest.approx(slope, rel=0.03, abs=0.02), name


def test_weights_of_relations_stay_finite_when_a_user_likes_one_beyond_measure():
    data = tangled()
    model, inputs = model_of(data, [5, 3]), RecommendInputs(data)
    with torch.no_grad():
        model.relations *= 1000
    above, below, _ = model.batch(inputs, *(torch.arange(7) for _ in range(3)))
    (above + below).sum().backward()
    assert torch.isfinite(above).all()
    assert all(torch.isfinite(weight.grad).all() for weight in model.parameters())


def test_pretrained_vectors_can_be_the_first_vectors():
    data = tangled()
    fixed = (torch.rand(data.num_users, 5), torch.rand(data.num_items, 5))
    model = KGCNModel(RecommendInputs(data), [5, 3], False, "input", fixed)
    assert torch.equal(model.users, fixed[0])
    assert torch.equal(model.entities[: data.num_items], fixed[1])
    assert model.fixed_users is None


@pytest.mark.parametrize("settings", [{}, {"concat": False}, {"layers": 2}], ids=str)
def test_what_users_like_is_learned_from_the_knowledge_graph(settings):
    task = te.task(planted(), "full-ranking", seed=0)
    found = task.evaluate(create("kgcn", {**QUICK, **settings}).fit(task), "test", ["ndcg@10"])["ndcg@10"]
    common = task.evaluate(create("popularity").fit(task), "test", ["ndcg@10"])["ndcg@10"]
    assert found > common + 0.2


def test_the_same_seed_gives_the_same_bits_and_another_seed_others():
    task = te.task(planted(users=24), "full-ranking", seed=0)
    method = create("kgcn", {**QUICK, "epochs": 3})
    first, second, other = (method.fit(task, seed).score_candidates(np.arange(24)) for seed in (3, 3, 4))
    assert first.tobytes() == second.tobytes() != other.tobytes()


def test_data_without_a_knowledge_graph_is_refused():
    data = Interactions.from_pairs(planted().pairs, 64, 80, name="plain")
    with pytest.raises(InputError, match="kgcn needs a knowledge graph of the items, and plain has none"):
        create("kgcn", QUICK).fit(te.task(data, "full-ranking", seed=0))
