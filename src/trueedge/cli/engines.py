"""Many machines: the options of commands that run cells, and the commands ``worker`` and ``merge``."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from trueedge.cli import showing
from trueedge.errors import InputError, unknown

if TYPE_CHECKING:
    from trueedge.progress import Progress
    from trueedge.runs import Runner
    from trueedge.runs.engines.shards import ShardsOnDask
    from trueedge.runs.engines.share import Share

ENGINES = ("dask",)
_PANEL = "Many machines"


@dataclass(frozen=True)
class Engine:
    """What a command was told about engines: where cells run, and which share of them."""

    engine: Annotated[
        str | None,
        typer.Option(help="Engine that runs the cells: dask.", rich_help_panel=_PANEL, show_default=False),
    ] = None
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Address of Dask's scheduler: tcp://HOST:8786.",
            show_default="a cluster on this machine, with --jobs workers",
            rich_help_panel=_PANEL,
        ),
    ] = None
    scheduler_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File with the scheduler's address, which 'dask scheduler --scheduler-file' writes.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    cell_timeout: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="Restart a worker whose cell takes longer; a cell is started three times at most.",
            min=1,
            rich_help_panel=_PANEL,
        ),
    ] = None
    share: Annotated[
        str | None,
        typer.Option(
            metavar="I/N",
            help="Run only the I-th of N shares of the cells, for job arrays; 'trueedge merge' merges them.",
            rich_help_panel=_PANEL,
        ),
    ] = None

    @contextmanager
    def runner(
        self, jobs: int, runs: Path, progress: Progress | None = None, count: int | None = None
    ) -> Iterator[Runner]:
        """Yield what runs the cells, and stop it at the end.

        Args:
            jobs: the number of processes on this machine.
            runs: the folder of the records, from which workers may map large graphs.
            progress: called with a stage of making a task, where cells run in this process.
            count: the number of cells, for shares of a generator.
        """
        from trueedge.runs import runner_for
        from trueedge.runs.engines.share import OwnShare

        share = self._share()
        self._check()
        if self.engine is None:
            chosen: Runner = runner_for(jobs, progress)
        else:
            from trueedge.runs.engines.dask_runner import DaskRunner

            where = (self.scheduler, self.scheduler_file, jobs, self.cell_timeout)
            chosen = DaskRunner(*where, showing.note, runs, tells=not sys.stderr.isatty())
        with chosen as runner:
            yield runner if share is None else OwnShare(runner, share, count)

    @contextmanager
    def runner_ahead(self, jobs: int, runs: Path) -> Iterator[Runner | None]:
        """Yield what runs the cells, or None for this process."""
        if jobs == 1 and self.engine is None and self.share is None:
            self._check()
            yield None
            return
        with self.runner(jobs, runs) as runner:
            yield runner

    def shard_work(self, jobs: int) -> ShardsOnDask | None:
        """Return what makes shards of negatives on an engine, or None for this process."""
        self._check()
        if self.share is not None:
            raise InputError("shards need no --share: start the same command several times to share the work")
        if self.cell_timeout is not None:
            raise InputError("--cell-timeout is for cells, not for shards")
        if self.engine is None:
            if jobs > 1:
                raise InputError("--jobs needs an engine here: add --engine dask")
            return None
        from trueedge.runs.engines.shards import ShardsOnDask

        return ShardsOnDask(self.scheduler, self.scheduler_file, jobs, showing.note)

    @contextmanager
    def ending_a_share(self, runner: Runner | None = None) -> Iterator[None]:
        """End the command where a share is done: what comes next needs the others.

        Args:
            runner: what runs the cells, if the command may fail on the records of a share alone.
        """
        from trueedge.runs.engines.share import OwnShare, ShareDone

        try:
            yield
        except ShareDone:
            self.end_share()
        except (InputError, LookupError, ValueError):
            if not isinstance(runner, OwnShare) or not runner.left_out:
                raise
            self.end_share()

    def end_share(self) -> None:
        """End a command that has a share, with what to do next."""
        if self.share is not None:
            self.show_share()
            raise typer.Exit(0)

    def refuse(self, why: str) -> None:
        """Refuse all options of engines."""
        for one in fields(self):
            if getattr(self, one.name) is not None:
                raise InputError(f"{why}: remove --{one.name.replace('_', '-')}")

    def show_share(self) -> None:
        """Print what to do with the records of a share."""
        showing.note(
            f"share {self.share}: when all shares are done, merge their folders with 'trueedge merge', and"
            " run the same command without --share to see the results"
        )

    def _share(self) -> Share | None:
        from trueedge.runs.engines.share import Share

        return None if self.share is None else Share.parse(self.share)

    def _check(self) -> None:
        """Refuse options that contradict each other."""
        if self.engine is not None and self.engine not in ENGINES:
            raise unknown("engine", self.engine, ENGINES)
        if self.scheduler is not None and self.scheduler_file is not None:
            raise InputError("--scheduler and --scheduler-file both name a scheduler: leave out one of them")
        if self.engine is None:
            named = {
                "--scheduler": self.scheduler,
                "--scheduler-file": self.scheduler_file,
                "--cell-timeout": self.cell_timeout,
            }
            for option, value in named.items():
                if value is not None:
                    raise InputError(f"{option} needs an engine: add --engine dask")


NO_ENGINE = Engine()


def with_engine(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command with a parameter ``engine: Engine`` the options of an engine in its place."""
    hints = get_type_hints(Engine, include_extras=True)
    own = get_type_hints(command, include_extras=True)
    names = [one.name for one in fields(Engine)]
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        if own[parameter.name] is not Engine:
            parameters.append(parameter.replace(annotation=own[parameter.name]))
            continue
        parameters += [
            inspect.Parameter(one.name, parameter.kind, default=one.default, annotation=hints[one.name])
            for one in fields(Engine)
        ]

    @functools.wraps(command)
    def run(**given: Any) -> None:
        chosen = Engine(**{name: given.pop(name) for name in names})
        command(**given, engine=chosen)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters} | {"return": None}
    return run


