"""The training loop: it learns, selects on validation alone, repeats itself, and goes on after a kill."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import torch

import trueedge as te
from trueedge import training
from trueedge.errors import InputError
from trueedge.tasks import ScoreWarning
from trueedge.training import Checkpoint, Schedule, seeded, train, use_callbacks
from trueedge.training.links.convolutions import GcnLayer
from trueedge.training.links.objectives import PairObjective, ReconstructionObjective
from trueedge.training.loop import History


@pytest.fixture(scope="module")
def task():
    """Two dense halves with a few edges between them."""
    rng = np.random.default_rng(0)
    half = rng.integers(0, 30, (260, 2))
    pairs = np.concatenate([half, 30 + half[::-1], [[0, 30], [1, 31]]])
    graph = te.Graph.from_edges(pairs, 60, self_loops="drop", repeats="drop", name="halves")
    return te.task(graph, "existing", seed=0)


def model(task, dim: int = 8, seed: int = 0):
    with seeded(seed):
        inputs = training.input_of(task.graph, dim)
        encoder = training.StackedEncoder(GcnLayer, [inputs.dim, dim, dim], 0.2)
        return training.LinkModel(inputs, encoder, training.MlpPredictor(dim, dim, 2, 0.2))


SHORT = Schedule(epochs=12, evaluate_every=2, batch_size=64, select="auc")


def test_training_tells_the_halves_apart(task):
    scorer = train(model(task), task, Schedule(epochs=60, batch_size=64, select="auc"))
    assert task.evaluate(scorer)["auc"] > 0.6
    assert scorer.history.losses[-1] < scorer.history.losses[0]


def test_the_same_seed_gives_the_same_bits_and_another_seed_others(task):
    pairs = task.pairs("test")
    answers = [train(model(task), task, SHORT, seed=seed).score(pairs) for seed in (1, 1, 2)]
    assert answers[0].tobytes() == answers[1].tobytes()
    assert answers[0].tobytes() != answers[2].tobytes()


def test_training_leaves_torchs_own_random_state_alone(task):
    torch.manual_seed(5)
    before = torch.get_rng_state()
    train(model(task), task, SHORT)
    assert torch.equal(before, torch.get_rng_state())


def test_the_state_of_the_best_evaluation_is_kept(task):
    scorer = train(model(task), task, SHORT)
    history = scorer.history
    best = max(value for _, value in history.values)
    assert history.best == best
    assert history.best_epoch == next(epoch for epoch, value in history.values if value == best)
    assert task.evaluate(scorer, "valid", ["auc"])["auc"] == pytest.approx(best, abs=1e-12)


def test_training_never_asks_for_the_test_part(task, monkeypatch):
    asked = []
    original = type(task).part
    monkeypatch.setattr(
        type(task), "part", lambda self, name="test": asked.append(name) or original(self, name)
    )
    train(model(task), task, SHORT)
    assert set(asked) == {"valid"}


def test_evaluations_without_improvement_are_counted():
    history = History("auc")
    gains = [history.note(epoch, value) for epoch, value in enumerate([0.5, 0.6, 0.6, 0.55])]
    assert gains == [True, True, False, False]
    assert (history.best, history.best_epoch, history.evaluations_without_improvement) == (0.6, 1, 2)


def test_a_metric_that_is_better_when_lower_is_selected_so():
    history = History("mr", higher_is_better=False)
    assert [history.note(epoch, value) for epoch, value in enumerate([9.0, 12.0, 8.0])] == [True, False, True]


def test_a_pair_gets_the_same_bits_in_whatever_list_it_stands(task):
    scorer = train(model(task, dim=64), task, SHORT)
    pairs = np.tile(task.pairs("test"), (200, 1))[:9000]
    whole = scorer.score(pairs)
    assert scorer.score(pairs[:7]).tobytes() == whole[:7].tobytes()
    assert scorer.score(pairs[5000:]).tobytes() == whole[5000:].tobytes()


def test_patience_ends_a_training_that_gets_no_better(task):
    schedule = Schedule(
        epochs=500, evaluate_every=1, patience=3, batch_size=64, select="auc", learning_rate=1e-8
    )
    history = train(model(task), task, schedule).history
    assert len(history.losses) < 500
    assert len(history.values) - 1 - [epoch for epoch, _ in history.values].index(history.best_epoch) == 4


def test_a_killed_training_goes_on_to_the_same_bits(task, tmp_path):
    whole = train(model(task), task, SHORT).score(task.pairs("test"))
    checkpoint = Checkpoint(tmp_path / "folder" / "state.pt")

    def kill(epoch, epochs, history):
        if epoch == 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), use_callbacks(kill, checkpoint):
        train(model(task), task, SHORT)
    epochs = []
    with use_callbacks(lambda epoch, *_: epochs.append(epoch), checkpoint):
        again = train(model(task, seed=9), task, SHORT).score(task.pairs("test"))
    assert epochs[0] == 7
    assert again.tobytes() == whole.tobytes()
    checkpoint.remove()
    assert not checkpoint.path.exists()


def test_a_checkpoint_of_another_training_or_no_checkpoint_is_refused(task, tmp_path):
    checkpoint = Checkpoint(tmp_path / "state.pt")
    with use_callbacks(checkpoint=checkpoint):
        train(model(task), task, SHORT)
        with pytest.raises(InputError, match="belongs to a different training"):
            train(model(task), task, SHORT, seed=3)
    checkpoint.path.write_bytes(b"nonsense")
    with pytest.raises(InputError, match="is not a checkpoint"), use_callbacks(checkpoint=checkpoint):
        train(model(task), task, SHORT)


def test_a_module_from_pairs_to_logits_is_trained_as_it_is(task):
    class Dot(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.vectors = torch.nn.Embedding(60, 4)

        def forward(self, pairs):
            return self.vectors(pairs).prod(dim=1).sum(dim=-1)

    with seeded(0):
        module = Dot()
    before = module.vectors.weight.detach().clone()
    scorer = train(module, task, SHORT)
    assert not torch.equal(before, module.vectors.weight)
    assert scorer.score(task.pairs("valid")).shape == (len(task.pairs("valid")),)


def test_a_batch_is_scored_on_the_graph_without_it(task):
    seen = []

    class Spy(training.Encoder):
        dim = 2

        def forward(self, inputs, messages):
            seen.append(len(messages.indices))
            return inputs.vectors

    with seeded(0):
        spied = training.LinkModel(training.LearnedInput(60, 2), Spy(), training.DotPredictor())
    messages = training.Messages.of(task.graph)
    step = np.arange(10)
    for hide in (True, False):
        schedule = Schedule(hide_positives=hide)
        PairObjective(task.graph, messages, schedule).backward(spied, step, np.random.default_rng(0))
    assert seen == [2 * task.graph.num_edges - 20, 2 * task.graph.num_edges]


def test_negatives_by_degree_are_drawn_by_degree(task):
    messages = training.Messages.of(task.graph)
    objective = PairObjective(task.graph, messages, Schedule(negatives="degree-corrected"))
    drawn = objective.draw(200_000, np.random.default_rng(0)).ravel()
    share = np.bincount(drawn, minlength=60) / len(drawn)
    np.testing.assert_allclose(share, task.graph.degrees / task.graph.degrees.sum(), atol=0.003)


@pytest.mark.parametrize("weighted", [False, True])
def test_reconstruction_in_blocks_is_the_dense_cross_entropy(task, weighted, monkeypatch):
    monkeypatch.setattr(ReconstructionObjective, "BLOCK", 60 * 7)
    spied, messages = model(task), training.Messages.of(task.graph)
    spied.eval()
    objective = ReconstructionObjective(task.graph, messages, weighted)
    loss = objective.backward(spied, np.empty(0, dtype=np.int64), np.random.default_rng(0))
    ours = [weight.grad.clone() for weight in spied.encoder.parameters()]
    spied.zero_grad()
    states = spied.encode(messages)
    wanted = torch.from_numpy(task.graph.adjacency().toarray().astype(np.float32))
    weight = torch.tensor(objective.weight)
    dense = objective.scale * torch.nn.functional.binary_cross_entropy_with_logits(
        states @ states.t(), wanted, pos_weight=weight
    )
    dense.backward()
    assert loss == pytest.approx(dense.item(), rel=1e-5)
    for left, right in zip(ours, spied.encoder.parameters(), strict=True):
        torch.testing.assert_close(left, right.grad, rtol=1e-4, atol=1e-6)


def test_a_scorer_reads_another_graph_when_it_is_given_one(task):
    scorer = train(model(task), task, SHORT)
    pairs = task.pairs("valid")
    wider = te.Graph.from_edges(np.concatenate([task.graph.edges, task.valid.positives]), 60)
    assert scorer.with_graph(task.graph).score(pairs).tobytes() == scorer.score(pairs).tobytes()
    assert scorer.with_graph(wider).score(pairs).tobytes() != scorer.score(pairs).tobytes()
    assert scorer.score(np.empty((0, 2), dtype=np.int64)).shape == (0,)


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("batch_size", 0),
        ("epochs", 0),
        ("learning_rate", 0.0),
        ("learning_rate", float("nan")),
        ("weight_decay", -1.0),
        ("patience", -1),
        ("negatives", "hard"),
    ],
)
def test_a_schedule_that_cannot_be_is_refused(setting, value):
    with pytest.raises(InputError, match=setting):
        Schedule(**{setting: value})


def test_what_cannot_be_trained_is_said_in_a_sentence(task):
    with pytest.raises(InputError, match="the loss is not finite in epoch"):
        train(
            model(task), task, Schedule(epochs=50, batch_size=64, learning_rate=1e30, clip=0.0, select="auc")
        )
    if not torch.cuda.is_available():
        with pytest.raises(InputError, match="torch finds no GPU"):
            train(model(task), task, SHORT, device="cuda")
    graph = te.Graph.from_edges(np.array([[i, i + 1] for i in range(40)]))
    bare = te.task(graph, "uniform", seed=0, keep_connected=False)
    with pytest.raises(InputError, match="no validation part for model selection"):
        train(model(bare), bare, SHORT)
    assert train(model(bare), bare, Schedule(epochs=2, keep_last=True)).history.best is None


def test_evaluations_warn_of_nothing(task):
    with warnings.catch_warnings():
        warnings.simplefilter("error", ScoreWarning)
        train(model(task), task, Schedule(epochs=2, evaluate_every=1, learning_rate=1e-9, select="auc"))


def test_a_metric_nobody_knows_is_named_before_anything_is_trained(task):
    with pytest.raises(InputError, match="nope"):
        train(model(task), task, Schedule(epochs=1, select="nope"))


def test_the_last_epoch_is_always_evaluated(task):
    history = train(model(task), task, Schedule(epochs=3, evaluate_every=5, select="auc")).history
    assert [epoch for epoch, _ in history.values] == [3]


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("gae", "predictor_layers"),
        ("gae", "batch_size"),
        ("gae", "negatives"),
        ("mf", "inputs"),
        ("mlp", "hide_positives"),
    ],
)
def test_a_setting_that_would_be_ignored_is_none_of_a_method(name, setting):
    kind = te.methods.get(name)
    assert setting not in kind.space()
    value = {"negatives": "degree-corrected", "hide_positives": True}.get(setting, 2)
    with pytest.raises(InputError, match=setting):
        te.methods.create(name, {setting: value})
    with pytest.raises(TypeError, match=setting):
        kind(**{setting: value})


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        ([[0, 60]], "60"),
        ([[0, -1]], "-1"),
        ([[0, 10**12]], "10"),
        ([[0.5, 1.5]], "not a node id"),
        ([0, 1], r"shape \(n, 2\)"),
        ([[0, 1, 2]], r"shape \(n, 2\)"),
    ],
)
def test_a_trained_scorer_refuses_what_is_no_pair_of_its_nodes(task, pairs, said):
    scorer = training.train(model(task), task, Schedule(epochs=1))
    with pytest.raises(InputError, match=said):
        scorer.score(np.array(pairs))


def test_a_trained_scorer_refuses_a_graph_of_other_nodes(task, random_graph):
    scorer = training.train(model(task), task, Schedule(epochs=1))
    with pytest.raises(InputError, match="the model has 60 nodes"):
        scorer.with_graph(random_graph(1, nodes=30, edges=40))


def test_a_checkpoint_of_other_settings_is_refused(task, tmp_path):
    class StopError(Exception):
        pass

    def stop(epoch, *_):
        if epoch == 3:
            raise StopError

    place = training.Checkpoint(tmp_path / "state")
    schedule = Schedule(epochs=4, evaluate_every=1)
    with training.use_callbacks(stop, place), pytest.raises(StopError):
        training.train(model(task), task, schedule, settings={"alpha": 0.15})
    with (
        training.use_callbacks(None, place),
        pytest.raises(InputError, match="belongs to a different training"),
    ):
        training.train(model(task), task, schedule, settings={"alpha": 0.5})
    torch.save([1, 2], place.path)
    with (
        training.use_callbacks(None, place),
        pytest.raises(InputError, match="is not a checkpoint: it contains a list"),
    ):
        training.train(model(task), task, schedule)


def test_a_device_nobody_has_is_named(task):
    with pytest.raises(InputError, match="tpu"):
        training.train(model(task), task, Schedule(epochs=1), device="tpu")


def test_a_model_too_large_for_memory_is_one_sentence(task, monkeypatch):
    from trueedge.methods import create

    def full(*_):
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 10 bytes")

    monkeypatch.setattr("trueedge.methods.gnn.gcn.GCN.build", full)
    with pytest.raises(InputError, match=r"gcn on .* fit into memory; try a smaller dim, batch_size or neg"):
        create("gcn").fit(task)
    with pytest.raises(InputError, match="fit takes a task"):
        create("gcn").fit("karate")


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("transe", {"objective": "sampled"}, "; try a smaller dim, batch_size or negatives"),
        ("complex", {"objective": "1-n"}, "; try a smaller dim or batch_size"),
        ("bpr-mf", {}, "; try a smaller dim"),
        ("item-knn", {}, ""),
    ],
)
def test_only_settings_that_a_method_has_are_named_where_memory_ends(name, settings, said):
    from trueedge.methods import create
    from trueedge.methods.memory import memory_errors

    with (
        pytest.raises(InputError, match=f"^{name} on x does not fit into memory{said}$"),
        memory_errors(create(name, settings), "x"),
    ):
        raise MemoryError


class Squares(training.Objective):
    """A regression without a graph: the mean square of what a linear map leaves of some targets."""

    def __init__(self, rows, targets):
        self.rows, self.targets = rows, targets

    def steps(self, rng):
        yield from rng.permutation(len(self.rows)).reshape(-1, 8)

    def backward(self, model, step, rng):
        loss = (model(self.rows[step]).squeeze(1) - self.targets[step]).square().mean()
        loss.backward()
        return loss.detach()


def test_the_loop_trains_any_model_for_any_objective_and_keeps_the_best_state():
    generator = torch.Generator().manual_seed(0)
    rows = torch.randn(32, 3, generator=generator)
    objective = Squares(rows, rows @ torch.tensor([1.0, -2.0, 0.5]))
    with seeded(0):
        linear = torch.nn.Linear(3, 1)
    errors = []

    def error():
        with torch.no_grad():
            errors.append(float((linear(rows).squeeze(1) - objective.targets).square().mean()))
        return errors[-1]

    schedule = training.LoopSchedule(learning_rate=0.05, epochs=60, evaluate_every=1)
    history = training.optimize(
        linear, objective, schedule, error, metric="mse", higher_is_better=False, name="a linear map"
    )
    assert history.metric == "mse"
    assert history.best == min(errors) < 0.01 < errors[0]
    assert error() == history.best
    last = training.optimize(torch.nn.Linear(3, 1), objective, schedule)
    assert (last.metric, last.best, len(last.losses)) == (None, None, 60)


def test_a_model_decides_which_of_its_weights_decay(task):
    def norm(decayed):
        network = model(task)
        network.decay_inputs = decayed
        schedule = Schedule(epochs=2, weight_decay=1.0, learning_rate=0.1, keep_last=True, batch_size=8)
        train(network, task, schedule)
        return float(network.inputs.vectors.detach().norm())

    assert norm(True) < 0.7 * norm(False)


def test_the_old_name_of_callbacks_still_works_and_warns():
    with pytest.warns(DeprecationWarning, match="use_callbacks"):
        old = training.watching()
    with old:
        pass
