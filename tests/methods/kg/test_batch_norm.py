"""The batch norm of few channels, against that of torch."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from trueedge.methods.kg.models.batch_norm import FewChannelsNorm


@pytest.mark.parametrize("channels", [1, 5])
def test_sums_give_what_the_batch_norm_of_torch_gives(channels: int) -> None:
    torch.manual_seed(0)
    ours, theirs = FewChannelsNorm(channels), nn.BatchNorm2d(channels)
    with torch.no_grad():
        for one in (ours.weight, ours.bias):
            one.uniform_(0.5, 2.0)
    theirs.load_state_dict(ours.state_dict())
    for _ in range(3):
        images = 3 * torch.randn(8, channels, 4, 3) + 2
        one, other = images.clone().requires_grad_(), images.clone().requires_grad_()
        weights = torch.randn_like(images)
        found, wanted = ours.by_sums(one), theirs(other)
        torch.testing.assert_close(found, wanted, atol=1e-5, rtol=1e-5)
        (found * weights).sum().backward()
        (wanted * weights).sum().backward()
        torch.testing.assert_close(one.grad, other.grad, atol=1e-5, rtol=1e-4)
    for name, value in theirs.state_dict().items():
        torch.testing.assert_close(ours.state_dict()[name], value, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(ours.weight.grad, theirs.weight.grad, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(ours.bias.grad, theirs.bias.grad, atol=1e-4, rtol=1e-4)


def test_statistics_stay_as_they_are_without_momentum() -> None:
    norm = FewChannelsNorm(2)
    norm.momentum = 0.0
    before = {name: value.clone() for name, value in norm.state_dict().items() if "running" in name}
    norm.by_sums(torch.randn(4, 2, 3, 3) + 5)
    for name, value in before.items():
        torch.testing.assert_close(norm.state_dict()[name], value)
