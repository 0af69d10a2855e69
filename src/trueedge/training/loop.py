"""The training loop: steps, validation checks, early stopping. It knows nothing of graphs or links."""

from __future__ import annotations

import copy
import re
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import nn

from trueedge.errors import InputError, must_be
from trueedge.randomness import derive, generator
from trueedge.scorers.history import History as History
from trueedge.scorers.learned import Step, next_step, record
from trueedge.training.averaging import WeightAverage
from trueedge.training.callbacks import current
from trueedge.training.captured import CapturedSteps
from trueedge.training.checkpoints import Checkpoint
from trueedge.training.memory import kept_memory
from trueedge.training.order import one_order
from trueedge.training.saved_states import load_state, state_of
from trueedge.training.schedule import LoopSchedule
from trueedge.training.selection import JointSelection, Selection


class Objective(ABC):
    """The steps of an epoch, and the loss of each."""

    # Whether a step is a tuple of tensors on the device, and its loss and gradients are computed without a
    # random number or a decision of the CPU. Then a GPU replays steps of one shape as a CUDA graph.
    capturable: ClassVar[bool] = False

    @abstractmethod
    def steps(self, rng: np.random.Generator) -> Iterator[Any]:
        """Yield the batches of an epoch, in any form that :meth:`backward` takes."""

    @abstractmethod
    def backward(self, model: Any, step: Any, rng: np.random.Generator) -> torch.Tensor:
        """Compute the loss of a step and its gradients; return the loss, float ()."""

    def saved(self) -> dict[str, Any]:
        """Return what a checkpoint must keep of the objective; by default nothing."""
        return {}

    def load(self, saved: Mapping[str, Any]) -> None:
        """Load what :meth:`saved` returned."""
        del saved

    def recompute_statistics(self, model: Any) -> None:
        """Compute statistics of activations, such as those of batch norms, anew for averaged weights.

        By default they are averaged like the weights.
        """
        del model


def optimize(
    model: nn.Module,
    objective: Objective,
    schedule: LoopSchedule,
    evaluate: Callable[[], float | Mapping[str, float]] | None = None,
    *,
    metric: str = "validation",
    higher_is_better: bool = True,
    further: Sequence[History] = (),
    stop: str | None = None,
    jointly: str | None = None,
    chance: float | None = None,
    seed: int = 0,
    device: str = "cpu",
    name: str = "the model",
    request: Mapping[str, Any] | None = None,
) -> History:
    """Train any model for any objective, and leave it in its best state.

    A model may have a method ``parameter_groups()`` that returns groups as ``torch.optim.Adam`` takes them;
    otherwise weight decay applies to all weights.

    Args:
        model: the model, in its first state.
        objective: what is minimised.
        schedule: how it is trained.
        evaluate: returns the validation value of the model in its current state, or several by name; None:
            keep the last epoch.
        metric: the name of the value that selects the state.
        higher_is_better: whether a higher value is better.
        further: histories of other values; the best state by each is kept for
            :func:`trueedge.scorers.selections.steps_selected_by`.
        stop: the name of the value that early stopping watches; None: that of the selection.
        jointly: the name of a second value, higher is better: a state is kept only if both have improved, and
            training stops when neither has.
        chance: training does not stop early before a watched value is better than this; None: it may always.
        seed: for batches and dropout. Weights are drawn when the model is made: see :func:`seeded`.
        device: ``cpu`` or ``cuda``.
        name: what is trained, for error messages.
        request: plain values that a checkpoint must match, in addition to schedule, seed and model.
    """
    check_device(device)
    history = History(None if evaluate is None else metric, higher_is_better=higher_is_better)
    given = dict(request or {})
    saved = next_step()
    if saved is not None:
        return load_state(model.to(device), saved)
    first = Selection(history) if jointly is None else JointSelection(history, other=jointly)
    chosen = [first, *(Selection(one) for one in further)]
    watched = (stop or metric, chance)
    _Training(model, objective, schedule, evaluate, chosen, *watched, seed, device, name, given).run()
    # A model that was trained on the way, and that no scorer holds, is not kept for this.
    kept = weakref.ref(model)
    others = {str(one.history.metric): one.step() for one in chosen[1:]}
    record(Step(lambda: state_of(kept()), history, others))
    return history


@contextmanager
def seeded(seed: int, device: str = "cpu") -> Iterator[None]:
    """Seed torch's random numbers inside the block, and restore its random state afterwards.

    Args:
        seed: the seed.
        device: ``cpu`` or ``cuda``.
    """
    check_device(device)
    with torch.random.fork_rng(devices=[torch.device(device)] if device.startswith("cuda") else []):
        torch.manual_seed(derive(seed, "torch") % 2**63)
        yield


def check_device(device: str) -> None:
    """Refuse a device that is not available."""
    if not re.fullmatch(r"cpu|cuda(:\d{1,3})?", str(device)):
        raise must_be("device", "training", "'cpu', 'cuda' or 'cuda:0'", device)
    if not device.startswith("cuda"):
        return
    if not torch.cuda.is_available():
        raise InputError(f"device {device}: torch finds no GPU")
    number, count = int(device.partition(":")[2] or 0), torch.cuda.device_count()
    if number >= count:
        raise InputError(f"device {device}: torch finds {count} here, the last is cuda:{count - 1}")


