"""Make tasks, pairs and negatives for others to use."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from trueedge.cli import completing, engines, options, own_data, parsing, showing
from trueedge.cli.progress_lines import speak
from trueedge.errors import InputError
from trueedge.files.writing import check_target, refuse_inputs, replacing
from trueedge.graph import EdgeFormat, Graph
from trueedge.tasks import LinkTask, Task, TypedLinkTask, storage
from trueedge.tasks.file_scores import title_of
from trueedge.tasks.protocols import Shards, default_protocol, from_split

Words = Annotated[list[str] | None, typer.Option("--option", help="A protocol's option: key=value.")]
Seed = Annotated[int, typer.Option(help="Seed for split and negatives.", min=0)]
# What the tasks do that list no pairs, by their kind.
DOES = {
    "recommend": "ranks every node",
    "triples": "ranks every entity",
    "items": "ranks every item",
    "nodes": "predicts the classes of nodes",
    "communities": "finds communities",
}
TaskOrName = Annotated[
    str,
    typer.Argument(
        metavar="TASK",
        help="A folder written by 'trueedge task', or a data set's name.",
        autocompletion=completing.dataset,
    ),
]
ProtocolToUse = Annotated[
    str | None,
    typer.Option(
        "-p",
        "--protocol",
        help="Protocol to use.",
        show_default=options.DEFAULT_PROTOCOLS,
        autocompletion=completing.protocol,
    ),
]
ProtocolOfName = Annotated[
    str | None,
    typer.Option(
        "-p",
        "--protocol",
        help="Protocol; a saved task has its own.",
        show_default=options.DEFAULT_PROTOCOLS,
        autocompletion=completing.protocol,
    ),
]
Header = options.Header
SeedOfName = Annotated[
    int, typer.Option(help="Seed for split and negatives; ignored for a saved task.", min=0)
]
Part = Annotated[str, typer.Option(help="valid or test.")]


def task(
    dataset: Annotated[
        str,
        typer.Argument(
            metavar="DATASET",
            help="A data set's name; a file with an edge list, triples or interactions; a folder of triples, "
            "in HGB's format (a typed graph) or of interactions; or a saved graph.",
            autocompletion=completing.dataset,
        ),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="New or empty folder to write to.")],
    protocol: ProtocolToUse = None,
    seed: Seed = 0,
    features: own_data.Features = None,
    split: own_data.OwnSplit = None,
    bipartite: own_data.Bipartite = None,
    option: Words = None,
    quiet: options.Quiet = False,
    header: options.Header = None,
    source: options.SourceColumn = None,
    target: options.TargetColumn = None,
    weight: options.WeightColumn = None,
    time: options.TimeColumn = None,
) -> None:
    """Save a task (split, negatives, metrics) to a folder, to share it.

    Example:
        trueedge task cora -p heart -o cora-heart
        trueedge task graph.csv -p existing --split my-split -o mine
    """
    speak(quiet)
    own = own_data.OwnData(features, split, bipartite)
    refuse_inputs(output, _files(dataset, own), "the task")
    with showing.progress(1, "making the task") as report:
        kinds = own_data.two_kinds(bipartite, option)
        columns = EdgeFormat(header, source, target, weight, time, kinds)
        made = parsing.task(dataset, protocol, seed, option or [], report, columns=columns, own=own)
    made.save(output)
    showing.note(f"{made.dataset} under {made.protocol}, seed {made.seed}, written to {output}")
    print(made.hash)


def pairs(
    task: TaskOrName,
    output: Annotated[Path, typer.Option("-o", "--output", help="CSV file to write.")],
    protocol: ProtocolOfName = None,
    seed: SeedOfName = 0,
    features: own_data.Features = None,
    split: own_data.OwnSplit = None,
    bipartite: own_data.Bipartite = None,
    part: Part = "test",
    header: options.Header = None,
    source: options.SourceColumn = None,
    target: options.TargetColumn = None,
    weight: options.WeightColumn = None,
    time: options.TimeColumn = None,
) -> None:
    """Write the pairs of a task to a file, to score them with another program.

    Each line is 'source,target', or 'source,relation,target' for links of several relations. Each pair is
    listed once, in sorted order, so that nothing reveals which pairs are positives. Nodes have the names used
    in the edge list. The first line is a comment that names the task the pairs belong to; a file with one
    score per line must begin with that line.

    Example:
        trueedge pairs cora-heart -o pairs.csv
    """
    check_target(output, "the list of pairs", (".csv",))
    own = own_data.OwnData(features, split, bipartite)
    refuse_inputs(output, _files(task, own), "the pairs")
    columns = EdgeFormat(header, source, target, weight, time, bipartite)
    made = parsing.task(task, protocol, seed, columns=columns, own=own)
    titles, listed = _rows(made, part)
    # A line that begins with one of these marks would be a comment.
    quoted = any(str(name).startswith(("#", "%")) for row in listed for name in row)
    with (
        replacing(output, "the list of pairs") as draft,
        draft.open("w", newline="", encoding="utf-8") as file,
    ):
        file.write(f"# {title_of(made, part)}\n")
        writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL)
        writer.writerow(titles)
        writer.writerows(listed)
    showing.note(f"{output}: {showing.count(len(listed), 'distinct pair')}")
    showing.note(f"the first line is a comment; with pandas: pd.read_csv({str(output)!r}, comment='#')")


def _rows(made: Task, part: str) -> tuple[Sequence[str], list[list[Any]]]:
    """Return the names of the columns of a file of pairs, and its rows."""
    if isinstance(made, TypedLinkTask):
        return made.links_in_files.columns, made.links_in_files.rows(made.distinct_links(part))
    made = _listed(made, "pairs")
    listed: Any = made.distinct_pairs(part)
    names = made.graph.labels or ()
    return ("source", "target"), (np.array(names, dtype=object)[listed] if names else listed).tolist()


@engines.with_engine
def negatives(
    edges: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A file with an edge list, or a data set's name.",
            autocompletion=completing.dataset,
        ),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", help=".npz file to write; with --shards, a folder.")
    ],
    protocol: ProtocolToUse = None,
    positives: Annotated[
        Path | None, typer.Option(help="File with your own positives; FILE is then the whole training graph.")
    ] = None,
    seed: Seed = 0,
    features: own_data.Features = None,
    split: own_data.OwnSplit = None,
    bipartite: own_data.Bipartite = None,
    option: Words = None,
    shards: Annotated[
        bool,
        typer.Option("--shards", help="Write a folder, shard by shard, for large graphs (protocol heart)."),
    ] = False,
    shard_size: Annotated[
        int,
        typer.Option(
            help="Nodes (endpoints of positives) per shard; an interrupt loses at most one shard of work.",
            min=1,
        ),
    ] = 2048,
    quiet: options.Quiet = False,
    jobs: options.Jobs = 1,
    engine: engines.Engine = engines.NO_ENGINE,
    header: options.Header = None,
    source: options.SourceColumn = None,
    target: options.TargetColumn = None,
    weight: options.WeightColumn = None,
    time: options.TimeColumn = None,
) -> None:
    """Generate the negatives of a protocol for your own graph.

    The .npz file holds train, valid, valid_negatives, test and test_negatives as node numbers, and labels
    if the ids in FILE are not 0, 1, 2, ….

    With --shards, the output is a folder that can be used like one written by 'trueedge task'. Run the
    command again to resume, or several times in parallel to share the work.

    Example:
        trueedge negatives graph.csv -p heart -o negatives.npz --option k=100
        trueedge negatives large.csv.gz -o large-heart --shards
    """
    speak(quiet)
    own = own_data.OwnData(features, split, bipartite)
    if positives is not None and split is not None:
        raise InputError("--positives and --split both say what to predict: leave out one of them")
    if shards:
        _check_folder(output)
    elif output.suffix != ".npz":
        raise InputError(f"{output}: negatives are written to a .npz file, or with --shards to a folder")
    else:
        check_target(output, "the file of negatives")
        read = [*_files(edges, own), *([] if positives is None else [positives])]
        refuse_inputs(output, read, "the negatives")
    stored = Shards(output, shard_size, engine.shard_work(jobs)) if shards else None
    if not shards:
        engine.refuse("an engine makes shards (--shards)")
    kinds = own_data.two_kinds(bipartite, option)
    columns = EdgeFormat(header, source, target, weight, time, kinds)
    try:
        with showing.progress(1, "generating negatives") as report:
            if positives is None:
                made = parsing.task(edges, protocol, seed, option or [], report, stored, columns, own)
            else:
                graph = own.of(parsing.source(edges, columns))
                if not isinstance(graph, (str, Graph)):
                    raise InputError(f"{edges} holds triples: negatives are for plain graphs")
                chosen = default_protocol(edges) if protocol is None else protocol
                made = _around(graph, positives, chosen, seed, own.words(option), report, stored)
    except KeyboardInterrupt:
        if shards:
            showing.note(f"finished shards are in {output}; run the same command again to resume")
        raise
    made = _listed(made, "negatives")
    if shards:
        storage.complete(made, output)
        print(made.hash)
    else:
        _write_arrays(made, output)
    lists = [f"{name} {made.part(name).negatives.shape}" for name in made.part_names]
    showing.note(f"{output}: train {made.train.shape}, negatives of {', '.join(lists)}")


def _files(text: str, own: own_data.OwnData) -> list[Path]:
    """Return the files behind a data set, and those that are given beside it."""
    return [path for one in (text, *own.paths()) for path in parsing.input_files(one)]


def _check_folder(output: Path) -> None:
    if output.suffix in (".npz", ".npy", ".csv"):
        raise InputError(f"{output}: with --shards negatives are written to a folder, not to a file")
    storage.refuse_foreign(output)


def _write_arrays(made: LinkTask, output: Path) -> None:
    arrays: dict[str, Any] = {"train": made.train}
    for name in made.part_names:
        arrays[name] = made.part(name).positives
        arrays[f"{name}_negatives"] = made.part(name).negatives
    if made.graph.labels is not None:
        arrays["labels"] = np.array(made.graph.labels)
    with replacing(output, "the file of negatives") as draft, draft.open("wb") as file:
        np.savez_compressed(file, **arrays)


def _around(
    source: str | Graph,
    positives: Path,
    protocol: str,
    seed: int,
    words: list[str],
    report: showing.Report,
    shards: Shards | None,
) -> Task:
    """Return the task of the user's own positives, with the whole graph for training."""
    from trueedge.datasets import load
    from trueedge.scorers.pair_files import text_pairs
    from trueedge.splits import Split

    graph = load(source) if isinstance(source, str) else source
    asked = text_pairs(positives, graph)[0].astype(np.int32)
    split = Split(graph, np.empty((0, 2), dtype=np.int32), asked, f"positives of {positives.name}")
    given = parsing.options(words, [protocol])[protocol]
    return from_split(split, protocol, seed, None, given, report, shards)


def _listed(made: Task, what: str) -> LinkTask:
    if not isinstance(made, LinkTask):
        if made.kind not in DOES:
            raise InputError(
                f"the {what} of {made.protocol} are part of its task: 'trueedge task' writes them"
            )
        raise InputError(f"the protocol {made.protocol} {DOES[made.kind]}, so it has no {what} to write")
    return made


COMMANDS = (task, pairs, negatives)
