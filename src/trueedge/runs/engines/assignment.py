"""Which worker runs which cell."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Container, Sequence
from dataclasses import dataclass, field
from typing import Any

from trueedge.runs.cells import Cell
from trueedge.runs.engines.jobs import Job
from trueedge.runs.engines.worker import KEPT

# Cells that take less than so many seconds travel together, up to so many.
SHORT, MOST_TOGETHER = 0.02, 8


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
    # Its worker died while it had several cells: nobody knows which one is to blame.
    alone: bool = False

    @property
    def kind(self) -> tuple[str, str, str]:
        """Return what cells have in common that take equally long: all but the seed of training."""
        return self.task_key, self.cell.method.name, repr(self.cell.method.settings())

    @property
    def needs_gpu(self) -> bool:
        """Return whether the cell asks for a GPU."""
        return self.cell.device.startswith("cuda")


@dataclass(eq=False)
class Started:
    """Cells on a worker, since when, and whether they have begun or wait behind another driver's."""

    cells: list[Waiting]
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


def choose(
    worker: Worker, waiting: Sequence[Waiting], workers: Collection[Worker], short: Container[object]
) -> list[Waiting]:
    """Return the cells that an idle worker runs next: one, or several short ones of the same kind.

    First comes one of a task that the worker has made, then one of a task that no worker has made.

    Args:
        worker: the worker.
        waiting: the cells that wait.
        workers: all workers.
        short: the kinds of cells that take less time than their way there and back.
    """
    fitting = [what for what in waiting if worker.can_run(what)]
    if not fitting:
        return []
    chosen = next((what for what in fitting if what.task_key in worker.tasks), None)
    if chosen is None:
        held = {key for other in workers for key in other.tasks}
        chosen = next((what for what in fitting if what.task_key not in held), fitting[0])
    if chosen.alone or chosen.job.runs is not None or chosen.kind not in short:
        return [chosen]
    alike = [what for what in fitting if not what.alone and what.kind == chosen.kind]
    # Enough are left for the others, so that all end at the same time.
    return alike[: max(1, min(MOST_TOGETHER, len(alike) // (2 * len(workers))))]