@dataclass(eq=False)
class _Training:
    """One run of the loop."""

    model: nn.Module
    objective: Objective
    schedule: LoopSchedule
    evaluate: Callable[[], float | Mapping[str, float]] | None
    selections: list[Selection]
    stop: str
    chance: float | None
    seed: int
    device: str
    name: str
    request: dict[str, Any]

    def __post_init__(self) -> None:
        model, schedule = self.model.to(self.device), self.schedule
        groups = getattr(model, "parameter_groups", None)
        captured = self.device.startswith("cuda") and self.objective.capturable
        rate: Any = schedule.learning_rate
        self.optimizer = torch.optim.Adam(
            model.parameters() if groups is None else groups(),
            # A captured step reads the rate from the device, where it can change.
            lr=torch.tensor(rate, device=self.device) if captured else rate,
            weight_decay=schedule.weight_decay,
            **({"fused": True, "capturable": True} if captured else {}),
        )
        self.captured = CapturedSteps(self._step, self.device) if captured else None
        self.average = WeightAverage()
        parts = [list(part.parameters()) for part in model.children()]
        self.parts = [part for part in parts if part]
        self.history = self.selections[0].history
        self.watched = {str(one.history.metric): one for one in self.selections}
        self.rng = generator(self.seed, "batches")
        self.callbacks = current()
        shapes = {key: list(value.shape) for key, value in model.state_dict().items()}
        self.request |= {"schedule": vars(schedule), "seed": self.seed, "model": shapes}

    def run(self) -> History:
        """Train from the start, or from a checkpoint."""
        with kept_memory(self.device), one_order(self.device), seeded(self.seed, self.device):
            checkpoint = self.callbacks.checkpoint
            first = 1 if checkpoint is None else self._resume(checkpoint)
            for epoch in range(first, self.schedule.epochs + 1):
                self._set_rate(self.schedule.rate(epoch), self.schedule.beta(epoch))
                self.history.losses.append(self._epoch())
                if self.schedule.averaged_states(epoch) > self.average.count:
                    self.average.add(self.model)
                if self._evaluate(epoch):
                    break
                if checkpoint is not None and epoch % self.schedule.evaluate_every == 0:
                    self._save(checkpoint, epoch)
            chosen = self.selections[0]
            if not chosen.state and self.average.count:
                with self._averaged():
                    chosen.state = copy.deepcopy(self.model.state_dict())
        if chosen.state:
            self.model.load_state_dict(chosen.state)
        for other in self.selections[1:]:
            other.history.losses = list(self.history.losses)
        return self.history

    def _set_rate(self, rate: float, beta: float | None = None) -> None:
        for group in self.optimizer.param_groups:
            if beta is not None:
                group["betas"] = (beta, group["betas"][1])
            if isinstance(group["lr"], torch.Tensor):
                group["lr"].fill_(rate)
            else:
                group["lr"] = rate

    def _epoch(self) -> float:
        self.model.train()
        take = self._step if self.captured is None else self.captured
        losses = [take(step) for step in self.objective.steps(self.rng)]
        mean = float(np.mean(torch.stack(losses).cpu().numpy()))
        if not np.isfinite(mean):
            raise InputError(
                f"training {self.name}: the loss is not finite in epoch {len(self.history.losses) + 1};"
                " a lower learning rate may help"
            )
        return mean

    def _step(self, step: Any) -> torch.Tensor:
        """Take a step of the optimizer; return the loss."""
        self.optimizer.zero_grad()
        loss = self.objective.backward(self.model, step, self.rng)
        if self.schedule.clip:
            for part in self.parts:
                nn.utils.clip_grad_norm_(part, self.schedule.clip)
        self.optimizer.step()
        return loss

    @contextmanager
    def _averaged(self) -> Iterator[None]:
        """Give the model its averaged weights inside the block, if averaging has begun."""
        with self.average.applied(self.model):
            if self.average.count:
                self.objective.recompute_statistics(self.model)
            yield

    def _evaluate(self, epoch: int) -> bool:
        """Evaluate if due; return whether to stop."""
        schedule, history = self.schedule, self.history
        if schedule.is_due(epoch) and self.evaluate:
            with self._averaged():
                found = self.evaluate()
                values = found if isinstance(found, Mapping) else {str(history.metric): found}
                for one in self.selections:
                    one.note(epoch, values, self.model)
        self.callbacks.end_epoch(epoch, schedule.epochs, history)
        if self.evaluate is None:
            return False
        watched = self.watched[self.stop].history
        return watched.evaluations_without_improvement > schedule.patience and watched.is_above(self.chance)

    def _save(self, checkpoint: Checkpoint, epoch: int) -> None:
        checkpoint.save(
            {
                "request": self.request,
                "epoch": epoch,
                "model": self.model.state_dict(),
                "optimizer": self.optimizer.state_dict(),
                "selections": [one.saved() for one in self.selections],
                "average": self.average.saved(),
                "batches": self.rng.bit_generator.state,
                "objective": self.objective.saved(),
                "torch": torch.get_rng_state(),
                "cuda": torch.cuda.get_rng_state(self.device) if self.device.startswith("cuda") else None,
            }
        )

    def _resume(self, checkpoint: Checkpoint) -> int:
        """Load a checkpoint if there is one; return the first epoch."""
        saved = checkpoint.load(self.request, self.device)
        if saved is None:
            return 1
        self.model.load_state_dict(saved["model"])
        self.optimizer.load_state_dict(saved["optimizer"])
        for one, kept in zip(self.selections, saved["selections"], strict=True):
            one.load(kept)
        self.average.load(saved["average"])
        self.rng.bit_generator.state = saved["batches"]
        self.objective.load(saved.get("objective", {}))
        torch.set_rng_state(saved["torch"].cpu())
        if saved["cuda"] is not None:
            torch.cuda.set_rng_state(saved["cuda"].cpu(), self.device)
        return int(saved["epoch"]) + 1
