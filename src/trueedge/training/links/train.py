"""Train a link predictor on a task."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torch import nn

from trueedge.errors import InputError
from trueedge.graph import Graph
from trueedge.metrics import get as get_metric
from trueedge.scorers.selections import further_metrics
from trueedge.tasks import GraphTask
from trueedge.training.links.messages import Messages
from trueedge.training.links.model import as_model
from trueedge.training.links.objectives import PairObjective
from trueedge.training.links.schedule import Schedule
from trueedge.training.links.scorer import TrainedScorer
from trueedge.training.loop import History, Objective, check_device, optimize
from trueedge.training.validation import fitting_metric, selection_metric, validation_by

KEEP = "give the protocol one (valid=0.05), or keep the last epoch (keep_last)"


def train(
    model: nn.Module,
    task: GraphTask,
    schedule: Schedule | None = None,
    seed: int = 0,
    device: str = "cpu",
    objective: Callable[[Graph, Messages], Objective] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> TrainedScorer:
    """Train a model on a task's graph, select the best state on its validation part, and return a scorer.

    Args:
        model: a :class:`LinkModel`, or any torch module from pairs (n, 2) to n logits.
        task: its test part is never read.
        schedule: how it is trained; None: the defaults.
        seed: for batches, negatives and dropout. Weights are drawn when the model is made: see
            :func:`seeded`.
        device: ``cpu`` or ``cuda``.
        objective: makes the objective from graph and messages; None: :class:`PairObjective`.
        settings: the settings of the model, as plain values; a checkpoint with others is refused.
    """
    schedule = schedule or Schedule()
    check_device(device)
    if task.graph.num_edges == 0:
        raise InputError(f"{task.dataset} has no training edges")
    metric = None if schedule.keep_last else selection_metric(task, schedule.select, KEEP)
    stop = metric if schedule.stop is None else fitting_metric(task, schedule.stop).name
    watched = [] if metric is None else list(dict.fromkeys([metric, str(stop), *further_metrics()]))
    links = as_model(model).to(device)
    messages = Messages.of(task.graph, device)
    if objective is None:
        goal: Objective = PairObjective(task.graph, messages, schedule, seed)
    else:
        goal = objective(task.graph, messages)

    history = optimize(
        links,
        goal,
        schedule,
        validation_by(task, watched, lambda: TrainedScorer(links, messages, History(metric)))
        if watched
        else None,
        metric=str(metric),
        higher_is_better=metric is None or get_metric(metric).higher_is_better,
        further=[History(name, higher_is_better=get_metric(name).higher_is_better) for name in watched[1:]],
        stop=stop,
        seed=seed,
        device=device,
        name=f"on {task.dataset}",
        request={"task": task.hash, "settings": dict(settings or {})},
    )
    return TrainedScorer(links, messages, history)
