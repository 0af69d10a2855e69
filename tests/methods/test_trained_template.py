"""What every method that is trained must do, each in its variants; formulas and oracles stand beside."""

from __future__ import annotations

import functools
from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import trueedge as te  # noqa: E402
from trueedge.errors import InputError  # noqa: E402
from trueedge.methods import catalogue, create, get  # noqa: E402
from trueedge.methods.pairwise.models.nbfnet import NbfModel  # noqa: E402
from trueedge.methods.trained import HasMessages, Trained  # noqa: E402
from trueedge.tasks import LinkTask, Part  # noqa: E402
from trueedge.training import Checkpoint, LearnedInput, Messages, seeded, use_callbacks  # noqa: E402

TRAINED = sorted(kind.name for kind in catalogue() if issubclass(kind, Trained))
CLASSIFIERS = sorted(kind.name for kind in catalogue() if kind.family == "classifiers")
SHORT = {"dim": 8, "epochs": 4, "evaluate_every": 1, "batch_size": 64, "learning_rate": 0.01, "select": "auc"}
# What makes a method quick.
QUICK = {
    "node2vec": {"vector_dim": 8, "walks": 3, "walk_length": 8, "passes": 1, "window": 3},
    "peg": {"position_dim": 8},
    "seal": {"hops": 1, "layers": 2},
    "nbfnet": {"layers": 3},
    "ncnc": {"completion_block": 4096},
    # Products with a dozen numbers or fewer in a row round by the row's place.
    "lpformer": {"dim": 16},
    "mlp-deg": {"epochs": 2},
    "mlp-topo": {"epochs": 2},
}
# Settings under which a method is another model.
VARIANTS = {
    "gae": [{"weighted": True}],
    "gcn": [{"neighbors": 2, "layers": 2}, {"inputs": "spectral", "predictor": "dot"}],
    "buddy": [{"counts": "exact"}, {"feature_hops": 2}, {"hops": 3, "one_hop": True}],
    "nbfnet": [{"aggregation": "sum", "dropout": 0.2}],
    "ncn": [{"encoder": "gcn"}, {"encoder": "pure-sum", "residual": True}],
    "ncnc": [{"completion_gradient": True}],
    "neo-gnn": [{"hops": 1}, {"hops": 3}],
    "peg": [
        {"positions": "deepwalk"},
        {"folds": 3},
        {"seen_features": "all"},
        {"inputs": "learned"},
        {"weight_activation": "none", "product_layers": 2},
    ],
    "seal": [{"head": "gcn"}, {"features": False}],
    "linear": [{"negatives": "degree-corrected"}],
}
CASES = [
    pytest.param(name, settings, id="-".join([name, *map(str, settings.values())]))
    for name in (*TRAINED, *CLASSIFIERS)
    for settings in ({}, *VARIANTS.get(name, []))
]
NODES = 62


def made(name, **settings):
    """A method that trains for a moment."""
    own = get(name).space()
    short = {key: value for key, value in SHORT.items() if key in own and name in TRAINED}
    return create(name, {**short, **QUICK.get(name, {}), **settings})


