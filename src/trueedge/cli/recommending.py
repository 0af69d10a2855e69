"""Recommend items to users."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trueedge.cli import completing, options, own_data, parsing, showing
from trueedge.cli.making import Header
from trueedge.cli.progress_lines import speak
from trueedge.cli.running import show_epoch
from trueedge.datasets import DEFAULT_PROTOCOL
from trueedge.errors import InputError
from trueedge.files.text import open_text
from trueedge.files.writing import refuse_inputs
from trueedge.graph import EdgeFormat
from trueedge.methods import Method
from trueedge.runs.own_code import own_object
from trueedge.scorers.fitted import fitted_on
from trueedge.tasks import Task
from trueedge.tasks.list_files import check_lists_target
from trueedge.tasks.protocols import default_protocol
from trueedge.tasks.storage import is_saved

if TYPE_CHECKING:
    from trueedge.tasks.recommending import Recommendations, UserList

# Longer lists of users are written to a file.
MOST_TABLES = 100


def recommend(
    dataset: options.DatasetOrTask,
    method: Annotated[
        str,
        typer.Option(
            "-m",
            "--method",
            autocompletion=completing.method,
            help="A method; FILE.py:NAME or MODULE:NAME for your own Method or scorer; or a file of "
            "recommended lists.",
        ),
    ],
    user: Annotated[
        list[str] | None, typer.Option("--user", help="A user's name or number; may be repeated.")
    ] = None,
    users: Annotated[Path | None, typer.Option("--users", help="A text file with a user per line.")] = None,
    k: Annotated[int, typer.Option("-k", help="Length of the lists.", min=1)] = 10,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="A .csv, .json or .parquet file for the lists: those of everybody if nobody is named.",
        ),
    ] = None,
    protocol: Annotated[
        str | None,
        typer.Option(
            "-p",
            "--protocol",
            help="Protocol to use.",
            show_default="recommendation on a plain graph; full-ranking on interactions",
            autocompletion=completing.protocol,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the split and of training.", min=0)] = 0,
    set_: Annotated[list[str] | None, typer.Option("--set", help="A method's setting: key=value.")] = None,
    option: Annotated[
        list[str] | None, typer.Option("--option", help="A protocol's option: key=value.")
    ] = None,
    device: options.Device = "cpu",
    bipartite: own_data.Bipartite = None,
    quiet: options.Quiet = False,
    header: Header = None,
    source: options.SourceColumn = None,
    target: options.TargetColumn = None,
) -> None:
    """Recommend items: print the best items for some users, without those they are known to have.

    The method is fitted to the training part, as in 'trueedge run'. On a plain graph, users are nodes, their
    lists hold the most likely new neighbours, and the protocol is recommendation.

    Example:
        trueedge recommend bookshop -m item-knn --user 'reader 42' -k 5
        trueedge recommend bookshop -m popularity -o lists.csv
        trueedge recommend sales.csv -p full-ranking -m item-knn -o lists.csv
        trueedge recommend friends.csv -m ppr --user ann
    """
    speak(quiet)
    if protocol is None and not is_saved(dataset) and default_protocol(dataset) == DEFAULT_PROTOCOL:
        # The negatives of the default protocol would take long, and lists need none.
        protocol = "recommendation"
    named = [*(user or []), *(_listed(users) if users is not None else [])]
    if not named and output is None:
        raise InputError("nobody is named: give --user or --users, or -o to write the lists of all users")
    if output is not None:
        check_lists_target(output)
        read = [*parsing.input_files(dataset), *([] if users is None else [users])]
        refuse_inputs(output, read, "the recommendations")
    with showing.progress(1, "making the task") as report:
        columns = EdgeFormat(header, source, target, bipartite=own_data.two_kinds(bipartite, option))
        own = own_data.OwnData(bipartite=bipartite)
        made = parsing.task(dataset, protocol, seed, option or [], report, columns=columns, own=own)
        scorer = _scorer(method, made, set_ or [], seed, device, report)
    found = _recommend(scorer, named, k, made)
    note_two_meanings(named, found)
    fitted = method if fitted_on(scorer) else ""
    _show(found, k, made, fitted, bool(named), output)


def _recommend(scorer: object, named: Sequence[str], k: int, task: Task) -> Recommendations:
    from trueedge.tasks.recommending import recommend

    return recommend(scorer, list(dict.fromkeys(named)) or None, k, task)


def note_two_meanings(named: Sequence[str], found: Recommendations) -> None:
    """Say who was meant where nodes on both sides of a bipartite graph have the same name."""
    for text in dict.fromkeys(named):
        meant = [found.user_ids.name_of(one) for one in found.user_ids.meanings(text)]
        if len(meant) > 1:
            showing.note(
                f"{text} was read as {meant[0]!r}; give {meant[1]!r} for the other node of that name"
            )
            return


def _listed(path: Path) -> list[str]:
    """Return the users in a file, one per line."""
    parsing.existing_file(str(path))
    found = [line.strip() for line in open_text(path).lines if line.strip()]
    if not found:
        raise InputError(f"{path} names no user")
    return found


def _scorer(
    text: str, task: Task, words: Sequence[str], seed: int, device: str, report: showing.Report
) -> object:
    """Return a fitted method, the user's own scorer, or the path of a file of lists."""
    if ":" not in text and Path(text).suffix and Path(text).is_file():
        return Path(text)
    if ":" in text and not isinstance(found := own_object(text), Method):
        return found
    chosen, _ = parsing.chosen_methods(text, words, task.data, task.kind)
    if len(chosen) != 1:
        raise InputError(f"recommend takes one method, got {', '.join(one.name for one in chosen)}")
    return _fitted(chosen[0], task, seed, device, report)


