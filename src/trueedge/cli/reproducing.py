"""A published table, ours beside theirs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trueedge.cli import parsing, showing

if TYPE_CHECKING:
    from trueedge.studies import Comparison


def reproduce(
    study: Annotated[str, typer.Argument(help="A study's name; 'list' shows them all.")],
    dataset: Annotated[str, typer.Option(help="Only these data sets, with commas.")] = "",
    method: Annotated[str, typer.Option("-m", "--method", help="Only these methods, with commas.")] = "",
    seeds: Annotated[
        int | None, typer.Option(help="How many seeds; the study's own number if not given.")
    ] = None,
    device: Annotated[str, typer.Option(help="Where learned methods train: cpu or cuda.")] = "cpu",
    runs: Annotated[Path, typer.Option(help="The folder of the records.")] = Path("runs"),
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="A .json file for the table, with versions and machine."),
    ] = None,
) -> None:
    """Run a published table and print ours beside theirs.

    Example: trueedge reproduce heart/table-4 --dataset citeseer
    """
    from trueedge.results import Store
    from trueedge.studies import Plan, catalogue, get, write

    if study == "list":
        rows = [[one.name, one.title, one.citation] for one in catalogue()]
        showing.table("Studies", ["name", "what it shows", "paper"], rows)
        return
    chosen = get(study)
    with showing.progress(1, study) as report:
        plan = Plan(
            datasets=tuple(parsing.names(dataset, "data set")) if dataset else (),
            methods=tuple(parsing.names(method, "method")) if method else (),
            seeds=seeds,
            device=device,
            store=Store(runs),
            progress=report,
        )
        finding = chosen.run(plan)
    digits = chosen.decimals
    lines = [_line(row, digits) for row in finding.rows]
    columns = ["data set", "protocol", "method", "metric", "ours", "published", "difference", "seeds"]
    showing.table(f"{chosen.name}: {chosen.title}", columns, lines, (4, 5, 6, 7))
    gaps = [abs(row.difference) for row in finding.rows]
    showing.note(f"mean absolute difference {sum(gaps) / len(gaps):.4f} over {len(gaps)} values")
    for sentence in finding.missing:
        showing.note(f"not run: {sentence}")
    if output is not None:
        write(chosen, finding, output)
        showing.note(f"written to {output}")


def _line(row: Comparison, digits: int) -> list[str]:
    ours = _value(row.ours, row.std if row.seeds > 1 else None, digits)
    theirs = _value(row.theirs, row.their_std, digits)
    where = (row.dataset, row.protocol, row.method, row.metric)
    return [*where, ours, theirs, f"{row.difference:+.{digits}f}", str(row.seeds)]


def _value(mean: float, std: float | None, digits: int) -> str:
    return f"{mean:.{digits}f}" if std is None else f"{mean:.{digits}f} ± {std:.{digits}f}"


COMMANDS = (reproduce,)
