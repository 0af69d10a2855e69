"""Features that are divided by their sum."""

from __future__ import annotations

import pytest
import torch
from tests.typed_graphs import small_graph

from trueedge.training.typed.features import FeatureInput, row_scale
from trueedge.training.typed.inputs import TypedInputs


@pytest.mark.parametrize("sparse", [False, True])
def test_only_the_shares_of_a_nodes_features_count(sparse: bool) -> None:
    inputs = TypedInputs.of(small_graph(), target=0)
    table = torch.rand(inputs.count(0), 5) - 0.2
    table[1] = 0.0
    found = []
    for factor in (torch.ones(len(table), 1), 1.0 + 100.0 * torch.rand(len(table), 1)):
        scaled = table * factor
        inputs.features[0] = scaled.to_sparse_csr() if sparse else scaled
        torch.manual_seed(0)
        given = FeatureInput(inputs, "target", 4, unit_rows=True)
        found.append(given(inputs)[inputs.rows(0)])
    torch.testing.assert_close(found[0], found[1])
    wanted = table / table.abs().sum(1, keepdim=True).clamp(min=1e-9) @ given.maps[0].weight
    torch.testing.assert_close(found[0], wanted)


def test_a_row_of_zeros_has_a_scale_of_one() -> None:
    table = torch.tensor([[1.0, -3.0], [0.0, 0.0]])
    assert row_scale(table).flatten().tolist() == [0.25, 1.0]
    assert row_scale(table.to_sparse_csr()).flatten().tolist() == [0.25, 1.0]
