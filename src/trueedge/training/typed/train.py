"""Train a model of typed graphs: for node classification or for link prediction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from trueedge.errors import InputError
from trueedge.training.loop import optimize
from trueedge.training.schedule import LoopSchedule
from trueedge.training.typed.chance import chance_level
from trueedge.training.typed.decoders import Decoder
from trueedge.training.typed.inputs import TypedInputs
from trueedge.training.typed.objectives import LinkObjective, NodeObjective, class_loss
from trueedge.training.typed.scorer import ClassPredictor, TypedLinkScorer, computed
from trueedge.training.validation import validation, validation_by

if TYPE_CHECKING:
    from trueedge.tasks import NodeTask, TypedLinkTask

LOSS = "loss"
LOSS_AND_F1 = "loss-and-f1"
F1 = ("micro-f1", "macro-f1")


@dataclass(frozen=True)
class TypedSchedule(LoopSchedule):
    """How a model of typed graphs is trained.

    Attributes:
        batch_size: links of a step; the classes of nodes are learned in one step an epoch.
        select: what is compared on the validation part: its ``loss``, or a metric. With ``loss-and-f1``, a
            state is kept only if its loss and the sum of its F1 scores have both improved, and training stops
            when neither has.
        epoch_steps: the largest number of steps in an epoch of links; 0: one for each batch.
        redraw_valid: compare the loss of validation links against other random targets at each check, instead
            of against the negatives of the task.
        fixed_negatives: draw the order of training links and their negatives once.
        stop_at_chance: training for classes may stop early even if no state was better on the validation part
            than a prediction that is the same for all nodes.
    """

    batch_size: int = 8192
    select: str = LOSS
    epoch_steps: int = 0
    redraw_valid: bool = False
    fixed_negatives: bool = False
    stop_at_chance: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_at_least(1, "batch_size")
        self.check_at_least(0, "epoch_steps")


class LinkModel(nn.Module):
    """An encoder that gives vectors of nodes, and a decoder that scores links by them.

    Args:
        encoder: gives the vectors of all nodes.
        decoder: scores links.
        penalty: the weight of the mean squares of vectors and of the decoder's weights in the loss.
    """

    def __init__(self, encoder: nn.Module, decoder: Decoder, penalty: float = 0.0) -> None:
        super().__init__()
        self.encoder, self.decoder, self.penalty = encoder, decoder, penalty

    def forward(self, inputs: TypedInputs) -> torch.Tensor:
        """Return the vectors of all nodes, float (n, dim)."""
        vectors: torch.Tensor = self.encoder(inputs)
        return vectors

    def decode(self, vectors: torch.Tensor, links: torch.Tensor) -> torch.Tensor:
        """Return the logits of links, float (n,)."""
        logits: torch.Tensor = self.decoder(vectors, links)
        return logits

    def objective(
        self, inputs: TypedInputs, relations: tuple[int, ...], schedule: TypedSchedule
    ) -> LinkObjective:
        """Return what the model is trained for."""
        steps = (schedule.batch_size, schedule.epoch_steps, schedule.fixed_negatives)
        return LinkObjective(inputs, relations, *steps)

    def loss(self, vectors: torch.Tensor, links: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
        """Return the loss of links that are there (1) or not (0), float ()."""
        loss = F.binary_cross_entropy_with_logits(self.decode(vectors, links), wanted)
        if not self.penalty:
            return loss
        tables = [vectors, *([] if self.decoder.weight is None else [self.decoder.weight])]
        return loss + self.penalty * torch.stack([one.square().mean() for one in tables]).sum()


def train_classes(
    model: nn.Module,
    task: NodeTask,
    inputs: TypedInputs,
    schedule: TypedSchedule,
    seed: int = 0,
    device: str = "cpu",
    settings: Mapping[str, Any] | None = None,
) -> ClassPredictor:
    """Train a model on a task's training nodes, and keep its best state on the validation nodes.

    Args:
        model: gives the logits of all nodes of the target type, float (n, classes).
        task: its test part is never read.
        inputs: the task's graph on the device.
        schedule: how it is trained.
        seed: for dropout.
        device: ``cpu`` or ``cuda``.
        settings: the settings of the model, as plain values; a checkpoint with others is refused.
    """
    rows, classes = _labelled(task, "train", inputs)
    objective = NodeObjective(inputs, rows, classes)

    def loss() -> float:
        places, wanted = _labelled(task, "valid", inputs)
        return float(class_loss(computed(model, inputs)[places], wanted))

    history = _optimize(
        model, objective, task, schedule, loss, ClassPredictor, inputs, seed, device, settings
    )
    return ClassPredictor(model, inputs, history)


def train_links(
    model: LinkModel,
    task: TypedLinkTask,
    inputs: TypedInputs,
    schedule: TypedSchedule,
    seed: int = 0,
    device: str = "cpu",
    settings: Mapping[str, Any] | None = None,
) -> TypedLinkScorer:
    """Train a model on the edges of the predicted relations, and keep its best state on validation links.

    The arguments are those of :func:`train_classes`.
    """
    if schedule.redraw_valid and schedule.select != LOSS:
        raise InputError(
            f"redraw_valid changes the validation loss: it needs select=loss, got {schedule.select}"
        )
    objective = model.objective(inputs, task.relations, schedule)

    def loss() -> float:
        links = torch.from_numpy(task.questions("valid").astype(np.int64)).to(device)
        if schedule.redraw_valid:
            true = links[: len(task.positives["valid"])]
            links = torch.cat([true, objective.negatives(true)])
        wanted = torch.zeros(len(links), device=device)
        wanted[: len(task.positives["valid"])] = 1.0
        with torch.no_grad():
            return float(model.loss(computed(model, inputs), links, wanted))

    history = _optimize(
        model, objective, task, schedule, loss, TypedLinkScorer, inputs, seed, device, settings
    )
    return TypedLinkScorer(model, inputs, history)


def _optimize(
    model: nn.Module,
    objective: Any,
    task: Any,
    schedule: TypedSchedule,
    loss: Any,
    scorer: Any,
    inputs: TypedInputs,
    seed: int,
    device: str,
    settings: Mapping[str, Any] | None,
) -> Any:
    by_loss, jointly = schedule.select in (LOSS, LOSS_AND_F1), schedule.select == LOSS_AND_F1
    evaluate: Any
    if "valid" not in task.part_names:
        evaluate = None
    elif jointly:
        evaluate = _loss_and_f1(task, loss, lambda: scorer(model, inputs, None))
    elif by_loss:
        evaluate = loss
    else:
        evaluate = validation(task, schedule.select, lambda: scorer(model, inputs, None))
    return optimize(
        model,
        objective,
        schedule,
        evaluate,
        metric=LOSS if by_loss else schedule.select,
        higher_is_better=not by_loss,
        jointly="f1" if jointly else None,
        chance=_chance(task, schedule),
        seed=seed,
        device=device,
        name=f"on {task.dataset}",
        request={"task": task.hash, "settings": dict(settings or {})},
    )


def _chance(task: Any, schedule: TypedSchedule) -> float | None:
    if schedule.stop_at_chance or task.kind != "nodes" or "valid" not in task.part_names:
        return None
    return chance_level(task, schedule.select)


def _loss_and_f1(
    task: Any, loss: Callable[[], float], scorer: Callable[[], object]
) -> Callable[[], dict[str, float]]:
    """Return a function that gives the validation loss, and the sum of micro-F1 and macro-F1."""
    if task.kind != "nodes":
        raise InputError(f"select: {LOSS_AND_F1} is for classes of nodes; take loss or roc-auc")
    f1 = validation_by(task, F1, scorer)
    return lambda: {LOSS: loss(), "f1": sum(f1().values())}


def _labelled(task: NodeTask, part: str, inputs: TypedInputs) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the nodes of a part, counted from the first of their type, and their classes, on the device."""
    rows = task.nodes[part].astype(np.int64) - inputs.starts[task.target]
    values = task.labels_of(part)
    classes = torch.from_numpy(values.astype(np.float32 if task.multi else np.int64))
    return torch.from_numpy(rows).to(inputs.device), classes.to(inputs.device)
