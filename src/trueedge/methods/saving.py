"""Save a fitted scorer to a folder, and load it: arrays and JSON, nothing that runs code.

A folder holds ``scorer.json`` (the method, its settings, what it was fitted on), ``task/`` (the training
data, without the test part) and ``learned/`` (an array for each weight). To load it, the method builds its
scorer from the training data as in ``fit``, and gets what it has learned from the files.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError, ScoreWarning
from trueedge.files.arrays import read_array
from trueedge.files.cards import read_json
from trueedge.files.writing import new_folder
from trueedge.methods.method import METHODS, Method, create
from trueedge.scorers.fitted import Fit, fit_of
from trueedge.scorers.history import History
from trueedge.scorers.learned import Step, Steps, loading
from trueedge.scorers.scorer import scorer_name
from trueedge.tasks.base import Task, array_hash
from trueedge.tasks.storage import load as load_task
from trueedge.tasks.storage import save as save_task
from trueedge.version import VERSION

CARD = "scorer.json"
FORMAT = 1
FIELDS: dict[str, type] = {
    **dict.fromkeys(("kind", "method", "training", "seal"), str),
    **dict.fromkeys(("format", "seed"), int),
    "settings": dict,
    "versions": dict,
    "learned": list,
}
KIND = "scorer"
# The losses of a million epochs fit.
LARGEST_CARD = 1 << 26


def save(scorer: object, path: str | Path) -> Path:
    """Write a fitted scorer to a new folder, and return the folder.

    Args:
        scorer: what a method's ``fit`` returned, or :func:`load_scorer`.
        path: a new or empty folder. It will hold the training data too, since scores depend on it.
    """
    if isinstance(scorer, Task):
        raise InputError(f"{scorer} is a task: task.save(folder) saves it")
    fit = _fit_of(scorer)
    steps = [] if fit.steps is None else fit.steps.done
    found = [(step.arrays(), step.history) for step in steps]
    with new_folder(path, "the scorer") as draft:
        save_task(fit.task, draft / "task")
        (draft / "learned").mkdir()
        for number, (arrays, _) in enumerate(found):
            for place, array in enumerate((arrays or {}).values()):
                np.save(_file(draft, number, place), array, allow_pickle=False)
        (draft / CARD).write_text(json.dumps(_card(fit, found), indent=1) + "\n", encoding="utf-8")
    return Path(path)


def load_scorer(path: str | Path, device: str = "cpu") -> Any:
    """Return the scorer of a folder that :func:`save` wrote; it gives the same scores as before.

    Args:
        path: the folder. Nothing in it is run, so it may come from anybody.
        device: where a trained model runs, ``cpu`` or ``cuda``.
    """
    folder = Path(path)
    card = _read_card(folder)
    method = _method(card, folder)
    task = load_task(folder / "task", fitting=True)
    if task.training_hash != card["training"]:
        raise InputError(f"{folder} is damaged: it holds other training data than its card says")
    steps = Steps([_read_step(folder, number, entry) for number, entry in enumerate(card["learned"])])
    try:
        with loading(steps), warnings.catch_warnings():
            # What is to be said about a fit was said when it was done.
            warnings.simplefilter("ignore", ScoreWarning)
            return method.fit(task, card["seed"], device)
    except InputError as error:
        raise InputError(f"{folder} cannot be loaded: {error}") from None
    except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
        said = str(error).partition("\n")[0]
        raise InputError(f"{folder} cannot be loaded: it does not fit {method.name} ({said})") from error


def _fit_of(scorer: object) -> Fit:
    if isinstance(scorer, Method):
        raise InputError(f"the method {scorer.name!r} has not been fitted: save what its fit(task) returns")
    fit = fit_of(scorer)
    if fit is None or fit.method is None:
        raise InputError(
            f"{scorer_name(scorer)} was not fitted by a method in this process: only what fit(task) or"
            " load_scorer(path) returned can be saved"
        )
    name = fit.method.name
    if METHODS.find(name) is not type(fit.method):
        raise InputError(f"{name} is not the method of that name in the catalogue: it could not be loaded")
    own = type(fit.method).fit.__module__.partition(".")[0] != "trueedge"
    if own and (fit.steps is None or not fit.steps.done):
        raise InputError(
            f"{name} does not say what it learns: wrap that in trueedge.scorers.learned.learned(...), and it"
            " can be saved"
        )
    return fit


def _card(fit: Fit, found: list[tuple[Any, History | None]]) -> dict[str, Any]:
    versions = {"trueedge": VERSION, "numpy": np.__version__}
    card = {
        "kind": KIND,
        "format": FORMAT,
        "method": fit.method.name,
        "settings": fit.method.for_task(fit.task).settings(),
        "seed": fit.seed,
        "training": fit.task.training_hash,
        "data": f"{fit.task.dataset} under {fit.task.protocol}, seed {fit.task.seed}",
        "fitted on": fit.device,
        "versions": versions,
        "learned": [
            {
                "arrays": None if arrays is None else {k: array_hash(one) for k, one in arrays.items()},
                "history": None if history is None else asdict(history),
            }
            for arrays, history in found
        ],
    }
    return {**card, "seal": _seal(card)}


def _seal(card: Mapping[str, Any]) -> str:
    said = {key: value for key, value in card.items() if key != "seal"}
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def _file(folder: Path, number: int, place: int) -> Path:
    return folder / "learned" / f"{number}-{place}.npy"


def _read_card(folder: Path) -> dict[str, Any]:
    path = folder / CARD
    if folder.is_file():
        raise InputError(f"{folder} is a file: a saved scorer is a folder")
    # A name with a NUL is refused below.
    if not folder.exists() and "\0" not in str(folder):
        raise InputError(f"there is no folder {folder}")
    absent, damaged = f"{folder} holds no scorer", f"{path} cannot be read: it"
    card = read_json(path, absent=absent, damaged=damaged, most=LARGEST_CARD)
    if not isinstance(card, dict) or card.get("kind") != KIND:
        raise InputError(f"{path} is not the card of a saved scorer")
    number = card.get("format")
    if type(number) is not int or not 1 <= number <= FORMAT:
        raise InputError(f"{path} has the format {number!r}, and this version of trueedge reads {FORMAT}")
    for key, kind in FIELDS.items():
        if type(card.get(key)) is not kind:
            raise InputError(f"{path} is damaged: {key!r} is missing or not of type {kind.__name__}")
    if _seal(card) != card["seal"]:
        raise InputError(f"{path} is damaged: it was changed after it was written")
    return card


def _method(card: Mapping[str, Any], folder: Path) -> Method:
    if METHODS.find(card["method"]) is None:
        raise InputError(
            f"{folder} holds a scorer of {card['method']!r}, which is not in the catalogue: if it is your own"
            " method, import the module that defines it first"
        )
    try:
        return create(card["method"], card["settings"])
    except InputError as error:
        raise InputError(f"{folder} cannot be loaded: {error}") from None


def _read_step(folder: Path, number: int, entry: Any) -> Step:
    """Return a step with its arrays, read and checked."""
    damaged = f"{folder / CARD} is damaged: entry {number} of 'learned'"
    if not isinstance(entry, dict) or not isinstance(entry.get("arrays"), dict | None):
        raise InputError(f"{damaged} has no arrays")
    history = _read_history(entry.get("history"), damaged)
    if entry["arrays"] is None:
        return Step(lambda: None, history)
    arrays: dict[str, NDArray[Any]] = {}
    for place, (name, expected) in enumerate(entry["arrays"].items()):
        path = _file(folder, number, place)
        arrays[name] = read_array(path)
        if array_hash(arrays[name]) != expected:
            raise InputError(f"{path} is damaged: it was changed after it was written")
    return Step(lambda: arrays, history)


def _read_history(given: Any, damaged: str) -> History | None:
    if given is None:
        return None
    try:
        history = History(**{one.name: given[one.name] for one in fields(History)})
        history.losses = [float(loss) for loss in history.losses]
        history.values = [(int(epoch), float(value)) for epoch, value in history.values]
        history.best = None if history.best is None else float(history.best)
    except (KeyError, OverflowError, TypeError, ValueError):
        raise InputError(f"{damaged} has no history of a training") from None
    return history
