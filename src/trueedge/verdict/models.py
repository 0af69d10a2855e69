"""Turn what a user has into a method: a function, vectors, a torch module, a file of scores, a scorer."""

from __future__ import annotations

import inspect
import random
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from traceback import extract_tb
from typing import Any, ClassVar

import numpy as np

from trueedge import methods
from trueedge.errors import InputError
from trueedge.methods import Method
from trueedge.randomness import derive
from trueedge.runs.own_code import own_object
from trueedge.scorers.scorer import has_with_graph, is_module, is_table, scorer_name
from trueedge.tasks import Task
from trueedge.verdict.model_files import read_model

DATA = ("graph", "triples", "typed", "interactions")
# A function whose first argument has one of these names is fitted; any other scores pairs.
FITTED = ("task", "graph")
# Names of functions that say nothing about a model.
UNTELLING = ("fit", "train", "build", "make", "model", "score", "scorer", "predict", "function", "partial")


@dataclass(frozen=True)
class OwnModel(Method):
    """A user's own model as a method; a subclass holds the model.

    Attributes:
        model: a scorer, or a function that makes one.
        fits: what its function takes: a ``task``, a ``graph``, or nothing, since it is fixed.
        holds_scores: whether it is scores of a task's test part: a file of them, or a table of queries.
    """

    title: ClassVar[str] = "own model"
    takes: ClassVar[tuple[str, ...]] = DATA
    uses_device: ClassVar[bool] = False
    model: ClassVar[Any] = None
    fits: ClassVar[str] = ""
    holds_scores: ClassVar[bool] = False

    def fit(self, task: Task, seed: int = 0, device: str = "cpu") -> Any:
        """Return the model, or what its function returns."""
        model = type(self).model
        if not self.fits:
            return model
        given = task if self.fits == "task" else getattr(task, "graph", task)
        known = _accepted(model, {"seed": seed, "device": device})
        with _seeded(derive(seed, "own model", self.name)), _noting_features(task):
            found = model(given, **known)
        if found is None:
            raise InputError("its function returned nothing; it must return a scorer")
        return found

    @property
    def takes_device(self) -> bool:
        """Return whether its function has an argument for the device."""
        return bool(self.fits) and bool(_accepted(type(self).model, {"device": "cpu"}))


