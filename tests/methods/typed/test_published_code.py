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
from trueedge.methods.typed.models.hetsann_matrices import SparseTable
from trueedge.methods.typed.models.hgt import HGTModel, LayerShape
from trueedge.training.schedule import LoopSchedule
from trueedge.training.typed.features import row_scale
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
    schedule = LoopSchedule(learning_rate=1e-3, cycle=cycle, cycle_beta=True, epochs=epochs)
    optimizer = torch.optim.Adam([nn.Parameter(torch.zeros(1))])
    twin = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1e-3, total_steps=epochs, pct_start=cycle)
    for epoch in range(1, epochs + 1):
        assert schedule.rate(epoch) == pytest.approx(optimizer.param_groups[0]["lr"])
        assert schedule.beta(epoch) == pytest.approx(optimizer.param_groups[0]["betas"][0])
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


def test_with_a_shared_vector_both_ends_of_an_edge_have_the_same_logits() -> None:
    torch.manual_seed(0)
    inputs = TypedInputs.of(LINKS.graph)
    shared = AttentionLayer(4, 3, 2, AttentionShape(shared=True), False)
    both = AttentionLayer(4, 3, 2, AttentionShape(), False)
    assert shared.vectors.shape == (2, 3, 1)
    with torch.no_grad():
        both.map.weight.copy_(shared.map.weight)
        both.vectors.copy_(shared.vectors.expand(-1, -1, 2))
    states = torch.randn(inputs.num_nodes, 4)
    found, wanted = (layer(states, inputs.arcs) for layer in (shared, both))
    torch.testing.assert_close(found, wanted)
    found[0].square().sum().backward()
    wanted[0].square().sum().backward()
    assert shared.vectors.grad is not None
    assert both.vectors.grad is not None
    summed = both.vectors.grad.sum(2, keepdim=True)
    torch.testing.assert_close(shared.vectors.grad, summed, rtol=1e-4, atol=1e-4)


def test_two_layers_of_gat_for_links_are_one_with_heads_and_one_without() -> None:
    chosen = {"layers": 2, "features": "one-hot", "shared_vector": True}
    method = methods.create("gat-hetero", chosen).for_task(LINKS)
    model = method.build(LINKS, TypedInputs.of(LINKS.graph), 64)
    shapes = [tuple(layer.map.weight.shape) for layer in model.layers]
    assert shapes == [(4 * 64, 64), (64, 4 * 64)]
    assert [layer.heads for layer in model.layers] == [4, 1]


@pytest.mark.parametrize(
    ("first", "every", "wanted"),
    [(0, 1, [1, 2, 3, 4, 5, 6, 7]), (0, 3, [3, 6, 7]), (1, 3, [1, 4, 7]), (5, 1, [5, 6, 7]), (9, 2, [7])],
)
def test_validation_checks_begin_when_asked_to(first: int, every: int, wanted: list[int]) -> None:
    schedule = LoopSchedule(epochs=7, evaluate_every=every, first_check=first)
    assert [epoch for epoch in range(1, 8) if schedule.is_due(epoch)] == wanted


def test_a_training_compares_the_epochs_that_are_due() -> None:
    chosen = {"epochs": 7, "evaluate_every": 3, "first_check": 1, "patience": 100, "features": "one-hot"}
    history = methods.create("gat-hetero", {**chosen, "decoder": "dot"}).fit(LINKS).history
    assert len(history.values) == 3


@pytest.mark.parametrize("start", ["ours", "published"])
def test_the_first_weights_of_hgt_are_those_that_are_asked_for(inputs: TypedInputs, start: str) -> None:
    torch.manual_seed(0)
    chosen = {"start": start, "features": "all", "dim": 16, "heads": 2}
    model = methods.create("hgt", chosen).for_task(TASK).build(TASK, inputs, 3)
    matrices = model.layers[0].attention
    relations, heads, size, _ = matrices.shape
    twin = nn.init.xavier_uniform_(torch.empty(matrices.shape))
    bound = (6 / ((relations + heads) * size**2)) ** 0.5 if start == "published" else (3 / size) ** 0.5
    assert 0.95 * bound < float(matrices.detach().abs().max()) <= bound
    assert (float(matrices.detach().abs().max()) <= 1.1 * float(twin.abs().max())) == (start == "published")
    check_input(model.input, linear=start == "published")


@pytest.mark.parametrize("start", ["xavier", "linear"])
def test_the_input_of_rgcn_starts_as_a_linear_layer_if_asked_to(start: str) -> None:
    chosen = {"start": start, "features": "one-hot", "layers": 1, "dim": 8}
    model = methods.create("rgcn-hetero", chosen).for_task(LINKS).build(LINKS, TypedInputs.of(LINKS.graph), 8)
    check_input(model.input, linear=start == "linear")


def check_input(given: nn.Module, linear: bool) -> None:
    """Check that weights and biases are within PyTorch's bound for a linear layer, or biases are zero."""
    for one in given.maps:
        bound = len(one.weight) ** -0.5
        assert (float(one.weight.detach().abs().max()) <= bound) == linear
        assert bool(one.bias.any()) == linear
        assert float(one.bias.detach().abs().max()) <= bound


@pytest.mark.parametrize("name", ["rgcn-hetero", "hgt"])
def test_redrawn_negatives_give_another_validation_loss_at_each_check(name: str) -> None:
    chosen = {"epochs": 4, "patience": 100, "select": "loss", "learning_rate": 1e-8, "dropout": 0.0}
    common = {"layers": 1, "dim": 8, "decoder": "distmult", "features": "one-hot", "weight_decay": 0.0}
    spread = []
    for redraw in (False, True):
        history = methods.create(name, {**chosen, **common, "redraw_valid": redraw}).fit(LINKS).history
        spread.append(np.ptp([value for _, value in history.values]))
    assert spread[0] < 1e-4 < spread[1]


