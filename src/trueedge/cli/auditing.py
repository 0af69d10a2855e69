"""The audit of a benchmark, one verdict per line."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from trueedge.cli import options, own_data, parsing, showing
from trueedge.cli.making import Words
from trueedge.errors import DataWarning
from trueedge.files.writing import check_target, refuse_inputs
from trueedge.graph import EdgeFormat, Graph, KnowledgeGraph
from trueedge.tasks import Task
from trueedge.tasks.protocols import Data
from trueedge.tasks.protocols import get as get_protocol

if TYPE_CHECKING:
    from trueedge.audit import Audit, Finding

COLOURS = {"ok": "green", "look": "yellow", "broken": "bold red", "too small": "dim"}


def audit(
    graph: Annotated[
        str,
        typer.Argument(
            metavar="GRAPH|DATASET|TASK",
            help="A file with an edge list, a folder of triples (train.txt, valid.txt, test.txt), a folder or"
            " zip archive of a typed graph in HGB's format (link.dat, node.dat, label.dat), a folder of"
            " interactions of users with items, a data set's name, or a folder that 'trueedge task' wrote.",
        ),
    ],
    protocol: Annotated[
        str | None,
        typer.Option(
            "-p",
            "--protocol",
            help="Protocol; a saved task has its own.",
            show_default="existing; for triples, typed graphs and interactions, the data's own",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed for split, negatives and samples.", min=0)] = 0,
    sample: Annotated[
        int, typer.Option(help="Maximum number of positives and of negatives in slow checks.", min=1)
    ] = 100_000,
    option: Words = None,
    split: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER|FILES",
            help="Your own split: a folder with train, valid and test pairs, or the files TRAIN,VALID,TEST."
            " If it has no training pairs, the graph itself is the training graph.",
        ),
    ] = None,
    negatives: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER|FILES",
            help="Your own negatives: a folder with valid and test pairs, or the files TEST or VALID,TEST."
            " A file holds pairs as text, or a .npy array of shape (M, 2) or (P, K, 2).",
        ),
    ] = None,
    features: own_data.Features = None,
    bipartite: own_data.Bipartite = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="File to write: .html for a page, .json for all numbers."),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with status 1 if a check finds something broken.")
    ] = False,
    every: Annotated[
        bool, typer.Option("--all", help="Show every check, also those that found nothing wrong.")
    ] = False,
    header: options.Header = None,
    source: options.SourceColumn = None,
    target: options.TargetColumn = None,
    weight: options.WeightColumn = None,
    time: options.TimeColumn = None,
) -> None:
    """Check a benchmark for leaks, negatives that are too easy, shortcuts and degree bias.

    In a knowledge graph, it looks for inverse, duplicate, symmetric and Cartesian relations and for
    unseen entities, and measures how much can be answered by counting or by single rules.

    In a typed graph, it looks for features and ids that give classes away, features that follow from the
    links, copied nodes and reverse relations, and measures what labels, features or degrees alone achieve.

    In recommendation data, it looks for test interactions in training or in the knowledge graph, training
    interactions that are newer than test ones, users and items without training data, ids that give
    interactions away, copies, and triples without information, and measures what popularity alone achieves.

    Prints what is broken or deserves a look, with what to do about it, and the names of the checks that
    found nothing wrong or need a larger benchmark. The exit status is 0 even if something is broken, unless
    --strict is given.

    Example:
        trueedge audit cora -p heart -o audit.html
        trueedge audit fb15k-237
        trueedge audit ACM.zip -o audit.html
        trueedge audit ml-100k-kg --option split=time
        trueedge audit graph.csv --split my-split --negatives test_negatives.npy --strict
    """
    from trueedge.audit import audit as run
    from trueedge.audit.findings import check_output
    from trueedge.audit.own_benchmark import audit_protocol

    if output is not None:
        check_target(check_output(output), "the audit")
        read = [graph, *(one for one in (split, negatives) if one), *([str(features)] if features else [])]
        refuse_inputs(output, [path for text in read for path in parsing.input_files(text)], "the audit")
    own: dict[str, Any] = {"split": split, "negatives": negatives, "features": features}
    told: tuple[str, ...] = ()
    columns = EdgeFormat(header, source, target, weight, time, bipartite)
    with showing.progress(1, "auditing") as report:
        made: Task | Data | str | None = parsing.saved_task(graph, protocol, option or [], columns)
        given: dict[str, Any] = {}
        if made is None:
            chosen = get_protocol(audit_protocol(graph) if protocol is None else protocol)
            words = own_data.OwnData(bipartite=bipartite).words(option)
            given = parsing.options(words, [chosen.name])[chosen.name]
            # Protocols of typed graphs and of interactions have options of these names.
            own["negatives"] = given.pop("negatives", negatives)
            own["split"] = given.pop("split", split)
            made = parsing.source(graph, columns, chosen.takes)
            told = made.notes if isinstance(made, (Graph, KnowledgeGraph)) else ()  # those were printed
        else:
            own_data.OwnData(bipartite=bipartite).refuse_with(graph)
            protocol = None
        with warnings.catch_warnings():
            # The notes of the audit say the same.
            warnings.simplefilter("ignore", DataWarning)
            found = run(made, protocol, seed, sample, **own, progress=report, **given)
    _show(found, every)
    for sentence in found.notes:
        if sentence not in told:
            showing.note(sentence)
    for reason in dict.fromkeys(found.skipped.values()):
        names = [name for name, why in found.skipped.items() if why == reason]
        showing.note(f"{', '.join(names)} {'do' if len(names) > 1 else 'does'} not apply: {reason}")
    if output is not None:
        showing.note(f"written to {found.save(output)}")
    if strict and found.count("broken"):
        showing.note(f"{showing.count(found.count('broken'), 'check')} found something broken")
        raise typer.Exit(1)


def _show(found: Audit, every: bool) -> None:
    """Print the answer, then each problem with what to do about it; wrapped in a terminal, not in a pipe."""
    screen = Console(highlight=False, width=showing.terminal_width() or showing.PIPE_WIDTH)
    screen.print(Text(f"{found.dataset} · {found.protocol} · {found.counts}"))
    screen.print(Text(found.answer, style="bold"), soft_wrap=showing.terminal_width() is None)
    lines = Table.grid(
        Column(no_wrap=True),
        Column(no_wrap=True),
        Column(no_wrap=True, justify="right"),
        Column(overflow="fold"),
        padding=(0, showing.GAP),
    )
    for problem in found.problems:
        _add(lines, problem.worst)
        lines.add_row("", "", "", Text(f"→ {problem.advice}", style="bold"))
        if every:
            for finding in problem.findings[1:]:
                _add(lines, finding)
        elif problem.others:
            lines.add_row("", "", "", Text(f"also: {problem.others}", style="dim"))
    for finding in found.by_verdict():
        if every and not finding.wrong:
            _add(lines, finding)
    # The last column is padded to the widest line, which in a pipe is noise.
    for line in screen.render_lines(lines, pad=False):
        text = Text.assemble(*((part.text, part.style or "") for part in line))
        text.rstrip()
        screen.print(text, soft_wrap=True)
    for verdict, title in (("ok", "ok"), ("too small", "too small to judge")):
        if found.count(verdict) and not every:
            count = Text(f"{found.count(verdict)} {title}", style=COLOURS[verdict])
            names = Text(f": {', '.join(found.names(verdict))}", style="dim")
            screen.print(count + names, soft_wrap=showing.terminal_width() is None)


def _add(lines: Table, finding: Finding) -> None:
    verdict = Text(finding.verdict, style=COLOURS[finding.verdict])
    lines.add_row(verdict, finding.check, finding.shown, Text(finding.sentence))


COMMANDS = (audit,)
