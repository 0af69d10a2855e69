"""MLPs on the features of a pair; size and dropout are selected on held-out edges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.methods.classifiers.classifier import Classifier, Decision
from trueedge.methods.classifiers.examples import Examples, together
from trueedge.methods.method import setting
from trueedge.metrics import evaluate
from trueedge.scorers.learned import learned

if TYPE_CHECKING:
    from trueedge.methods.classifiers.models.pair_perceptron import PairPerceptron
    from trueedge.tasks import Task

HIDDEN = (32, 64)
DROPOUT = (0.2, 0.5)
# Rows that are scored at a time.
BLOCK = 1 << 14


@dataclass(frozen=True)
class PairClassifier(Classifier):
    """An MLP with two hidden layers and LeakyReLU, trained by Adam on nine tenths of the edges.

    The AUC on the other tenth selects the layer size, the dropout rate and the epoch. Features are
    standardised. The paper does not give the number of epochs or the batch size.
    """

    hidden: int | None = setting(
        None,
        "size of the hidden layers; None: the better of 32 and 64 on held-out edges",
        kind=int,
        optional=True,
        low=1,
        high=8192,
        search=HIDDEN,
    )
    dropout: float | None = setting(
        None,
        "dropout rate; None: the better of 0.2 and 0.5 on held-out edges",
        kind=float,
        optional=True,
        low=0.0,
        high=0.99,
        search=DROPOUT,
    )
    learning_rate: float = setting(0.001, "Adam's learning rate", low=1e-8, high=10.0)
    batch_size: int = setting(1024, "pairs per batch, edges and negatives", low=1, high=1 << 30)
    epochs: int = setting(300, "largest number of epochs", low=1, high=10**9)
    patience: int = setting(20, "epochs without improvement before stopping", low=0, high=10**9)

    def learn(
        self, parts: Callable[[], list[Examples]], size: int, task: Task, seed: int, device: str
    ) -> Decision:
        """Train an MLP for each size and dropout rate, and return the best on held-out edges."""
        from trueedge.methods.classifiers.models.pair_perceptron import PairPerceptron
        from trueedge.training.saved_states import load_arrays

        found = dict(learned(lambda: self._search(parts(), task, seed, device), mean=(size,), std=(size,)))
        scale = Scale(found.pop("mean"), found.pop("std"))
        perceptron = PairPerceptron(size, len(found.get("layers.0.bias", ())), 0.0).eval()
        load_arrays(perceptron, found)
        return lambda features: _scores(perceptron, scale(features))

    def _search(self, parts: list[Examples], task: Task, seed: int, device: str) -> dict[str, NDArray[Any]]:
        """Return the best MLP and the scale of its features, as arrays."""
        from trueedge.training.saved_states import state_of

        if len(parts) < 2:
            raise InputError(
                f"{self.name} on {task.dataset}: needs two or more training edges, one for validation"
            )
        held_out = parts[0]
        rows, labels = together(parts[1:])
        scale = Scale.of(rows)
        tried = (
            self._train(size, share, held_out, scale, scale(rows), labels, task, seed, device)
            for size, share in product(
                HIDDEN if self.hidden is None else (self.hidden,),
                DROPOUT if self.dropout is None else (self.dropout,),
            )
        )
        # The first of equals.
        _, perceptron = max(tried, key=lambda one: one[0])
        return {**(state_of(perceptron) or {}), "mean": scale.mean, "std": scale.std}

    def _train(
        self,
        hidden: int,
        dropout: float,
        held_out: Examples,
        scale: Scale,
        rows: NDArray[np.float64],
        labels: NDArray[np.float64],
        task: Task,
        seed: int,
        device: str,
    ) -> tuple[float, PairPerceptron]:
        """Return the AUC of a trained MLP on the held-out edges, and the MLP."""
        import torch

        from trueedge.methods.classifiers.models.pair_perceptron import LabelledRows, PairPerceptron
        from trueedge.training import LoopSchedule, optimize, seeded, use_callbacks
        from trueedge.training.callbacks import current

        with seeded(seed, device):
            perceptron = PairPerceptron(rows.shape[1], hidden, dropout)
        # Equal rows are scored once, so that they tie.
        distinct, place = np.unique(scale(held_out.features), axis=0, return_inverse=True)
        asked, count = torch.from_numpy(distinct).to(device), len(held_out.positives)

        def auc() -> float:
            perceptron.eval()
            with torch.no_grad():
                logits = perceptron(asked).cpu().numpy()[place.reshape(-1)]
            return evaluate(logits[:count], logits[count:], ["auc"])["auc"]

        schedule = LoopSchedule(
            learning_rate=self.learning_rate,
            epochs=self.epochs,
            evaluate_every=1,
            patience=self.patience,
            clip=0.0,
        )
        objective = LabelledRows(rows, labels, self.batch_size, device)
        # A checkpoint holds a single training; these are up to four, of a few seconds each.
        with use_callbacks(current().progress):
            history = optimize(
                perceptron,
                objective,
                schedule,
                auc,
                metric="auc",
                seed=seed,
                device=device,
                name=f"on {task.dataset}",
            )
        return max(value for _, value in history.values), perceptron.cpu().eval()


@dataclass(frozen=True, eq=False)
class Scale:
    """Standardises features."""

    mean: NDArray[np.float64]
    std: NDArray[np.float64]

    @classmethod
    def of(cls, rows: NDArray[np.float64]) -> Scale:
        """Return the scale of some rows; a constant feature is only centred."""
        std = rows.std(axis=0)
        return cls(rows.mean(axis=0), np.where(std > 0, std, 1.0))

    def __call__(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the rows on this scale."""
        scaled: NDArray[np.float64] = (rows - self.mean) / self.std
        return scaled


def _scores(perceptron: PairPerceptron, rows: NDArray[np.float64]) -> NDArray[np.float64]:
    import torch

    scores = np.empty(len(rows), dtype=np.float64)
    with torch.no_grad():
        for start in range(0, len(rows), BLOCK):
            block = torch.from_numpy(rows[start : start + BLOCK])
            scores[start : start + BLOCK] = perceptron(block, in_order=True).numpy()
    return scores
