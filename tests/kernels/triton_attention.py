"""Compare the Triton kernels of attention with torch's own operations.

With TRITON_INTERPRET=1 on a CPU; on a GPU: python tests/kernels/triton_attention.py cuda
"""

from __future__ import annotations

import dataclasses
import itertools
import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parent))

from test_attention_kernels import HEADS, random_arcs, random_inputs

from trueedge.training.typed import attention_inputs as module
from trueedge.training.typed import fused
from trueedge.training.typed.attention import plain_attention
from trueedge.training.typed.attention_inputs import Logits, Mixing, index_of


def compare(device: str, typed: bool, beta: float, dropout: float, seed: int) -> None:
    """Fail unless values and gradients agree."""
    arcs = random_arcs(seed, count=30, edges=400)
    values, logits, previous = random_inputs(arcs, seed, torch.float32)
    kept = (torch.rand(len(arcs), HEADS) < 1 - dropout).to(torch.uint8) if dropout else None
    moved = dataclasses.replace(
        arcs, **{key: getattr(arcs, key).to(device) for key in ("source", "target", "kind", "indptr")}
    )
    on = [one.detach().to(device).requires_grad_() for one in (values, *logits[:3])]
    given = Logits(on[1], on[2], on[3] if typed else None, logits.slope)
    mixing = Mixing(
        (1 - beta) / (1 - dropout),
        None if kept is None else kept.to(device),
        previous.to(device) if beta else None,
        beta,
    )
    total, weights = plain_attention(on[0], given, moved, mixing)
    slope = torch.linspace(-1, 2, total.numel(), device=device).view_as(total).contiguous()
    (total * slope).sum().backward()
    with torch.no_grad():
        ours, softmax, ours_weights = fused.attention(on[0], given, index_of(moved), mixing)
        found = fused.gradients(on[0], given, index_of(moved), mixing, softmax, ours_weights, slope)
    wanted = [total, weights, *(one.grad for one in on)]
    for one, other in zip([ours, ours_weights, *found], wanted, strict=True):
        if one is not None:
            torch.testing.assert_close(one, other.detach(), rtol=1e-4, atol=1e-5)


def main() -> None:
    """Compare all variants, with short and long rows."""
    device = sys.argv[1] if len(sys.argv) > 1 else "cpu"
    module.LONG, module.CHUNK, fused.ARCS = 12, 16, 8
    cases = itertools.product((True, False), (0.0, 0.3), (0.0, 0.5))
    for seed, (typed, beta, dropout) in enumerate(cases):
        compare(device, typed, beta, dropout, seed)
    print("the kernels agree with torch")


if __name__ == "__main__":
    main()
