"""The base class of methods, and the ranges of their settings."""

from __future__ import annotations

import dataclasses
import numbers
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from trueedge import datasets
from trueedge.errors import InputError, ScoreWarning, must_be, same_kind, unknown
from trueedge.registry import Registry
from trueedge.scorers.fitted import Fit, mark_fitted
from trueedge.scorers.learned import recording

if TYPE_CHECKING:
    from trueedge.graph import Graph
    from trueedge.tasks import GraphTask, ItemTask, NodeTask, Task, TripleTask, TypedLinkTask

METHODS: Registry[type[Method]] = Registry("method", "trueedge.methods", skip=("models",))
NOUNS = {
    "graph": "a plain graph",
    "triples": "a knowledge graph",
    "typed": "a typed graph",
    "interactions": "interactions of users with items",
}
# What the names of classes for some data end with, if the plain name is taken.
SUFFIXES = {"triples": "-kg", "typed": "-hetero", "interactions": "-rec"}
# What a kind of task on typed graphs is called.
TASKS = {"nodes": "node classification", "typed-links": "link prediction", "items": "recommendation"}
KINDS = {bool: "true or false", str: "text", int: "a whole number", float: "a number"}


@dataclass(frozen=True)
class Range:
    """The allowed values of a setting: from ``low`` to ``high``, or ``choices``, and None if ``optional``.

    Attributes:
        search: the values a grid search tries; empty for a setting that is not searched.
        kind: the type of a value.
        help: one line for the user.
        only: the one kind of task that uses the setting; empty: all kinds.
    """

    low: float | None = None
    high: float | None = None
    choices: tuple[Any, ...] | None = None
    search: tuple[Any, ...] = ()
    optional: bool = False
    kind: type | None = None
    help: str = ""
    only: str = ""

    def __str__(self) -> str:
        if self.choices is not None:
            return "one of " + ", ".join(map(repr, self.choices))
        if self.low is not None and self.high is not None:
            return f"between {self.low} and {self.high}"
        if self.low is not None:
            return f"at least {self.low}"
        return KINDS.get(self.kind or float, "a value") if self.high is None else f"at most {self.high}"

    def admits(self, value: Any) -> bool:
        """Return whether a value is allowed."""
        if value is None:
            return self.optional
        if self.choices is not None:
            return value in self.choices
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            return self.low is None and self.high is None
        number = float(value)
        return (self.low is None or number >= self.low) and (self.high is None or number <= self.high)


def setting(default: Any, help: str, **limits: Any) -> Any:
    """Return a field of a method's dataclass; ``limits`` are the other attributes of its :class:`Range`.

    Args:
        default: the value if the user sets none.
        help: one line for the user.
        limits: the other attributes of its :class:`Range`: ``low``, ``high``, ``choices``, ``search``,
            ``only``.
    """
    if default is not None:
        limits.setdefault("kind", type(default))
    return dataclasses.field(default=default, metadata={"range": Range(help=help, **limits)})


