"""Judge a file of scores, and check that a scorer is one."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from trueedge.cli import parsing, showing
from trueedge.errors import InputError


def score(
    task: Annotated[str, typer.Argument(help="A folder that 'trueedge task' wrote, or a data set's name.")],
    scores: Annotated[Path, typer.Argument(help="Scores, .npy, .npz, .txt or .csv: see the example.")],
    protocol: Annotated[str, typer.Option("-p", "--protocol", help="The protocol, for a name.")] = "heart",
    seed: Annotated[int, typer.Option(help="For split and negatives, for a name.", min=0)] = 0,
    part: Annotated[str, typer.Option(help="valid or test.")] = "test",
) -> None:
    """Judge a file of scores.

    The file holds one score a line in the order the task lists its pairs (positives, then negatives row by
    row), or lines 'u,v,score' in any order.

    Example: trueedge score cora-heart scores.csv
    """
    made = parsing.task(task, protocol, seed)
    if not scores.is_file():
        raise InputError(f"there is no file {scores}")
    values = made.evaluate(scores, part)
    rows = [[name, f"{value:.6f}"] for name, value in values.items()]
    showing.table(f"{made.dataset} · {made.protocol} · {part}", ["metric", "value"], rows, (1,))


def check(
    task: Annotated[str, typer.Argument(help="A folder that 'trueedge task' wrote, or a data set's name.")],
    scorer: Annotated[
        str, typer.Argument(help="A method's name, or FILE.py:NAME or MODULE:NAME of a scorer of your own.")
    ],
    protocol: Annotated[str, typer.Option("-p", "--protocol", help="The protocol, for a name.")] = "existing",
    seed: Annotated[int, typer.Option(help="For split and negatives, for a name.", min=0)] = 0,
    sample: Annotated[int, typer.Option(help="How many pairs are scored again.", min=1)] = 2000,
) -> None:
    """Check a scorer: order, batches, direction, randomness, NaN, ties, saturation.

    Example: trueedge check cora katz -p existing
    """
    from trueedge.tasks import check_scorer

    made = parsing.task(task, protocol, seed)
    report = check_scorer(_scorer(scorer, made), made, sample=sample)
    print(report)
    if not report.ok:
        raise typer.Exit(1)


def _scorer(text: str, task: Any) -> object:
    """A fitted method, or the object behind FILE.py:NAME or MODULE:NAME."""
    from trueedge import methods

    place, colon, name = text.rpartition(":")
    if not colon:
        return methods.create(text).fit(task)
    if place.endswith(".py"):
        spec = importlib.util.spec_from_file_location(Path(place).stem, place)
        if spec is None or spec.loader is None or not Path(place).is_file():
            raise InputError(f"there is no file {place}")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    else:
        sys.path.insert(0, "")
        try:
            module = importlib.import_module(place)
        except ImportError as error:
            raise InputError(f"the module {place} cannot be imported: {error}") from None
    if not hasattr(module, name):
        raise InputError(f"{place} holds nothing called {name!r}")
    return getattr(module, name)


COMMANDS = (score, check)
