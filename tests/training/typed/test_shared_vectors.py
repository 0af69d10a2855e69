"""Types without features that share one vector."""

from __future__ import annotations

import torch
from tests.typed_graphs import small_graph

from trueedge.training.typed.features import FeatureInput
from trueedge.training.typed.inputs import TypedInputs


def test_with_target_only_other_types_share_a_vector_that_is_learned():
    inputs = TypedInputs.of(small_graph(), target=0)
    given = FeatureInput(inputs, "target-only", 4)
    states = given(inputs)
    for kind in (1, 2):
        rows = states[inputs.rows(kind)]
        assert torch.equal(rows, rows[:1].expand_as(rows))
    assert len(states[inputs.rows(0)].unique(dim=0)) == inputs.count(0)
    states.sum().backward()
    assert given.maps[1].bias.grad.tolist() == [inputs.count(1)] * 4


def test_without_a_target_nodes_keep_vectors_of_their_own():
    inputs = TypedInputs.of(small_graph())
    states = FeatureInput(inputs, "target-only", 4)(inputs)
    assert len(states.unique(dim=0)) == inputs.num_nodes
