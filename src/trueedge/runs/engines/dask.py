"""The engine Dask: run cells on a cluster, from Python."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Self

from trueedge.results.store import Store
from trueedge.runs.cells import Cell, Outcome
from trueedge.runs.driver import drive
from trueedge.runs.engines.dask_runner import DaskRunner


class Dask:
    """Runs cells on a cluster of Dask; use it in a ``with`` statement.

    Args:
        address: the address of the scheduler, ``tcp://HOST:8786``; None starts a cluster on this machine.
        scheduler_file: a file with that address, instead.
        workers: the number of worker processes of a cluster on this machine.
        cell_timeout: restart a worker whose cell takes longer, in seconds.

    Attributes:
        runner: the runner, for :func:`trueedge.runs.drive`.
    """

    def __init__(
        self,
        address: str | None = None,
        *,
        scheduler_file: str | Path | None = None,
        workers: int = 1,
        cell_timeout: float | None = None,
    ) -> None:
        file = None if scheduler_file is None else Path(scheduler_file)
        self.runner = DaskRunner(address, file, workers, cell_timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.runner.stop()

    def run(
        self,
        cells: Iterable[Cell],
        store: Store | None = None,
        *,
        again: bool = False,
        keep_scores: bool = False,
    ) -> list[Outcome]:
        """Run cells and return their outcomes, in order. A record is stored as soon as it is there.

        Args:
            cells: what to run.
            store: where records are looked up and stored.
            again: run all cells; the older records stay in the store.
            keep_scores: keep the scores of the test part too.
        """
        if store is not None:
            self.runner.shared = store.folder
        found = dict(drive(cells, store, self.runner, again, keep_scores))
        return [found[position] for position in sorted(found)]
