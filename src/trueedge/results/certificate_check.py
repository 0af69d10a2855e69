"""Verify a certificate: every hash, metric and claim that its files, and a task if given, can speak for."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from trueedge import tasks
from trueedge.errors import InputError, unknown
from trueedge.files.text import as_path
from trueedge.graph import Graph
from trueedge.metrics import Scores, get
from trueedge.results.certificate_claims import (
    Check,
    check_claims,
    check_headline,
    check_scores_claims,
    unverified,
)
from trueedge.results.certificate_file import HASHES, digest, read_certificate, request_of, seal_of
from trueedge.results.kept_scores import load_scores
from trueedge.tasks import GraphTask, LinkTask, Task
from trueedge.tasks.protocols import get as get_protocol
from trueedge.tasks.storage import is_saved

# Sums of the same numbers may differ between processors, but only in their last bits.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Verification:
    """The result of verifying a certificate.

    Attributes:
        path: the certificate's file.
        certificate: its content.
        checks: what was compared, in order.
        unverified: the claims that nothing was compared with.
        again: the metrics of the method run again; empty if it was not.
    """

    path: Path
    certificate: Mapping[str, Any]
    checks: tuple[Check, ...]
    unverified: tuple[str, ...] = ()
    again: Mapping[str, float] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Return whether everything that was compared agrees with the certificate."""
        return not self.differences

    @property
    def differences(self) -> tuple[Check, ...]:
        """Return the checks that failed."""
        return tuple(check for check in self.checks if not check.ok)


def verify(path: str | Path, task: Task | Graph | str | Path | None = None) -> Verification:
    """Recompute a certificate's hashes and metrics from its own scores.

    This needs no data set, no torch and no network. With a task, the hashes of graph, split and negatives are
    compared too, and all that the certificate says of the task. :func:`trueedge.rerun` also runs the method
    again.

    Args:
        path: the ``.json`` file; its scores are in the same folder.
        task: a task, the folder of a saved one, or a source (data set, edge list, graph) to make it
            from with the certificate's protocol, options and seed.
    """
    path = as_path(path, "verify")
    card = read_certificate(path)
    scores = certified_scores(path, card)
    checks = check_content(card, scores)
    made = None if task is None else task_of(card, task)
    checks += check_headline(card, made)
    if made is not None:
        checks += _task(card, made, scores)
    return Verification(path, card, tuple(checks), unverified(card, made, _unsealed(card, made)))


def certified_scores(path: Path, card: Mapping[str, Any]) -> Scores | InputError:
    """Return the scores of a certificate, or the error why they cannot be read.

    They are in the file that the certificate names or, if it was renamed together with its scores, in the
    ``.scores.npz`` file that has its own name.
    """
    named, own = path.parent / card["scores"]["file"], path.with_suffix(".scores.npz")
    try:
        if named != own and not named.exists() and own.is_file():
            named = own
        return load_scores(named, card["scores"])
    except InputError as error:
        return error


def check_content(card: Mapping[str, Any], scores: Scores | InputError) -> list[Check]:
    """Check the hashes of a certificate, and each metric from its scores; nothing that needs the task."""
    return [*_content(card), *_scores(card, scores)]


def task_of(card: Mapping[str, Any], task: Task | Graph | str | Path) -> Task:
    """Return the task to compare with; it is made as the certificate says unless it was given."""
    if isinstance(task, (str, Path)) and is_saved(task):
        task = tasks.load(task)
    if not isinstance(task, Task):
        known = get_protocol(card["protocol"]).options
        for key in card["options"]:
            # Checked here, since an unknown key could be another argument of the function below.
            if key not in known:
                raise unknown(f"option of the protocol {card['protocol']}", key, known or ["(none)"])
        task = tasks.task(task, card["protocol"], card["task_seed"], **card["options"])
    if not task.keeps_scores:
        raise InputError(f"a task under {task.protocol} keeps no scores, so it has no certificates")
    return task


