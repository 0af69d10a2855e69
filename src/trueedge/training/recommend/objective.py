"""Bayesian personalized ranking: an item of a user should score above one that the user does not have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812

from trueedge.training.loop import Objective
from trueedge.training.recommend.inputs import RecommendInputs

Step = tuple[torch.Tensor, torch.Tensor, torch.Tensor]
SAMPLING = ("interactions", "users")


class RankingObjective(Objective):
    """The loss of triples of a user, an item that the user has, and one that the user does not have.

    Rendle et al., BPR: Bayesian Personalized Ranking from Implicit Feedback, UAI 2009.

    Args:
        inputs: the training interactions.
        batch_size: triples of a step.
        sampling: each of the ``interactions`` once an epoch, or as often random ``users`` with a random item
            each, so that all users count alike.
        regularization: what the model's penalty is multiplied by.
    """

    def __init__(
        self, inputs: RecommendInputs, batch_size: int, sampling: str, regularization: float
    ) -> None:
        self.inputs, self.batch_size = inputs, batch_size
        self.sampling, self.regularization = sampling, regularization
        # A user who has all items has no negatives.
        counts = inputs.starts.diff()
        usable = (counts > 0) & (counts < inputs.num_items)
        self.users = torch.nonzero(usable).flatten()
        self.pairs = inputs.pairs[usable[inputs.pairs[:, 0]]]

    def steps(self, rng: np.random.Generator) -> Iterator[Step]:
        """Yield the users, items and negatives of each batch, int64 (b,) each."""
        random = torch.Generator(self.inputs.device)
        random.manual_seed(int(rng.integers(2**62)))
        if self.sampling == "users":
            users, items = self._of_users(random)
        else:
            order = torch.randperm(len(self.pairs), generator=random, device=self.inputs.device)
            users, items = self.pairs[order].T
        others = self.negatives(users, random)
        yield from zip(*(one.split(self.batch_size) for one in (users, items, others)), strict=True)

    def _of_users(self, random: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
        """Return random users, and a random item of each."""
        count, starts = len(self.pairs), self.inputs.starts
        users = self.users[_below(torch.full((count,), len(self.users)), random)]
        place = starts[users] + _below((starts[users + 1] - starts[users]).cpu(), random)
        return users, self.inputs.pairs[place, 1]

    def negatives(self, users: torch.Tensor, random: torch.Generator) -> torch.Tensor:
        """Return a random item for each user that the user does not have in training, int64 (n,)."""
        bound = torch.full((len(users),), self.inputs.num_items)
        items = _below(bound, random)
        again = torch.nonzero(self.inputs.is_known(users, items)).flatten()
        while len(again):
            items[again] = _below(bound[: len(again)], random)
            again = again[self.inputs.is_known(users[again], items[again])]
        return items

    def backward(self, model: Any, step: Step, rng: np.random.Generator) -> torch.Tensor:
        """Compute the loss of a batch and its gradients; return the loss, float ()."""
        del rng
        above, below, penalty = model.batch(self.inputs, *step)
        loss: torch.Tensor = F.softplus(below - above).mean() + self.regularization * penalty
        loss.backward()
        return loss.detach()


def _below(bounds: torch.Tensor, random: torch.Generator) -> torch.Tensor:
    """Return a random whole number from 0 below each bound, int64 (n,), on the generator's device."""
    limits = bounds.to(random.device)
    drawn = torch.rand(len(limits), generator=random, device=random.device, dtype=torch.float64) * limits
    return torch.minimum(drawn.long(), limits - 1)
