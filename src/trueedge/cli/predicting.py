"""Fit a method and save it; score new pairs with a saved one."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trueedge.cli import options, own_data, parsing, showing
from trueedge.cli.making import ProtocolToUse
from trueedge.cli.recommending import _fitted, note_two_meanings
from trueedge.errors import InputError
from trueedge.files.text import open_text
from trueedge.files.writing import check_target, refuse_inputs
from trueedge.graph import EdgeFormat
from trueedge.tasks.list_files import check_lists_target, write_lists
from trueedge.tasks.named_places import places_by_name

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from trueedge.scorers.named_ids import NamedIds
    from trueedge.tasks import Task

WHAT = "the list of scores"
# More rows are written to a file.
MOST_ROWS = 100


def fit(
    dataset: options.DatasetOrTask,
    method: Annotated[
        str, typer.Option("-m", "--method", help="A method; FILE.py:NAME for your own Method.")
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="A new folder for the fitted model.")],
    protocol: ProtocolToUse = None,
    seed: Annotated[int, typer.Option(help="Seed of the split and of training.", min=0)] = 0,
    set_: Annotated[list[str] | None, typer.Option("--set", help="A method's setting: key=value.")] = None,
    option: Annotated[
        list[str] | None, typer.Option("--option", help="A protocol's option: key=value.")
    ] = None,
    features: own_data.Features = None,
    split: own_data.OwnSplit = None,
    bipartite: own_data.Bipartite = None,
    device: options.Device = "cpu",
    header: options.Header = None,
    source: options.SourceColumn = None,
    target: options.TargetColumn = None,
    weight: options.WeightColumn = None,
    time: options.TimeColumn = None,
) -> None:
    """Fit a method and save it: 'trueedge predict' scores new pairs with it.

    The method is fitted to the training part, as in 'trueedge run'. The folder holds arrays and JSON only, so
    it can be given to anybody.

    Example:
        trueedge fit cora -m ppr -o model
        trueedge fit edges.csv -m gcn --set epochs=50 -o model
        trueedge fit purchases.csv --bipartite -m ppr -o model
    """
    from trueedge.methods.saving import save

    if output.is_file() or (output.is_dir() and any(output.iterdir())):
        raise InputError(f"{output} is there already: choose a new folder")
    # Before the work is done.
    check_target(output / "scorer.json", "the model")
    with showing.progress(1, "making the task") as report:
        kinds = own_data.two_kinds(bipartite, option)
        columns = EdgeFormat(header, source, target, weight, time, kinds)
        own = own_data.OwnData(features, split, bipartite)
        task = parsing.task(dataset, protocol, seed, option or [], report, columns=columns, own=own)
        chosen, _ = parsing.chosen_methods(method, set_ or [], task.data, task.kind)
        if len(chosen) != 1:
            raise InputError(f"fit takes one method, got {', '.join(one.name for one in chosen)}")
        scorer = _fitted(chosen[0], task, seed, device, report)
    save(scorer, output)
    where = f"{task.dataset} under {task.protocol}, seed {task.seed}"
    showing.note(f"{chosen[0].name}, fitted to the training part of {where}, is saved in {output}")


def predict(
    model: Annotated[Path, typer.Argument(help="A folder that 'trueedge fit' or te.save wrote.")],
    pairs: Annotated[
        Path | None, typer.Argument(help="A text file with a pair, or triple, per line, by name or number.")
    ] = None,
    pair: Annotated[
        list[str] | None,
        typer.Option("--pair", help="A pair: A,B, or on a knowledge graph A,RELATION,B; may be repeated."),
    ] = None,
    node: Annotated[
        list[str] | None,
        typer.Option("--node", help="A node (or user): list its most likely new links; may be repeated."),
    ] = None,
    k: Annotated[int, typer.Option("-k", help="Length of such a list.", min=1)] = 10,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="A .csv, .json or .parquet file for the scores.")
    ] = None,
    device: options.Device = "cpu",
) -> None:
    """Score new pairs with a saved model, or list the most likely new links of a node.

    Known links (of the training and the validation part) are left out of lists, and scored if asked for.
    Names are read as in the edge list: in a bipartite graph, the pair 1,1 is node 1 of the first column with
    node 1 of the second.

    Example:
        trueedge predict model pairs.csv -o scores.csv
        trueedge predict model --pair alice,bob --pair alice,carol
        trueedge predict model --pair brazil,embassy,uk
        trueedge predict model --node alice -k 5
    """
    from trueedge.methods.saving import load_scorer
    from trueedge.tasks.predicting import columns_of, task_for
    from trueedge.tasks.recommending import recommend

    if not (pairs or pair or node):
        raise InputError("nothing is asked for: give a file of pairs, --pair A,B or --node A")
    if node and (pairs or pair):
        raise InputError("give pairs to score, or --node for lists, not both")
    if output is not None:
        check_lists_target(output, WHAT)
        refuse_inputs(output, [] if pairs is None else [pairs], WHAT)
    scorer = load_scorer(model, device)
    task = task_for(scorer, None, "predict")
    if node and len(columns_of(task)) > 2:
        raise InputError(
            f"--node lists links of a plain graph or items of a user, and {model} scores triples: give --pair"
            " A,RELATION,B"
        )
    if node:
        found = recommend(scorer, list(dict.fromkeys(node)), k)
        note_two_meanings(node, found)
        columns = found.columns()
    else:
        columns = _scored(scorer, task, pairs, pair or [])
    _show(columns, output)
    if node:
        showing.note(
            "known links (training and validation part) are left out; those of the test part, which the model"
            " has not seen, may be listed"
        )


def _scored(scorer: object, task: Task, path: Path | None, words: list[str]) -> dict[str, list[Any]]:
    """Return the pairs of a file and of the command line with their scores, as columns."""
    from trueedge.tasks.predicting import columns_of, scores_of

    nouns = columns_of(task)
    rows = [*(_read(path, nouns) if path else []), *((one, _words(one, ",", one)) for one in words)]
    ids = _ids(rows, nouns)
    scores = scores_of(task, scorer, ids)
    heads = [one.noun for one in nouns]
    if len(set(heads)) < len(heads):
        heads = [*heads[:-1], "partner"] if len(heads) == 2 else ["head", heads[1], "tail"]
    found: dict[str, list[Any]] = {
        head: [kind.name_of(one) for one in column]
        for head, kind, column in zip(heads, nouns, ids.T.tolist(), strict=True)
    }
    return {**found, "score": scores.tolist()}


def _ids(rows: list[tuple[str, list[str]]], nouns: tuple[NamedIds, ...]) -> NDArray[np.int64]:
    """Return the ids of rows, each with where it is; that is said of one that is wrong."""
    from trueedge.tasks.predicting import ids_of

    wanted = ", ".join(one.noun for one in nouns)
    for where, row in rows:
        if len(row) != len(nouns):
            raise InputError(f"{where}: {len(row)} values, where ({wanted}) is needed")
    try:
        return ids_of([row for _, row in rows], nouns)
    except InputError:
        for where, row in rows:
            try:
                ids_of([row], nouns)
            except InputError as error:
                raise InputError(f"{where}: {error}") from None
        raise


def _read(path: Path, nouns: tuple[NamedIds, ...]) -> list[tuple[str, list[str]]]:
    """Return the rows of a file; a first line without a known name or a number names the columns."""
    parsing.existing_file(str(path))
    lines = [(number, line.strip()) for number, line in enumerate(open_text(path).lines, start=1)]
    lines = [(number, line) for number, line in lines if line and not line.startswith("#")]
    if not lines:
        raise InputError(f"{path} holds no pair")
    mark = next((one for one in ("\t", ",", ";") if one in lines[0][1]), " ")
    rows = []
    for number, line in lines:
        where = f"{path}, line {number}"
        rows.append((where, _words(line, mark, f"{where}, {line!r}")))
    (_, names), *others = rows
    if any(ids.find(word) is not None or word.isdecimal() for ids, word in zip(nouns, names, strict=False)):
        return rows
    if not others:
        raise InputError(f"{path} holds no pair of known names, only {lines[0][1]!r}")
    showing.note(f"{path}: the first line was read as a header: {', '.join(names)}")
    order = places_by_name(names, nouns)
    if order is None:
        return others
    short = next(((where, row) for where, row in others if len(row) != len(names)), None)
    if short is not None:
        raise InputError(f"{short[0]}: {len(short[1])} columns, where the first line has {len(names)}")
    return [(where, [row[place] for place in order]) for where, row in others]


def _words(line: str, mark: str, where: str) -> list[str]:
    words = (
        line.split() if mark == " " else [word.strip() for word in next(csv.reader([line], delimiter=mark))]
    )
    if len(words) < 2 or not all(words):
        raise InputError(f"{where}: a pair is two names or numbers, such as alice,bob")
    return words


def _show(columns: dict[str, list[Any]], output: Path | None) -> None:
    count = len(columns["score"])
    if output is not None:
        write_lists(columns, output, WHAT)
        showing.note(f"{showing.count(count, 'score')} written to {output}")
        return
    rows = [
        [f"{value:.6g}" if name == "score" else str(value) for name, value in zip(columns, row, strict=True)]
        for row in zip(*columns.values(), strict=True)
    ]
    showing.table("", list(columns), rows[:MOST_ROWS], numbers=(len(columns) - 1,))
    if count > MOST_ROWS:
        showing.note(f"{showing.count(count - MOST_ROWS, 'more score')} not shown; -o writes them to a file")


COMMANDS = (fit, predict)