@dataclass(frozen=True)
class Method(ABC):
    """A link predictor before it has seen a graph. A subclass with a ``name`` is in the catalogue.

    A subclass is a frozen dataclass; its fields, made with :func:`setting`, are its settings.
    """

    name: ClassVar[str]
    title: ClassVar[str] = ""
    family: ClassVar[str] = "own"
    citation: ClassVar[str] = ""
    needs_features: ClassVar[bool] = False
    # Whether a recommender learns from a knowledge graph: it is needed, used if there is one, or unused.
    knowledge: ClassVar[str] = "unused"
    # The kinds of data it learns from: a plain graph, the triples of a knowledge graph, or a typed graph.
    takes: ClassVar[tuple[str, ...]] = ("graph",)
    # The kinds of tasks it can be fitted to; empty: every kind on such data.
    kinds: ClassVar[tuple[str, ...]] = ()
    # Whether its fit learns from the training part; a user's scorer that is fixed does not.
    learns: ClassVar[bool] = True
    # When the class was defined: a file that is newer than this does not hold its code.
    _defined_at: ClassVar[int] = 0

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._defined_at = time.time_ns()
        if "fit" in cls.__dict__:
            cls.fit = _guarded(cls.fit)  # type: ignore[method-assign]
        if "name" in cls.__dict__:
            METHODS.add(cls.name, cls, same=lambda taken: taken.__qualname__ == cls.__qualname__)

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            if "range" not in field.metadata:
                raise InputError(
                    f"{self.name}: {field.name} has no range; write"
                    f" {field.name}: … = trueedge.methods.setting(default, help)"
                )
            limits, value = field.metadata["range"], getattr(self, field.name)
            example = field.default if field.default is not None else limits.kind and limits.kind()
            if not (value is None and limits.optional) and not same_kind(value, example):
                raise must_be(field.name, self.name, KINDS.get(limits.kind, f"a {limits.kind}"), value)
            if not limits.admits(value):
                raise must_be(field.name, self.name, str(limits), value)

    @classmethod
    def space(cls) -> dict[str, Range]:
        """Return the settings and their ranges."""
        return {f.name: f.metadata["range"] for f in dataclasses.fields(cls) if "range" in f.metadata}

    @classmethod
    def can_do(cls, kind: str) -> bool:
        """Return whether it can be fitted to a kind of task."""
        return not cls.kinds or kind in cls.kinds

    @classmethod
    def unused(cls, kind: str) -> frozenset[str]:
        """Return the settings that a kind of task does not use; a search leaves them out."""
        return frozenset(name for name, limits in cls.space().items() if limits.only not in ("", kind))

    def settings(self) -> dict[str, Any]:
        """Return the settings and their values."""
        return {name: getattr(self, name) for name in self.space()}

    def changed(self) -> list[str]:
        """Return the names of the settings that differ from their defaults."""
        default = type(self)().settings()
        return [name for name, value in self.settings().items() if value != default[name]]

    def given(self, task: Task) -> list[str]:
        """Return the names of the settings that were set, not filled in for a task.

        If none is open any more, they are those that differ from what is filled in where nothing is set.
        """
        if self.for_task(task) != self:
            return self.changed()
        default = type(self)().for_task(task).settings()
        return [name for name in self.changed() if getattr(self, name) != default[name]]

    def for_task(self, task: Task) -> Method:
        """Return this method with its open settings filled in for a task."""
        del task
        return self

    def without_effect(self, task: Task) -> list[str]:
        """Return a sentence on each setting that was set and does nothing; ``fit`` warns of them."""
        unused = self.unused(task.kind)
        where = TASKS.get(task.kind, task.kind)
        return [
            f"{self.name}: {name}={getattr(self, name)} has no effect in {where}"
            for name in (self.given(task) if unused else ())
            if name in unused
        ]

    def filled_in(self, values: Mapping[str, Any]) -> Self:
        """Return this method with its open settings filled in where there is a value for them."""
        own = self.space()
        found = {key: values[key] for key in values if key in own and getattr(self, key) is None}
        return dataclasses.replace(self, **found)

    def check_data(self, name: str, data: str) -> None:
        """Refuse data of another kind: a ``graph``, ``triples`` or ``typed``."""
        if data not in self.takes:
            wanted, given = (NOUNS[one] for one in (self.takes[0], data))
            raise InputError(
                f"{self.name} learns from {wanted}, and {name} is {given}{_hint(self.name, name, data)}"
            )

    def check_features(self, graph: Graph) -> None:
        """Refuse a graph without the features that the method needs."""
        if self.needs_features and graph.features is None:
            raise InputError(f"{self.name} needs node features, and {graph.name} has none")

    @abstractmethod
    def fit(self, task: Task, seed: int = 0, device: str = "cpu") -> Any:
        """Fit the method to a task and return a scorer: of pairs, or of the kind that the task needs.

        Args:
            task: its training graph, features and validation part; the test part is withheld.
            seed: for everything random.
            device: where a trained method runs, ``cpu`` or ``cuda``.
        """


def on_triples(task: Task, method: str) -> TripleTask:
    """Return a task on a knowledge graph; anything else is refused."""
    return cast("TripleTask", _on(task, method, "triples", "te.task(knowledge_graph, 'filtered') makes one"))


def on_typed(task: Task, method: str) -> NodeTask | TypedLinkTask:
    """Return a task on a typed graph; anything else is refused."""
    return cast("NodeTask | TypedLinkTask", _on(task, method, "typed", "te.task(typed_graph) makes one"))


def on_interactions(task: Task, method: str) -> ItemTask:
    """Return a task on interactions of users with items; anything else is refused."""
    return cast("ItemTask", _on(task, method, "interactions", "te.task(interactions) makes one"))


def _on(task: Task, method: str, data: str, instead: str) -> Task:
    """Return a task on some data; anything else is refused."""
    if not hasattr(task, "part_names"):
        raise InputError(f"{method}: fit takes a task; {instead}")
    if task.data != data:
        hint = _hint(method, task.dataset, task.data)
        raise InputError(
            f"{method} learns from {NOUNS[data]}, and {task.dataset} is {NOUNS[task.data]}{hint}"
        )
    return task