@functools.cache
def cliques(features: int = 5):
    """Cliques that have lost some edges, and two nodes that have none; features say a little."""
    rng = np.random.default_rng(0)
    inside = np.array([(a, b) for a in range(12) for b in range(a + 1, 12)])
    edges = np.concatenate([12 * clique + inside for clique in range(5)])
    table = rng.random((NODES, features)) if features else None
    if table is not None:
        table[np.arange(NODES), np.arange(NODES) // 12 % features] += 1
    kept = edges[rng.permutation(len(edges))[:220]]
    return te.task(te.Graph.from_edges(kept, NODES, table, name="cliques"), "existing", seed=0)


@functools.cache
def fitted(name, *settings):
    """A scorer of a seed, trained once for all tests."""
    return made(name, **dict(settings)).fit(cliques(), seed=3)


@pytest.fixture(autouse=True, scope="module")
def small_blocks():
    """NBFNet fills every block up, and a test asks for few pairs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(NbfModel, "BLOCK", 1 << 12)
        yield


def pairs_of(task):
    more = [[0, 0], [NODES - 1, NODES - 2], [NODES - 1, NODES - 1], [5, NODES - 1]]
    return np.concatenate([task.pairs("test"), task.graph.edges[:20], more]).astype(np.int64)


@pytest.mark.parametrize(("name", "settings"), CASES)
def test_scores_are_finite_and_the_same_bits_in_any_direction_order_and_company(name, settings):
    task, scorer = cliques(), fitted(name, *settings.items())
    pairs = pairs_of(task)
    scores = scorer.score(pairs)
    assert scores.shape == (len(pairs),)
    assert np.isfinite(scores).all()
    assert scorer.score(pairs[:, ::-1].copy()).tobytes() == scores.tobytes()
    order = np.random.default_rng(2).permutation(len(pairs))
    assert scorer.score(pairs[order]).tobytes() == scores[order].tobytes()
    assert all(scorer.score(pairs[i : i + 1])[0] == scores[i] for i in (0, 9, len(pairs) - 1))
    assert scorer.score(np.empty((0, 2), dtype=np.int64)).shape == (0,)


@pytest.mark.rotating(2)
@pytest.mark.parametrize(("name", "settings"), CASES)
def test_the_same_seed_gives_the_same_bits_and_another_seed_others(name, settings):
    task, method = cliques(), made(name, **settings)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        first, second, other = (method.fit(task, seed).score(pairs_of(task)).tobytes() for seed in (3, 3, 4))
    finally:
        torch.set_num_threads(before)
    assert first == second != other


@pytest.mark.rotating(2)
@pytest.mark.parametrize("name", [*TRAINED, *CLASSIFIERS])
def test_a_trained_scorer_passes_the_check(name):
    assert te.check_scorer(fitted(name), cliques(), sample=40).ok


@pytest.mark.rotating(2)
@pytest.mark.parametrize("name", TRAINED)
def test_cliques_are_found_again(name):
    task = cliques(features=0 if name == "mf" else 5)
    epochs = {"nbfnet": 15, "seal": 15, "peg": 80, "gat": 60, "mf": 80}.get(name, 40)
    walks = {"vector_dim": 16, "walks": 20, "walk_length": 20}
    more = {"node2vec": walks, "mf": {"dim": 32}}.get(name, {})
    scorer = made(name, epochs=epochs, evaluate_every=5, **more).fit(task)
    assert task.evaluate(scorer, "test", ["auc"])["auc"] > 0.65


@pytest.mark.parametrize("name", [*TRAINED, *CLASSIFIERS])
def test_a_graph_without_features_is_learned_from_or_refused(name):
    task, method = cliques(features=0), made(name, epochs=1) if name != "linear" else create(name)
    if method.needs_features:
        with pytest.raises(InputError, match="needs node features"):
            method.fit(task)
    else:
        assert np.isfinite(method.fit(task).score(pairs_of(task))).all()


def tiny(edges, nodes=4):
    part = Part(np.array([[0, 1]], dtype=np.int32), np.array([[0, 3]], dtype=np.int32))
    table = np.random.default_rng(0).random((nodes, 3))
    graph = te.Graph.from_edges(np.array(edges).reshape(-1, 2), nodes, table, name="tiny")
    return LinkTask(
        dataset="tiny",
        protocol="uniform",
        seed=0,
        graph=graph,
        parts={"test": part},
        metrics=("auc",),
        headline="auc",
        settings={},
    )


@pytest.mark.parametrize("name", TRAINED)
def test_one_edge_is_enough_to_learn_from_and_no_edge_is_said_in_a_sentence(name):
    method = made(name, epochs=2)
    everyone = np.stack(np.meshgrid(range(4), range(4)), -1).reshape(-1, 2)
    for edges in ([[0, 1]], [[0, 1], [1, 2]]):
        assert np.isfinite(method.fit(tiny(edges)).score(everyone)).all()
    with pytest.raises(InputError, match="no training edge"):
        made(name, **({"predictor": "mlp"} if name == "node2vec" else {})).fit(tiny([]))


@pytest.mark.parametrize("name", TRAINED)
def test_an_interrupted_training_continues_to_the_same_bits(name, tmp_path):
    task, checkpoint = cliques(), Checkpoint(tmp_path / "state.pt")

    def interrupt(epoch, epochs, history):
        if epoch == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), use_callbacks(interrupt, checkpoint):
        made(name).fit(task, seed=3)
    seen = []
    with use_callbacks(lambda epoch, *_: seen.append(epoch), checkpoint):
        again = made(name).fit(task, seed=3)
    assert seen == [3, 4]
    assert again.score(pairs_of(task)).tobytes() == fitted(name).score(pairs_of(task)).tobytes()


@pytest.mark.parametrize("name", [*TRAINED, *CLASSIFIERS])
def test_a_scorer_reads_the_graph_it_is_given(name):
    task, scorer = cliques(), fitted(name)
    pairs = pairs_of(task)
    wider = te.Graph.from_edges(
        np.concatenate([task.graph.edges, task.valid.positives]), NODES, task.graph.features
    )
    assert scorer.with_graph(task.graph).score(pairs).tobytes() == scorer.score(pairs).tobytes()
    moved = scorer.with_graph(wider).score(pairs)
    # Vectors that were learned or given are the same on every graph.
    assert (moved.tobytes() == scorer.score(pairs).tobytes()) == (name in ("mf", "mlp", "node2vec"))


@pytest.mark.parametrize("name", [*TRAINED, *CLASSIFIERS])
def test_what_is_no_task_and_no_pair_is_refused(name):
    with pytest.raises(InputError, match="fit takes a task"):
        made(name).fit(cliques().graph)
    with pytest.raises(InputError, match=str(NODES)):
        fitted(name).score(np.array([[0, 1], [2, NODES]]))


# LPFormer corrects its PageRank instead of computing it anew, and PEG's positions are computed once.
HIDING = [
    case
    for case in CASES
    if issubclass(get(case.values[0]), HasMessages)
    and case.values[0] not in ("lpformer", "peg")
    and case.values[1].get("inputs") != "spectral"
]


@pytest.mark.parametrize(("name", "settings"), HIDING)
def test_a_hidden_edge_leaves_no_trace_and_one_in_sight_does(name, settings):
    task = cliques()
    graph = task.graph
    with seeded(0):
        model = made(name, **settings).for_task(task).build(task, 0).eval()

    def score(messages, pair):
        with torch.no_grad():
            return model.score(model.encode(messages), pair, messages).item()

    for place in (0, 17, 120):
        pair = torch.from_numpy(graph.edges[[place]].astype(np.int64))
        never = te.Graph.from_edges(np.delete(graph.edges, place, axis=0), NODES, graph.features)
        hidden = score(Messages.of(graph).without(torch.tensor([place])), pair)
        assert hidden == score(Messages.of(never), pair)
        assert hidden != score(Messages.of(graph), pair)


PAIRWISE = [name for name in TRAINED if issubclass(get(name), HasMessages) and get(name).family == "pairwise"]
# What lets a method find an edge that is in sight within a few epochs.
SEEING = {
    "buddy": {"hops": 1, "feature_dropout": 0.9, "batch_size": 32, "dim": 4},
    "peg": {"learning_rate": 0.05, "position_dim": 32},
    "lpformer": {"epochs": 20},
    "nbfnet": {"layers": 2, "epochs": 6},
    "ncn": {"dim": 32, "layers": 1},
    "ncnc": {"dim": 32, "layers": 1},
    "neo-gnn": {"epochs": 30},
}


@pytest.mark.rotating(2)
@pytest.mark.parametrize("name", PAIRWISE)
def test_on_a_random_graph_only_a_model_that_sees_its_positives_learns_anything(name, random_graph):
    task = te.task(random_graph(8, nodes=150, edges=300), "existing", seed=0)
    settings = {"epochs": 20, "dropout": 0.0, "inputs": "spectral", **SEEING[name]}
    own = {key: value for key, value in settings.items() if key in get(name).space()}
    losses = {}
    for hide in (True, False):
        folds = {"folds": 10} if name == "peg" and hide else {}
        method = made(name, **own, **folds, hide_positives=hide)
        losses[hide] = method.fit(task, seed=1).history.losses
    assert min(losses[False]) < min(losses[True]) - 0.1


@pytest.mark.parametrize("name", [name for name in TRAINED if "inputs" in get(name).space()])
def test_inputs_are_features_or_learned_vectors_of_as_many_numbers_as_states_have(name):
    task = cliques(features=0)
    if not get(name).needs_features:
        assert isinstance(made(name).for_task(task).build(task, 0).inputs, LearnedInput)
    learned = made(name, inputs="learned").for_task(cliques())
    assert learned.build(cliques(), 0).inputs.dim == learned.dim


def test_matrix_factorisation_is_the_published_model():
    task = cliques()
    method = create("mf").for_task(SimpleNamespace(protocol="heart", dataset="citeseer"))
    assert (method.layers, method.predictor_layers, method.dim) == (2, 2, 256)
    with seeded(0):
        model = method.build(task, 0)
    vectors = model.inputs.vectors
    assert vectors.shape == (NODES, task.features.shape[1])
    assert float(vectors.detach().std()) == pytest.approx(1.0, abs=0.15)
    assert [tuple(layer.linear.weight.shape) for layer in model.encoder.layers] == [(256, 5), (256, 256)]
    (group,) = model.parameter_groups()
    assert any(weight is vectors for weight in group["params"])
    assert method.build(cliques(features=0), 0).inputs.vectors.shape == (NODES, 256)
    assert method.schedule(task).clip == 1.0


@pytest.mark.parametrize("dataset", ["ogbl-collab", "ogbl-ddi", "ogbl-ppa"])
@pytest.mark.parametrize("protocol", ["existing", "heart"])
def test_matrix_factorisation_has_no_layer_and_no_clip_on_ogb(dataset, protocol):
    task = cliques()
    method = create("mf").for_task(SimpleNamespace(protocol=protocol, dataset=dataset))
    assert (method.layers, method.predictor_layers, method.dim) == (0, 3, 256)
    assert method.schedule(task).clip == 0.0
    model = method.build(task, 0).eval()
    vectors = model.inputs.vectors
    assert vectors.shape == (NODES, 256)
    assert not list(model.encoder.parameters())
    pairs = torch.tensor([[0, 1], [2, 3]])
    states = model.encode(Messages.of(task.graph, "cpu"))
    expected = model.predictor(vectors[pairs[:, 0]], vectors[pairs[:, 1]])
    torch.testing.assert_close(model.score(states, pairs, None), expected)


def test_matrix_factorisation_without_a_layer_learns():
    task = cliques(features=0)
    history = made("mf", layers=0, clip=0.0, dim=32, epochs=40).fit(task, seed=1).history
    assert history.losses[-1] < history.losses[0] - 0.2
