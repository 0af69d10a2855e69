"""Judge a model, evaluate a file of scores, and check a scorer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from trueedge import metrics
from trueedge.cli import (
    completing,
    engines,
    options,
    own_data,
    parsing,
    running,
    scoreboard,
    showing,
    verdicts,
)
from trueedge.cli.making import Part, ProtocolOfName, SeedOfName, TaskOrName
from trueedge.cli.progress_lines import speak
from trueedge.errors import InputError
from trueedge.graph import EdgeFormat
from trueedge.tasks import Task
from trueedge.tasks.protocols import get as get_protocol


@engines.with_engine
def judge(
    dataset: options.DatasetOrTask,
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            autocompletion=completing.method,
            help="FILE.py:NAME or MODULE:NAME for your own function fit(task), fit(graph) or score(pairs), "
            "scorer or Method; a .npy, .npz, .csv, .tsv or .txt file of node vectors or of scores; or a "
            "method's name.",
        ),
    ],
    name: Annotated[
        str, typer.Option(help="What to call a model of your own.", show_default="its own name")
    ] = "",
    protocol: Annotated[
        str | None,
        typer.Option(
            "-p",
            "--protocol",
            autocompletion=completing.protocol,
            help="Comma-separated protocols.",
            show_default="existing,heart,degree-corrected, and recommendation for small graphs",
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            help="Number of seeds; each has a random split, unless the data comes with one.",
            min=1,
            show_default="5, fewer if training takes long",
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="A setting of a method given by name: key=value."),
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option("--option", help="A protocol's option: k=100 or heart.k=100.")
    ] = None,
    features: own_data.Features = None,
    split: own_data.OwnSplit = None,
    bipartite: own_data.Bipartite = None,
    page: Annotated[
        Path | None,
        typer.Option("--page", "-o", "--output", help="Write the verdict to this .html file, too."),
    ] = None,
    runs: options.Runs = Path("runs"),
    device: options.Device = "cpu",
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    jobs: options.Jobs = 1,
    engine: engines.Engine = engines.NO_ENGINE,
    header: options.Header = None,
    source: options.SourceColumn = None,
    target: options.TargetColumn = None,
    weight: options.WeightColumn = None,
    time: options.TimeColumn = None,
) -> None:
    """Compare a model with the baselines on several splits, and say whether its scores can be trusted.

    A function whose first argument is called 'task' or 'graph' is trained on each split; it returns a scorer.
    Any other function scores pairs. Results are stored and used again.

    Example:
        trueedge judge cora mine.py:fit
        trueedge judge cora vectors.npy --name mygcn
        trueedge judge cora-heart scores.csv -o verdict.html
        trueedge judge purchases.csv ppr --bipartite
    """
    from trueedge.results import Store
    from trueedge.verdict import judge as judged
    from trueedge.verdict.plan import PLAIN

    speak(quiet, verbose)
    kinds = own_data.two_kinds(bipartite, option)
    columns = EdgeFormat(header, source, target, weight, time, kinds)
    own = own_data.OwnData(features, split, bipartite)
    made = parsing.saved_task(dataset, protocol, option or [], columns)
    if made is not None:
        own.refuse_with(dataset)
    protocols = None if protocol is None or made is not None else parsing.chosen_protocols(protocol, dataset)
    known = protocols or (parsing.chosen_protocols(None, dataset) if made is None else [made.protocol])
    takes = [one for each in known for one in get_protocol(each).takes] if made is None else []
    given_data = own.of(parsing.source(dataset, columns, takes)) if made is None else made
    data = get_protocol(known[0]).data if made is None else made.data
    chosen = known if protocols or data != "graph" else [*PLAIN, "recommendation"]
    given = {} if made is not None else parsing.options(own.words(option, given_data), chosen)
    if page is not None:
        verdicts.check_page(
            page, [path for one in (dataset, *own.paths()) for path in parsing.input_files(one)]
        )
    kind = get_protocol(known[0]).kind if made is None else made.kind
    found, called = _model(model, set_ or [], data, kind)
    store = Store(runs)
    with (
        engine.ending_a_share(),
        running.keeping(store),
        showing.progress(1, "making the task") as report,
        engine.runner_ahead(jobs, runs) as runner,
    ):
        verdict = judged(
            found,
            given_data,
            protocols,
            seeds,
            name=name or called,
            store=store,
            device=device,
            progress=showing.each_finished(report),
            runner=runner,
            options={key: value for own in given.values() for key, value in own.items()},
        )
    verdicts.show(verdict)
    running.note_records(store, verdict.records)
    if page is not None:
        showing.note(f"the verdict is in {verdict.page(page)}")
    running.end(store)


def _model(text: str, words: Sequence[str], data: str, kind: str) -> tuple[object, str]:
    """Return the model that a text names, and what to call it if it has no name of its own."""
    from trueedge.verdict.model_files import ENDINGS, read_model
    from trueedge.verdict.models import named_in_code

    if ":" in text:
        if words:
            raise InputError(f"--set is for a method that is given by name, not for {text}")
        return named_in_code(text)
    if Path(text).is_file() or Path(text).suffix in ENDINGS:
        parsing.existing_file(text)
        held, said = read_model(Path(text), data, kind)
        showing.note(said)
        return held, Path(text).stem
    try:
        ((method,), _) = parsing.chosen_methods(text, words, data)
    except InputError:
        if not Path(text).is_dir():
            raise
        allowed = "a method, FILE.py:NAME, or a file of vectors or scores"
        raise InputError(f"{text} is a folder: a model is {allowed}") from None
    return method, ""


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
    name: Annotated[
        str, typer.Option(help="What to call the model in tables.", show_default="the file's name")
    ] = "",
    runs: options.Runs = Path("runs"),
    baselines: Annotated[
        bool, typer.Option(help="Show the baselines beside it, and store the records.")
    ] = True,
    header: options.Header = None,
    source: options.SourceColumn = None,
    target: options.TargetColumn = None,
    weight: options.WeightColumn = None,
    time: options.TimeColumn = None,
) -> None:
    """Evaluate a file of scores beside the baselines.

    The file holds two nodes and their score per line, in any order:

        0,7,0.25
        3,12,0.75

    Links of several relations of a typed graph are lines 'source,relation,target,score'.

    Or it holds one score per line, in the order of the file from 'trueedge pairs', and begins with the first
    line of that file, which names the task that the scores belong to.

    For interactions, the file holds recommended lists (text, JSON or Parquet): a user, an item and, if there
    is one, a score or a rank in each row. Without either, the items of a user are listed best first. Items
    that are not listed are tied below all others. Under the protocol recommendation, lists have a node and a
    partner in each row.

        user,item,score
        alice,17,0.93
        alice,3,0.71

    On a knowledge graph, the file is a .npy array (queries, entities), a row for each of task.queries().

    On the validation part, and on tasks without baselines, the scores are evaluated alone.

    Example:
        trueedge score cora-heart scores.csv --name mygcn
        trueedge score bookshop lists.csv
    """
    columns = EdgeFormat(header, source, target, weight, time, bipartite)
    own = own_data.OwnData(features, split, bipartite)
    made = parsing.task(task, protocol, seed, columns=columns, own=own)
    parsing.existing_file(str(scores))
    values = made.evaluate(scores, part)
    rows = [[metric, metrics.format_value(metric, value), f"{value:.6f}"] for metric, value in values.items()]
    unit = "percent" if all(metrics.scale(metric) == 100 for metric in values) else "in tables"
    title = f"{made.dataset} · {made.protocol} · {part}"
    showing.table(title, ["metric", unit, "value"], rows, numbers=(1, 2))
    if baselines and part == "test":
        _score_beside(made, scores, name or scores.stem, runs)


def _score_beside(task: Task, scores: Path, name: str, runs: Path) -> None:
    """Record the scores and the baselines of a task, and show them; nothing if it has no baselines."""
    from trueedge.results import Store
    from trueedge.runs import Cell, drive, runner_for
    from trueedge.verdict.models import as_method
    from trueedge.verdict.plan import baselines

    # The file may hold scores of the test part alone.
    own = as_method(scores, name, task.data, task.kind)
    beside = baselines(task.data, task.kind, own)
    if not beside:
        return
    cells = [Cell(task, task.protocol, one, task.seed) for one in beside]
    cells.append(Cell(task, task.protocol, own, task.seed, parts=("test",)))
    store = Store(runs)
    with (
        running.keeping(store),
        showing.progress(len(cells), "scoring") as report,
        runner_for(1, lambda stage, done, total: report(f"{stage}: {done}/{total}")) as runner,
    ):
        outcomes = []
        for _, outcome in drive(cells, store, runner):
            outcomes.append(outcome)
            report(outcome.cell.method.name, len(outcomes), len(cells))
    if outcomes[-1].record is None:
        raise InputError(outcomes[-1].reason)
    records = [outcome.record for outcome in outcomes if outcome.record is not None]
    print()
    scoreboard.show(records, more_seeds=False)
    running.note_records(store, records)
    running.end(store)


def check(
    task: TaskOrName,
    scorer: Annotated[
        str,
        typer.Argument(
            metavar="SCORER",
            autocompletion=completing.method,
            help="A method's name, or FILE.py:NAME or MODULE:NAME for your own function fit(task), fit(graph)"
            " or score(pairs), scorer or Method.",
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
    header: options.Header = None,
    source: options.SourceColumn = None,
    target: options.TargetColumn = None,
    weight: options.WeightColumn = None,
    time: options.TimeColumn = None,
) -> None:
    """Check a scorer: order, batches, direction, randomness, NaN, ties, saturation.

    Methods are fitted first, and so are functions whose first argument is called 'task' or 'graph'. If
    the scorer ranks items, the check says whether it looks at the user at all.

    Example:
        trueedge check cora katz
        trueedge check cora-heart mine.py:score
    """
    from trueedge.scorers import check_scorer

    columns = EdgeFormat(header, source, target, weight, time, bipartite)
    own = own_data.OwnData(features, split, bipartite)
    made = parsing.task(task, protocol, seed, columns=columns, own=own)
    report = check_scorer(_scorer(scorer, made), made, sample=sample)
    print(replace(report, scorer=scorer))
    if not report.ok:
        raise typer.Exit(1)


def _scorer(text: str, task: Task) -> object:
    """Return a fitted method, or the user's own scorer."""
    from trueedge import methods
    from trueedge.verdict.model_files import ENDINGS
    from trueedge.verdict.models import as_method, named_in_code

    if ":" in text:
        # As 'judge' does: a function whose first argument is a task or a graph is trained.
        return as_method(*named_in_code(text), task.data).fit(task)
    if Path(text).is_file() or Path(text).suffix in ENDINGS:
        raise InputError(
            f"{text} is a file: check takes a method's name, or FILE.py:NAME or MODULE:NAME for code;"
            " 'trueedge judge' and 'trueedge score' take files of scores"
        )
    return methods.create(text, data=task.data).fit(task)


COMMANDS = (judge, score, check)
