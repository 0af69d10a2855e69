"""Certificates: what a record claims, with hashes of its data and the scores to compute it from."""

from __future__ import annotations

import json
import os
import re
import shlex
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from trueedge import methods
from trueedge.errors import InputError
from trueedge.files.text import as_path
from trueedge.results.certificate_check import verify
from trueedge.results.certificate_file import (
    FORMAT,
    VERSION,
    complaint_of_scores,
    digest,
    request_of,
    seal_of,
)
from trueedge.results.kept_scores import describe, load_scores, save_scores, scores_path
from trueedge.results.record import Record
from trueedge.results.store import Store
from trueedge.results.versions import of_last_code

# How many records are listed where one is to be named.
SHOWN = 5


def certify(record: Record, path: str | Path, store: Store | str | Path = "runs") -> Path:
    """Write a record's certificate: a ``.json`` file, and its test scores as an ``.npz`` file beside it.

    Before anything is written the metrics are computed again from the scores.

    Args:
        record: what is certified; it was run with ``keep_scores``.
        path: the ``.json`` file; the scores get the same name with the ending ``.scores.npz``.
        store: the store of the record, or its folder, where the scores lie.

    Returns:
        the path of the ``.json`` file.
    """
    path = as_path(path, "certify")
    if path.suffix != ".json":
        raise InputError(f"{path}: a certificate is written to a .json file")
    folder = store.folder if isinstance(store, Store) else as_path(store, "certify")
    kept = _kept(record, folder)
    source = scores_path(folder, kept)
    scores = load_scores(source, kept if "form" in kept else kept["shape"])
    if scores.hash != kept["scores"]:
        raise InputError(f"{source} is damaged: run {_name(record)} again with --again --keep-scores")
    beside = path.with_suffix(".scores.npz")
    card = _card(record, describe(scores), beside.name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".certificate-", dir=path.parent) as draft:
            save_scores(scores, Path(draft) / beside.name)
            (Path(draft) / path.name).write_text(json.dumps(card, indent=2, allow_nan=False) + "\n")
            found = verify(Path(draft) / path.name)
            if not found.ok:
                raise InputError(f"{_name(record)} cannot be certified: {found.differences[0].sentence}")
            for name in (beside.name, path.name):
                os.replace(Path(draft) / name, path.parent / name)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from None
    return path


def default_name(record: Record) -> str:
    """Return what a record's certificate is called where no other name is given."""
    words = (record.dataset, record.protocol, record.method, str(record.seed))
    return re.sub(r"[^\w.+-]+", "_", "-".join(words)) + ".json"


def choose(store: Store, key: str = "", **wanted: str | int | None) -> Record:
    """Return the one record of a store that has a key, or the beginning of one, and certain properties.

    Of records of one request the latest with its scores counts, and without a key, of those that fit, none of
    an earlier version of a method's code. Trials of a search claim nothing of a test.

    Args:
        store: where to look.
        key: the record's key or what it begins with.
        wanted: ``dataset``, ``protocol``, ``method`` and ``seed``; None for any.
    """
    asked = {name: value for name, value in wanted.items() if value is not None}
    found: dict[str, Record] = {}
    for record in store.records():
        fits = all(getattr(record, name) == value for name, value in asked.items())
        if record.is_trial or not fits or not record.key.startswith(key):
            continue
        before = found.get(record.key)
        if before is None or record.provenance.get("kept") or not before.provenance.get("kept"):
            found.pop(record.key, None)
            found[record.key] = record
    fitting = list(found.values()) if key else of_last_code(found.values())[0]
    if len(fitting) == 1:
        return fitting[0]
    given = [*([f"key {key}"] if key else []), *(f"{name} {value}" for name, value in asked.items())]
    words = f" with {', '.join(given)}" if given else ""
    if not fitting:
        raise InputError(f"there is no record{words} in {store.path}")
    raise InputError(f"{len(fitting)} records{words} are in {store.path}, name one {_choice(fitting)}")


