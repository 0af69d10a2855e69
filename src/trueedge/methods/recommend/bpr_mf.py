"""BPR-MF: matrix factorisation by Bayesian personalised ranking."""

from __future__ import annotations

import sys
import warnings
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError, ScoreWarning
from trueedge.methods.memory import memory_errors
from trueedge.methods.method import Method, on_interactions, setting
from trueedge.randomness import derive, generator
from trueedge.scorers.history import History
from trueedge.scorers.items import FactorScorer
from trueedge.scorers.learned import Step, next_step, record

if TYPE_CHECKING:
    from trueedge.kernels.recommend.bpr import Bpr
    from trueedge.tasks import ItemTask, Task

Vectors = tuple[NDArray[np.float32], NDArray[np.float32]]


@dataclass(frozen=True)
class BprMF(Method):
    """Score an item by the dot product of the vectors of user and item, plus a bias of the item.

    In each step, a known item of a user should score above an item the user does not have. An epoch goes
    through all interactions in random order. The learning rate falls linearly to 0.
    """

    name: ClassVar[str] = "bpr-mf"
    title: ClassVar[str] = "matrix factorisation with the BPR loss"
    family: ClassVar[str] = "recommend"
    citation: ClassVar[str] = (
        "Rendle, Freudenthaler, Gantner and Schmidt-Thieme, BPR: Bayesian Personalized Ranking from Implicit"
        " Feedback, 2009"
    )
    takes: ClassVar[tuple[str, ...]] = ("interactions",)
    uses_device: ClassVar[bool] = False

    dim: int = setting(64, "size of the vectors of users and items", low=1, high=8192, search=(32, 64, 128))
    epochs: int = setting(200, "largest number of epochs", low=1, high=10**6)
    learning_rate: float = setting(
        0.2, "learning rate of the first epoch", low=1e-8, high=10.0, search=(0.05, 0.1, 0.2, 0.4)
    )
    regularization: float = setting(
        0.025,
        "weight of the squared norm of the vectors of a step",
        low=0.0,
        high=10.0,
        search=(0.01, 0.02, 0.03, 0.05),
    )
    bias: bool = setting(True, "add a learned number to the score of each item")
    negative_power: float = setting(
        0.25,
        "negatives are drawn by their number of users to this power; 0: uniformly",
        low=0.0,
        high=1.0,
        search=(0.0, 0.25),
    )
    evaluate_every: int = setting(20, "epochs between validation checks", low=1, high=10**6)
    patience: int = setting(5, "validation checks without improvement before stopping", low=0, high=10**9)
    validation_users: int = setting(
        10_000,
        "validation checks rank the items of so many random users, if there are more",
        low=1,
        high=10**9,
    )

    def fit(self, task: Task, seed: int = 0, device: str = "cpu") -> BprScorer:
        """Train on the training interactions and select the best epoch on the validation part."""
        del device
        from trueedge.kernels.recommend.bpr import Bpr

        given = on_interactions(task, self.name)
        key, graph = derive(seed, "bpr"), given.graph
        saved = next_step()
        if saved is not None:
            return self._load(saved, graph.num_users, graph.num_items)
        with memory_errors(self, task.dataset):
            model = Bpr(*graph.by_user, graph.num_items, self.dim, self.bias, self.negative_power, key)
            found = self._train(model, self._checked(given, seed))
        vectors = found.arrays()
        record(Step(lambda: vectors, found.history))
        return found

    def _load(self, saved: Step, num_users: int, num_items: int) -> BprScorer:
        """Return a scorer of saved vectors."""
        found = saved.arrays() or {}
        wanted = {"users": (num_users, self.dim), "items": (num_items, self.dim), "bias": (num_items,)}
        if not self.bias:
            del wanted["bias"]
        if {name: one.shape for name, one in found.items()} != wanted or saved.history is None:
            raise InputError(f"it should hold vectors of {num_users} users and {num_items} items")
        users, items, bias = (
            np.asarray(found[name], dtype=np.float32) if name in found else None
            for name in ("users", "items", "bias")
        )
        assert users is not None
        assert items is not None
        scorer = BprScorer(users, items, bias, self.name)
        scorer.history = saved.history
        return scorer

    def _checked(self, task: ItemTask, seed: int) -> ItemTask:
        """Return the task with a random sample of its validation users, if there are many."""
        if "valid" not in task.hidden:
            return task
        pairs, users = task.hidden["valid"], task.questions("valid")
        if len(users) <= self.validation_users:
            return task
        kept = generator(seed, "bpr", "validation users").choice(users, self.validation_users, replace=False)
        return replace(task, hidden={"valid": np.ascontiguousarray(pairs[np.isin(pairs[:, 0], kept)])})

    def _train(self, model: Bpr, task: ItemTask) -> BprScorer:
        """Train until the last epoch or until validation does not improve; return the best state."""
        checks = "valid" in task.hidden
        history = History(task.headline if checks else None)
        best = None
        for first in range(0, self.epochs, self.evaluate_every):
            last = min(first + self.evaluate_every, self.epochs)
            rates = [self.learning_rate * (1 - epoch / self.epochs) for epoch in range(first, last)]
            history.losses += model.learn(rates, self.regularization)
            scorer = BprScorer(model.users, model.items, model.bias.copy() if self.bias else None, self.name)
            if not all(np.isfinite(one).all() for one in (history.losses, scorer.users, scorer.items)):
                raise InputError(
                    f"training {self.name}: the loss is not finite after epoch {last}; a lower learning_rate"
                    " may help"
                )
            if not checks or history.note(last, _value(scorer, task)):
                best, history.best_epoch = scorer, last
            _report(last, self.epochs, history)
            if history.evaluations_without_improvement > self.patience:
                break
        assert best is not None
        best.history = history
        return best