def _content(card: Mapping[str, Any]) -> Iterator[Check]:
    """Check the hashes of the certificate's own content."""
    yield _same("seal", card["seal"], seal_of(card), "its contents")
    yield _same("settings", card["hashes"]["settings"], digest(request_of(card)), "what was run")
    yield _same("versions", card["hashes"]["versions"], digest(card["versions"]), "the versions")


def _scores(card: Mapping[str, Any], scores: Scores | InputError) -> Iterator[Check]:
    """Check the scores, and each metric computed from them."""
    if isinstance(scores, InputError):
        yield Check("scores", False, str(scores))
        return
    yield _same("scores", card["hashes"]["scores"], scores.hash, f"the scores in {card['scores']['file']}")
    for name, claimed in card["metrics"].items():
        yield _metric(name, claimed, scores)


def _metric(name: str, claimed: float, scores: Scores) -> Check:
    where = f"metric {name}"
    try:
        found = get(name).value(scores)
    except InputError as error:
        return Check(where, False, f"{name} cannot be computed: {error}")
    if math.isclose(found, claimed, rel_tol=ROUNDING, abs_tol=ROUNDING):
        return Check(where, True, f"{name} is {found!r}")
    return Check(where, False, f"the scores give {name} {found!r}, but the certificate claims {claimed!r}")


def _task(card: Mapping[str, Any], task: Task, scores: Scores | InputError) -> Iterator[Check]:
    """Check what needs the data: the claims on the task, size and truth of the test part, hashes."""
    yield from check_claims(card, task)
    # Otherwise fewer negatives, or other labels, than the task has would pass with the task's own hashes.
    trouble = str(scores) if isinstance(scores, InputError) else task.mismatch(scores, "test")
    yield Check("size", not trouble, trouble or f"the scores are of the test part of {task.dataset}")
    if not trouble and not isinstance(scores, InputError):
        yield from check_scores_claims(card, task, scores)
    hashed = task.without_labels() if isinstance(task, GraphTask) and _unsealed(card, task) else task
    for name, value in _hashes(card, hashed).items():
        what = f"the {name} of {task.dataset} under {task.protocol}"
        yield _same(name, card["hashes"].get(name, "missing"), value, what)


def _hashes(card: Mapping[str, Any], task: Task) -> dict[str, str]:
    """Return the hashes of a task as a certificate of its version has them."""
    parts = {name: value for name, value in task.hashes.items() if name not in HASHES}
    if card["version"] == 1:
        if not isinstance(task, LinkTask):
            raise InputError(f"{task} has no positives and negatives, as a certificate of version 1 needs")
        parts = {"graph": task.graph.hash, **_hashes_of_version_1(task)}
    return {**parts, "task": task.hash}


def _unsealed(card: Mapping[str, Any], task: Task | None) -> bool:
    """Return whether a certificate has the hash of the task without the names of its nodes.

    So have certificates of versions 1 and 2, and those of records that these versions wrote.
    """
    if not isinstance(task, GraphTask) or task.graph.labels is None:
        return False
    return bool(card["version"] < 3 or card["hashes"].get("graph") == task.graph.hash_without_labels)


def _hashes_of_version_1(task: LinkTask) -> dict[str, str]:
    """Return the SHA-256 of a task's split (training graph and positives) and of its negatives."""
    split, negatives = hashlib.sha256(task.graph.hash.encode()), hashlib.sha256()
    for name, part in sorted(task.parts.items()):
        for digest_of, array in ((split, part.positives), (negatives, part.negatives)):
            digest_of.update(f"{name} {array.shape}".encode())
            digest_of.update(np.ascontiguousarray(array, dtype="<i4").reshape(-1).view(np.uint8).data)
    return {"split": split.hexdigest(), "negatives": negatives.hexdigest()}


def _same(name: str, claimed: str, found: str, what: str) -> Check:
    if claimed == found:
        return Check(name, True, f"the hash of {what} is {found}")
    return Check(name, False, f"the hash of {what} is {found}, but the certificate says {claimed}")
