"""What a certificate claims beside its numbers: headline, metrics, data set, seed, settings, warnings."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from trueedge import datasets
from trueedge.errors import InputError
from trueedge.metrics import Scores
from trueedge.metrics import get as get_metric
from trueedge.results.certificate_file import HASHES, HASHES_OF_VERSION_1
from trueedge.results.record import plain_value
from trueedge.tasks import GraphTask, Task
from trueedge.tasks.protocols.protocol import PROTOCOLS
from trueedge.version import VERSION

# Notes in a task's settings that depend on the machine, not on the task.
LOCAL_SETTINGS = ("notes", "files_without_checksum")
# The fields that other parts of a certificate speak for: its form, its metrics, its own hashes.
INTERNAL = ("format", "version", "metrics", "scores", "hashes", "seal")
NEED_TASK = ("kind", "dataset", "protocol", "options", "task_seed", "task_settings", "warnings")
NEED_RUN = ("method", "settings", "seed", "device")
NAMES_OF_NODES = "names of nodes"

# The kinds of tasks whose metrics are of lists.
LISTED = ("items", "recommend")


@dataclass(frozen=True)
class Check:
    """One number, hash or claim that was compared.

    Attributes:
        name: which one: ``seal``, ``settings``, ``versions``, ``scores``, ``headline``, ``metric`` and its
            name; with a task also its claims (``dataset``, ``task_seed``, …), ``size``, the parts of the task
            (``graph``, ``test``, …) and ``task``; ``rerun`` and a metric's name if the method was run again.
        ok: whether it agrees with the certificate.
        sentence: what was found.
    """

    name: str
    ok: bool
    sentence: str


def known_headlines(card: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the headlines that a certificate's protocol can have on its data set; none if it is unknown."""
    protocol = PROTOCOLS.find(card["protocol"])
    if protocol is None:
        return ()
    if not protocol.own_headlines:
        return (protocol.headline,)
    try:
        rules = datasets.get(card["dataset"]).rules if datasets.is_name(card["dataset"]) else datasets.Rules()
    except InputError:  # a generated graph with settings that it does not take
        rules = datasets.Rules()
    return tuple(dict.fromkeys((protocol.headline, rules.headline)))


def check_headline(card: Mapping[str, Any], task: Task | None) -> Iterator[Check]:
    """Check that the headline is the task's own, or without a task one that the protocol can have."""
    allowed = known_headlines(card) if task is None else (task.headline,)
    if not allowed:
        return
    claimed = card["headline"]
    where = card["protocol"] if task is None else f"{task.dataset} under {task.protocol}"
    agrees = f"the headline of {where} is {' or '.join(allowed)}"
    # Lists of recommendations are shorter where there are few candidates.
    shortened = task is None and card.get("kind") in LISTED and any(_shorter(claimed, one) for one in allowed)
    ok = claimed in allowed or shortened
    yield Check("headline", ok, agrees if ok else f"{agrees}, but the certificate has {claimed}")


def _shorter(claimed: str, allowed: str) -> bool:
    """Return whether a metric looks at a shorter list than the protocol's, as small data need."""
    try:
        ours, theirs = get_metric(allowed), get_metric(claimed)
    except InputError:
        return False
    return ours.pattern == theirs.pattern and None not in (ours.k, theirs.k) and theirs.k < ours.k  # type: ignore[operator]


def check_claims(card: Mapping[str, Any], task: Task) -> Iterator[Check]:
    """Check what a certificate says of its task in words."""
    for name, ours, theirs in (
        ("protocol", task.protocol, card["protocol"]),
        ("dataset", task.dataset, card["dataset"]),
        ("kind", task.kind, card.get("kind", task.kind)),
        ("task_seed", task.seed, card["task_seed"]),
    ):
        word = {"dataset": "data set", "task_seed": "seed"}.get(name, name)
        yield _compared(name, f"the task's {word}", ours, theirs)
    settings = _plain(task.settings)
    for name in ("options", "task_settings"):
        claimed = card.get(name) if isinstance(card.get(name), dict) else {}
        wrong = [key for key, value in (claimed or {}).items() if not _agrees(key, value, settings, name)]
        sentence = f"the {name.replace('_', ' ')} are those of the task"
        if wrong:
            key = wrong[0]
            found = f"is {settings[key]!r}" if key in settings else "has no such setting"
            sentence = f"the task's {key} {found}, but the certificate says {claimed[key]!r}"  # type: ignore[index]
        yield Check(name, not wrong, sentence)
    held = set(task.hashes) | set(HASHES) | (set(HASHES_OF_VERSION_1) if card["version"] == 1 else set())
    strange = sorted(set(card["hashes"]) - held)
    if strange:
        yield Check("hashes", False, f"it has a hash of {strange[0]!r}, which the task has no part of")


def check_scores_claims(card: Mapping[str, Any], task: Task, scores: Scores) -> Iterator[Check]:
    """Check that a certificate claims the metrics that its task reports, and warns of what there is."""
    ours, theirs = task.metrics_for(scores), tuple(card["metrics"])
    missing = [name for name in ours if name not in theirs]
    added = [name for name in theirs if name not in ours]
    sentence = f"it claims all {len(ours)} metrics that the task reports"
    if missing or added:
        sentence = f"it leaves out {', '.join(missing)}" if missing else ""
        sentence += f"{' and ' if missing and added else '' if missing else 'it '}"
        sentence += f"claims {', '.join(added)}, which the task does not report" if added else ""
    yield Check("metrics", not (missing or added), sentence)
    if not can_compare_warnings(card):
        return
    told = [str(one) for one in card["warnings"]]
    silent = [one for one in task.remarks(scores) if not any(said.endswith(f"test: {one}") for said in told)]
    left_out = f"it leaves out the warning {silent[0]!r}" if silent else ""
    yield Check("warnings", not silent, left_out or "it has the warnings that its scores deserve")


def can_compare_warnings(card: Mapping[str, Any]) -> bool:
    """Return whether this version wrote the warnings: another one may say the same in other words."""
    same = card["version"] >= 3 and card["versions"].get("trueedge") == VERSION
    return same and isinstance(card.get("warnings"), list)


def unverified(card: Mapping[str, Any], task: Task | None, unsealed: bool) -> tuple[str, ...]:
    """Return the claims of a certificate that nothing was compared with.

    Args:
        card: the certificate.
        task: the task that it was compared with, if any.
        unsealed: whether its hashes do not cover the names of nodes.
    """
    checked = set(INTERNAL)
    if task is not None or known_headlines(card):
        checked.add("headline")
    if task is not None:
        checked |= set(NEED_TASK) - (set() if can_compare_warnings(card) else {"warnings"})
    found = [name for name in card if name not in checked]
    if task is None:
        parts = [name for name in card["hashes"] if name not in HASHES or name == "task"]
        found += [f"hash of {name}" for name in parts]
    named = isinstance(task, GraphTask) and task.graph.labels is not None
    return (*found, *((NAMES_OF_NODES,) if unsealed and named else ()))


def _compared(name: str, what: str, ours: object, theirs: object) -> Check:
    differs = "" if ours == theirs else f", but the certificate says {theirs}"
    return Check(name, not differs, f"{what} is {ours}{differs}")


def _agrees(key: str, value: object, settings: Mapping[str, Any], where: str) -> bool:
    if key in LOCAL_SETTINGS:
        return True
    # A task does not keep every option under its name.
    return settings[key] == value if key in settings else where == "options"


def _plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings as JSON holds them."""
    plain: dict[str, Any] = json.loads(json.dumps(dict(settings), default=plain_value))
    return plain