def merge(
    parts: Annotated[list[Path], typer.Argument(metavar="FOLDER...", help="Folders of records.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder to add the records to.")],
) -> None:
    """Merge the records of several folders into one, as from shares of a run.

    A result that is there already is not added again. Damaged records are named and left out.

    Example:
        trueedge merge part-1 part-2 part-3 -o runs
    """
    from trueedge.results.merging import merge as merged

    with showing.progress(len(parts), "merging") as report:
        found = merged(parts, output, report)
    for sentence in (*found.notes, *found.problems):
        showing.note(sentence)
    if found.differing:
        showing.note(
            f"{showing.count(found.differing, 'record')} with other metrics than the one that was there:"
            " they were not added"
        )
    showing.note(f"{showing.count(found.new, 'record')} added to {output}, {found.known:,} already there")
    if found.problems:
        raise typer.Exit(1)


def worker(
    scheduler: Annotated[
        str,
        typer.Argument(
            metavar="SCHEDULER", help="Address of Dask's scheduler (tcp://HOST:8786), or a scheduler file."
        ),
    ],
    gpus: Annotated[
        str | None,
        typer.Option(
            help="GPUs, one process for each: 0,1; 'all' for those in CUDA_VISIBLE_DEVICES.",
            show_default=False,
        ),
    ] = None,
    processes: Annotated[int, typer.Option(help="Number of processes, without --gpus.", min=1)] = 1,
    threads: Annotated[
        int | None, typer.Option(help="Threads of each process.", min=1, show_default="all cores, divided")
    ] = None,
    host: Annotated[
        str | None,
        typer.Option(
            help="Address by which other machines reach this one.", show_default="on the way to the scheduler"
        ),
    ] = None,
) -> None:
    """Run cells that a scheduler of Dask hands out, until the scheduler ends.

    Each process runs one cell at a time. Whoever reaches the scheduler can run code on this machine: use it
    in a network that you trust, or with Dask's TLS settings.

    Example:
        trueedge worker tcp://10.0.0.1:8786 --gpus 0,1
    """
    from trueedge.runs.engines.serving import named_gpus, serve

    if gpus is not None and processes > 1:
        raise InputError("--gpus starts one process for each GPU: leave out --processes")
    named = [] if gpus is None else named_gpus(gpus)
    status = serve(scheduler, named, processes, threads, host, showing.note)
    if status:
        raise typer.Exit(status)


COMMANDS = (worker, merge)
