"""The validation value of a model in training, by which its best epoch is chosen."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

from trueedge.errors import InputError, ScoreWarning
from trueedge.metrics import Metric
from trueedge.metrics import get as get_metric
from trueedge.tasks import Task


def selection_metric(task: Task, select: str | None, instead: str) -> str:
    """Return the metric for model selection; a task without a validation part is refused.

    Args:
        task: the task.
        select: the metric's name; None: the task's headline metric.
        instead: what to do without a validation part.
    """
    if "valid" not in task.part_names:
        raise InputError(
            f"{task.dataset} under {task.protocol} has no validation part for model selection; {instead}"
        )
    return fitting_metric(task, select).name


def fitting_metric(task: Task, select: str | None) -> Metric:
    """Return the metric for model selection; one that cannot evaluate the task is refused before training."""
    metric = get_metric(select or task.headline)
    if task.data == "triples" and "ranks" not in metric.layouts:
        raise InputError(f"select: {metric.name} is no metric of ranked answers; take mrr or hits@10")
    return metric


def validation(task: Task, metric: str | None, scorer: Callable[[], object]) -> Callable[[], float] | None:
    """Return a function that evaluates a scorer on the validation part; None without a metric.

    Args:
        task: its test part is not read.
        metric: the metric's name.
        scorer: returns the scorer of the model in its current state.
    """
    if metric is None:
        return None
    evaluate = validation_by(task, [metric], scorer)
    return lambda: evaluate()[metric]


def validation_by(
    task: Task, metrics: Sequence[str], scorer: Callable[[], object]
) -> Callable[[], dict[str, float]]:
    """Return a function that evaluates a scorer on the validation part by several metrics.

    Args:
        task: its test part is not read.
        metrics: the names of the metrics.
        scorer: returns the scorer of the model in its current state.
    """

    def evaluate() -> dict[str, float]:
        with warnings.catch_warnings():
            # Warnings about scores are only for the model that is kept.
            warnings.simplefilter("ignore", ScoreWarning)
            found = task.evaluate(scorer(), "valid", metrics)
        return {name: float(found[name]) for name in metrics}

    return evaluate
