"""What HGB's code does differently, as settings of the methods."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

import trueedge as te
from trueedge import methods
from trueedge.errors import InputError
from trueedge.methods.typed.models.attention_layer import AttentionLayer, AttentionShape
from trueedge.methods.typed.models.hetgnn import context_pairs
from trueedge.methods.typed.models.hetsann import HetSANNModel, HetSANNShape
from trueedge.methods.typed.models.hgt import HGTModel, LayerShape
from trueedge.training.schedule import LoopSchedule
from trueedge.training.typed.inputs import TypedInputs
from trueedge.training.typed.objectives import LinkObjective

TASK = te.task("bibliography")
LINKS = te.task("bibliography", "typed-links")


@pytest.fixture
def inputs() -> TypedInputs:
    """Return the graph of the node task."""
    return TypedInputs.of(TASK.graph, "cpu", TASK.target)


@pytest.mark.parametrize(("epochs", "cycle"), [(300, 0.05), (50, 0.3), (10, 0.4)])
def test_a_cycle_of_the_learning_rate_is_that_of_pytorch(epochs: int, cycle: float) -> None:
    schedule = LoopSchedule(learning_rate=1e-3, cycle=cycle, epochs=epochs)
    optimizer = torch.optim.Adam([nn.Parameter(torch.zeros(1))])
    twin = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1e-3, total_steps=epochs, pct_start=cycle)
    for epoch in range(1, epochs + 1):
        assert schedule.rate(epoch) == pytest.approx(optimizer.param_groups[0]["lr"])
        optimizer.step()
        if epoch < epochs:
            twin.step()


def test_an_epoch_has_as_many_steps_as_asked_for() -> None:
    inputs = TypedInputs.of(LINKS.graph, "cpu")
    links = LinkObjective(inputs, LINKS.relations, 16).links
    for steps, wanted in ((1, 16), (3, 48), (0, len(links)), (10**6, len(links))):
        objective = LinkObjective(inputs, LINKS.relations, 16, steps)
        drawn = torch.cat(list(objective.steps(np.random.default_rng(0))))
        assert len(drawn) == len(torch.unique(drawn, dim=0)) == wanted


def test_dropped_states_of_hgt_are_the_output_of_a_layer(inputs: TypedInputs) -> None:
    shape = LayerShape(dim=8, heads=2, drops="states", dropout=0.9)
    model = HGTModel(inputs, "all", TASK.num_classes, 1, shape, True, "relation").train()
    states = torch.tanh(model.input(inputs))
    new = model.layers[0](states, inputs, model.rows, model.attention)
    assert 0.85 < float((new == 0).float().mean()) < 0.95


def test_without_gelu_a_layer_of_hgt_is_linear_in_its_messages(inputs: TypedInputs) -> None:
    torch.manual_seed(0)
    shape = LayerShape(dim=8, heads=2, norm=False, gelu=False, dropout=0.0)
    layer = HGTModel(inputs, "all", 3, 1, shape, True, "relation")
    states = torch.tanh(layer.input(inputs))
    found = []
    for factor in (0.0, 1.0, 2.0):
        with torch.no_grad():
            layer.layers[0].message.mul_(0).add_(factor)
        found.append(layer.layers[0](states, inputs, layer.rows, layer.attention))
    torch.testing.assert_close(found[2] - found[0], 2 * (found[1] - found[0]), atol=1e-5, rtol=1e-4)


def test_matrices_of_hetsann_are_shared_between_relations_of_the_same_types(inputs: TypedInputs) -> None:
    model = HetSANNModel(inputs, "all", 3, 2, HetSANNShape(4, 2, by_types=True))
    pairs = {(one.source_type, one.target_type) for one in model.rows.relations}
    assert (
        len(model.layers[0].matrices.matrices) == len(pairs) < model.rows.num_relations
        or len(pairs) == model.rows.num_relations
    )
    for number, one in enumerate(model.rows.relations):
        within = one.source_type == one.target_type
        assert (float(model.layers[0].sign[number]) == 0.0) == within


def test_the_first_layer_of_hetsann_reads_features_and_one_hot_vectors(inputs: TypedInputs) -> None:
    shape = HetSANNShape(4, 2, dropout=0.0, direct=True)
    model = HetSANNModel(inputs, "target", 3, 2, shape)
    matrices, rows = model.layers[0].matrices, model.rows
    sent = matrices(None, rows)
    first = 0
    for kind, (nodes, relations) in enumerate(rows.types):
        count, size = relations.stop - relations.start, nodes.stop - nodes.start
        part = sent[first : first + size * count].view(size, count, -1)
        first += size * count
        table = inputs.features[kind] if kind == inputs.target else torch.eye(size)
        assert table is not None
        dense = table if table.layout == torch.strided else table.to_dense()
        dense = dense / dense.abs().sum(1, keepdim=True).clamp(min=1e-12)
        for place in range(count):
            torch.testing.assert_close(part[:, place], dense @ matrices.of(relations.start + place))


def test_the_loss_of_cycles_is_that_of_a_slow_twin(inputs: TypedInputs) -> None:
    torch.manual_seed(0)
    shape = HetSANNShape(3, 2, dropout=0.0, by_types=True, cycle=0.5)
    model = HetSANNModel(inputs, "all", 3, 1, shape).train()
    model(inputs)
    layer, rows = model.layers[0], model.rows
    assert model.input is not None
    states = model.input(inputs)
    matrix = {
        (one.source_type, one.target_type): layer.matrices.of(number)
        for number, one in enumerate(rows.relations)
    }
    wanted = torch.zeros(())
    for head in range(layer.heads):
        columns = slice(head * 3, head * 3 + 3)
        undo = [inverse[head] for inverse in layer.cycle.inverses]
        for one, other in matrix:
            if (other, one) not in matrix:
                continue
            own = states[inputs.rows(one)]
            back = own @ matrix[one, other][:, columns] @ undo[other] @ matrix[other, one][:, columns]
            wanted = wanted + (back - own @ matrix[one, one][:, columns]).square().sum() / len(own)
        for kind in range(inputs.num_types):
            unit = undo[kind] @ matrix[kind, kind][:, columns] - torch.eye(3)
            wanted = wanted + unit.square().sum()
    assert model.penalty is not None
    torch.testing.assert_close(model.penalty, 0.5 * wanted, rtol=1e-4, atol=1e-5)


def test_balanced_pairs_have_as_many_of_each_two_types(inputs: TypedInputs) -> None:
    pairs = context_pairs(inputs, 10, 3, 90, 1, np.random.default_rng(0), balanced=True)
    center, context, drawn = next(pairs)
    types = inputs.graph.types
    _, counts = np.unique(np.stack([types[center], types[context]]), axis=1, return_counts=True)
    assert len(center) == 90
    assert counts.max() - counts.min() <= 1
    assert (types[context] == types[drawn]).all()


def test_settings_that_need_others_are_refused_without_them() -> None:
    with pytest.raises(InputError, match="cycle_loss needs matrices=types"):
        methods.create("hetsann", {"cycle_loss": 0.1, "features": "all", "epochs": 1}).fit(TASK)
    chosen = {"direct": True, "attention": "concat", "features": "all", "epochs": 1}
    with pytest.raises(InputError, match="direct needs attention=voices"):
        methods.create("hetsann", chosen).fit(TASK)


def test_a_penalty_makes_vectors_smaller() -> None:
    sizes = []
    for penalty in (0.0, 100.0):
        chosen = {"penalty": penalty, "centred": True, "epochs": 30, "select": "roc-auc", "patience": 100}
        common = {"layers": 1, "dim": 8, "decoder": "distmult", "features": "one-hot", "learning_rate": 0.05}
        scorer = methods.create("rgcn-hetero", {**chosen, **common}).fit(LINKS)
        inputs = TypedInputs.of(LINKS.graph, "cpu")
        with torch.no_grad():
            sizes.append(float(scorer.model.encoder.eval()(inputs).square().mean()))
    assert sizes[1] < sizes[0]


def test_repeated_arcs_count_an_edge_twice_whose_reverse_is_an_edge() -> None:
    graph = te.HeteroGraph.from_tables(
        nodes={"person": 3, "book": 2},
        edges={
            ("person", "knows", "person"): [(0, 1), (1, 0), (1, 1), (2, 0)],
            ("person", "reads", "book"): [(0, 0)],
        },
    )
    arcs = TypedInputs.of(graph).repeated_arcs
    found = sorted(zip(arcs.source.tolist(), arcs.target.tolist(), strict=True))
    ways = [(0, 1), (0, 1), (1, 0), (1, 0), (2, 0), (0, 2), (0, 3), (3, 0)]
    assert found == sorted([*ways, *((one, one) for one in range(5))])
    assert arcs.target.tolist() == sorted(arcs.target.tolist())
    assert arcs.indptr.tolist() == [0, *np.cumsum(np.bincount(arcs.target, minlength=5)).tolist()]


def test_repeated_arcs_double_the_attention_to_a_mutual_neighbour() -> None:
    graph = te.HeteroGraph.from_tables(
        nodes={"person": 3}, edges={("person", "knows", "person"): [(0, 1), (1, 0), (2, 0)]}
    )
    inputs = TypedInputs.of(graph)
    shape = AttentionShape()
    layer = AttentionLayer(4, 4, 1, shape, False)
    nn.init.zeros_(layer.vectors)
    states = torch.eye(3, 4)
    found = layer(states, inputs.repeated_arcs)[0].flatten(1)
    # Node 0 hears itself once, node 1 twice and node 2 once.
    wanted = (states[[0, 1, 1, 2]] @ layer.map.weight.T).mean(0)
    torch.testing.assert_close(found[0], wanted)


@pytest.mark.parametrize("start", ["dgl", "pyg"])
def test_the_first_weights_of_gat_are_those_of_the_library_it_is_made_with(start: str) -> None:
    method = methods.create("gat-hetero", {"start": start, "features": "one-hot"}).for_task(LINKS)
    model = method.build(LINKS, TypedInputs.of(LINKS.graph), 8)
    bound = (6 / (method.heads + method.dim)) ** 0.5
    vectors = model.layers[0].vectors
    assert (float(vectors.detach().abs().max()) <= bound) == (start == "pyg")
    biases = [one.bias for one in model.input.maps]
    assert all(bool(one.any()) == (start == "pyg") for one in biases)
