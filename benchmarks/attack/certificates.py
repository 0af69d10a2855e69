"""Forged certificates: what is verified has the metrics of its scores and, with a task, the task's hashes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np

import trueedge as te
from benchmarks.attack.mutations import damaged
from benchmarks.attack.outcomes import Case, Family, WrongNumberError, expect, same
from benchmarks.attack.plain_metrics import plain_metrics
from benchmarks.attack.tiny import made_task
from trueedge.errors import InputError
from trueedge.metrics import PairScores
from trueedge.results import Store, Verification, certificate_check, certify, verify
from trueedge.tasks import LinkTask

COUNTS = {"quick": 20, "nightly": 520}
PROTOCOLS = ("uniform", "heart")
FILE = "ra.json"
SCORES = "ra.scores.npz"


@cache
def template(protocol: str) -> tuple[Path, LinkTask, dict[str, Any]]:
    """Return a folder with a certificate, its task, and its content."""
    folder = Path(mkdtemp(prefix="attack-certificate-"))
    task = made_task(protocol)
    store = Store(folder / "runs")
    record = te.run(task, method="ra", store=store, keep_scores=True)
    certify(record, folder / "made" / FILE, store)
    return folder / "made", task, json.loads((folder / "made" / FILE).read_text())


def _copied(case: Case) -> tuple[Path, LinkTask, dict[str, Any]]:
    source, task, card = template(case.pick(PROTOCOLS))
    shutil.copytree(source, case.folder / "c")
    case.tell(task.protocol)
    return case.folder / "c" / FILE, task, json.loads(json.dumps(card))


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value in a card, also of lists and dictionaries."""
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in items:
        yield from _leaves(part, (*path, key))


def _set(card: dict[str, Any], path: tuple[Any, ...], change: Callable[[Any], Any]) -> None:
    inside: Any = card
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = change(inside[path[-1]])


def _other(case: Case, value: Any) -> Any:
    """Return another value than this one, mostly of the same type."""
    odd = case.pick([None, True, -1, 0, "", "x", [], {}, 1e-9, 10**30, ["mrr"], {"a": 1}, "\x1b[31m", "../x"])
    if case.chance(0.3):
        return odd if odd != value else "y"
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, (int, float)):
        return value + case.pick([1, -1, 0.1, 1e-6, -0.01])
    if isinstance(value, str):
        return case.pick([value + "x", value[:-1], value.swapcase() + "!", value[::-1] + "?"])
    if isinstance(value, list):
        return value + value[:1] if case.chance(0.5) and value else [*value, 1]
    return {**value, "more": 1} if case.chance(0.5) or not value else dict(list(value.items())[1:])


def _reseal(card: dict[str, Any]) -> None:
    """Compute the hashes of a changed card anew, as a forger would."""
    try:
        card["hashes"]["settings"] = certificate_check.digest(certificate_check.request_of(card))
        card["hashes"]["versions"] = certificate_check.digest(card["versions"])
    except (KeyError, TypeError):
        pass
    card["seal"] = certificate_check.seal_of(card)


def _plain(path: Path) -> dict[str, float]:
    """Return the metrics of the scores beside a certificate, by brute force."""
    arrays = np.load(path.parent / SCORES)
    return plain_metrics(arrays["positive"].astype(float).tolist(), arrays["negative"].astype(float).tolist())


def _check(path: Path, found: Verification, task: LinkTask | None) -> None:
    """Compare a certificate that was found to be right with its scores and its task."""
    if not found.ok:
        raise InputError(found.differences[0].sentence)
    wanted = _plain(path)
    for name, value in found.certificate["metrics"].items():
        expect(
            name in wanted and same(value, wanted[name]),
            f"{name} is {value}, but {wanted.get(name)} is right",
        )
    if task is not None:
        for name, value in task.hashes.items():
            expect(found.certificate["hashes"].get(name) == value, f"the hash of {name} is not the task's")
        expect(found.certificate["protocol"] == task.protocol, "another protocol was accepted")
        expect(found.certificate["headline"] == task.headline, "another headline was accepted")


def fields(case: Case) -> None:
    """Change any field, remove it or add one, and leave the seal: it must be noticed."""
    path, task, card = _copied(case)
    where = case.pick(list(_leaves(card)))
    before = json.dumps(card, sort_keys=True)
    how = case.pick(["changed", "changed", "changed", "removed", "added", "twice"])
    case.tell(how, ".".join(map(str, where)))
    if how == "changed":
        _set(card, where, lambda value: _other(case, value))
    elif how == "removed":
        inside: Any = card
        for key in where[:-1]:
            inside = inside[key]
        del inside[where[-1]]
    elif how == "added":
        card[case.pick(["note", "verified", "Headline", "metrics "])] = 1
    text = json.dumps(card)
    if how == "twice":
        text = text.replace('"headline"', '"headline": "auc", "headline"', 1)
    path.write_text(text)
    found = verify(path, task if case.chance(0.5) else None)
    if not found.ok:
        raise InputError(found.differences[0].sentence)
    unchanged = json.dumps(card, sort_keys=True) == before and how != "twice"
    expect(unchanged, f"{how} {where} was not noticed")


