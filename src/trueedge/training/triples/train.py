"""Train a model for triples on a task."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from torch.nn.modules.batchnorm import _BatchNorm

from trueedge.errors import InputError, ScoreWarning
from trueedge.metrics import Metric
from trueedge.metrics import get as get_metric
from trueedge.training.loop import History, check_device, optimize
from trueedge.training.triples.index import TripleIndex
from trueedge.training.triples.model import TripleModel
from trueedge.training.triples.objectives import TripleObjective, make_objective
from trueedge.training.triples.schedule import TripleSchedule
from trueedge.training.triples.scorer import TripleScorer

if TYPE_CHECKING:
    from trueedge.tasks.triples import TripleTask


def train_triples(
    model: TripleModel,
    task: TripleTask,
    schedule: TripleSchedule | None = None,
    seed: int = 0,
    device: str = "cpu",
    objective: Callable[[TripleIndex], TripleObjective] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> TripleScorer:
    """Train a model on a task's triples, select the best state on its validation part, and return a scorer.

    Args:
        model: a model with a vector for each entity and relation of the task's graph.
        task: its test part is never read.
        seed: for batches, negatives and dropout. Weights are drawn when the model is made: see
            :func:`trueedge.training.seeded`.
        device: ``cpu`` or ``cuda``.
        objective: makes the objective from the training triples; None: the one that the schedule names.
        settings: the settings of the model, as plain values; a checkpoint with others is refused.
    """
    schedule = schedule or TripleSchedule()
    check_device(device)
    if schedule.batch_size == 1 and any(isinstance(part, _BatchNorm) for part in model.modules()):
        raise InputError(
            "batch_size must be 2 or more: the model has batch norms, which need several queries"
        )
    metric = None if schedule.keep_last else _metric(task, schedule)
    model = model.to(device)
    index = TripleIndex(task.graph, device)
    goal = make_objective(index, schedule) if objective is None else objective(index)

    def evaluate() -> float:
        with warnings.catch_warnings():
            # Warnings about scores are only for the model that is kept.
            warnings.simplefilter("ignore", ScoreWarning)
            return float(
                task.evaluate(TripleScorer(model, History(metric)), "valid", [str(metric)])[str(metric)]
            )

    history = optimize(
        model,
        goal,
        schedule,
        None if metric is None else evaluate,
        metric=str(metric),
        higher_is_better=metric is None or get_metric(metric).higher_is_better,
        seed=seed,
        device=device,
        name=f"on {task.dataset}",
        request={"task": task.hash, "settings": dict(settings or {})},
    )
    return TripleScorer(model, history)


def selection_metric(task: TripleTask, select: str | None) -> Metric:
    """Return the metric for model selection, or refuse one before the training that has no ranks."""
    metric = get_metric(select or task.headline)
    if "ranks" not in metric.layouts:
        raise InputError(f"select: {metric.name} is no metric of ranked answers; take mrr or hits@10")
    return metric


def _metric(task: TripleTask, schedule: TripleSchedule) -> str:
    if "valid" not in task.part_names:
        raise InputError(
            f"{task.dataset} under {task.protocol} has no validation part for model selection;"
            " keep the last epoch (keep_last)"
        )
    return selection_metric(task, schedule.select).name
