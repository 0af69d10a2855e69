"""Make tasks and negatives for others to use."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from trueedge.cli import parsing, showing

Words = Annotated[list[str] | None, typer.Option("--option", help="A protocol's option, as key=value.")]


def task(
    dataset: Annotated[str, typer.Argument(help="A data set's name, or a file with an edge list.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder to write, new or empty.")],
    protocol: Annotated[str, typer.Option("-p", "--protocol", help="The protocol.")] = "heart",
    seed: Annotated[int, typer.Option(help="For split and negatives.", min=0)] = 0,
    option: Words = None,
) -> None:
    """Freeze a data set under a protocol into a folder, to be judged on by everybody.

    Example: trueedge task cora -p heart -o cora-heart
    """
    with showing.progress(1, "making the task") as report:
        made = parsing.task(dataset, protocol, seed, option or [], report)
    made.save(output)
    showing.note(f"{made.dataset} under {made.protocol}, seed {made.seed}, written to {output}")
    print(made.hash)


def negatives(
    edges: Annotated[str, typer.Argument(help="A file with an edge list, or a data set's name.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The .npz file to write.")],
    protocol: Annotated[str, typer.Option("-p", "--protocol", help="The protocol.")] = "heart",
    positives: Annotated[
        Path | None,
        typer.Option(help="Positives of your own, a file of pairs: EDGES is then the training graph, whole."),
    ] = None,
    seed: Annotated[int, typer.Option(help="For split and negatives.", min=0)] = 0,
    option: Words = None,
) -> None:
    """Make the negatives of a protocol for a graph of your own.

    The .npz file holds train, valid, valid_negatives, test and test_negatives, as node numbers; and labels,
    where the file's ids are not 0, 1, 2, ….

    Example: trueedge negatives graph.csv -p heart -o negatives.npz --option k=100
    """
    from trueedge.errors import InputError
    from trueedge.graph import Graph
    from trueedge.splits import Split
    from trueedge.tasks import LinkTask

    if output.suffix != ".npz":
        raise InputError(f"{output}: negatives are written to a .npz file")
    if positives is None:
        with showing.progress(1, "making negatives") as report:
            made = parsing.task(edges, protocol, seed, option or [], report)
    else:
        graph = parsing.source(edges)
        if not isinstance(graph, Graph):
            from trueedge.datasets import load

            graph = load(graph)
        options = parsing.assignments(option or [], [protocol], "--option")[protocol]
        asked = parsing.labelled_pairs(positives, graph)
        empty = np.empty((0, 2), dtype=np.int32)
        split = Split(graph, empty, asked.astype(np.int32), f"positives of {positives.name}")
        made = LinkTask.from_split(split, protocol, seed, **options)
    if not isinstance(made, LinkTask):
        raise InputError(f"the protocol {protocol} ranks every node: it has no list of negatives")
    arrays: dict[str, Any] = {"train": made.train}
    for name in made.part_names:
        arrays[name] = made.part(name).positives
        arrays[f"{name}_negatives"] = made.part(name).negatives
    if made.graph.labels is not None:
        arrays["labels"] = np.array(made.graph.labels)
    output.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(output, **arrays)
    shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
    showing.note(f"{output}: {shapes}")


COMMANDS = (task, negatives)
