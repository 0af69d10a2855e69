"""Dense graphs: products with a table of ones, forced on the CPU, beside the sparse ones."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import torch

import trueedge as te
from trueedge.methods import create, get
from trueedge.randomness import generator
from trueedge.training import Messages, seeded
from trueedge.training.links import dense as tables
from trueedge.training.links.dense import dense_enough, short_parts, sums_by, turned_sums_by
from trueedge.training.links.objectives import PairObjective

SMALL = {"dim": 16, "layers": 2, "batch_size": 64, "dropout": 0.3, "learning_rate": 0.01}


@pytest.fixture(scope="module")
def task():
    """A dense graph without features, with a node that has no edge."""
    pairs = np.random.default_rng(0).integers(0, 45, (500, 2))
    graph = te.Graph.from_edges(pairs, 46, self_loops="drop", repeats="drop", name="dense")
    return te.task(graph, "existing", 0)


def both(graph):
    """The messages of a graph, by the table and by the sparse matrix."""
    found = []
    for dense in (True, False):
        found.append(Messages.of(graph))
        found[-1].dense = dense
    return found


def step_of(task, messages, name, **settings):
    """The loss of one step with dropout, and the gradient of every parameter."""
    small = {key: value for key, value in SMALL.items() if key in get(name).space()}
    method = create(name, {**small, **settings}).for_task(task)
    with seeded(0):
        model = method.build(task, 0).train()
        schedule = method.schedule(task)
        make = method.objective(schedule) or partial(PairObjective, schedule=schedule)
        objective = make(task.graph, messages)
        rng = generator(0, "batches")
        loss = objective.backward(model, next(iter(objective.steps(rng))), rng)
    return loss, {key: one.grad for key, one in model.named_parameters()}


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("gcn", {}),
        ("gcn", {"hide_positives": False}),
        ("sage", {}),
        ("gin", {}),
        ("gcn", {"neighbors": 5, "far_neighbors": 3}),
        ("gae", {}),
        ("gae", {"weighted": True}),
        ("ncn", {"predictor_layers": 2}),
        ("ncn", {"encoder": "pure-sum", "residual": True, "hide_positives": False}),
        ("neo-gnn", {}),
    ],
)
def test_a_step_has_the_same_loss_and_gradients_by_the_table(name, settings, task, monkeypatch):
    # GAE reads several blocks of rows.
    monkeypatch.setattr("trueedge.training.links.objectives.ReconstructionObjective.BLOCK", 46 * 7)
    used = []
    monkeypatch.setattr(tables, "times", lambda *given, _times=tables.times: used.append(1) or _times(*given))
    dense, sparse = (step_of(task, messages, name, **settings) for messages in both(task.graph))
    assert used
    torch.testing.assert_close(dense, sparse, rtol=1e-4, atol=1e-5)


def test_the_table_follows_the_edges_that_are_removed_and_the_arcs_that_are_sampled(task):
    gone = torch.tensor([0, 5, 9])
    states = torch.randn(46, 3, generator=torch.Generator().manual_seed(0))
    for change in (lambda one: one.without(gone), Messages.one_way, lambda one: one.without(gone).one_way()):
        dense, sparse = (change(messages) for messages in both(task.graph))
        assert dense.is_dense
        assert not sparse.is_dense
        torch.testing.assert_close(dense.sum(states), sparse.sum(states), rtol=1e-5, atol=1e-5)


def test_the_cpu_uses_lists_unless_told_otherwise(task):
    messages = Messages.of(task.graph)
    assert dense_enough(messages.num_nodes, len(messages.indices))
    assert not messages.is_dense


def test_a_graph_is_dense_only_where_its_table_is_linear_in_it(random_graph):
    for nodes, edges, expected in ((20, 300, True), (400, 500, False)):
        graph = random_graph(1, nodes=nodes, edges=edges)
        assert dense_enough(graph.num_nodes, 2 * graph.num_edges) is expected
    assert not dense_enough(1 << 16, (1 << 32) // 2)


def test_a_table_has_a_one_for_each_arc_and_nothing_beside_it(random_graph):
    graph = random_graph(1, nodes=37, edges=200)
    table = Messages.of(graph).table
    assert table.shape == (37, 48)
    assert table[:, :37].double().numpy().tolist() == graph.adjacency().toarray().tolist()
    assert not table[:, 37:].any()


def test_the_columns_of_a_table_add_up_like_its_transpose():
    rng = torch.Generator().manual_seed(0)
    table = torch.zeros(5, 16)
    table[:, :5] = (torch.rand(5, 5, generator=rng) < 0.5).float()
    states = torch.randn(5, 3, generator=rng)
    torch.testing.assert_close(sums_by(table, states), table[:, :5] @ states)
    torch.testing.assert_close(turned_sums_by(table, states), table[:, :5].t() @ states)


def test_a_number_is_the_sum_of_three_short_ones():
    numbers = torch.randn(50, 7, generator=torch.Generator().manual_seed(0)) * 10.0 ** torch.arange(-9, 12, 3)
    parts = short_parts(numbers).double().view(50, 3, 7)
    assert parts.sum(1).equal(numbers.double())


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_tensor_cores_add_up_what_float64_does(random_graph):
    graph = random_graph(1, nodes=300, edges=20_000)
    messages = Messages.of(graph, "cuda")
    assert messages.is_dense
    states = torch.randn(300, 64, generator=torch.Generator().manual_seed(0))
    exact = torch.from_numpy(graph.adjacency().toarray()).double() @ states.double()
    torch.testing.assert_close(messages.sum(states.cuda()).cpu().double(), exact, rtol=1e-5, atol=1e-4)


def test_a_batch_sent_to_a_device_holds_the_same_pairs(task, monkeypatch):
    schedule = create("gcn", SMALL).for_task(task).schedule(task)
    objective = PairObjective(task.graph, Messages.of(task.graph), schedule)
    step, negatives = np.array([3, 0, 7]), np.array([[1, 2], [5, 4]])
    here = objective._pairs(step, negatives)
    assert here.tolist() == [*task.graph.edges[step].tolist(), *negatives.tolist()]
    monkeypatch.setattr("trueedge.training.links.objectives.sent", lambda array, _: torch.from_numpy(array))
    objective.device = torch.device("meta")
    objective._edges = torch.from_numpy(task.graph.edges.astype(np.int64))
    assert objective._pairs(step, negatives).equal(here)