class BprScorer(FactorScorer):
    """Scores items by trained vectors; ``history`` says how they were trained."""

    history: History

    def arrays(self) -> dict[str, NDArray[np.float32]]:
        """Return the vectors by name, and the bias of the items if there is one."""
        found = {"users": self.users, "items": self.items}
        return found if self.bias is None else {**found, "bias": self.bias}


def _value(scorer: BprScorer, task: ItemTask) -> float:
    """Return the value of the headline metric on the validation part."""
    with warnings.catch_warnings():
        # Warnings about scores are only for the vectors that are kept.
        warnings.simplefilter("ignore", ScoreWarning)
        return float(task.evaluate(scorer, "valid", [task.headline])[task.headline])


def _report(epoch: int, epochs: int, history: History) -> None:
    """Call the callback that the user has set for training, if any."""
    # The module needs torch, but without it nobody can have set a callback.
    callbacks: Any = sys.modules.get("trueedge.training.callbacks")
    if callbacks is not None:
        callbacks.current().end_epoch(epoch, epochs, history)


# A run over several models asks for the same vectors several times.
_KEPT: OrderedDict[tuple[Any, ...], Vectors] = OrderedDict()
_MOST_KEPT = 8


def pretrained(task: ItemTask, seed: int = 0, dim: int = 64, epochs: int | None = None) -> Vectors:
    """Return vectors whose dot products are the scores of BPR-MF: float32 (users, dim) and (items, dim).

    The vectors of the latest calls are kept, and returned again for the same task, seed and size.

    Args:
        task: its test part is not read.
        seed: for everything random.
        dim: the size of the vectors.
        epochs: the largest number of epochs; None: as many as BPR-MF has by default.
    """
    method = BprMF(dim=dim, bias=False)
    if epochs is not None:
        method = replace(method, epochs=epochs, evaluate_every=min(epochs, method.evaluate_every))
    given = on_interactions(task, method.name).for_fitting()
    key = (*sorted(given.hashes.items()), given.headline, seed, method)
    if key not in _KEPT:
        scorer = method.fit(given, seed)
        for one in (scorer.users, scorer.items):
            one.flags.writeable = False
        _KEPT[key] = scorer.users, scorer.items
    _KEPT.move_to_end(key)
    while len(_KEPT) > _MOST_KEPT:
        _KEPT.popitem(last=False)
    return _KEPT[key]