@contextmanager
def _noting_features(task: Task) -> Iterator[None]:
    """Note that a task has no features, if a line of code that reads them raises an exception."""
    try:
        yield
    except Exception as error:
        none = task.data == "graph" and getattr(task, "features", None) is None
        if none and any("features" in (frame.line or "") for frame in extract_tb(error.__traceback__)):
            error.add_note(f"{task.dataset} has no node features")
        raise


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Seed the global random numbers of Python, numpy and torch, and put them back afterwards."""
    torch = sys.modules.get("torch")
    # Users' code draws from these global states.
    before = (
        random.getstate(),
        np.random.get_state(),  # noqa: NPY002
        torch.get_rng_state() if torch else None,
    )
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002
    if torch:
        torch.manual_seed(seed)
    try:
        yield
    finally:
        random.setstate(before[0])
        np.random.set_state(before[1])  # noqa: NPY002
        if torch and before[2] is not None:
            torch.set_rng_state(before[2])


def as_method(model: object, name: str = "", data: str = "graph", kind: str = "") -> Method:
    """Return a method for anything that can score.

    Args:
        model: a method, its class or its name; a function ``fit(task)`` or ``fit(graph)`` that returns a
            scorer; an object with ``fit(task)``; or a scorer that is fixed: a function of pairs, vectors of
            nodes, a torch module, the path of a file of vectors or scores, an object with ``score(pairs)``.
            ``"mine.py:fit"`` is what a file calls ``fit``.
        name: what to call it; by default its own name, which a method keeps.
        data: the kind of data, which decides what a method's name means.
        kind: the kind of task, which decides how a file is read.
    """
    if not isinstance(name, str):
        raise InputError(f"the name of a model must be a text, got {name!r}")
    if isinstance(model, str) and ":" in model and not Path(model).is_file():
        model, own_name = named_in_code(model)
        name = name or own_name
    if isinstance(model, str) and not _is_path(model):
        return _named(methods.create(model, data=data), name)
    given = name
    name = name or _name_of(model)
    if isinstance(model, (str, Path)):
        model = read_model(Path(model), data, kind)[0]
    if isinstance(model, type) and issubclass(model, Method):
        model = model()
    if isinstance(model, Method):
        return _named(model, given)
    if isinstance(model, type):
        raise InputError(f"{model.__name__} is a class: create an object, and give that as the model")
    call: Any = getattr(model, "fit", None)
    if callable(call) and not is_module(model) and not is_table(model):
        return _own(name, call, _first_argument(call) if _first_argument(call) in FITTED else "task")
    if inspect.isroutine(model) or (isinstance(model, Callable) and not is_module(model)):  # type: ignore[arg-type]
        first = _first_argument(model)
        if first in FITTED and not hasattr(model, "score"):
            return _own(name, model, first)
    # On triples, a table has no vectors: a row holds the scores of all answers to a query.
    return _own(name, model, "", isinstance(model, Path) or (data == "triples" and is_table(model)))


def _named(method: Method, name: str) -> Method:
    """Return a method, whose name says in records what it is, and refuse another name for it."""
    if name and name != method.name:
        raise InputError(f"{method.name!r} is a method and keeps its name: {name!r} cannot be its name here")
    return method


def named_in_code(text: str) -> tuple[Any, str]:
    """Return what FILE.py:NAME or MODULE:NAME stands for, and what to call it if it has no name itself."""
    found = own_object(text)
    return found, "" if isinstance(found, Method) else telling_name(*text.rsplit(":", 1))


def telling_name(place: str, name: str) -> str:
    """Return the name of a function, or of its file or module if any function might be called so."""
    if name.removeprefix("the ") not in (*UNTELLING, "lambda"):
        return name
    stem = Path(place).stem if place.endswith(".py") else place.rpartition(".")[2]
    return "my model" if stem in ("", "__main__") else stem


def is_fixed(method: Method) -> bool:
    """Return whether a method is a scorer that no training part is shown to."""
    return isinstance(method, OwnModel) and not method.fits


def holds_scores(method: Method) -> bool:
    """Return whether a method is a file or table of scores, which belong to the test part of one task."""
    return isinstance(method, OwnModel) and method.holds_scores


def scores_one_graph(method: Method) -> bool:
    """Return whether a method is a fixed scorer of the entities of one graph: it has no ``with_graph``."""
    return is_fixed(method) and not has_with_graph(type(method).model)  # type: ignore[attr-defined]


def _own(name: str, model: Any, fits: str, scores: bool = False) -> Method:
    """Return a method of a class of its own, which holds the model, so that its code is the model's."""
    if not name.isprintable():
        raise InputError(
            f"the name {name!r} has characters that cannot be printed: give the model another one"
        )
    held = staticmethod(model) if inspect.isroutine(model) else model
    content = {
        "__module__": "own",
        "model": held,
        "fits": fits,
        "learns": bool(fits),
        "holds_scores": scores,
    }
    made: Any = type(re.sub(r"\W", "_", name), (OwnModel,), content)
    # Set afterwards: a class that is defined with a name joins the catalogue.
    made.name = name
    method: Method = made()
    return method


def _is_path(text: str) -> bool:
    return Path(text).is_file() or bool(re.search(r"[/\\]|\.\w{2,4}$", text))


def _name_of(model: object) -> str:
    if isinstance(model, (str, Path)):
        return Path(model).stem
    if is_table(model):
        return "my model"  # the answer begins with it, in the singular
    return telling_name(getattr(model, "__module__", None) or "", scorer_name(model))


def _first_argument(call: Any) -> str:
    try:
        return next(iter(inspect.signature(call).parameters), "")
    except (TypeError, ValueError):
        return ""


def _accepted(call: Any, values: dict[str, Any]) -> dict[str, Any]:
    """Return the values that a function has arguments for."""
    try:
        known = inspect.signature(call).parameters
    except (TypeError, ValueError):
        return {}
    anything = any(one.kind is one.VAR_KEYWORD for one in known.values())
    return {key: value for key, value in values.items() if anything or key in known}
