"""The one training loop: steps, looks at the validation part, the best state kept, a stop in time."""

from __future__ import annotations

import copy
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import nn

from trueedge.errors import InputError, must_be
from trueedge.graph import Graph
from trueedge.metrics import get as get_metric
from trueedge.randomness import derive, generator
from trueedge.tasks import ScoreWarning, Task
from trueedge.training.checkpoints import Checkpoint
from trueedge.training.messages import Messages
from trueedge.training.model import LinkModel, as_model
from trueedge.training.objectives import Objective, PairObjective
from trueedge.training.schedule import Schedule
from trueedge.training.scorer import TrainedScorer
from trueedge.training.watching import current


@dataclass
class History:
    """How a training went.

    Attributes:
        losses: the mean loss of each epoch.
        values: the validation metric at each look, beside its epoch.
        metric: which metric that is, None where nothing was selected.
        best_epoch: the epoch whose state was kept.
        best: its validation value, None where nothing was selected.
        looks: looks without a gain since the best.
    """

    metric: str | None
    losses: list[float] = field(default_factory=list)
    values: list[tuple[int, float]] = field(default_factory=list)
    best_epoch: int = 0
    best: float | None = None
    looks: int = 0

    def note(self, epoch: int, value: float) -> bool:
        """Write a look down; whether it is the best so far."""
        self.values.append((epoch, value))
        better = 1 if self.metric is None or get_metric(self.metric).higher_is_better else -1
        if self.best is None or better * value > better * self.best:
            self.best, self.best_epoch, self.looks = value, epoch, 0
            return True
        self.looks += 1
        return False


