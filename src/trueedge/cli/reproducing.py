"""Reproduce a published table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trueedge.cli import completing, engines, options, parsing, showing, study_tables
from trueedge.cli.progress_lines import speak
from trueedge.cli.running import end, keeping, note_records
from trueedge.errors import InputError, unknown
from trueedge.files.writing import check_target, refuse_inputs

if TYPE_CHECKING:
    from trueedge.studies import Comparison, Finding, Plan, Study, Tuning

# Where evidence is in a clone.
EVIDENCE = Path("results")
# Families of methods that have one run on a fixed split.
NOTHING_RANDOM = ("heuristics", "counting")
MOST_NAMES = 8


@engines.with_engine
def reproduce(
    context: typer.Context,
    study: Annotated[
        str | None,
        typer.Argument(
            metavar="STUDY",
            help="A study's name; 'list' shows them all.",
            autocompletion=completing.study,
            show_default=False,
        ),
    ] = None,
    dataset: Annotated[
        str,
        typer.Option(help="Only these data sets, comma-separated.", autocompletion=completing.dataset),
    ] = "",
    method: Annotated[
        str,
        typer.Option(
            "-m",
            "--method",
            help="Only these methods or families, comma-separated.",
            autocompletion=completing.method,
        ),
    ] = "",
    metric: Annotated[str, typer.Option(help="Only these metrics of a printed table, comma-separated.")] = "",
    seeds: Annotated[
        int | None, typer.Option(help="Number of seeds.", min=1, show_default="as in the study")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="A setting for all methods of the table that have it: epochs=5."),
    ] = None,
    missing: Annotated[
        bool,
        typer.Option(
            "--missing", help="List the published values whose data is here and that have no evidence."
        ),
    ] = False,
    evidence: Annotated[
        Path | None,
        typer.Option(
            help="The folder of evidence, for --missing and for studies of other studies' numbers.",
            show_default=str(EVIDENCE),
        ),
    ] = None,
    tuned: Annotated[
        bool,
        typer.Option(
            "--tuned",
            help="Search the published grid on the validation part first, and choose settings by the metric "
            "of each column, instead of using the published settings.",
        ),
    ] = False,
    trials: Annotated[
        int | None,
        typer.Option(help="With --tuned: trials for each method.", min=1, show_default="60"),
    ] = None,
    trial_seeds: Annotated[
        int | None,
        typer.Option(
            help="With --tuned: seeds per trial; settings are compared by their mean validation value.",
            min=1,
            show_default="1",
        ),
    ] = None,
    stored: Annotated[
        bool,
        typer.Option("--stored", help="Run nothing: show what the stored records say so far."),
    ] = False,
    device: options.Device = "cpu",
    jobs: options.Jobs = 1,
    engine: engines.Engine = engines.NO_ENGINE,
    runs: options.Runs = Path("runs"),
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="JSON file for the table, versions and machine.")
    ] = None,
    page: Annotated[Path | None, typer.Option(help="HTML file for the table and its figures.")] = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Recompute a published table and print our numbers next to the published ones.

    Example:
        trueedge reproduce list
        trueedge reproduce --missing
        trueedge reproduce heart/table-4 --dataset citeseer
        trueedge reproduce heart/figure-4 --dataset cora --page figure.html
        trueedge reproduce heart/table-1 --dataset citeseer --tuned --jobs 14 --device cuda -o tuned.json
        trueedge reproduce degree-bias/communities --device cuda --jobs 16
    """
    from trueedge.results import Store
    from trueedge.runs import StoredOnly
    from trueedge.studies import Plan, catalogue, check_evidence, get, write

    speak(quiet, verbose)
    if missing:
        _refuse_others(context, "--missing is about all studies", "missing", "evidence")
        _show_missing(evidence or EVIDENCE)
        return
    if study is None:
        raise InputError("which study? 'trueedge reproduce list' shows them all")
    if study == "list":
        _refuse_others(context, "'list' shows all studies", "study")
        rows = [[one.name, one.title, one.citation] for one in catalogue()]
        showing.table("Studies", ["name", "what it shows", "paper"], rows, texts=(1, 2))
        return
    chosen = get(study)
    tuning = _tuning(chosen, tuned, trials, trial_seeds, engine)
    if metric and not chosen.tunable:
        raise InputError(f"{chosen.name} has all its metrics at once: remove --metric")
    if jobs > 1 and chosen.one_process:
        raise InputError(f"{chosen.name} runs in one process: remove --jobs")
    if chosen.one_process:
        engine.refuse(f"{chosen.name} runs in one process")
    if stored:
        engine.refuse("--stored runs nothing")
        if jobs > 1:
            raise InputError("--stored runs nothing: remove --jobs")
    if evidence is not None and not chosen.reads_evidence:
        raise InputError(f"{chosen.name} reads no evidence: remove --evidence, or add --missing")
    if output is not None:
        # Refuse a bad path before the work, not after it.
        check_evidence(chosen, output)
    if page is not None:
        check_target(page, "a page", (".html",))
    store = Store(runs)
    for path in filter(None, (output, page)):
        refuse_inputs(path, store.files(), "the results")
    with (
        keeping(store),
        showing.progress(1, study) as report,
        engine.runner(jobs, runs) as runner,
        engine.ending_a_share(runner),
    ):
        plan = Plan(
            datasets=tuple(parsing.names(dataset, "data set")) if dataset else (),
            methods=tuple(parsing.names(method, "method")) if method else (),
            metrics=tuple(parsing.names(metric, "metric")) if metric else (),
            seeds=seeds,
            device=device,
            store=store,
            progress=showing.each_finished(report),
            jobs=jobs,
            settings=_settings(set_ or []),
            runner=StoredOnly() if stored else runner,
            tuning=tuning,
            evidence=evidence or EVIDENCE,
        )
        finding = _run(chosen, plan, stored)
    engine.end_share()
    if plan.used:
        note_records(store, plan.used)
    if finding.rows:
        study_tables.show(chosen, finding.rows)
        _note_single_seeds(finding.rows, seeds)
    for figure in finding.figures:
        study_tables.show_figure(figure)
    gaps = [abs(row.difference) for row in finding.rows if row.difference is not None]
    if gaps:
        showing.note(
            f"mean absolute difference {sum(gaps) / len(gaps):.4f} over {showing.count(len(gaps), 'value')}"
        )
    for sentence in finding.notes:
        showing.note(sentence)
    for sentence in finding.missing:
        showing.note(f"not run: {sentence}")
    if output is not None:
        write(chosen, finding, output)
        showing.note(f"written to {output}")
    if page is not None:
        from trueedge.report.study_page import write_study

        showing.note(f"written to {write_study(chosen, finding, page)}")
    elif finding.figures:
        showing.note("--page FILE.html draws the figures")
    end(store)


