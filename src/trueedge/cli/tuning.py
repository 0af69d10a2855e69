"""Search a method's settings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from trueedge import metrics
from trueedge.cli import parsing, scoreboard, showing
from trueedge.cli.making import Header
from trueedge.cli.running import keeping
from trueedge.datasets import DEFAULT_PROTOCOL
from trueedge.errors import InputError

if TYPE_CHECKING:
    from trueedge.search import Tuned

SHOWN = 10
One = TypeVar("One")


def tune(
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
            "-p", "--protocol", help="The protocol; a folder has its own.", show_default=DEFAULT_PROTOCOL
        ),
    ] = None,
    method: Annotated[
        str,
        typer.Option("-m", "--method", help="The method; FILE.py:NAME or MODULE:NAME for one of your own."),
    ] = "gcn",
    trials: Annotated[int, typer.Option(help="How many points are tried.", min=1)] = 20,
    search: Annotated[
        str, typer.Option(help="How points are chosen: grid (at random where it has more), or tpe (Optuna).")
    ] = "grid",
    seeds: Annotated[int, typer.Option(help="With how many seeds the winner is run.", min=1)] = 10,
    seed: Annotated[
        int, typer.Option(help="For split, trials and search; the winner has those after it.", min=0)
    ] = 0,
    metric: Annotated[
        str | None,
        typer.Option(help="The validation metric that chooses.", show_default="the protocol's headline"),
    ] = None,
    space: Annotated[
        list[str] | None,
        typer.Option(help="Values of a setting to search in the place of the method's own: dim=64,128."),
    ] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="A setting that stays: layers=1.")] = None,
    option: Annotated[list[str] | None, typer.Option("--option", help="A protocol's option: k=100.")] = None,
    jobs: Annotated[
        int, typer.Option(help="How many trainings run at a time, each in a process of its own.", min=1)
    ] = 1,
    device: Annotated[str, typer.Option(help="Where learned methods train: cpu or cuda.")] = "cpu",
    runs: Annotated[Path, typer.Option(help="The folder of the records.")] = Path("runs"),
    header: Header = None,
) -> None:
    """Search a method's settings on the validation part, then judge the winner on test.

    Every trial is a record; no trial is judged on the test part. What is in the folder of the records already
    is not run again, so a search that was stopped goes on when it is asked for again.

    Example:
        trueedge tune cora -p existing -m katz --seeds 1
        trueedge tune citeseer -p heart-released -m gcn --trials 20 --search tpe --seeds 10 --jobs 2
    """
    from trueedge import search as room
    from trueedge.results import Store

    made = parsing.saved_task(dataset, protocol, option or [], header)
    name = _only(parsing.chosen_protocols(protocol, dataset), "protocol") if made is None else made.protocol
    one = _only(parsing.chosen_methods(method, set_ or [])[0], "method")
    asked: dict[str, Any] = {
        "trials": trials,
        "search": search,
        "seeds": seeds,
        "seed": seed,
        "metric": metric,
        "space": _space(space or []),
        "device": device,
        "jobs": jobs,
        **parsing.options(option or [], [name])[name],
    }
    store = Store(runs)
    with keeping(store), showing.progress(trials + seeds, "making the task") as report:
        found = room.tune(
            parsing.source(dataset, header) if made is None else made,
            name,
            one,
            store=store,
            announce=lambda budget: showing.note(str(budget)),
            progress=report,
            **asked,
        )
    _show(found)
    scoreboard.show(found.records)
    number = len(found.trials) + len(found.records)
    kept = f"{showing.count(number, 'record')} in {store.path}"
    showing.note(f"{kept}: {found.fresh} computed now, {number - found.fresh} found there")
    for sentence in dict.fromkeys(trial.reason for trial in found.trials if trial.reason):
        showing.note(f"not run: {sentence}")


def _only(found: Sequence[One], what: str) -> One:
    """The one thing that was named."""
    if len(found) != 1:
        raise InputError(f"tune: one {what} is searched at a time, and here are {len(found)}")
    return found[0]


def _space(words: Sequence[str]) -> dict[str, list[Any]]:
    """The values of each setting from ``key=value,value``."""
    found: dict[str, list[Any]] = {}
    for word in words:
        key, equals, text = word.partition("=")
        if not equals or not key:
            raise InputError(f"{word!r} is no space: write key=value,value")
        found[key] = [parsing.value(one) for one in parsing.names(text, f"value of {key}")]
    return found


def _show(found: Tuned) -> None:
    """The best trials on validation."""
    first = found.records[0]
    names = list(found.settings)
    best = found.best[:SHOWN]
    # A mean rank is no fraction.
    scale = 100 if metrics.get(found.metric).high <= 1 else 1
    rows = [
        [f"{scale * (trial.value or 0.0):.2f}", *(str(trial.settings[name]) for name in names)]
        for trial in best
    ]
    unit = "percent, " if scale == 100 else ""
    number = f"{unit}the best {len(best)} of {showing.count(len(found.trials), 'trial')}"
    title = f"{first.dataset} · {first.protocol} · {first.method}  validation part, {number}"
    showing.table(title, [found.metric, *names], rows, numbers=range(len(names) + 1))


COMMANDS = (tune,)
