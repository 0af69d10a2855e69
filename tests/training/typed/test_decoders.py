"""Decoders of links."""

from __future__ import annotations

import torch

from trueedge.methods.typed.typed_method import DECODERS
from trueedge.training.typed.decoders import Decoder


def test_a_squashed_decoder_gives_the_sigmoid_of_the_same_scores() -> None:
    links = torch.tensor([[0, 2, 3], [1, 0, 2], [3, 2, 1]])
    vectors = torch.randn(4, 6, generator=torch.Generator().manual_seed(0))
    for kind in DECODERS:
        found = []
        for squashed in (False, True):
            torch.manual_seed(1)
            found.append(Decoder(kind, (0, 2), 6, squashed)(vectors, links))
        plain, squashed_scores = found
        torch.testing.assert_close(squashed_scores, torch.sigmoid(plain))
