"""Train a path-based model on a task of triples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trueedge.errors import InputError
from trueedge.training.loop import History, check_device, optimize
from trueedge.training.paths.edges import Edges
from trueedge.training.paths.model import PathModel
from trueedge.training.paths.objective import PathObjective
from trueedge.training.paths.scorer import PathScorer
from trueedge.training.schedule import LoopSchedule
from trueedge.training.validation import fitting_metric, validation

if TYPE_CHECKING:
    from trueedge.tasks import TripleTask


@dataclass(frozen=True)
class PathSchedule(LoopSchedule):
    """How a path-based model is trained.

    Attributes:
        batch_size: triples of a batch.
        negatives: negatives of a triple.
        temperature: of the softmax that weighs negatives; 0: all weigh the same.
        remove_all: remove every edge between head and tail of a triple that is asked for.
        select: validation metric for model selection; None: the task's headline metric.
    """

    batch_size: int = 64
    negatives: int = 32
    temperature: float = 0.5
    remove_all: bool = False
    select: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_at_least(1, "batch_size", "negatives")
        self.check_at_least(0, "temperature")


def train_paths(
    model: PathModel,
    task: TripleTask,
    schedule: PathSchedule | None = None,
    seed: int = 0,
    device: str = "cpu",
    settings: Mapping[str, Any] | None = None,
) -> PathScorer:
    """Train a model on a task's graph, select the best state on its validation part, and return a scorer.

    Without a validation part, the last state is kept.

    Args:
        task: its test part is never read.
        seed: for batches, negatives and dropout.
        device: ``cpu`` or ``cuda``.
        settings: the settings of the model, as plain values; a checkpoint with others is refused.
    """
    schedule = schedule or PathSchedule()
    check_device(device)
    graph = task.graph
    if graph.num_triples == 0:
        raise InputError(f"{task.dataset} has no training triples")
    edges = Edges.of(graph, device)
    metric = fitting_metric(task, schedule.select)
    objective = model.objective(graph.triples, edges, schedule) or PathObjective(
        graph.triples,
        edges,
        schedule.batch_size,
        schedule.negatives,
        schedule.temperature,
        schedule.remove_all,
    )

    chosen = metric.name if "valid" in task.part_names else None
    history = optimize(
        model,
        objective,
        schedule,
        validation(task, chosen, lambda: PathScorer(model, edges, History(metric.name))),
        metric=metric.name,
        higher_is_better=metric.higher_is_better,
        seed=seed,
        device=device,
        name=f"on {task.dataset}",
        request={"task": task.hash, "settings": dict(settings or {})},
    )
    return PathScorer(model, edges, history)
