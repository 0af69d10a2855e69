"""Which worker runs which cell."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from trueedge.runs.cells import Cell
from trueedge.runs.engines.jobs import Job
from trueedge.runs.engines.worker import KEPT


@dataclass(eq=False)
class Waiting:
    """A cell that waits for a worker."""

    position: int
    cell: Cell
    task_key: str
    job: Job
    starts: int = 0
    # How often its worker died before it had begun, behind the cells of another driver.
    bystander: int = 0

    @property
    def needs_gpu(self) -> bool:
        """Return whether the cell asks for a GPU."""
        return self.cell.device.startswith("cuda")


@dataclass(eq=False)
class Started:
    """A cell on a worker, since when, and whether it has begun or waits behind another driver's."""

    what: Waiting
    worker: Worker
    future: Any
    since: float
    begun: bool = True


@dataclass(eq=False)
class Worker:
    """A worker, what it keeps in memory, and what it has refused."""

    address: str
    has_gpu: bool
    busy_elsewhere: bool
    running: Started | None = None
    tasks: deque[str] = field(default_factory=lambda: deque(maxlen=KEPT))
    sources: deque[str] = field(default_factory=lambda: deque(maxlen=KEPT))
    codes: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    refused_all: bool = False
    # Another driver has given it something.
    has_queue: bool = False

    def can_run(self, what: Waiting) -> bool:
        """Return whether it has what a cell asks for, and has not refused such cells."""
        refused = self.refused_all or what.job.source_key in self.refused
        return not refused and (self.has_gpu or not what.needs_gpu)


def choose(worker: Worker, waiting: Sequence[Waiting], workers: Iterable[Worker]) -> Waiting | None:
    """Return the cell that an idle worker runs next, or None if it can run none.

    First comes one of a task that the worker has made, then one of a task that no worker has made.
    """
    fitting = [what for what in waiting if worker.can_run(what)]
    if not fitting:
        return None
    chosen = next((what for what in fitting if what.task_key in worker.tasks), None)
    if chosen is not None:
        return chosen
    held = {key for other in workers for key in other.tasks}
    return next((what for what in fitting if what.task_key not in held), fitting[0])
