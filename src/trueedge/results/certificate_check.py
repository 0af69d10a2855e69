"""Verifying a certificate: every hash and every metric, from the certificate and its scores alone."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from trueedge import tasks
from trueedge.errors import InputError, unknown
from trueedge.files.text import as_path
from trueedge.graph import Graph
from trueedge.metrics import Scores, get
from trueedge.results.certificate_file import HASHES, digest, read_certificate, request_of, seal_of
from trueedge.results.kept_scores import load_scores
from trueedge.tasks import LinkTask, Task
from trueedge.tasks.protocols import get as get_protocol

# Sums of the same numbers may differ in their last bits from one processor to another, and no more.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Check:
    """One number or hash that was compared.

    Attributes:
        name: which one: ``seal``, ``settings``, ``versions``, ``scores``, ``metric`` and its name; with a
            task ``protocol``, ``size``, the parts of the task (``graph``, ``test``, …) and ``task``.
        ok: whether it is what the certificate says.
        sentence: what was found.
    """

    name: str
    ok: bool
    sentence: str


@dataclass(frozen=True)
class Verification:
    """What verifying a certificate found.

    Attributes:
        path: the certificate's file.
        certificate: all it says.
        checks: what was compared, in order.
    """

    path: Path
    certificate: Mapping[str, Any]
    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        """Whether all is as the certificate says."""
        return not self.differences

    @property
    def differences(self) -> tuple[Check, ...]:
        """The checks that failed."""
        return tuple(check for check in self.checks if not check.ok)


def verify(path: str | Path, task: Task | Graph | str | Path | None = None) -> Verification:
    """Compute a certificate's hashes and metrics again, from its own scores.

    No data set, no torch and no network is needed. With a task the hashes of graph, split and negatives are
    compared too.

    Args:
        path: the ``.json`` file; its scores lie beside it.
        task: a task, the folder of a saved one, or what to make it from under the certificate's protocol,
            options and seed: a data set's name, the path of an edge list, a graph.
    """
    path = as_path(path, "verify")
    card = read_certificate(path)
    try:
        scores: Scores | InputError = load_scores(path.parent / card["scores"]["file"], card["scores"])
    except InputError as error:
        scores = error
    checks = [*_content(card), *_scores(card, scores)]
    if task is not None:
        checks += _task(card, _made(card, task), scores)
    return Verification(path, card, tuple(checks))


def _content(card: Mapping[str, Any]) -> Iterator[Check]:
    """What the certificate says of itself."""
    yield _same("seal", card["seal"], seal_of(card), "all it says")
    yield _same("settings", card["hashes"]["settings"], digest(request_of(card)), "what was run")
    yield _same("versions", card["hashes"]["versions"], digest(card["versions"]), "the versions")


def _scores(card: Mapping[str, Any], scores: Scores | InputError) -> Iterator[Check]:
    """The scores, and each metric by them; without scores there is nothing to compute from."""
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
    return Check(where, False, f"{name} is {found!r} by the scores, the certificate claims {claimed!r}")


def _made(card: Mapping[str, Any], task: Task | Graph | str | Path) -> Task:
    """The task to compare with, made as the certificate says where it is not made already."""
    if isinstance(task, (str, Path)) and (Path(task) / "task.json").is_file():
        task = tasks.load(task)
    if not isinstance(task, Task):
        known = get_protocol(card["protocol"]).options
        for key in card["options"]:
            # Before it is taken for an argument of another name.
            if key not in known:
                raise unknown(f"option of the protocol {card['protocol']}", key, known or ["(none)"])
        task = tasks.task(task, card["protocol"], card["task_seed"], **card["options"])
    if not task.keeps_scores:
        raise InputError(f"a task under {task.protocol} keeps no scores, so it has no certificates")
    return task


def _task(card: Mapping[str, Any], task: Task, scores: Scores | InputError) -> Iterator[Check]:
    """What takes the data to compare: protocol, size and truth of the test part, hashes."""
    ours, theirs = task.protocol, card["protocol"]
    differs = "" if ours == theirs else f", the certificate says {theirs}"
    yield Check("protocol", not differs, f"{task.dataset} has the protocol {ours}{differs}")
    # Without this, fewer negatives than the task has, or other labels, would pass with the task's own hashes.
    trouble = str(scores) if isinstance(scores, InputError) else task.mismatch(scores, "test")
    yield Check("size", not trouble, trouble or f"the scores are of the test part of {task.dataset}")
    parts = {name: value for name, value in task.hashes.items() if name not in HASHES}
    if card["version"] == 1:
        if not isinstance(task, LinkTask):
            raise InputError(
                f"{task} has no positives and negatives, which a certificate of version 1 is about"
            )
        parts = {"graph": task.graph.hash, **_hashes_of_version_1(task)}
    for name, value in {**parts, "task": task.hash}.items():
        what = f"the {name} of {task.dataset} under {task.protocol}"
        yield _same(name, card["hashes"].get(name, "missing"), value, what)


def _hashes_of_version_1(task: LinkTask) -> dict[str, str]:
    """The SHA-256 of a task's split (training graph and positives) and of its negatives."""
    split, negatives = hashlib.sha256(task.graph.hash.encode()), hashlib.sha256()
    for name, part in sorted(task.parts.items()):
        for digest_of, array in ((split, part.positives), (negatives, part.negatives)):
            digest_of.update(f"{name} {array.shape}".encode())
            digest_of.update(np.ascontiguousarray(array, dtype="<i4").reshape(-1).view(np.uint8).data)
    return {"split": split.hexdigest(), "negatives": negatives.hexdigest()}


def _same(name: str, claimed: str, found: str, what: str) -> Check:
    if claimed == found:
        return Check(name, True, f"the hash of {what} is {found}")
    return Check(name, False, f"the hash of {what} is {found}, the certificate says {claimed}")