def _run(study: Study, plan: Plan, stored: bool) -> Finding:
    """Run a study, or read what is stored of it."""
    from trueedge.studies.study import NoValueError

    try:
        return study.run(plan)
    except NoValueError:
        if not stored or plan.used or plan.store is None:
            raise
        raise InputError(
            f"nothing is stored for {study.name} in {plan.store.folder} yet: run it without --stored first"
        ) from None


def _refuse_others(context: typer.Context, why: str, *used: str) -> None:
    """Refuse arguments and options that would be ignored."""
    for one in context.command.params:
        source = None if one.name is None else context.get_parameter_source(one.name)
        given = source is not None and source.name == "COMMANDLINE"
        if given and one.name not in (*used, "quiet", "verbose"):
            name = max(one.opts, key=len) if one.param_type_name == "option" else str(one.metavar or one.name)
            raise InputError(f"{why}: remove {name}")


def _note_single_seeds(rows: Sequence[Comparison], seeds: int | None) -> None:
    """Say once why a method has one seed, although several were asked for."""
    from trueedge import methods

    families = {kind.name: kind.family for kind in methods.catalogue()}
    names = dict.fromkeys(
        row.method
        for row in rows
        if row.seeds == 1 and families.get(row.method.partition("/")[0]) in NOTHING_RANDOM
    )
    if names and seeds is not None and seeds > 1:
        listed = ", ".join(list(names)[:MOST_NAMES]) + (" …" if len(names) > MOST_NAMES else "")
        showing.note(f"one seed, since nothing is random in a heuristic on a fixed split: {listed}")


def _show_missing(folder: Path) -> None:
    """Print the published values without evidence, and how long they take."""
    from trueedge.studies.missing import coverage

    if folder == EVIDENCE and not folder.is_dir():
        raise InputError(
            f"there is no folder {folder} here: the evidence is in a clone of trueedge's repository; run the"
            " command there, or name its folder with --evidence"
        )
    found = coverage(folder)
    rows = [
        [group.study, group.dataset, group.method, ", ".join(group.metrics), _duration(group.seconds)]
        for group in found.missing
    ]
    if rows:
        columns = ["study", "data set", "method", "metrics", "GPU time"]
        showing.table("Published values without evidence", columns, rows, numbers=[4], texts=(3,))
    showing.note(
        f"{found.with_evidence:,} of {found.cells:,} published values whose data is here have evidence,"
        f" {found.different_with_evidence:,} of {found.different:,} if what several tables print counts once"
    )
    if rows:
        showing.note(
            f"the others take about {_duration(found.seconds)} on one GPU, one training at a time; a training"
            " that several lines share counts once"
        )


def _duration(seconds: float) -> str:
    """Return an estimate in words."""
    if seconds < 60:
        return "< 1 min"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{seconds / 3600:.0f} h"


def _tuning(
    study: Study, tuned: bool, trials: int | None, trial_seeds: int | None, engine: engines.Engine
) -> Tuning | None:
    """Return how a study is tuned; refuse to tune one that has no grid."""
    from trueedge.studies import Tuning

    if not tuned:
        for name, given in (("trials", trials), ("trial-seeds", trial_seeds)):
            if given is not None:
                raise InputError(f"--{name} is for --tuned")
        return None
    if not study.tunable:
        raise InputError(f"{study.name} has no published grid to search: remove --tuned")
    if engine.share is not None:
        raise InputError("--tuned needs all trials of a search to choose: remove --share")
    chosen = {"trials": trials, "trial_seeds": trial_seeds}
    return Tuning(**{name: value for name, value in chosen.items() if value is not None})


def _settings(words: Sequence[str]) -> dict[str, object]:
    """Return settings from ``key=value``; a key that no method has is refused."""
    from trueedge import methods

    found: dict[str, object] = {}
    known = {key for kind in methods.catalogue() for key in kind.space()}
    for word in words:
        key, equals, text = word.partition("=")
        if not equals:
            raise InputError(f"--set {word} is not of the form key=value")
        if key not in known:
            raise unknown("setting", key, known, "'trueedge methods NAME' lists those of a method")
        found[key] = parsing.value(text)
    return found


COMMANDS = (reproduce,)