def _choice(records: Sequence[Record]) -> str:
    """Say how one of several records can be named, and list the last of them."""
    flags = {"dataset": "--dataset", "protocol": "-p", "method": "-m", "seed": "--seed"}
    useful = [flag for name, flag in flags.items() if len({getattr(one, name) for one in records}) > 1]
    ways = " or ".join(["by its key", *([f"with {', '.join(useful)}"] if useful else [])])
    shown = records[-SHOWN:]
    some = [f"{one.key[:12]} is {_name(one)}, of {one.created[:16]}" for one in shown]
    more = len(records) - len(shown)
    return f"{ways}: {'; '.join(some)}{f'; and {more} more' if more else ''}"


def _kept(record: Record, folder: Path) -> Mapping[str, Any]:
    """Return what a record says of its scores; one without is refused, with the way to get them."""
    kept = record.provenance.get("kept")
    if record.is_trial:
        raise InputError(f"{_name(record)} is a trial of a search: it was not evaluated on the test part")
    if kept is None and "kept" in record.provenance:
        raise InputError(
            f"{_name(record)} cannot be certified: a task under {record.protocol} keeps no scores"
        )
    if kept is None or not scores_path(folder, kept).is_file():
        reason = "were not kept" if kept is None else f"are not in {folder}"
        raise InputError(f"the scores of {_name(record)} {reason}: run {_command(record, folder)}")
    shapes = kept if "form" in kept else kept.get("shape")
    complaint = (
        complaint_of_scores({"file": "kept", **shapes}) if isinstance(shapes, Mapping) else "no shapes"
    )
    if complaint:
        raise InputError(
            f"the record of {_name(record)} is damaged where it describes its scores: {complaint}"
        )
    return dict(kept)


def _name(record: Record) -> str:
    return f"{record.method} on {record.dataset} under {record.protocol}, seed {record.seed}"


def _command(record: Record, runs: Path) -> str:
    """Return the command that computes a record with its scores, where the record shows it."""
    origin = record.provenance
    known = record.method in {kind.name for kind in methods.catalogue()}
    named = str(origin.get("source", "")).partition(" ")[0] == record.dataset
    if not (known and named and record.task_seed <= record.seed):
        return "it again with --keep-scores"
    words = ["trueedge", "run", record.dataset, "-p", record.protocol, "-m", record.method]
    given = {name: record.settings[name] for name in origin.get("given", ()) if name in record.settings}
    for flag, values in (("--set", given), ("--option", record.options)):
        for name, value in values.items():
            words += [flag, f"{name}={value}"]
    words += ["--seed", str(record.task_seed)] if record.task_seed else []
    if record.seed > record.task_seed:
        words += ["--seeds", str(record.seed - record.task_seed + 1), "--fixed-split"]
    words += ["--device", origin["device"]] if origin.get("device", "cpu") != "cpu" else []
    words += ["--runs", str(runs)] if str(runs) != "runs" else []
    return shlex.join([*words, "--keep-scores"])


def _card(record: Record, kept: Mapping[str, Any], scores_file: str) -> dict[str, Any]:
    """Return all a certificate says, sealed."""
    plain = record.to_dict()
    fields = ("kind", "dataset", "protocol", "options", "method", "settings", "seed", "task_seed", "headline")
    origin = plain["provenance"]
    card: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        **{name: plain[name] for name in fields},
        "device": origin["device"],
        "key": record.key,
        "created": record.created,
        "metrics": plain["metrics"]["test"],
        "scores": {"file": scores_file, "form": kept["form"], "shapes": kept["shapes"]},
        "warnings": plain["warnings"],
        "source": origin["source"],
        "task_settings": origin["task_settings"],
        "versions": origin["versions"],
        "machine": origin["machine"],
    }
    card["hashes"] = {
        **origin["hashes"],
        "task": origin["task"],
        "scores": kept["scores"],
        "settings": digest(request_of(card)),
        "versions": digest(card["versions"]),
    }
    return {**card, "seal": seal_of(card)}
