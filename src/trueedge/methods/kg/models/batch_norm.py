"""A batch norm for few channels."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn


class FewChannelsNorm(nn.BatchNorm2d):
    """Does what ``nn.BatchNorm2d`` does, faster on a GPU if there are few channels.

    CUDA's own batch norm gives each channel to one of more than a hundred processors. Here all of them share
    the sums of a channel.
    """

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Return the normalized images, float (b, channels, height, width)."""
        if self.training and images.is_cuda and self.momentum is not None:
            return self.by_sums(images)
        return super().forward(images)

    def by_sums(self, images: torch.Tensor) -> torch.Tensor:
        """Normalize images by their own statistics, and note these."""
        assert self.momentum is not None
        assert self.running_mean is not None
        assert self.running_var is not None
        assert self.num_batches_tracked is not None
        made, mean, variance = _Normalized.apply(images, self.weight, self.bias, self.eps)
        with torch.no_grad():
            self.num_batches_tracked.add_(1)
            count = images.numel() / len(mean)
            self.running_mean.lerp_(mean, self.momentum)
            self.running_var.lerp_(variance * (count / (count - 1)), self.momentum)
        found: torch.Tensor = made
        return found


class _Normalized(torch.autograd.Function):
    """Images minus their mean, divided by their standard deviation, times a weight, plus a bias."""

    @staticmethod
    def forward(
        ctx: Any, images: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        variance, mean = torch.var_mean(images, dim=(0, 2, 3), correction=0)
        factor = torch.rsqrt(variance + eps)
        scale = weight * factor
        ctx.save_for_backward(images, mean, factor, weight)
        ctx.mark_non_differentiable(mean, variance)
        return torch.addcmul(_each(bias - mean * scale), images, _each(scale)), mean, variance

    @staticmethod
    def backward(ctx: Any, *slopes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, None]:
        images, mean, factor, weight = ctx.saved_tensors
        slope = slopes[0]
        count = images.numel() / len(mean)
        of_bias = slope.sum((0, 2, 3))
        of_weight = ((slope * images).sum((0, 2, 3)) - mean * of_bias) * factor
        scale = weight * factor
        # The slope, less its mean and less its share along the normalized images.
        along = -scale * factor * of_weight / count
        constant = -scale * of_bias / count - along * mean
        of_images = torch.addcmul(_each(constant), slope, _each(scale)).addcmul_(images, _each(along))
        return of_images, of_weight, of_bias, None


def _each(values: torch.Tensor) -> torch.Tensor:
    """Return a number for each channel in the shape of images."""
    return values.view(1, -1, 1, 1)
