"""Search a method's settings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from trueedge import metrics
from trueedge.cli import completing, engines, options, own_data, parsing, scoreboard, showing
from trueedge.cli.making import ProtocolOfName
from trueedge.cli.progress_lines import speak
from trueedge.cli.running import end, keeping, note_records
from trueedge.errors import InputError
from trueedge.graph import EdgeFormat
from trueedge.tasks.protocols import get as get_protocol

if TYPE_CHECKING:
    from trueedge.search import Tuned

SHOWN = 10
One = TypeVar("One")


@engines.with_engine
def tune(
    dataset: options.DatasetOrTask,
    protocol: ProtocolOfName = None,
    method: Annotated[
        str,
        typer.Option(
            "-m",
            "--method",
            help="Method; FILE.py:NAME or MODULE:NAME for your own.",
            autocompletion=completing.method,
        ),
    ] = "gcn",
    trials: Annotated[int, typer.Option(help="Number of trials.", min=1)] = 20,
    search: Annotated[
        str,
        typer.Option(
            help="Search strategy: grid (sampled at random if larger than --trials) or tpe (Optuna)."
        ),
    ] = "grid",
    seeds: Annotated[int, typer.Option(help="Number of seeds for the best settings.", min=1)] = 10,
    seed: Annotated[
        int,
        typer.Option(
            help="Seed for the split, the trials and the search. The best settings are run with the "
            "seeds that come after this one.",
            min=0,
        ),
    ] = 0,
    metric: Annotated[
        str | None,
        typer.Option(help="Validation metric to optimise.", show_default="the protocol's headline"),
    ] = None,
    space: Annotated[
        list[str] | None,
        typer.Option(help="Values to try for a setting, instead of the default ones: dim=64,128."),
    ] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="A fixed setting: layers=1.")] = None,
    option: Annotated[list[str] | None, typer.Option("--option", help="A protocol's option: k=100.")] = None,
    features: own_data.Features = None,
    split: own_data.OwnSplit = None,
    bipartite: own_data.Bipartite = None,
    jobs: options.Jobs = 1,
    engine: engines.Engine = engines.NO_ENGINE,
    device: options.Device = "cpu",
    runs: options.Runs = Path("runs"),
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    header: options.Header = None,
    source: options.SourceColumn = None,
    target: options.TargetColumn = None,
    weight: options.WeightColumn = None,
    time: options.TimeColumn = None,
) -> None:
    """Search a method's settings on the validation part, then evaluate the best settings on the test part.

    Trials only use the validation part. Run the command again to resume an interrupted search.

    Example:
        trueedge tune cora -p existing -m katz --seeds 1
        trueedge tune citeseer -p heart-released -m gcn --trials 20 --search tpe --seeds 10 --jobs 2
    """
    from trueedge import search as room
    from trueedge.results import Store

    speak(quiet, verbose)
    kinds = own_data.two_kinds(bipartite, option)
    columns = EdgeFormat(header, source, target, weight, time, kinds)
    own = own_data.OwnData(features, split, bipartite)
    made = parsing.saved_task(dataset, protocol, option or [], columns)
    if made is not None:
        own.refuse_with(dataset)
    name = _only(parsing.chosen_protocols(protocol, dataset), "protocol") if made is None else made.protocol
    chosen = get_protocol(name)
    data_source = own.of(parsing.source(dataset, columns, chosen.takes)) if made is None else made
    one = _only(parsing.chosen_methods(method, set_ or [], chosen.data, chosen.kind)[0], "method")
    asked: dict[str, Any] = {
        "trials": trials,
        "search": search,
        "seeds": seeds,
        "seed": seed,
        "metric": metric,
        "space": _space(space or []),
        "device": device,
        "jobs": jobs,
        **parsing.options(own.words(option, data_source), [name])[name],
    }
    if engine.share is not None and search != "grid":
        raise InputError(f"{search} chooses trials by earlier ones: --share needs --search grid")
    store = Store(runs)
    with (
        engine.ending_a_share(),
        keeping(store),
        showing.progress(trials + seeds, "making the task") as report,
        engine.runner(jobs, runs) as runner,
    ):
        found = room.tune(
            data_source,
            name,
            one,
            store=store,
            announce=lambda budget: showing.note(str(budget)),
            progress=showing.each_finished(report),
            runner=runner,
            **asked,
        )
    _show(found)
    scoreboard.show(found.records)
    tried = [trial.record for trial in found.trials if trial.record is not None]
    note_records(store, [*tried, *found.records])
    for sentence in dict.fromkeys(trial.reason for trial in found.trials if trial.reason):
        showing.note(f"not run: {sentence}")
    end(store)


def _only(found: Sequence[One], what: str) -> One:
    """Return the only item; refuse several."""
    if len(found) != 1:
        raise InputError(f"tune takes one {what}, got {len(found)}")
    return found[0]


def _space(words: Sequence[str]) -> dict[str, list[Any]]:
    """Return the values of each setting from ``key=value,value``."""
    found: dict[str, list[Any]] = {}
    for word in words:
        key, equals, text = word.partition("=")
        if not equals or not key:
            raise InputError(f"--space {word} is not of the form key=value,value")
        found[key] = [parsing.value(one) for one in parsing.names(text, f"value of {key}")]
    return found


def _show(found: Tuned) -> None:
    """Show the best trials."""
    first = found.records[0]
    names = list(found.settings)
    best = found.best[:SHOWN]
    places = {id(best[0]): "best", **{id(trial): "tied" for trial in found.tied}}
    rows = [
        [
            metrics.format_value(found.metric, trial.value or 0.0),
            *(str(trial.settings[name]) for name in names),
            places.get(id(trial), ""),
        ]
        for trial in best
    ]
    unit = "percent, " if metrics.scale(found.metric) == 100 else ""
    number = f"{unit}the best {len(best)} of {showing.count(len(found.trials), 'trial')}"
    title = f"{first.dataset} · {first.protocol} · {first.method}  validation part, {number}"
    showing.table(title, [found.metric, *names, ""], rows, numbers=range(len(names) + 1))
    for sentence in found.remarks():
        showing.note(sentence)


COMMANDS = (tune,)
