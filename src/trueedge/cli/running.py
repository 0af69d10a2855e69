"""Train, score, record."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trueedge.cli import parsing, scoreboard, showing
from trueedge.cli.making import Header
from trueedge.datasets import DEFAULT_PROTOCOL
from trueedge.errors import InputError

if TYPE_CHECKING:
    from trueedge.results import Record, Store
    from trueedge.runs import Cell, Outcome
    from trueedge.training import History

# Room for the epoch, the loss and the validation metric.
TRAINING_WIDTH = 48
# What the reasons of several seeds may differ in: how large k can be.
LIMIT = re.compile(r"the largest possible k is (\d+)$|no k is possible with this positive$")
# More seeds than these are counted.
MOST_NAMED = 8


def run(
    dataset: Annotated[
        str,
        typer.Argument(
            metavar="DATASET",
            help="A data set's name, a file with an edge list, or a folder that 'trueedge task' wrote.",
        ),
    ],
    protocol: Annotated[
        str | None,
        typer.Option(
            "-p",
            "--protocol",
            help="Protocols, with commas; 'all' for every one that needs no released files; a folder has its "
            "own.",
            show_default=DEFAULT_PROTOCOL,
        ),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            "-m",
            "--method",
            help="Methods or families, with commas; 'all' for every one; FILE.py:NAME or MODULE:NAME for a "
            "Method of your own.",
        ),
    ] = "heuristics",
    seeds: Annotated[int, typer.Option(help="How many seeds: 0, 1, …", min=1)] = 1,
    seed: Annotated[int, typer.Option(help="The first seed.", min=0)] = 0,
    fixed_split: Annotated[
        bool, typer.Option("--fixed-split", help="The first seed's split and negatives for every seed.")
    ] = False,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="A method's setting: beta=0.01 or katz.beta=0.01.")
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option("--option", help="A protocol's option: k=100 or heart.k=100.")
    ] = None,
    device: Annotated[str, typer.Option(help="Where learned methods train: cpu or cuda.")] = "cpu",
    jobs: Annotated[
        int,
        typer.Option(
            help="How many trainings run at a time, each in a process of its own. Not with --checkpoints.",
            min=1,
        ),
    ] = 1,
    runs: Annotated[Path, typer.Option(help="The folder of the records.")] = Path("runs"),
    again: Annotated[
        bool, typer.Option("--again", help="Compute anew what is in the folder of the records.")
    ] = False,
    keep_scores: Annotated[
        bool,
        typer.Option("--keep-scores", help="Keep the scores of the test part, for 'trueedge certify'."),
    ] = False,
    checkpoints: Annotated[
        Path | None,
        typer.Option(help="A folder where trainings are kept while they last, so that a killed one goes on."),
    ] = None,
    header: Header = None,
) -> None:
    """Train, score and record; a table for each protocol at the end.

    What is in the folder of the records already is not run again.

    Example:
        trueedge run cora -p existing,heart -m cn,ra,katz --seeds 5
        trueedge run cora -m katz,mine.py:Mine --set beta=0.01 --option k=100
        trueedge run cora -p existing -m gcn,ncn --seeds 10 --device cuda --jobs 8
    """
    from trueedge.results import Store
    from trueedge.runs import Cell

    made = parsing.saved_task(dataset, protocol, option or [], header)
    protocols = parsing.chosen_protocols(protocol, dataset) if made is None else [made.protocol]
    source = parsing.source(dataset, header) if made is None else made
    options = parsing.options(option or [], protocols)
    chosen, named = parsing.chosen_methods(method, set_ or [])
    cells = [
        Cell(source, name, one, number, options[name], device, seed if fixed_split else None)
        for name in protocols
        for number in range(seed, seed + seeds)
        for one in chosen
    ]
    for cell in cells:
        cell.check()
    if jobs > 1 and checkpoints is not None:
        raise InputError("--checkpoints are kept by one process: leave them out, or --jobs")
    store = Store(runs)
    with keeping(store):
        if jobs == 1:
            outcomes = _outcomes(cells, store, again, keep_scores, checkpoints)
        else:
            outcomes = _side_by_side(cells, jobs, store, again, keep_scores)
    if not _tell_outcomes(outcomes, store, named, seeds, keep_scores):
        raise typer.Exit(1)


def _tell_outcomes(
    outcomes: Sequence[Outcome], store: Store, named: Collection[str], seeds: int, keep_scores: bool
) -> bool:
    """The tables, what is kept and what could not be run; whether all ran that was asked for by its name."""
    records = [outcome.record for outcome in outcomes if outcome.record is not None]
    scoreboard.show(records)
    fresh = sum(outcome.fresh for outcome in outcomes)
    kept = showing.count(len(records), "record")
    showing.note(f"{kept} in {store.path}: {fresh} computed now, {len(records) - fresh} found there")
    if keep_scores:
        _tell_of_scores(records)
    failed = [outcome for outcome in outcomes if outcome.record is None]
    for sentence in _reasons(failed, seeds):
        showing.note(f"not run: {sentence}")
    return bool(records) and not any(outcome.cell.method.name in named for outcome in failed)


def _tell_of_scores(records: Sequence[Record]) -> None:
    """Name the protocols whose scores cannot be kept."""
    ranked = sorted({one.protocol for one in records if one.provenance.get("kept", one) is None})
    for protocol in ranked:
        showing.note(f"{protocol} ranks every node: its scores are not kept, and it cannot be certified")


@contextmanager
def keeping(store: Store) -> Iterator[None]:
    """On Ctrl-C say how many records are kept, and end with status 130."""
    try:
        yield
    except KeyboardInterrupt:
        kept = len(store)
        verb = "is" if kept == 1 else "are"
        showing.note(f"stopped; {showing.count(kept, 'record')} {verb} kept in {store.path}")
        raise typer.Exit(130) from None


def _outcomes(
    cells: Sequence[Cell], store: Store, again: bool, keep_scores: bool, checkpoints: Path | None
) -> list[Outcome]:
    """Run the cells under a progress bar."""
    from trueedge.runs import run_cells

    outcomes: list[Outcome] = []
    # Only what is trained has epochs to tell of: for other methods torch is not even imported. Where it is
    # not installed, the cells say so.
    trained = find_spec("torch") is not None and any("epochs" in cell.method.space() for cell in cells)
    with showing.progress(
        len(cells), "making the task", TRAINING_WIDTH if trained else showing.LABEL_WIDTH
    ) as report:
        asked = _watched(cells, store, checkpoints, report) if trained else cells
        iterator = run_cells(
            asked, store, lambda text, done, total: report(f"{text}: {done}/{total}"), again, keep_scores
        )
        for number, outcome in enumerate(iterator, 1):
            outcomes.append(outcome)
            report(f"{outcome.cell.protocol} · {outcome.cell.method.name}", number, len(cells))
    return outcomes


def _side_by_side(
    cells: Sequence[Cell], jobs: int, store: Store, again: bool, keep_scores: bool
) -> list[Outcome]:
    """Run the cells in several processes, under one progress bar."""
    from trueedge.runs import Workers

    outcomes: dict[int, Outcome] = {}
    with (
        Workers(jobs, store, again, keep_scores) as several,
        showing.progress(len(cells), f"{jobs} at a time") as report,
    ):
        for place, outcome in several.run(cells):
            outcomes[place] = outcome
            report(f"{outcome.cell.protocol} · {outcome.cell.method.name}", len(outcomes), len(cells))
    return [outcomes[place] for place in range(len(cells))]


def _watched(
    cells: Sequence[Cell], store: Store, checkpoints: Path | None, report: showing.Report
) -> Iterator[Cell]:
    """The cells, each watched while it is run: whoever takes the next one is done with the last."""
    from trueedge.training import Checkpoint, watching

    for cell in cells:
        kept = None if checkpoints is None else Checkpoint(checkpoints / f"{cell.key}.pt")
        with watching(partial(_tell, report, cell.method.name), kept):
            yield cell
        # A training that could not end leaves its checkpoint to be looked at.
        if kept is not None and store.find(cell.key) is not None:
            kept.remove()


def _tell(report: showing.Report, method: str, epoch: int, epochs: int, history: History) -> None:
    """Epoch, loss and, once it was looked at, the validation metric."""
    del epochs
    text = f"{method} · epoch {epoch} · loss {history.losses[-1]:.3f}"
    if history.values:
        text += f" · {history.metric} {100 * history.values[-1][1]:.2f}"
    report(text)


def _reasons(failed: Sequence[Outcome], seeds: int) -> list[str]:
    """One sentence for each reason, with the methods it stopped, and the seeds where not all were."""
    cells: dict[tuple[str, str], dict[int, str]] = {}
    for outcome in failed:
        cell = outcome.cell
        cells.setdefault((cell.protocol, cell.method.name), {})[cell.seed] = outcome.reason
    stopped: dict[tuple[str, str, tuple[int, ...]], list[str]] = {}
    for (protocol, method), by_seed in cells.items():
        told = _with_one_limit(by_seed)
        for reason in dict.fromkeys(told.values()):
            where = tuple(seed for seed, one in told.items() if one == reason)
            stopped.setdefault((protocol, reason, where), []).append(method)
    return [
        f"{', '.join(names)} under {protocol}{_named(where, seeds)}: {reason}"
        for (protocol, reason, where), names in stopped.items()
    ]


def _with_one_limit(reasons: Mapping[int, str]) -> dict[int, str]:
    """The reasons of each seed; of several that name the largest possible k, the one with the smallest."""
    limits = {reason: LIMIT.search(reason) for reason in reasons.values()}
    found = {reason: int(match[1]) if match[1] else 0 for reason, match in limits.items() if match}
    if len(found) < 2:
        return dict(reasons)
    least = min(found, key=found.__getitem__)
    count = sum(reason in found for reason in reasons.values())
    told = f"{least}, the smallest of {count} seeds" if found[least] else least
    return {seed: told if one in found else one for seed, one in reasons.items()}


def _named(where: Sequence[int], seeds: int) -> str:
    if len(where) == seeds:
        return ""
    if len(where) > MOST_NAMED:
        return f", {len(where)} of {seeds} seeds"
    return f", seed{'s' if len(where) > 1 else ''} {', '.join(map(str, where))}"


COMMANDS = (run,)
