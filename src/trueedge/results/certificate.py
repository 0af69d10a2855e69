"""Write certificates: what a record claims, with hashes of its data and the scores behind it."""

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
from trueedge.errors import InputError, must_be
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
from trueedge.results.kept_scores import can_be_kept, describe, load_scores, save_scores, scores_path
from trueedge.results.record import Record
from trueedge.results.store import Store
from trueedge.results.versions import listed, not_default, of_last_code

# The most records that are listed when the user has to choose one.
SHOWN = 5


def certify(record: Record, path: str | Path, store: Store | str | Path = "runs") -> Path:
    """Write a record's certificate, a ``.json`` file, with its test scores in an ``.npz`` file next to it.

    The metrics are first recomputed from the scores. Returns the path of the ``.json`` file.

    Args:
        record: a record that was run with ``keep_scores``.
        path: the ``.json`` file; the scores get the same name with the ending ``.scores.npz``.
        store: the store of the record, or its folder.
    """
    if not isinstance(record, Record):
        raise must_be("record", "certify", "a record, such as te.run returns", record)
    path = as_path(path, "certify")
    if path.suffix != ".json":
        raise InputError(f"{path}: a certificate is written to a .json file")
    folder = store.folder if isinstance(store, Store) else as_path(store, "certify")
    kept = _kept(record, folder)
    source = scores_path(folder, kept)
    scores = load_scores(source, kept if "form" in kept else kept["shape"])
    if scores.hash != kept["scores"]:
        raise InputError(f"{source} is damaged: run {_name(record)} again with --again --keep-scores")
    beside = scores_file(path)
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


def scores_file(path: Path) -> Path:
    """Return the path of the scores that belong to a certificate."""
    return path.with_suffix(".scores.npz")


def default_name(record: Record) -> str:
    """Return the default file name of a record's certificate."""
    words = (record.dataset, record.protocol, record.method, str(record.seed))
    return re.sub(r"[^\w.+-]+", "_", "-".join(words)) + ".json"


def choose(store: Store, key: str = "", **wanted: str | int | None) -> Record:
    """Return the one record of a store with a key, or the beginning of one, and certain properties.

    Of several records of one request, the latest with scores is used. Without a key, records of an earlier
    version of a method's code are ignored, and so are trials of a search; of records with one result on one
    task, the last with scores is used.

    Args:
        store: the store.
        key: the record's key or the beginning of it.
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
    fitting = list(found.values()) if key else _each_once(of_last_code(found.values())[0])
    if len(fitting) == 1:
        return fitting[0]
    given = [*([f"key {key}"] if key else []), *(f"{name} {value}" for name, value in asked.items())]
    words = f" with {', '.join(given)}" if given else ""
    if not fitting:
        raise InputError(f"there is no record{words} in {store.path}")
    raise InputError(f"{len(fitting)} records{words} in {store.path} match; choose one {_choice(fitting)}")


def _each_once(records: Sequence[Record]) -> list[Record]:
    """Return one record of each result: the last one with scores, or the last one.

    The same task may have been made from a data set once, and read from a file once.
    """
    found: dict[str, Record] = {}
    for one in records:
        origin = one.provenance
        result = repr(
            (_title(one), origin.get("task", one.key), origin.get("device"), sorted(one.test.items()))
        )
        before = found.get(result)
        if before is None or origin.get("kept") or not before.provenance.get("kept"):
            found.pop(result, None)
            found[result] = one
    return list(found.values())


def _title(record: Record) -> str:
    """Return the name of a record with its settings and options, as lists of records show it."""
    protocol = f"{record.protocol}{listed(dict(record.options))}"
    method = f"{record.method}{listed(not_default(record))}"
    return f"{method} on {record.dataset} under {protocol}, seed {record.seed}"


def _choice(records: Sequence[Record]) -> str:
    """Say how to choose one of several records, and list the last of them."""
    flags = {"dataset": "--dataset", "protocol": "-p", "method": "-m", "seed": "--seed"}
    useful = [flag for name, flag in flags.items() if len({getattr(one, name) for one in records}) > 1]
    differ = len({bool(one.provenance.get("kept")) for one in records}) > 1
    kept = [", scores kept" if differ and one.provenance.get("kept") else "" for one in records]
    lines = [
        f"{one.key[:12]}  {_title(one)}, {one.created[:16]}{said}{_differences(one, records)}"
        for one, said in zip(records[-SHOWN:], kept[-SHOWN:], strict=True)
    ]
    lines += [f"and {len(records) - SHOWN} more"] if len(records) > SHOWN else []
    added = f", or add {', '.join(useful)}" if useful else ""
    return "\n  ".join([f"by key{added}:", *lines])


def _differences(record: Record, records: Sequence[Record]) -> str:
    """Say in what a record differs from others of the same title."""
    same = [one.provenance for one in records if _title(one) == _title(record)]
    said = ""
    for name, digits in (("task", 12), ("device", None)):
        if len({str(one.get(name)) for one in same}) > 1:
            said += f", {name} {str(record.provenance.get(name))[:digits]}"
    return said


def _named_source(record: Record) -> bool:
    """Return whether the task of a record was made from the name of a data set."""
    return str(record.provenance.get("source", "")).partition(" ")[0] == record.dataset


def _kept(record: Record, folder: Path) -> Mapping[str, Any]:
    """Return a record's description of its scores, or raise an InputError that says how to get them."""
    kept = record.provenance.get("kept")
    if record.is_trial:
        raise InputError(f"{_name(record)} is a trial of a search: it was not evaluated on the test part")
    if kept is None and not can_be_kept(record):
        reason = f"a task under {record.protocol} keeps no scores"
        raise InputError(f"{_name(record)} cannot be certified: {reason}")
    if kept is None or not scores_path(folder, kept).is_file():
        reason = "were not kept" if kept is None else f"are not in {folder}"
        raise InputError(f"the scores of {_name(record)} {reason}: run {_command(record, folder)}")
    shapes = kept if "form" in kept else kept.get("shape")
    known = isinstance(shapes, Mapping)
    complaint = complaint_of_scores({"file": "kept", **shapes}) if known else "it has no shapes"
    if complaint:
        raise InputError(f"the description of the scores of {_name(record)} is damaged: {complaint}")
    return dict(kept)


def _name(record: Record) -> str:
    return f"{record.method} on {record.dataset} under {record.protocol}, seed {record.seed}"


def _command(record: Record, runs: Path) -> str:
    """Return the command that computes a record with its scores, if the record has enough to tell."""
    origin = record.provenance
    known = record.method in {kind.name for kind in methods.catalogue()}
    if not (known and _named_source(record) and record.task_seed <= record.seed):
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
    """Return the content of a certificate, with its seal."""
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
        "seconds": plain["seconds"],
        "peak_memory": plain["peak_memory"],
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
