"""Run methods and record the results."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trueedge import datasets, metrics
from trueedge.cli import completing, engines, options, own_data, parsing, scoreboard, showing
from trueedge.cli.progress_lines import speak
from trueedge.cli.requests import Cells
from trueedge.errors import InputError
from trueedge.graph import EdgeFormat
from trueedge.methods.devices import device_used, without_effect
from trueedge.tasks.protocols import get as get_protocol

if TYPE_CHECKING:
    from trueedge.methods import Method
    from trueedge.results import Record, Store
    from trueedge.runs import Cell, Outcome
    from trueedge.tasks import Task
    from trueedge.tasks.protocols import Data
    from trueedge.training import History

# Room for the epoch, the loss and the validation metric.
TRAINING_WIDTH = 48
# Reasons that may differ between seeds only in the largest possible k.
LIMIT = re.compile(r"the largest possible k is (\d+)$|no k is possible with this positive$")
NO_FEATURES = re.compile(r"\S+ needs node features, and (.+) has none$")
# Methods of these families train nothing, and take seconds on graphs of up to so many edges.
QUICK, QUICK_SEEDS = ("heuristics",), 5
MOST_QUICK_EDGES = 200_000
# More seeds than these are counted, not listed.
MOST_NAMED = 8
# Cells that are looked up in the store before the first one runs in another process.
MOST_AHEAD = 10_000


@engines.with_engine
def run(
    dataset: options.DatasetOrTask,
    protocol: Annotated[
        str | None,
        typer.Option(
            "-p",
            "--protocol",
            autocompletion=completing.protocol,
            help="Comma-separated protocols; 'all' for those that need no released files. A saved task has "
            "its own protocol.",
            show_default=options.DEFAULT_PROTOCOLS,
        ),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            "-m",
            "--method",
            autocompletion=completing.method,
            help="Comma-separated methods or families; 'all' for all; FILE.py:NAME or MODULE:NAME for your "
            "own Method.",
            show_default="heuristics; counting on a knowledge graph or interactions; counting or voting on a "
            "typed graph",
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            help="Number of seeds.",
            min=1,
            show_default="5 for heuristics on a graph of up to 200,000 edges, else 1",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="First seed.", min=0)] = 0,
    fixed_split: Annotated[
        bool, typer.Option("--fixed-split", help="Use the first seed's split and negatives for all seeds.")
    ] = False,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="A method's setting: beta=0.01 or katz.beta=0.01.")
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option("--option", help="A protocol's option: k=100 or heart.k=100.")
    ] = None,
    features: own_data.Features = None,
    split: own_data.OwnSplit = None,
    bipartite: own_data.Bipartite = None,
    device: options.Device = "cpu",
    jobs: options.Jobs = 1,
    engine: engines.Engine = engines.NO_ENGINE,
    runs: options.Runs = Path("runs"),
    again: Annotated[bool, typer.Option("--again", help="Recompute cached results.")] = False,
    keep_scores: Annotated[
        bool, typer.Option("--keep-scores", help="Save the scores of the test part, for 'trueedge certify'.")
    ] = False,
    checkpoints: Annotated[
        Path | None,
        typer.Option(
            help="Folder for checkpoints, so that interrupted training can resume. Not with --jobs."
        ),
    ] = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    header: options.Header = None,
    source: options.SourceColumn = None,
    target: options.TargetColumn = None,
    weight: options.WeightColumn = None,
    time: options.TimeColumn = None,
) -> None:
    """Run methods on a data set and print a table for each protocol.

    Cached results are reused; --again recomputes them.

    Example:
        trueedge run cora -p existing,heart -m cn,ra,katz --seeds 5
        trueedge run cora -m katz,mine.py:Mine --set beta=0.01 --option k=100
        trueedge run cora -p existing -m gcn,ncn --seeds 10 --device cuda --jobs 8
        trueedge run umls -m complex,nbfnet --set epochs=10
        trueedge run bibliography -m simple-hgn,gcn --set epochs=30
        trueedge run bookshop -m item-knn,bpr-mf
        trueedge run graph.csv --features features.npy --split my-split
        trueedge run purchases.csv --bipartite --option split=time
    """
    from trueedge.results import Store

    speak(quiet, verbose)
    kinds = own_data.two_kinds(bipartite, option)
    columns = EdgeFormat(header, source, target, weight, time, kinds)
    own = own_data.OwnData(features, split, bipartite)
    made = parsing.saved_task(dataset, protocol, option or [], columns)
    if made is not None:
        own.refuse_with(dataset)
    protocols = parsing.chosen_protocols(protocol, dataset) if made is None else [made.protocol]
    takes = [one for name in protocols for one in get_protocol(name).takes] if made is None else []
    data_source = own.of(parsing.source(dataset, columns, takes)) if made is None else made
    given = parsing.options(own.words(option, data_source), protocols)
    data = get_protocol(protocols[0]).data if made is None else made.data
    kind = get_protocol(protocols[0]).kind if made is None else made.kind
    chosen, named = parsing.chosen_methods(method, set_ or [], data, kind)
    chosen = parsing.with_baselines(chosen, data, kind)
    why = ""
    if seeds is None:
        seeds, why = (1, "") if made is not None or data != "graph" else _default_seeds(chosen, data_source)
    cells = Cells(data_source, protocols, range(seed, seed + seeds), chosen, given, device, fixed_split)
    cells.check()
    if why:
        showing.note(why)
    if jobs > 1 and checkpoints is not None:
        raise InputError("--checkpoints needs one job: leave out either --checkpoints or --jobs")
    if engine.engine is not None and checkpoints is not None:
        raise InputError("--checkpoints needs this machine: leave out either --checkpoints or --engine")
    store = Store(runs)
    with keeping(store):
        outcomes = _outcomes(cells, store, jobs, again, keep_scores, checkpoints, engine)
    shown = _show_outcomes(outcomes, store, named, seeds, keep_scores, engine)
    _note_device(outcomes, named, device)
    if not shown:
        raise typer.Exit(1)
    end(store)


def _default_seeds(chosen: Sequence[Method], source: str | Data | Task) -> tuple[int, str]:
    """Return the number of seeds on a plain graph if none is given, and in a sentence why it is one.

    It depends on methods and data, not on a clock: the same command always runs the same seeds.
    """
    slow = [method.name for method in chosen if method.family not in QUICK]
    if not slow and _size(source) <= MOST_QUICK_EDGES:
        return QUICK_SEEDS, ""
    why = f"{slow[0]}{f' and {len(slow) - 1} more' if len(slow) > 1 else ''}" if slow else "so large a graph"
    return 1, f"one seed, since {why} may take long: run with --seeds 5 to compare methods"


def _size(source: str | Data | Task) -> int:
    """Return the number of edges, triples or interactions, or of nodes if there are more; 0 if unknown."""
    data = datasets.get(source) if isinstance(source, str) and datasets.is_name(source) else source
    data = getattr(data, "train", getattr(data, "graph", data))
    names = ("num_edges", "num_triples", "num_interactions", "num_nodes")
    return max((getattr(data, name, None) or 0 for name in names), default=0)


def _show_outcomes(
    outcomes: Sequence[Outcome],
    store: Store,
    named: Collection[str],
    seeds: int,
    keep_scores: bool,
    engine: engines.Engine,
) -> bool:
    """Print tables, counts and failures; return whether every method named by the user could run."""
    records = [outcome.record for outcome in outcomes if outcome.record is not None]
    if engine.share is None:
        scoreboard.show(records)
    else:
        engine.show_share()
    note_records(store, records)
    if keep_scores:
        _note_scores(records)
    failed = [outcome for outcome in outcomes if outcome.record is None]
    for sentence in _reasons(failed, seeds):
        showing.note(sentence)
    return bool(records or not outcomes) and not any(outcome.cell.method.name in named for outcome in failed)


def _note_device(outcomes: Sequence[Outcome], named: Collection[str], device: str) -> None:
    """Say so if all ran on the CPU although another device was asked for."""
    used = {
        device_used(one.cell.method, device) if one.record is None else one.record.provenance.get("device")
        for one in outcomes
    }
    if device != "cpu" and used == {"cpu"}:
        showing.note(without_effect(device, named))


def note_records(store: Store, records: Sequence[Record]) -> None:
    """Print the number of records, new and cached, and when the cached ones were computed."""
    dates = sorted(record.created[:10] for record in records if record.cached)
    new = len(records) - len(dates)
    note = f"{showing.count(len(records), 'record')} in {store.path}: {new} new, {len(dates)} cached"
    if dates:
        first, last = dates[0], dates[-1]
        when = f"on {first}" if first == last else f"from {first} to {last}"
        note += f" (computed {when})"
    showing.note(note)


def _note_scores(records: Sequence[Record]) -> None:
    """Print the protocols whose scores cannot be saved."""
    for protocol in sorted({one.protocol for one in records if one.provenance.get("kept", one) is None}):
        showing.note(f"tasks under {protocol} keep no scores, so their records cannot be certified")


def end(store: Store) -> None:
    """Exit with status 1 if records could not be stored; a warning has said where they are."""
    if store.unsaved is not None:
        raise typer.Exit(1)


@contextmanager
def keeping(store: Store) -> Iterator[None]:
    """On Ctrl-C, print the number of records and exit with status 130."""
    try:
        yield
    except KeyboardInterrupt:
        showing.note(f"stopped; {showing.count(len(store), 'record')} in {store.path}")
        raise typer.Exit(130) from None


def _outcomes(
    cells: Cells,
    store: Store,
    jobs: int,
    again: bool,
    keep_scores: bool,
    checkpoints: Path | None,
    engine: engines.Engine,
) -> list[Outcome]:
    """Run the cells under a progress bar; return the outcomes in their order, those of the share alone."""
    from trueedge.runs import drive
    from trueedge.runs.engines.share import OTHERS

    outcomes: dict[int, Outcome] = {}
    # Only trained methods have epochs to show; without them torch is not imported. If it is not installed,
    # the cells report it.
    trained = find_spec("torch") is not None and any("epochs" in one.space() for one in cells.methods)
    width = TRAINING_WIDTH if trained else showing.LABEL_WIDTH
    with (
        showing.progress(cells.number, "making the task", width) as report,
        engine.runner(jobs, store.folder, partial(_stage, report), cells.number) as runner,
    ):
        watch = trained and runner.in_process
        asked = _watched(cells, store, checkpoints, report) if watch else _ahead(cells)
        tell = showing.each_finished(report)
        for position, outcome in drive(asked, store, runner, again, keep_scores):
            outcomes[position] = outcome
            tell(_of_cell(outcome.cell, cells), len(outcomes), cells.number)
    return [one for position in range(cells.number) if (one := outcomes[position]).reason != OTHERS]


def _stage(report: showing.Report, stage: str, done: int, total: int) -> None:
    """Show a stage of making a task."""
    report(f"{stage}: {done}/{total}")


def _of_cell(cell: Cell, cells: Cells) -> str:
    """Return a cell in words, with its seed if there are several."""
    seed = f" · seed {cell.seed}" if len(cells.seeds) > 1 else ""
    return f"{cell.protocol} · {cell.method.name}{seed}"


def _ahead(cells: Cells) -> Iterable[Cell]:
    """Return a list of cells, which processes may take in any order; of very many, one after the other."""
    return list(cells) if cells.number <= MOST_AHEAD else iter(cells)


def _watched(cells: Cells, store: Store, checkpoints: Path | None, report: showing.Report) -> Iterator[Cell]:
    """Yield the cells; while one runs, its epochs are shown and checkpoints are saved."""
    from trueedge.training import Checkpoint, use_callbacks

    for cell in cells:
        # Before it runs: its files may change in the meantime.
        key = cell.key
        kept = None if checkpoints is None else Checkpoint(checkpoints / f"{key}.pt")
        with use_callbacks(partial(show_epoch, report, cell.method.name), kept):
            yield cell
        # A failed training keeps its checkpoint.
        if kept is not None and store.find(key) is not None:
            kept.remove()


def show_epoch(report: showing.Report, method: str, epoch: int, epochs: int, history: History) -> None:
    """Show the epoch, the loss and the latest value of the validation metric."""
    del epochs
    text = f"{method} · epoch {epoch} · loss {history.losses[-1]:.3f}"
    if history.values and history.metric:
        text += f" · {history.metric} {metrics.format_value(history.metric, history.values[-1][1])}"
    report(text)


def _reasons(failed: Sequence[Outcome], seeds: int) -> list[str]:
    """Return one sentence per reason, with its methods, protocols, and its seeds unless all failed."""
    cells: dict[tuple[str, str], dict[int, str]] = {}
    for outcome in failed:
        cell = outcome.cell
        cells.setdefault((cell.protocol, cell.method.name), {})[cell.seed] = outcome.reason
    stopped: dict[tuple[str, tuple[int, ...]], dict[str, dict[str, None]]] = {}
    for (protocol, method), by_seed in cells.items():
        merged = _with_one_limit(by_seed)
        for reason in dict.fromkeys(merged.values()):
            where = tuple(seed for seed, one in merged.items() if one == reason)
            said = NO_FEATURES.sub(r"\1 has no node features", reason)
            stopped.setdefault((said, where), {}).setdefault(protocol, {})[method] = None
    sentences = []
    for (reason, where), by_protocol in stopped.items():
        if reason.endswith(" has no node features"):
            names = dict.fromkeys(method for found in by_protocol.values() for method in found)
            sentences.append(f"skipped {', '.join(names)}: {reason}")
            continue
        groups: dict[tuple[str, ...], list[str]] = {}
        for protocol, found in by_protocol.items():
            groups.setdefault(tuple(found), []).append(protocol)
        sentences += [
            f"not run: {', '.join(group)} under {', '.join(protocols)}{_named(where, seeds)}: {reason}"
            for group, protocols in groups.items()
        ]
    return sentences


def _with_one_limit(reasons: Mapping[int, str]) -> dict[int, str]:
    """Return the reason for each seed; if several name a largest possible k, all get the smallest one."""
    limits = {reason: LIMIT.search(reason) for reason in reasons.values()}
    found = {reason: int(match[1]) if match[1] else 0 for reason, match in limits.items() if match}
    if len(found) < 2:
        return dict(reasons)
    least = min(found, key=found.__getitem__)
    count = sum(reason in found for reason in reasons.values())
    merged = f"{least}, the smallest of {count} seeds" if found[least] else least
    return {seed: merged if one in found else one for seed, one in reasons.items()}


def _named(where: Sequence[int], seeds: int) -> str:
    if len(where) == seeds:
        return ""
    if len(where) > MOST_NAMED:
        return f", {len(where)} of {seeds} seeds"
    return f", seed{'s' if len(where) > 1 else ''} {', '.join(map(str, where))}"


COMMANDS = (run,)
