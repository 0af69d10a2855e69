"""The former name of several processes with a store; it goes in the next version."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Self

from trueedge.results.store import Store
from trueedge.runs.cells import Cell, Outcome
from trueedge.runs.driver import drive
from trueedge.runs.processes import Processes


class Workers:
    """Runs cells in several processes, as ``run_cells(cells, store, jobs=4)`` does."""

    def __init__(
        self, jobs: int, store: Store | None = None, again: bool = False, keep_scores: bool = False
    ) -> None:
        self._runner, self._store, self._again, self._keep_scores = Processes(jobs), store, again, keep_scores

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._runner.stop()

    def run(self, cells: Iterable[Cell]) -> Iterator[tuple[int, Outcome]]:
        """Yield the position and the outcome of each cell as it finishes."""
        return drive(cells, self._store, self._runner, self._again, self._keep_scores)
