"""Run the method of a certificate again, and compare its scores and metrics with the certified ones."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from trueedge import datasets, methods
from trueedge.errors import InputError, ScoreWarning, is_number, must_be
from trueedge.files.text import as_path
from trueedge.graph import Graph
from trueedge.methods import Method
from trueedge.methods.devices import check_device, device_used, without_effect
from trueedge.metrics import Scores, get
from trueedge.randomness import derive
from trueedge.results.certificate_check import ROUNDING, Verification, certified_scores, task_of, verify
from trueedge.results.certificate_claims import NEED_RUN, Check
from trueedge.results.certificate_file import read_certificate
from trueedge.runs.cells import check_device_name
from trueedge.tasks import Task


def rerun(
    path: str | Path,
    task: Task | Graph | str | Path | None = None,
    method: Method | None = None,
    *,
    device: str | None = None,
    tolerance: float = 0.0,
) -> Verification:
    """Verify a certificate with its task, fit its method again, and compare scores and metrics.

    Args:
        path: the ``.json`` file; its scores are in the same folder.
        task: see :func:`trueedge.verify`; by default it is made from the data set that the certificate names.
        method: a method of your own; its settings become those of the certificate. By default the method of
            the catalogue that the certificate names.
        device: where a trained method runs; by default the device that the certificate names.
        tolerance: the largest difference of a metric that counts as equal, besides rounding.
    """
    path = as_path(path, "rerun")
    if not is_number(tolerance) or not 0 <= tolerance < np.inf:
        raise must_be("tolerance", "rerun", "a number, 0 or more", tolerance)
    if device is not None:
        check_device_name(device, "rerun")
    card = read_certificate(path)
    derive(card["seed"])
    chosen = _method(card, method)
    made = task_of(card, _source(card) if task is None else task)
    found = verify(path, made)
    where = device_used(chosen.for_task(made), card["device"] if device is None else device)
    if device is not None and where != device:
        warnings.warn(without_effect(device, [chosen.name]), ScoreWarning, stacklevel=2)
    scores = _scores(chosen, made, int(card["seed"]), where)
    compared = list(_compared(card, path, scores, chosen.name, float(tolerance)))
    left = set(NEED_RUN) - ({"device"} if where != card["device"] else set())
    unverified = tuple(name for name in found.unverified if name not in left)
    again = {name: get(name).value(scores) for name in card["metrics"] if name in made.metrics_for(scores)}
    return replace(found, checks=(*found.checks, *compared), unverified=unverified, again=again)


def _source(card: Mapping[str, Any]) -> str:
    name = str(card["dataset"])
    if not datasets.is_name(name):
        raise InputError(f"{name} is not a named data set: give the task, or the file of the graph (--task)")
    return name


def _method(card: Mapping[str, Any], given: Method | None) -> Method:
    """Return the method with the settings of the certificate."""
    if given is None:
        if card["method"] not in {kind.name for kind in methods.catalogue()}:
            raise InputError(
                f"the method {card['method']} is not in the catalogue: give your own (-m FILE.py:NAME)"
            )
        return methods.create(card["method"], card["settings"])
    if given.name != card["method"]:
        raise InputError(f"the certificate is of the method {card['method']}, not of {given.name}")
    for key in card["settings"]:
        if key not in given.space():
            raise InputError(f"the certificate has the setting {key!r}, which {given.name} does not have")
    return type(given)(**{**given.settings(), **card["settings"]})


def _scores(method: Method, task: Task, seed: int, device: str) -> Scores:
    """Fit the method and score the test part."""
    try:
        check_device(device)
        return task.scores(method.fit(task, seed=seed, device=device), "test")
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise InputError(f"{method.name} needs torch to run again") from None


def _compared(
    card: Mapping[str, Any], path: Path, scores: Scores, method: str, tolerance: float
) -> Iterator[Check]:
    """Compare the scores and each metric."""
    checks = [_metric(name, claimed, scores, tolerance) for name, claimed in card["metrics"].items()]
    if scores.hash == card["hashes"]["scores"]:
        yield Check("rerun scores", True, f"run again, {method} gives the same scores")
    else:
        yield Check(
            "rerun scores", all(check.ok for check in checks), _difference(card, path, scores, method)
        )
    yield from checks


def _metric(name: str, claimed: float, scores: Scores, tolerance: float) -> Check:
    where = f"rerun {name}"
    try:
        found = get(name).value(scores)
    except InputError as error:
        return Check(where, False, f"{name} cannot be computed: {error}")
    gap = abs(found - claimed)
    if gap <= ROUNDING * max(1.0, abs(claimed)):
        return Check(where, True, f"run again, {name} is {found!r}")
    sentence = f"run again, {name} is {found!r}: it differs by {gap:.2g} from the certified {claimed!r}"
    return Check(where, gap <= tolerance, sentence)


def _difference(card: Mapping[str, Any], path: Path, scores: Scores, method: str) -> str:
    """Say by how much scores differ from the certified ones."""
    sentence = f"run again, {method} gives other scores"
    kept = certified_scores(path, card)
    if isinstance(kept, InputError):
        return f"{sentence}, and the certified ones cannot be read"
    certified, found = kept.arrays(), scores.arrays()
    if {name: array.shape for name, array in found.items()} != {
        name: array.shape for name, array in certified.items()
    }:
        return f"{sentence}, of other shapes"
    gap = max(float(np.abs(found[name] - certified[name]).max(initial=0.0)) for name in found)
    return f"{sentence}: they differ by {gap:.2g} at most"
