"""What HGB's code of HetSANN does: attention without a gradient, and a dropout for each head."""

from __future__ import annotations

import pytest
import torch

import trueedge as te
from trueedge import methods
from trueedge.errors import InputError
from trueedge.methods.typed.models.hetsann import HetSANNModel, HetSANNShape
from trueedge.training.typed.inputs import TypedInputs

TASK = te.task("bibliography")


@pytest.fixture
def inputs() -> TypedInputs:
    """Return the graph of the node task."""
    return TypedInputs.of(TASK.graph, "cpu", TASK.target)


def test_attention_of_hetsann_can_be_left_without_a_gradient(inputs: TypedInputs) -> None:
    found, vectors = [], []
    for gradient in (True, False):
        torch.manual_seed(0)
        shape = HetSANNShape(4, 2, dropout=0.0, direct=True, by_types=True, attention_gradient=gradient)
        model = HetSANNModel(inputs, "all", 3, 2, shape)
        found.append(model(inputs))
        found[-1].square().sum().backward()
        vectors.append(model.layers[0].vectors.grad)
    torch.testing.assert_close(found[0], found[1])
    assert vectors[0] is not None
    assert bool(vectors[0].any())
    # A gradient of zero, so that weight decay still shrinks the vectors.
    assert vectors[1] is not None
    assert not bool(vectors[1].any())


def test_the_output_layer_of_hetsann_can_start_with_the_weights_of_glorot(inputs: TypedInputs) -> None:
    widest = {}
    for glorot in (False, True):
        torch.manual_seed(0)
        shape = HetSANNShape(64, 2, direct=True, glorot=glorot)
        output = HetSANNModel(inputs, "all", 3, 2, shape).output
        widest[glorot] = float(output.weight.abs().max().detach())
        assert bool(output.bias.any()) != glorot
    assert 0.11 < widest[False] <= 64**-0.5
    assert 0.27 < widest[True] <= (6 / 67) ** 0.5
    made = methods.create(
        "hetsann", {"start": "glorot", "layers": 2, "heads": 2, "dim": 8, "dropout": 0.5, "features": "all"}
    )
    made = made.build(TASK, inputs, 3)
    assert not bool(made.output.bias.any())


@pytest.mark.parametrize("features", ["one-hot", "all"])
def test_heads_of_hetsann_drop_the_same_features_or_their_own(inputs: TypedInputs, features: str) -> None:
    for by_head in (False, True):
        torch.manual_seed(0)
        shape = HetSANNShape(4, 2, dropout=0.5, direct=True, head_dropout=by_head)
        matrices = HetSANNModel(inputs, features, 3, 2, shape).train().layers[0].matrices
        for matrix in matrices.matrices.values():
            matrix.data[:, 4:] = matrix.data[:, :4]
        sent = matrices(None, HetSANNModel(inputs, features, 3, 2, shape).rows).unflatten(1, (-1, 4))
        assert torch.allclose(sent[:, 0], sent[:, -1]) != by_head


def test_heads_with_dropouts_of_their_own_are_refused_without_features() -> None:
    with pytest.raises(InputError, match="direct"):
        methods.create("hetsann", {"head_dropout": True}).fit(TASK)
