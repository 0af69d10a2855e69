"""Simple-HGN and KGAT-: attention over users and entities."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.planted_interactions import planted, tangled  # noqa: E402

import trueedge as te  # noqa: E402
from trueedge.methods import create  # noqa: E402
from trueedge.training.recommend.inputs import RecommendInputs  # noqa: E402

NAMES = ("simple-hgn-rec", "kgat-minus")
QUICK = {
    "pretrained": "none",
    "dim": 8,
    "epochs": 30,
    "evaluate_every": 10,
    "batch_size": 128,
    "learning_rate": 0.02,
    "layers": 2,
}


def model_of(name, data, fixed=None, **settings):
    """An untrained model without dropout, and the inputs it sees."""
    inputs = RecommendInputs(data)
    shared = {"pretrained": "none", "dim": 8, "layers": 2, "dropout": 0.0}
    torch.manual_seed(0)
    model = create(name, {**shared, **settings}).build(None, inputs, fixed)
    return model.eval(), inputs


def table(model, inputs):
    with torch.no_grad():
        return model.table(inputs, model.prepare(inputs), torch.arange(inputs.num_users)).numpy()


def test_simple_hgn_without_its_parts_is_kgat_minus_with_the_same_weights():
    data = tangled()
    bare = {"edge_types": False, "residual": False, "beta": 0.0}
    simple, inputs = model_of("simple-hgn-rec", data, **bare)
    plain, _ = model_of("kgat-minus", data)
    assert not np.allclose(table(model_of("simple-hgn-rec", data)[0], inputs), table(plain, inputs))
    with torch.no_grad():
        for weight in plain.parameters():
            weight += 0.1 * torch.randn_like(weight)
    simple.load_state_dict(plain.state_dict())
    assert np.array_equal(table(simple, inputs), table(plain, inputs))


def attended(layer, states, arcs):
    """The output of a layer, one node at a time."""
    arrays = {name: weight.detach().double().numpy() for name, weight in layer.named_parameters()}
    values = states @ arrays["map.weight"].T
    of_source, of_target = arrays["vectors"][0].T
    found = np.zeros_like(values)
    for node in range(len(states)):
        sources = [source for source, target in arcs if target == node]
        logits = values[sources] @ of_source + values[node] @ of_target
        weights = np.exp(np.where(logits > 0, logits, 0.01 * logits))
        found[node] = weights @ values[sources] / weights.sum()
    return found


def test_kgat_minus_equals_attention_one_node_at_a_time():
    data = tangled()
    model, inputs = model_of("kgat-minus", data)
    arcs = list(zip(inputs.arcs.source.tolist(), inputs.arcs.target.tolist(), strict=True))
    first = model.first.detach().double().numpy()
    hidden = attended(model.layers[0], first, arcs)
    hidden = np.where(hidden > 0, hidden, np.expm1(hidden))
    states = (first, hidden, attended(model.layers[1], hidden, arcs))
    joined = np.concatenate([one / np.linalg.norm(one, axis=1, keepdims=True) for one in states], axis=1)
    users, items = joined[: data.num_users], joined[data.num_users : data.num_users + data.num_items]
    assert np.allclose(table(model, inputs), users @ items.T, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_normalized_layers_bound_the_scores_by_their_number(name):
    model, inputs = model_of(name, tangled(), layers=3)
    users, items = model.vectors(inputs)
    assert torch.allclose((users**2).sum(1), torch.tensor(4.0))
    assert torch.allclose((items**2).sum(1), torch.tensor(4.0))
    assert users.shape[1] == 8 + 8 + 4 + 2


@pytest.mark.parametrize("name", NAMES)
def test_the_product_of_pretrained_vectors_is_added_to_the_scores(name):
    data = tangled()
    fixed = (torch.rand(data.num_users, 8), torch.rand(data.num_items, 8))
    plain, inputs = model_of(name, data)
    biased, _ = model_of(name, data, fixed, pretrained="bias")
    begun, _ = model_of(name, data, fixed, pretrained="input")
    assert np.allclose(
        table(biased, inputs), table(plain, inputs) + (fixed[0] @ fixed[1].T).numpy(), atol=1e-5
    )
    assert torch.equal(begun.first[: data.num_users + data.num_items], torch.cat(fixed))


@pytest.mark.parametrize("name", NAMES)
def test_what_users_like_is_learned(name):
    task = te.task(planted(), "full-ranking", seed=0)
    found = task.evaluate(create(name, QUICK).fit(task), "test", ["ndcg@10"])["ndcg@10"]
    common = task.evaluate(create("popularity").fit(task), "test", ["ndcg@10"])["ndcg@10"]
    assert found > common + 0.2


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_bits_and_another_seed_others(name):
    task = te.task(planted(users=24), "full-ranking", seed=0)
    method = create(name, {**QUICK, "epochs": 3})
    first, second, other = (method.fit(task, seed).score_candidates(np.arange(24)) for seed in (3, 3, 4))
    assert first.tobytes() == second.tobytes() != other.tobytes()
