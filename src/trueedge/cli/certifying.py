"""Certify a record, and verify a certificate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trueedge.cli import parsing, showing
from trueedge.cli.options import Runs
from trueedge.errors import InputError
from trueedge.files.writing import refuse_inputs
from trueedge.runs.own_code import own_method

if TYPE_CHECKING:
    from trueedge.results.certificate_check import Verification


def certify(
    record: Annotated[
        str, typer.Argument(metavar="KEY", help="The record's key, or its first characters.")
    ] = "",
    dataset: Annotated[str | None, typer.Option(help="The record's data set.")] = None,
    protocol: Annotated[str | None, typer.Option("-p", "--protocol", help="The record's protocol.")] = None,
    method: Annotated[
        str | None, typer.Option("-m", "--method", help="The record's method; FILE.py:NAME for your own.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="The record's seed.", min=0)] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="The .json file.", show_default="DATASET-PROTOCOL-METHOD-SEED.json"
        ),
    ] = None,
    runs: Runs = Path("runs"),
) -> None:
    """Write a record's certificate: its metrics and hashes as .json, and its scores as .npz.

    Choose the record by its key (see 'trueedge export') or by data set, protocol, method and seed. Its scores
    must have been kept: 'trueedge run … --keep-scores'.

    Example:
        trueedge run cora -p heart -m ra --keep-scores
        trueedge certify -m ra -o ra.json
    """
    from trueedge.results import Store
    from trueedge.results.certificate import certify as write
    from trueedge.results.certificate import choose, default_name, scores_file
    from trueedge.results.store import FILE_NAME

    if not (runs / FILE_NAME).is_file():
        raise InputError(f"there are no records in {runs}: 'trueedge run' makes them")
    store = Store(runs)
    if method is not None and ":" in method:
        method = own_method(method).name
    chosen = choose(store, record, dataset=dataset, protocol=protocol, method=method, seed=seed)
    target = output or Path(default_name(chosen))
    for file in (target, scores_file(target)):
        refuse_inputs(file, store.files(), "the certificate")
    path = write(chosen, target, store)
    showing.note(f"{path} certifies {chosen.method} on {chosen.dataset} under {chosen.protocol}")


def verify(
    certificate: Annotated[Path, typer.Argument(metavar="FILE", help="File from 'trueedge certify'.")],
    task: Annotated[
        str | None,
        typer.Option(
            help="Check the task too. Give a folder written by 'trueedge task', or a data set or an edge "
            "list, from which the task is built with the certificate's protocol and seed.",
        ),
    ] = None,
    rerun: Annotated[
        bool,
        typer.Option("--rerun", help="Run the method again too, and compare its scores and metrics."),
    ] = False,
    method: Annotated[
        str | None,
        typer.Option(
            "-m",
            "--method",
            help="With --rerun: the method, by its name; FILE.py:NAME or MODULE:NAME for your own.",
            show_default="the certificate's",
        ),
    ] = None,
    device: Annotated[
        str | None,
        typer.Option(help="With --rerun: cpu or cuda.", show_default="the certificate's"),
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(
            help="With --rerun: largest difference in a metric that still counts as equal.",
            show_default="0",
            min=0,
        ),
    ] = None,
) -> None:
    """Recompute a certificate's metrics from its scores, and print OK or what differs.

    It needs the two files of the certificate and nothing else. The exit status is 1 if something differs.
    Anything that was not verified is listed. --task also verifies what the certificate says about the task,
    and --rerun also verifies that the method gives these scores.

    Example:
        trueedge verify ra.json
        trueedge verify ra.json --task cora
        trueedge verify ra.json --rerun
    """
    from trueedge.results.certificate_check import verify as check

    for option, value in (("-m", method), ("--device", device), ("--tolerance", tolerance)):
        if value is not None and not rerun:
            raise InputError(f"{option} is for running the method again: add --rerun")
    with showing.progress(1, "running it again" if rerun else "verifying"):
        if rerun:
            from trueedge.runs.rerun import rerun as run_again

            own = None if method is None else parsing.one_method(method)
            found = run_again(certificate, task, own, device=device, tolerance=tolerance or 0.0)
        else:
            found = check(certificate, task)
    _show(found)
    if not found.ok:
        raise typer.Exit(1)


def _show(found: Verification) -> None:
    card = found.certificate
    what = f"{card['dataset']} · {card['protocol']} · {card['method']} · seed {card['seed']}"
    if found.ok:
        metrics = [check for check in found.checks if check.name.startswith("metric ")]
        again = [check for check in found.checks if check.name.startswith("rerun ")]
        # Settings agree with their hash, but nothing says that these were the settings.
        others = [
            f"hash of {check.name}" if check.name in found.unverified else check.name
            for check in found.checks
            if check not in (*metrics, *again)
        ]
        value = card["metrics"][card["headline"]]
        print(f"OK  {what}: {card['headline']} {value:.6f}")
        showing.note(
            f"{showing.count(len(metrics), 'metric')} computed again from the scores; also compared: "
            f"{', '.join(others)}"
        )
        for check in again:
            if check.name == "rerun scores" or "differs by" in check.sentence:
                showing.note(check.sentence)
        if found.unverified:
            showing.note(f"not verified: {', '.join(found.unverified)}")
        return
    for check in found.differences:
        print(f"differs  {check.name}: {check.sentence}")
    showing.note(f"{found.path} is not what was certified: {what}")


COMMANDS = (certify, verify)
