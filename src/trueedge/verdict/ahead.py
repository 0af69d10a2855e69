"""Run the cells of a judgement ahead, on an engine or as a share, so that the store has their records."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from trueedge.errors import InputError
from trueedge.methods import Method
from trueedge.progress import Progress
from trueedge.results.store import Store
from trueedge.runs import Cell, Runner, drive
from trueedge.runs.engines.share import OwnShare, ShareDone
from trueedge.verdict.models import OwnModel
from trueedge.verdict.plan import Request


class Ahead:
    """Runs cells before they are asked for: those of the first split, then all others.

    With a share, its cells are run, and :class:`ShareDone` is raised: a verdict needs the others.

    Attributes:
        fresh: the keys of the records that are new.
    """

    def __init__(self, runner: Runner, store: Store | None, progress: Progress | None) -> None:
        if store is None:
            raise InputError("an engine needs a store, where it leaves the records")
        self._runner, self._store, self._progress = runner, store, progress
        self.fresh: set[str] = set()

    def run(
        self,
        seed: int,
        requests: Sequence[Request],
        counts: Sequence[int],
        methods: Sequence[Method],
        cell: Callable[[Request, Method, int], Cell],
    ) -> None:
        """Run the cells of the first split (0), or of all further ones (1); nothing for later ones.

        Args:
            seed: the number of the split.
            requests: the protocols.
            counts: the number of splits of each.
            methods: the model and the baselines.
            cell: makes a cell.
        """
        shared = isinstance(self._runner, OwnShare)
        if seed > 1:
            return
        # A user's model that is no method cannot be sent: it is run here.
        sent = [one for one in methods if self._runner.in_process or not isinstance(one, OwnModel)]
        seeds = range(10**6) if shared else range(1) if seed == 0 else range(1, 10**6)
        cells = [
            cell(request, method, number)
            for request, count in zip(requests, counts, strict=True)
            for number in range(count)
            if number in seeds
            for method in sent
        ]
        for done, (_, outcome) in enumerate(drive(cells, self._store, self._runner), 1):
            if outcome.record is not None and outcome.fresh:
                self.fresh.add(outcome.record.key)
            if self._progress is not None:
                self._progress(f"{outcome.cell.protocol} · {outcome.cell.method.name}", done, len(cells))
        if shared:
            raise ShareDone
