"""Train a recommender, and keep its best state on the validation part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from trueedge.training.loop import Objective, optimize
from trueedge.training.recommend.inputs import RecommendInputs
from trueedge.training.recommend.model import ItemModel
from trueedge.training.recommend.scorer import ItemModelScorer
from trueedge.training.schedule import LoopSchedule
from trueedge.training.validation import fitting_metric, validation

if TYPE_CHECKING:
    from trueedge.tasks import ItemTask


def train_items(
    model: ItemModel,
    task: ItemTask,
    inputs: RecommendInputs,
    objective: Objective,
    schedule: LoopSchedule,
    select: str | None = None,
    seed: int = 0,
    device: str = "cpu",
    settings: Mapping[str, Any] | None = None,
) -> ItemModelScorer:
    """Train a model and return its scorer.

    Args:
        model: the model, in its first state.
        task: the task; its test part is not read.
        inputs: the training interactions on the device.
        objective: what is minimised.
        schedule: how it is trained.
        select: the metric that is compared on the validation part; None: the headline.
        seed: for batches and dropout.
        device: ``cpu`` or ``cuda``.
        settings: plain values that a checkpoint must match, with the name of the ``method``.
    """
    metric = fitting_metric(task, select).name
    name = str((settings or {}).get("method", "the model"))
    has_valid = "valid" in task.part_names
    evaluate = validation(task, metric, lambda: ItemModelScorer(model, inputs, None, name))
    history = optimize(
        model,
        objective,
        schedule,
        evaluate if has_valid else None,
        metric=metric,
        seed=seed,
        device=device,
        name=f"{name} on {task.dataset}",
        request={"task": task.hash, "settings": dict(settings or {})},
    )
    return ItemModelScorer(model, inputs, history, name)
