"""A published table, ours beside theirs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trueedge.cli import parsing, showing
from trueedge.cli.running import keeping

if TYPE_CHECKING:
    from trueedge.studies import Comparison, Study

NUMBERS = ("ours", "published", "difference", "seeds")


def reproduce(
    study: Annotated[str, typer.Argument(metavar="STUDY", help="A study's name; 'list' shows them all.")],
    dataset: Annotated[str, typer.Option(help="Only these data sets, with commas.")] = "",
    method: Annotated[str, typer.Option("-m", "--method", help="Only these methods, with commas.")] = "",
    seeds: Annotated[
        int | None, typer.Option(help="How many seeds; the study's own number if not given.", min=1)
    ] = None,
    device: Annotated[str, typer.Option(help="Where learned methods train: cpu or cuda.")] = "cpu",
    runs: Annotated[Path, typer.Option(help="The folder of the records.")] = Path("runs"),
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="A .json file for the table, with versions and machine."),
    ] = None,
) -> None:
    """Run a published table and print ours beside theirs.

    Example:
        trueedge reproduce list
        trueedge reproduce heart/table-4 --dataset citeseer
    """
    from trueedge.results import Store
    from trueedge.studies import Plan, catalogue, check_evidence, get, write

    if study == "list":
        rows = [[one.name, one.title, one.citation] for one in catalogue()]
        showing.table("Studies", ["name", "what it shows", "paper"], rows, texts=(1, 2))
        return
    chosen = get(study)
    if output is not None:
        # Before the work, not after it.
        check_evidence(chosen, output)
    store = Store(runs)
    with keeping(store), showing.progress(1, study) as report:
        plan = Plan(
            datasets=tuple(parsing.names(dataset, "data set")) if dataset else (),
            methods=tuple(parsing.names(method, "method")) if method else (),
            seeds=seeds,
            device=device,
            store=store,
            progress=report,
        )
        finding = chosen.run(plan)
    _show(chosen, finding.rows)
    gaps = [abs(row.difference) for row in finding.rows if row.difference is not None]
    if gaps:
        showing.note(f"mean absolute difference {sum(gaps) / len(gaps):.4f} over {len(gaps)} values")
    for sentence in finding.missing:
        showing.note(f"not run: {sentence}")
    if output is not None:
        write(chosen, finding, output)
        showing.note(f"written to {output}")


def _show(study: Study, rows: Sequence[Comparison]) -> None:
    """Ours beside theirs; what is the same in every row stands in the title."""
    digits = study.decimals
    columns = {
        "data set": [row.dataset for row in rows],
        "protocol": [row.protocol for row in rows],
        "method": [row.method for row in rows],
        "metric": [row.metric for row in rows],
        "ours": [_value(row.ours, row.std if row.seeds > 1 else None, digits) for row in rows],
        "published": [
            "" if row.theirs is None else _value(row.theirs, row.their_std, digits) for row in rows
        ],
        "difference": [_difference(row.difference, digits) for row in rows],
        "seeds": [str(row.seeds) for row in rows],
    }
    if all(row.theirs is None for row in rows):
        columns = {
            name: column for name, column in columns.items() if name not in ("published", "difference")
        }
    title = [f"{study.name}: {study.title}"]
    for name in ("data set", "protocol", "metric", "seeds"):
        if len(set(columns[name])) == 1:
            shared = columns.pop(name)[0]
            title.append(showing.count(int(shared), "seed") if name == "seeds" else shared)
    numbers = [place for place, name in enumerate(columns) if name in NUMBERS]
    lines = list(zip(*columns.values(), strict=True))
    showing.table(" · ".join(title), list(columns), lines, numbers=numbers)


def _value(mean: float, std: float | None, digits: int) -> str:
    return f"{mean:.{digits}f}" if std is None else f"{mean:.{digits}f}±{std:.{digits}f}"


def _difference(gap: float | None, digits: int) -> str:
    """With its sign, unless it rounds to nothing."""
    if gap is None:
        return ""
    text = f"{gap:+.{digits}f}"
    return text if float(text) else text[1:]


COMMANDS = (reproduce,)