def train(
    model: nn.Module,
    task: Task,
    schedule: Schedule | None = None,
    seed: int = 0,
    device: str = "cpu",
    objective: Callable[[Graph, Messages], Objective] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> TrainedScorer:
    """Train a model on a task's graph, select on its validation part, and return what scores pairs.

    Args:
        model: a :class:`LinkModel`, or any torch module that takes pairs (n, 2) and gives n logits.
        task: what to learn from; its test part is not looked at.
        schedule: how to train.
        seed: for batches, negatives and dropout. Weights are drawn when a model is made: see :func:`seeded`.
        device: where to train, ``cpu`` or ``cuda``.
        objective: makes, of graph and messages, what to train for; edges against drawn pairs where None.
        settings: what the model was made with, as plain values: a checkpoint of others is refused.
    """
    schedule = schedule or Schedule()
    return _Training(as_model(model), task, schedule, seed, device, objective, settings).run()


@contextmanager
def seeded(seed: int, device: str = "cpu") -> Iterator[None]:
    """Make what torch draws inside depend on a seed alone; outside, torch's own state stays as it was."""
    check_device(device)
    with torch.random.fork_rng(devices=[torch.device(device)] if device.startswith("cuda") else []):
        torch.manual_seed(derive(seed, "torch") % 2**63)
        yield


def check_device(device: str) -> None:
    """Refuse a device that is not there."""
    if not re.fullmatch(r"cpu|cuda(:\d+)?", str(device)):
        raise must_be("device", "training", "'cpu' or 'cuda'", device)
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise InputError(f"device {device}: torch sees no GPU here")


class _Training:
    """One run of the loop."""

    def __init__(
        self,
        model: LinkModel,
        task: Task,
        schedule: Schedule,
        seed: int,
        device: str,
        objective: Callable[[Graph, Messages], Objective] | None,
        settings: Mapping[str, Any] | None,
    ) -> None:
        check_device(device)
        if task.graph.num_edges == 0:
            raise InputError(f"{task.dataset}: there is no training edge to learn from")
        self.model = model.to(device)
        self.task, self.schedule, self.seed, self.device = task, schedule, seed, device
        self.settings = dict(settings or {})
        self.messages = Messages.of(task.graph, device)
        self.objective = (
            PairObjective(task.graph, self.messages, schedule, seed)
            if objective is None
            else objective(task.graph, self.messages)
        )
        # Learned vectors do not decay: most get a gradient in few batches only, and would die out in between.
        vectors = list(model.inputs.parameters()) if hasattr(model, "inputs") else []
        others = [p for p in model.parameters() if all(p is not vector for vector in vectors)]
        groups: list[dict[str, Any]] = [{"params": others}, {"params": vectors, "weight_decay": 0.0}]
        self.optimizer = torch.optim.Adam(
            [group for group in groups if group["params"]],
            lr=schedule.learning_rate,
            weight_decay=schedule.weight_decay,
        )
        parts = [list(part.parameters()) for part in model.children()]
        self.parts = [part for part in parts if part]
        self.history = History(self._metric())
        self.best: dict[str, Any] = {}
        self.rng = generator(seed, "batches")
        self.watch = current()

    def run(self) -> TrainedScorer:
        """Train from the beginning, or from where a checkpoint was left."""
        if self.schedule.compiled:
            # In place: the names of the weights, by which states are kept and restored, stay as they are.
            self.model.predictor.compile()
        with seeded(self.seed, self.device):
            checkpoint = self.watch.checkpoint
            first = 1 if checkpoint is None else self._resume(checkpoint)
            for epoch in range(first, self.schedule.epochs + 1):
                for group in self.optimizer.param_groups:
                    group["lr"] = self.schedule.learning_rate * self.schedule.decay ** (epoch - 1)
                self.history.losses.append(self._epoch())
                if self._look(epoch):
                    break
                if checkpoint is not None and epoch % self.schedule.evaluate_every == 0:
                    self._keep(checkpoint, epoch)
        if self.best:
            self.model.load_state_dict(self.best)
        return TrainedScorer(self.model, self.messages, self.history)

    def _metric(self) -> str | None:
        if self.schedule.keep_last:
            return None
        if "valid" not in self.task.part_names:
            raise InputError(
                f"{self.task.dataset} under {self.task.protocol} has no validation part to select on;"
                " give the protocol one (valid=0.05), or keep the last state (keep_last)"
            )
        return get_metric(self.schedule.select or self.task.headline).name

    def _epoch(self) -> float:
        self.model.train()
        losses = []
        for step in self.objective.steps(self.rng):
            self.optimizer.zero_grad()
            losses.append(self.objective.backward(self.model, step, self.rng))
            if self.schedule.clip:
                for part in self.parts:
                    nn.utils.clip_grad_norm_(part, self.schedule.clip)
            self.optimizer.step()
        mean = float(np.mean(torch.stack(losses).cpu().numpy()))
        if not np.isfinite(mean):
            raise InputError(
                f"training on {self.task.dataset} came to a loss that is not finite in epoch"
                f" {len(self.history.losses) + 1}: a lower learning rate may help"
            )
        return mean

    def _look(self, epoch: int) -> bool:
        """Look at the validation part where it is time; whether to stop."""
        metric, schedule = self.history.metric, self.schedule
        if metric is not None and (epoch % schedule.evaluate_every == 0 or epoch == schedule.epochs):
            value = self._value(metric)
            if self.history.note(epoch, value):
                self.best = copy.deepcopy(self.model.state_dict())
        self.watch.tell(epoch, schedule.epochs, self.history)
        return metric is not None and self.history.looks > schedule.patience

    def _value(self, metric: str) -> float:
        scorer = TrainedScorer(self.model, self.messages, self.history)
        with warnings.catch_warnings():
            # What deserves a look about the scores is said of those of the state that is kept.
            warnings.simplefilter("ignore", ScoreWarning)
            return self.task.evaluate(scorer, "valid", [metric])[metric]

    def _keep(self, checkpoint: Checkpoint, epoch: int) -> None:
        checkpoint.save(
            {
                "request": self._request(),
                "epoch": epoch,
                "model": self.model.state_dict(),
                "optimizer": self.optimizer.state_dict(),
                "best": self.best,
                "history": vars(self.history),
                "batches": self.rng.bit_generator.state,
                "torch": torch.get_rng_state(),
                "cuda": torch.cuda.get_rng_state(self.device) if self.device.startswith("cuda") else None,
            }
        )

    def _resume(self, checkpoint: Checkpoint) -> int:
        kept = checkpoint.load(self._request(), self.device)
        if kept is None:
            return 1
        self.model.load_state_dict(kept["model"])
        self.optimizer.load_state_dict(kept["optimizer"])
        self.best = kept["best"]
        self.history = History(**kept["history"])
        self.rng.bit_generator.state = kept["batches"]
        torch.set_rng_state(kept["torch"].cpu())
        if kept["cuda"] is not None:
            torch.cuda.set_rng_state(kept["cuda"].cpu(), self.device)
        return int(kept["epoch"]) + 1

    def _request(self) -> dict[str, Any]:
        """What a checkpoint belongs to: another task, model or schedule shall not go on from it."""
        shapes = {name: list(value.shape) for name, value in self.model.state_dict().items()}
        return {
            "task": self.task.hash,
            "schedule": vars(self.schedule),
            "seed": self.seed,
            "settings": self.settings,
            "model": shapes,
        }