def _guarded(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Return a ``fit`` that gets a task without its test part, and notes on its scorer what it got.

    Its method is filled in for the task, and a warning names each setting that was set and does nothing.
    """

    @wraps(fit)
    def guarded(self: Method, task: Task, *arguments: Any, **named: Any) -> Any:
        if not hasattr(task, "for_fitting"):
            return fit(self, task, *arguments, **named)
        if task.data in self.takes and not self.can_do(task.kind):
            made = " and ".join(TASKS.get(kind, kind) for kind in self.kinds)
            raise InputError(f"{self.name} is for {made}, and {task.protocol} is another kind of task")
        shown, filled = task.for_fitting(), self
        # A fit that is called by super() is a part of the one that calls it.
        if type(self).fit is guarded and task.data in self.takes:
            filled = self.for_task(shown)
            for sentence in self.without_effect(shown):
                warnings.warn(sentence, ScoreWarning, stacklevel=2)
        with recording() as steps:
            scorer = fit(filled, shown, *arguments, **named)
        # A fit inside another fit is a part of it: the outer one marks what it returns.
        if self.learns and task.training_hash and steps is not None:
            where = f"{task.dataset} under {task.protocol}, seed {task.seed}"
            done = Fit(shown, filled, *_asked(arguments, named), steps)
            mark_fitted(scorer, task.training_hash, where, done)
        return scorer

    return guarded


def _asked(arguments: Sequence[Any], named: Mapping[str, Any]) -> tuple[int, str]:
    """Return the seed and the device that a fit was called with."""
    given = {**dict(zip(("seed", "device"), arguments, strict=False)), **named}
    return int(given.get("seed", 0)), str(given.get("device", "cpu"))


def on_graph(task: Task, method: str, instead: str = "te.task(graph, protocol) makes one") -> GraphTask:
    """Return a task that has a graph; anything else is refused.

    Args:
        task: what a method was given.
        method: the method's name.
        instead: what to do with a graph alone.
    """
    data = getattr(task, "data", "graph")
    if not hasattr(task, "graph") or data != "graph":
        if not hasattr(task, "part_names"):
            raise InputError(f"{method}: fit takes a task; {instead}")
        if data != "graph":
            hint = _hint(method, task.dataset, data)
            raise InputError(f"{method} learns from a plain graph, and {task.dataset} is {NOUNS[data]}{hint}")
        raise InputError(f"{method} learns from a graph, and {task.dataset} under {task.protocol} has none")
    return cast("GraphTask", task)


def _hint(method: str, dataset: str, data: str) -> str:
    """Say what to do about data of another kind, if there is something."""
    other = f"{method}{SUFFIXES.get(data, '')}"
    if data in SUFFIXES and METHODS.find(other) is not None:
        return f": use {other}"
    if data == "graph" and not datasets.is_name(dataset):
        found = METHODS.find(method)
        if found is not None and found.takes[0] == "interactions":
            return ": for a file of interactions, use the protocol full-ranking"
        return ": for a file of triples, use the protocol filtered"
    return ""


def get(name: str, data: str = "graph") -> type[Method]:
    """Return the class of a method, by its name.

    Args:
        name: the method's name.
        data: a ``graph``, ``triples``, ``typed`` or ``interactions``; if there is a class of that name for
            such data (``name-kg``, ``name-hetero``, ``name-rec``), it is returned.
    """
    other = METHODS.find(name + SUFFIXES[data]) if data in SUFFIXES else None
    return METHODS.get(name) if other is None else other


def create(name: str, settings: Mapping[str, Any] | None = None, data: str = "graph") -> Method:
    """Return a method with some settings; an unknown setting is an error. ``data`` is as in :func:`get`.

    Args:
        name: the method's name.
        settings: some of its settings; the others have their defaults.
        data: what it learns from, as in :func:`get`.
    """
    kind = get(name, data)
    if settings is not None and not isinstance(settings, Mapping):
        raise must_be("settings", name, "a dictionary", settings)
    for key in settings or {}:
        if key not in kind.space():
            raise unknown(f"setting of {name}", key, kind.space() or ["(none)"])
    return kind(**(settings or {}))


def catalogue() -> tuple[type[Method], ...]:
    """Return all methods, in the order of their families' files."""
    return METHODS.values()
