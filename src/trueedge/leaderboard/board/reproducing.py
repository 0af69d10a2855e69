"""Reproduce an entry: take another party's certificate, or run its method again, and keep the proof."""

from __future__ import annotations

import json
import math
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

from trueedge.errors import InputError
from trueedge.files.writing import write_text
from trueedge.graph import Graph
from trueedge.leaderboard.board.certificates import complaints_of
from trueedge.leaderboard.board.entry import SCORES, Entry
from trueedge.leaderboard.board.person_names import person_field
from trueedge.leaderboard.board.reproduction import Reproduction
from trueedge.leaderboard.board.task_card import BoardTask
from trueedge.leaderboard.board.text_fields import LONGEST_NAME, folder_name_of
from trueedge.leaderboard.board.unit_files import headline_values
from trueedge.methods import Method
from trueedge.metrics import get as get_metric
from trueedge.results.certificate_file import read_certificate
from trueedge.statistics.significance import mean_interval
from trueedge.tasks import Task
from trueedge.version import VERSION

LEVEL = 0.95


def add_certificate(entry: Entry, task: BoardTask, path: Path, by: str, date: str) -> Reproduction:
    """Keep another party's certificate as a proof, if its value lies in the entry's interval.

    Args:
        entry: the entry that it reproduces.
        task: its task.
        path: the certificate, with its scores beside it.
        by: who made it: not an author of the entry.
        date: the day.
    """
    _refuse(entry, by)
    found = complaints_of(path, task)
    if found:
        raise InputError(found[0])
    card = read_certificate(path)
    if card["seal"] in entry.seals:
        raise InputError(f"{path} is a certificate of the entry itself: another party's is needed")
    seed = _seed_with(entry, card["task_seed"])
    if another := _another_method(card, entry.certificates[seed]):
        raise InputError(f"{path} does not reproduce {entry.name}: {another}")
    proof = _proof(
        entry, task, seed, by, date, card["metrics"][task.headline], "certificate", certificate=card
    )
    named = path.parent / card["scores"]["file"]
    target = _path(entry, by, seed)
    shutil.copyfile(named if named.exists() else path.with_suffix(SCORES), target.with_suffix(SCORES))
    write_text(target, proof.text(), "the proof")
    return proof


def run_again(
    entry: Entry,
    task: BoardTask,
    by: str,
    date: str,
    *,
    seed: int | None = None,
    source: Task | Graph | str | Path | None = None,
    method: Method | None = None,
    device: str | None = None,
) -> Reproduction:
    """Run the method of an entry again, and keep the proof if its value lies in the entry's interval.

    Args:
        entry: the entry.
        task: its task.
        by: who runs it: not an author of the entry.
        date: the day.
        seed: the certificate to reproduce; by default the first.
        source: the frozen task or its data; by default the data set that the certificate names.
        method: a method of your own; by default the one of the catalogue.
        device: where a trained method runs; by default as the certificate says.
    """
    from trueedge.runs.rerun import rerun

    _refuse(entry, by)
    chosen = next(iter(entry.paths)) if seed is None else seed
    if chosen not in entry.paths:
        raise InputError(f"{entry.task}/{entry.name} has no certificate of seed {chosen}")
    # Its value has to lie in the interval, so every difference is let pass here and judged below.
    found = rerun(entry.paths[chosen], source, method, device=device, tolerance=1e300)
    wrong = [one for one in found.differences if not one.name.startswith("rerun ")]
    if wrong:
        raise InputError(f"{entry.task}/{entry.name}, seed {chosen}: {wrong[0].sentence}")
    value = float(found.again[task.headline])
    return keep_rerun(entry, task, by, date, chosen, value)


def keep_rerun(entry: Entry, task: BoardTask, by: str, date: str, seed: int, value: float) -> Reproduction:
    """Keep the proof of a rerun, if its value lies in the entry's interval.

    Args:
        entry: the entry.
        task: its task.
        by: who ran it: not an author of the entry.
        date: the day.
        seed: the certificate that is reproduced.
        value: the headline of the rerun.
    """
    _refuse(entry, by)
    proof = _proof(entry, task, seed, by, date, value, "rerun", versions={"trueedge": VERSION})
    write_text(_path(entry, by, seed), proof.text(), "the proof")
    return proof


