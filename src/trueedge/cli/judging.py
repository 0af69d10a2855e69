"""Evaluate a file of scores, and check a scorer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from trueedge import metrics
from trueedge.cli import own_data, parsing, showing
from trueedge.cli.making import Header, Part, ProtocolOfName, SeedOfName, TaskOrName
from trueedge.cli.own_code import own_object
from trueedge.tasks import Task


def score(
    task: TaskOrName,
    scores: Annotated[
        Path, typer.Argument(metavar="SCORES", help="A .npy, .npz, .txt, .csv or .tsv file of scores.")
    ],
    protocol: ProtocolOfName = None,
    seed: SeedOfName = 0,
    features: own_data.Features = None,
    split: own_data.OwnSplit = None,
    bipartite: own_data.Bipartite = None,
    part: Part = "test",
    header: Header = None,
) -> None:
    """Evaluate a file of scores.

    The file holds two nodes and their score per line, in any order:

        0,7,0.25
        3,12,0.75

    Or it holds one score per line, in the order of the file from 'trueedge pairs', and begins with the first
    line of that file, which names the task that the scores belong to.

    If users rank items, the file holds recommended lists: a user, an item and, if there is one, a score or a
    rank per line. Without scores, the items of a user are listed best first. Items that are not listed are
    tied below all others.

        user,item,score
        alice,17,0.93
        alice,3,0.71

    Example:
        trueedge score cora-heart scores.csv
        trueedge score bookshop lists.csv
    """
    made = parsing.task(task, protocol, seed, header=header, own=own_data.OwnData(features, split, bipartite))
    parsing.existing_file(str(scores))
    values = made.evaluate(scores, part)
    rows = [[name, metrics.format_value(name, value), f"{value:.6f}"] for name, value in values.items()]
    unit = "percent" if all(metrics.scale(name) == 100 for name in values) else "in tables"
    title = f"{made.dataset} · {made.protocol} · {part}"
    showing.table(title, ["metric", unit, "value"], rows, numbers=(1, 2))


def check(
    task: TaskOrName,
    scorer: Annotated[
        str,
        typer.Argument(
            metavar="SCORER",
            help="A method's name, or FILE.py:NAME or MODULE:NAME for your own scorer or Method.",
        ),
    ],
    protocol: ProtocolOfName = None,
    seed: SeedOfName = 0,
    features: own_data.Features = None,
    split: own_data.OwnSplit = None,
    bipartite: own_data.Bipartite = None,
    sample: Annotated[
        int, typer.Option(help="Number of pairs, nodes or users to score again.", min=1)
    ] = 2000,
    header: Header = None,
) -> None:
    """Check a scorer: order, batches, direction, randomness, NaN, ties, saturation.

    Methods are fitted first. Of a scorer of items, it says whether it looks at the user at all.

    Example:
        trueedge check cora katz
        trueedge check cora-heart mine.py:score
    """
    from trueedge.scorers import check_scorer

    made = parsing.task(task, protocol, seed, header=header, own=own_data.OwnData(features, split, bipartite))
    report = check_scorer(_scorer(scorer, made), made, sample=sample)
    print(replace(report, scorer=scorer))
    if not report.ok:
        raise typer.Exit(1)


def _scorer(text: str, task: Task) -> object:
    """Return a fitted method, or the user's own scorer."""
    from trueedge import methods

    found = own_object(text) if ":" in text else methods.create(text, data=task.data)
    return found.fit(task) if isinstance(found, methods.Method) else found


COMMANDS = (score, check)
