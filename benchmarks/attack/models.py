"""Saved scorers that were changed: they are refused, or give the scores that they were saved with."""

from __future__ import annotations

import json
import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
from numpy.typing import NDArray

import trueedge as te
from benchmarks.attack.mutations import damaged
from benchmarks.attack.outcomes import Case, Family, expect
from benchmarks.attack.tiny import made_task
from trueedge.methods import create, saving

COUNTS = {"quick": 12, "nightly": 400}
METHODS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("cn", {}),
    ("fastrp", {"dim": 8}),
    ("sbm", {}),
    ("linear", {}),
    ("gcn", {"dim": 8, "epochs": 2, "evaluate_every": 1}),
    ("mlp-deg", {"epochs": 2, "hidden": 32, "dropout": 0.2}),
)
PAIRS = np.random.default_rng(0).integers(0, 30, (40, 2))


@cache
def saved(kind: int, seed: int = 0) -> tuple[Path, NDArray[np.float64]]:
    """Return the folder of a saved scorer, and its scores."""
    name, settings = METHODS[kind]
    scorer = create(name, settings).fit(made_task(seed=seed, protocol="existing"), seed)
    folder = te.save(scorer, Path(mkdtemp(prefix="attack-model-")) / "model")
    return folder, te.predict(scorer, PAIRS)


def _copied(case: Case) -> tuple[Path, NDArray[np.float64]]:
    kind = case.number(0, len(METHODS) - 1)
    case.tell(METHODS[kind][0])
    folder, scores = saved(kind)
    shutil.copytree(folder, case.folder / "model")
    return case.folder / "model", scores


def damage(case: Case) -> None:
    """Damage the bytes of one file."""
    folder, scores = _copied(case)
    path = case.pick([one for one in sorted(folder.rglob("*")) if one.is_file()])
    case.tell("in", path.relative_to(folder))
    path.write_bytes(damaged(case, path.read_bytes()))
    _check(folder, scores)


def changed_arrays(case: Case) -> None:
    """Change an array, and let the hashes fit: what is loaded must fit the method and the graph."""
    folder, scores = _copied(case)
    paths = sorted((folder / "learned").glob("*.npy"))
    if not paths:
        return
    path = case.pick(paths)
    array = np.load(path)
    how = case.pick(["shorter", "longer", "type", "far", "negative", "nan", "flat", "empty", "same"])
    case.tell(how, path.name)
    if how in ("shorter", "longer") and array.ndim:
        array = array[:-1] if how == "shorter" else np.concatenate([array, array[-1:]])
    elif how == "type":
        array = array.astype(case.pick(["i8", "f8", "u1", ">f4", "c8", "S3", "?"]))
    elif how in ("far", "negative") and array.size:
        array.reshape(-1)[0] = 2**30 if how == "far" else -1
    elif how == "nan" and array.dtype.kind == "f":
        array.reshape(-1)[:1] = np.nan
    elif how == "flat":
        array = array.reshape(-1)
    elif how == "empty":
        array = array.reshape(-1)[:0]
    np.save(path, array)
    step, place = map(int, path.stem.split("-"))
    card = json.loads((folder / saving.CARD).read_text())
    arrays = card["learned"][step]["arrays"]
    arrays[list(arrays)[place]] = saving.array_hash(array)
    _write(folder, card, sealed=True)
    _check(folder, scores, lies=how != "same")


def changed_cards(case: Case) -> None:
    """Change a field of the card, with and without its seal."""
    folder, scores = _copied(case)
    card = json.loads((folder / saving.CARD).read_text())
    key = case.pick(list(card))
    value: Any = case.pick(
        [None, 0, -1, 2.5, "x", "gcn", "sbm", "katz", [], [{}], {}, {"dim": 8}, True, 10**30]
    )
    if key == "settings" and card[key]:
        name = case.pick(list(card[key]))
        value = {**card[key], name: value}
    if key == "learned" and card[key]:
        value = case.pick([card[key] * 2, card[key][:-1], [{**card[key][0], "history": value}], [value]])
    sealed = case.chance(0.6)
    case.tell(key, "is", repr(value)[:60], "sealed" if sealed else "")
    card[key] = value
    _write(folder, card, sealed)
    _check(folder, scores, lies=True)


def moved_files(case: Case) -> None:
    """Remove files, or exchange them with those of another scorer."""
    folder, scores = _copied(case)
    other, _ = saved(case.number(0, len(METHODS) - 1), seed=1)
    how = case.pick(["removed", "exchanged", "other task", "other card", "pipe"])
    path = case.pick([one for one in sorted(folder.rglob("*")) if one.is_file()])
    case.tell(how, path.relative_to(folder))
    if how == "removed":
        path.unlink()
    elif how == "exchanged":
        source = other / path.relative_to(folder)
        if source.exists():
            shutil.copy(source, path)
    elif how == "other task":
        shutil.rmtree(folder / "task")
        shutil.copytree(other / "task", folder / "task")
    elif how == "other card":
        shutil.copy(other / saving.CARD, folder / saving.CARD)
    else:
        path.unlink()
        path.mkdir()
    _check(folder, scores)


def _write(folder: Path, card: dict[str, Any], sealed: bool) -> None:
    card = {**card, "seal": saving._seal(card)} if sealed else card
    (folder / saving.CARD).write_text(json.dumps(card))


def _check(folder: Path, scores: NDArray[np.float64], lies: bool = False) -> None:
    """Load a scorer; one whose hashes and seal were made anew may give other scores, a finite one each."""
    found = te.predict(te.load_scorer(folder), PAIRS)
    expect(found.shape == scores.shape and bool(np.isfinite(found).all()), "scores that are none")
    expect(lies or found.tobytes() == scores.tobytes(), "other scores than it was saved with")


FAMILIES: dict[str, Family] = {
    one.__name__.replace("_", " "): one for one in (damage, changed_arrays, changed_cards, moved_files)
}