def _fitted(method: Method, task: Task, seed: int, device: str, report: showing.Report) -> object:
    """Fit a method; epochs are shown."""
    from trueedge.methods.devices import check_device, device_used, naming_torch, without_effect

    method.check_data(task.dataset, task.data)
    used = device_used(method.for_task(task), device)
    report(f"fitting {method.name}")
    if used != device:
        showing.note(without_effect(device, [method.name]))
    with naming_torch():
        check_device(used)
        # Without torch, a method that needs it says so; one that does not has no epochs to show.
        if "epochs" not in method.space() or find_spec("torch") is None:
            return method.fit(task, seed=seed, device=used)
        from trueedge.training import use_callbacks

        with use_callbacks(partial(show_epoch, report, method.name)):
            return method.fit(task, seed=seed, device=used)


def _show(found: Recommendations, k: int, task: Task, fitted: str, named: bool, output: Path | None) -> None:
    noun, item = found.user_ids.noun, found.item_ids.noun
    if named:
        for one, _ in zip(found, range(MOST_TABLES), strict=False):
            _print(one, noun, item)
        if len(found) > MOST_TABLES:
            hint = "" if output else "; -o writes them to a file"
            showing.note(f"{showing.count(len(found) - MOST_TABLES, 'more list')} not shown{hint}")
    where = f"{task.dataset} under {task.protocol}, seed {task.seed}"
    origin = f"{fitted} was fitted to the training part of {where}; " if fitted else ""
    showing.note(f"{origin}known {item}s (training and validation part) are left out")
    short = [len(one) for one in found.items if len(one) < k]
    if short:
        span = f"{min(short)}" if min(short) == max(short) else f"{min(short)} to {max(short)}"
        have = "no list has" if len(short) == len(found) else f"{showing.count(len(short), 'list')} without"
        showing.note(f"{have} {k} {item}s: only {span} are left")
    if output is not None:
        found.save(output)
        showing.note(f"{showing.count(len(found), 'list')} written to {output}")


def _print(one: UserList, noun: str, item: str) -> None:
    columns = ["", item, *(["title"] if one.titles else []), "score"]
    rows = [
        [str(place + 1), name, *([one.titles[place]] if one.titles else []), f"{score:.4g}"]
        for place, (name, score) in enumerate(zip(one.names, one.scores, strict=True))
    ]
    showing.table(f"{noun} {one.name}", columns, rows, numbers=(0, len(columns) - 1), texts=(2,))


COMMANDS = (recommend,)