def resealed(case: Case) -> None:
    """Change any field and compute the hashes anew: the metrics must still be those of the scores."""
    path, task, card = _copied(case)
    where = case.pick([one for one in _leaves(card) if one[0] not in ("seal",)])
    case.tell("resealed", ".".join(map(str, where)))
    _set(card, where, lambda value: _other(case, value))
    if not isinstance(card.get("hashes"), dict):
        card["hashes"] = {}
    _reseal(card)
    path.write_text(json.dumps(card))
    given = task if case.chance(0.6) else None
    _check(path, verify(path, given), given)


def headlines(case: Case) -> None:
    """Claim another headline, fewer metrics, or metrics of a kinder kind, and reseal."""
    path, task, card = _copied(case)
    names = list(card["metrics"])
    how = case.pick(["headline", "fewer", "kinder", "better", "unknown", "swapped"])
    case.tell(how)
    if how == "headline":
        card["headline"] = case.pick([name for name in names if name != card["headline"]])
    elif how == "fewer":
        card["metrics"] = {card["headline"]: card["metrics"][card["headline"]]}
    elif how == "kinder":
        card["metrics"]["mrr"] = card["metrics"].get("mrr.optimistic", 1.0)
    elif how == "better":
        name = case.pick(names)
        card["metrics"][name] = min(1.0, card["metrics"][name] + case.pick([1e-3, 1e-6, 1e-9, 0.1]))
    elif how == "unknown":
        card["metrics"]["accuracy"] = 0.99
    else:
        card["metrics"] = dict(zip(names, reversed(list(card["metrics"].values())), strict=True))
    _reseal(card)
    path.write_text(json.dumps(card))
    _check(path, verify(path, task), task)


def other_scores(case: Case) -> None:
    """Change, permute, exchange or rescale the scores, with and without their hash and the metrics."""
    path, task, card = _copied(case)
    arrays = dict(np.load(path.parent / SCORES))
    positive, negative = arrays["positive"].astype(float), arrays["negative"].astype(float)
    how = case.pick(["permuted", "rescaled", "exchanged", "one", "fewer", "nan", "more", "type", "better"])
    case.tell(how)
    if how == "permuted":
        positive = case.rng.permutation(positive)
    elif how == "rescaled":
        positive, negative = positive * 3 - 1, negative * 3 - 1
    elif how == "exchanged" and positive.shape == negative.shape:
        positive, negative = negative, positive
    elif how == "one":
        negative.reshape(-1)[0] += 1
    elif how == "fewer":
        negative = negative[..., : max(1, negative.shape[-1] // 2)]
    elif how == "nan":
        positive[0] = np.nan
    elif how == "more":
        arrays["extra"] = positive
    elif how == "better":
        positive = positive + 100
    arrays |= {"positive": positive, "negative": negative}
    if how == "type":
        arrays = {name: array.astype("U8") for name, array in arrays.items()}
    np.savez(path.parent / SCORES, **arrays)
    if case.chance(0.6) and how not in ("nan", "type"):
        case.tell("with its hash and metrics")
        card["scores"]["shapes"] = {name: list(array.shape) for name, array in arrays.items()}
        card["hashes"]["scores"] = PairScores.check(positive, negative).hash
        if case.chance(0.7):
            wanted = _plain(path)
            card["metrics"] = {name: wanted[name] for name in card["metrics"] if name in wanted}
        _reseal(card)
        path.write_text(json.dumps(card))
    given = task if case.chance(0.6) else None
    found = verify(path, given)
    _check(path, found, given)
    if given is not None:
        shape = (len(task.test.positives), *task.test.negatives.shape[:-1])
        expect((len(positive), *negative.shape) == shape, "scores of another size were accepted")


def other_tasks(case: Case) -> None:
    """Verify with another task: it must be noticed."""
    path, task, _ = _copied(case)
    kind = case.pick(["seed", "protocol", "named", "graph"])
    other: Any = {
        "seed": lambda: made_task(task.protocol, seed=case.number(1, 3)),
        "protocol": lambda: made_task(PROTOCOLS[PROTOCOLS.index(task.protocol) - 1]),
        "named": lambda: made_task(task.protocol, named=True),
        "graph": lambda: te.task("karate", "uniform"),
    }[kind]()
    case.tell("verified with another", kind)
    found = verify(path, other)
    if not found.ok:
        raise InputError(found.differences[0].sentence)
    expect(kind == "named", f"the task of another {kind} was accepted")


def damage(case: Case) -> None:
    """Damage the bytes of one of the two files."""
    path, task, card = _copied(case)
    place = case.pick([path, path.parent / SCORES])
    place.write_bytes(damaged(case, place.read_bytes()))
    case.tell("in", place.name)
    found = verify(path, task if case.chance(0.3) else None)
    if not found.ok:
        raise InputError(found.differences[0].sentence)
    expect(found.certificate == card, "the content of the certificate changed")


def untouched(case: Case) -> None:
    """Verify what was not changed, in another place: it must be right."""
    path, task, _ = _copied(case)
    folder = path.parent.rename(case.folder / case.pick(["other", "ü n", "a,b", "cora"]))
    found = verify(folder / FILE, task if case.chance(0.5) else None)
    if not found.ok:
        raise WrongNumberError(found.differences[0].sentence)


FAMILIES: dict[str, Family] = {
    f"{one.__name__.replace('_', ' ')}{' ' * at}": one
    for at, one in enumerate(
        (fields, resealed, fields, resealed, headlines, other_scores, other_tasks, damage, untouched)
    )
}