def complaints_of_proof(path: Path, entry: Entry, task: BoardTask) -> Iterator[str]:
    """Yield what is wrong with a proof in an entry's folder."""
    proof = Reproduction.read(path)
    if proof.seed not in entry.paths or entry.certificates[proof.seed]["seal"] != proof.seal:
        yield "it reproduces a certificate that the entry does not have"
        return
    if proof.metric != task.headline:
        yield f"it compares {proof.metric}, not the headline {task.headline}"
        return
    if proof.how == "certificate":
        yield from _complaints_of_certificate(path, proof, task)
        if another := _another_method(proof.certificate, entry.certificates[proof.seed]):
            yield another
    try:
        again = _proof(
            *(entry, task, proof.seed, proof.by, proof.date, proof.value, proof.how), proof.certificate
        )
    except InputError as error:
        yield str(error)
        return
    for name in ("low", "high"):
        ours, theirs = getattr(again, name), getattr(proof, name)
        if not math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-9):
            yield f"the {name} end of the entry's interval is {ours:.6g}, not {theirs:.6g}"


def _complaints_of_certificate(path: Path, proof: Reproduction, task: BoardTask) -> Iterator[str]:
    """Verify the certificate within a proof, with the scores beside it."""
    scores = path.with_suffix(SCORES)
    if not scores.is_file():
        yield f"there are no scores {scores.name} of its certificate"
        return
    with tempfile.TemporaryDirectory(prefix="trueedge-proof-") as place:
        copy = Path(place) / "certificate.json"
        copy.write_text(json.dumps(dict(proof.certificate)))
        os.symlink(scores.absolute(), copy.with_suffix(SCORES))
        found = complaints_of(copy, task)
        yield from found
        if not found and read_certificate(copy)["metrics"][task.headline] != proof.value:
            yield "its value is not that of its certificate"
        if not found and read_certificate(copy)["seal"] == proof.seal:
            yield "its certificate is that of the entry itself"


def _another_method(card: Mapping[str, Any], reproduced: Mapping[str, Any]) -> str:
    """Say if a certificate is of another method or of other settings; nothing if it is of the same."""
    if card.get("method") != reproduced["method"]:
        return f"it is of {card.get('method')}, not of {reproduced['method']}"
    if card.get("settings") != reproduced["settings"]:
        return f"its settings of {reproduced['method']} are others"
    return ""


def _proof(
    entry: Entry,
    task: BoardTask,
    seed: int,
    by: str,
    date: str,
    value: float,
    how: str,
    certificate: Mapping[str, Any] | None = None,
    versions: Mapping[str, str] | None = None,
) -> Reproduction:
    """Return a proof; an InputError if the value is outside the interval, or if an author made it."""
    _refuse_author(entry, by)
    rule = get_metric(task.headline)
    found = mean_interval(headline_values(entry, seed), LEVEL)
    return Reproduction(
        by=by,
        date=date,
        how=how,
        seed=seed,
        seal=entry.certificates[seed]["seal"],
        metric=task.headline,
        value=value,
        low=max(found.low, rule.low),
        high=min(found.high, rule.high),
        certificate=certificate or {},
        versions=versions or {},
    )


def _refuse(entry: Entry, by: str) -> None:
    """Refuse a proof that lifts no entry, before anything is run."""
    if entry.withdrawn:
        raise InputError(f"{entry.task}/{entry.name} was withdrawn: it cannot be reproduced")
    if not entry.paths:
        raise InputError(f"{entry.task}/{entry.name} has no certificate that could be reproduced")
    _refuse_author(entry, by)


def _refuse_author(entry: Entry, by: str) -> None:
    """Refuse a proof by an author: it says no more than the entry itself."""
    if entry.card.is_author(person_field(by, "by", LONGEST_NAME)):
        raise InputError(f"{by} is an author of {entry.name}: another party has to reproduce it")


def _seed_with(entry: Entry, task_seed: int) -> int:
    for seed, card in entry.certificates.items():
        if card["task_seed"] == task_seed:
            return seed
    raise InputError(f"{entry.task}/{entry.name} has no certificate of the task's seed {task_seed}")


def _path(entry: Entry, by: str, seed: int) -> Path:
    """Return the file of a party's proof; names that give the same file name are numbered."""
    name = folder_name_of(by) or "somebody"
    numbered = (name if number == 1 else f"{name}-{number}" for number in count(1))
    paths = (entry.folder / f"reproduced-{one}-{seed}.json" for one in numbered)
    return next(path for path in paths if not path.exists() or Reproduction.read(path).by == by)