def test_signed_sums_divide_the_features_of_a_node_by_their_sum() -> None:
    dense = torch.tensor([[2.0, -1.0, 0.0], [1.0, -1.0, 0.0], [0.0, 0.0, 0.0], [-3.0, 0.0, -1.0]])
    for table in (dense, dense.to_sparse_csr()):
        assert row_scale(table, "signed").flatten().tolist() == [1.0, 0.0, 0.0, -0.25]
        assert row_scale(table).flatten().tolist() == pytest.approx([1 / 3, 0.5, 1.0, 0.25])


@pytest.mark.parametrize("direct", [False, True])
def test_hetsann_divides_features_by_the_sums_that_are_asked_for(direct: bool) -> None:
    graph = te.HeteroGraph.from_tables(
        nodes={"person": 3, "book": 2},
        edges={("person", "reads", "book"): [(0, 0), (1, 1), (2, 0)]},
        features={"person": np.array([[2.0, -1.0], [3.0, 1.0], [1.0, -1.0]], np.float32)},
    )
    inputs = TypedInputs.of(graph, "cpu", 0)
    factors = {"signed": [1.0, 0.25, 0.0], "absolute": [1 / 3, 0.25, 0.5]}
    for sums, wanted in factors.items():
        shape = HetSANNShape(4, 2, dropout=0.0, direct=direct, row_sums=sums)
        model = HetSANNModel(inputs, "target", 2, 1, shape)
        features = inputs.features[0]
        assert features is not None
        if direct:
            table = model.layers[0].matrices.tables[0]
            torch.testing.assert_close(table, features * torch.tensor(wanted)[:, None])
        else:
            assert model.input is not None
            torch.testing.assert_close(model.input.maps[0].scale.flatten(), torch.tensor(wanted))


def test_fixed_negatives_come_again_in_the_same_order() -> None:
    inputs = TypedInputs.of(LINKS.graph)
    objective = LinkObjective(inputs, LINKS.relations, 16, 1, fixed=True)
    rng = np.random.default_rng(0)
    count = -(-len(objective.links) // 16)
    drawn = [step for _ in range(2 * count) for step in objective.steps(rng)]
    for first, second in zip(drawn[:count], drawn[count:], strict=True):
        assert torch.equal(first, second)
    near, far = torch.cat(drawn[:count], dim=1)
    assert len(torch.unique(near, dim=0)) == len(objective.links)
    assert torch.equal(near[:, :2], far[:, :2])
    assert torch.equal(objective.first[far[:, 1]], objective.first[near[:, 1]])
    twin = LinkObjective(inputs, LINKS.relations, 16, 1, fixed=True)
    list(objective.steps(rng))
    twin.load(objective.saved())
    assert torch.equal(*(next(iter(one.steps(rng))) for one in (objective, twin)))


@pytest.mark.parametrize("name", ["gat-hetero", "gcn-hetero", "hgt"])
def test_fixed_negatives_change_a_training_of_links(name: str) -> None:
    common = {"features": "one-hot", "decoder": "dot", "epochs": 3}
    asked = LINKS.questions("test")
    found = [
        methods.create(name, {**common, "fixed_negatives": fixed}).fit(LINKS).score_links(asked)
        for fixed in (False, True, True)
    ]
    assert not np.array_equal(found[0], found[1])
    assert np.array_equal(found[1], found[2])


@pytest.mark.parametrize("every", [False, True])
def test_the_decoder_of_rgcn_has_a_vector_for_every_relation_if_asked_to(every: bool) -> None:
    task = te.task("bibliography", "typed-links", relation=LINKS.graph.relations[LINKS.relations[0]].name)
    method = methods.create("rgcn-hetero", {"every_relation": every, "decoder": "distmult"})
    decoder = method.for_task(task).link_decoder(task, 8)
    assert decoder.weight is not None
    assert len(decoder.weight) == (task.graph.num_relations + 1 if every else len(task.relations))
    vectors = torch.randn(task.graph.num_nodes, 8)
    links = torch.from_numpy(task.questions("valid").astype(np.int64))
    row = decoder.weight[links[:, 1] if every else 0]
    wanted = (vectors[links[:, 0]] * row * vectors[links[:, 2]]).sum(1)
    torch.testing.assert_close(decoder(vectors, links), wanted)


def test_a_sparse_table_gives_the_products_and_gradients_of_a_dense_one() -> None:
    torch.manual_seed(0)
    dense = torch.randn(7, 5) * (torch.rand(7, 5) < 0.4)
    scale = torch.rand(7, 1)
    table = SparseTable(dense.to_sparse_csr(), scale)
    matrices = [torch.arange(15.0).view(5, 3).requires_grad_() for _ in range(2)]
    slopes = torch.randn(7, 3)
    found, wanted = table.dropped(0.0)(matrices[0]), (dense * scale) @ matrices[1]
    torch.testing.assert_close(found, wanted)
    for product in (found, wanted):
        (product * slopes).sum().backward()
    torch.testing.assert_close(matrices[0].grad, matrices[1].grad)


def test_a_sparse_table_drops_its_values_alone() -> None:
    torch.manual_seed(0)
    ones = torch.ones(200, 10)
    found = SparseTable(ones.to_sparse_csr(), torch.ones(200, 1)).dropped(0.75)(torch.eye(10))
    assert set(found.unique().tolist()) == {0.0, 4.0}
    assert 0.7 < float((found == 0).float().mean()) < 0.8
