"""Protocols: the data and options they take, and the tasks they make."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trueedge import datasets, splits
from trueedge.errors import InputError, ScoreWarning, must_be, same_kind, unknown
from trueedge.graph.any_graph import GraphLike
from trueedge.progress import Progress
from trueedge.randomness import derive
from trueedge.registry import Registry
from trueedge.splits import Release, Split, TripleSplit
from trueedge.tasks.protocols.source import Data, Source, default_protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from trueedge.tasks.base import Task
    from trueedge.tasks.link import LinkTask


# What the values of options are, in words.
KINDS_OF_OPTIONS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


@dataclass(frozen=True)
class Shards:
    """Where to write negatives shard by shard, so that an interrupted run can resume.

    Attributes:
        folder: gets a folder of shards for each part, and the finished task.
        ends: the number of end nodes per shard.
        work: makes the shards elsewhere; see :func:`trueedge.negatives.heart_shards.heart_shards`.
    """

    folder: Path
    ends: int = 2048
    work: Any = None


@dataclass(frozen=True)
class Request:
    """Everything a protocol needs to make a task.

    Attributes:
        source: where the edges come from.
        seed: the seed of split and negatives.
        options: every option of the protocol with its value.
        given: the names of the options that the user gave.
        progress: called with a stage's name, the work done and the total work.
        shards: where to write negatives while they are made; None makes them in memory.
        split: the user's own split; None lets the protocol split.
        released: the released negatives that the protocol reads, if any.
        overlaps: whether the parts of a knowledge graph may share triples; an audit counts these.
    """

    source: Source
    seed: int
    options: Mapping[str, Any]
    given: frozenset[str] = frozenset()
    progress: Progress | None = None
    shards: Shards | None = None
    split: Split | None = None
    released: str | None = None
    overlaps: bool = False

    @cached_property
    def triples(self) -> TripleSplit:
        """Return the split of a knowledge graph: the given or published one, or else a random one."""
        return self.source.triples(self.options.get("ratios", ()), self.seed)

    def stage(self, name: str) -> Callable[[int, int], None] | None:
        """Return a progress callback for one stage, or None."""
        return None if self.progress is None else partial(self.progress, name)

    @cached_property
    def release(self) -> Release | None:
        """Return the released or published split of a named data set with its negatives; it is read once."""
        if self.source.given is not None:
            return None
        name = self.source.name
        return splits.published(name) if self.released is None else splits.released(name, self.released)


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """A way to make a task from data; pass one to :func:`register`.

    Attributes:
        name: what users type.
        kind: the kind of task it makes (``link``, ``recommend``, …).
        title: a one-line description.
        citation: the paper it comes from.
        headline: the metric that tables show first.
        own_headlines: whether the metric that a data set is known by takes its place.
        make: makes the task.
        takes: the kinds of data it takes; with ``split`` it also takes the user's own split.
        options: the options with their defaults.
        split_options: the options that control the split.
        choices: the allowed values of options that have few.
        help: one line for each option.
        in_shards: whether it can write its negatives in shards.
        released: the negatives it reads from a released split, or None; see :func:`trueedge.splits.released`.
        redraw: draws other negatives for the test part of such a task, int32 (M, 2), from a seed; None if
            positives do not share their negatives.
        module: the module that registered it.
    """

    name: str
    kind: str
    title: str
    citation: str
    headline: str
    make: Callable[[Request], Task]
    takes: tuple[str, ...] = ("graph",)
    options: Mapping[str, Any] = field(default_factory=dict)
    split_options: tuple[str, ...] = ()
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    help: Mapping[str, str] = field(default_factory=dict)
    in_shards: bool = False
    released: str | None = None
    redraw: Callable[[LinkTask, int], NDArray[np.int32]] | None = None
    own_headlines: bool = False
    module: str = ""

    @property
    def data(self) -> str:
        """Return the kind of data it takes, as methods see it: a ``graph``, ``triples``, …"""
        return next((kind for kind in ("graph", "typed", "interactions") if kind in self.takes), "triples")

    def request(
        self,
        source: Source,
        seed: int,
        options: Mapping[str, Any],
        progress: Progress | None = None,
        shards: Shards | None = None,
    ) -> Request:
        """Check seed and options and fill in the defaults."""
        derive(seed)
        source.check(self.name, self.takes)
        if self.released is not None and source.given is not None:
            raise InputError(
                f"the protocol {self.name} reads released files: give a data set's name, not a graph"
            )
        if shards is not None and not self.in_shards:
            able = ", ".join(one.name for one in catalogue() if one.in_shards)
            raise InputError(f"the protocol {self.name} does not write negatives in shards, {able} does")
        for key in options:
            if key not in self.options:
                raise unknown(f"option of the protocol {self.name}", key, self.options or ["(none)"])
            if not same_kind(options[key], self.options[key]):
                wanted = KINDS_OF_OPTIONS.get(type(self.options[key]), "a list of values")
                raise must_be(key, f"the protocol {self.name}", wanted, options[key])
            if key in self.choices and options[key] not in self.choices[key]:
                wanted = "one of " + ", ".join(map(repr, self.choices[key]))
                raise must_be(key, f"the protocol {self.name}", wanted, options[key])
        filled = {**self.options, **options}
        return Request(source, seed, filled, frozenset(options), progress, shards, released=self.released)


def link_protocol(
    *,
    split: Callable[[Request], Split],
    build: Callable[[Request, Split], Task],
    kind: str = "link",
    **about: Any,
) -> Protocol:
    """Return a protocol that splits the edges and then builds a task from the split.

    Args:
        split: splits the edges, unless the user gave a split.
        build: makes the task, with negatives and metrics, from a split.
        kind: the kind of task.
        about: the other attributes of :class:`Protocol`.
    """

    def make(request: Request) -> Task:
        return build(request, split(request) if request.split is None else request.split)

    return Protocol(kind=kind, make=make, takes=("graph", "split"), **about)


PROTOCOLS: Registry[Protocol] = Registry("protocol", "trueedge.tasks.protocols")


def register(protocol: Protocol) -> Protocol:
    """Add a protocol to the catalogue, together with the name of the calling module."""
    module = protocol.module or str(sys._getframe(1).f_globals["__name__"])
    return PROTOCOLS.add(protocol.name, replace(protocol, module=module))


def get(name: str) -> Protocol:
    """Return a protocol by name."""
    return PROTOCOLS.get(name)


def find(name: str) -> Protocol | None:
    """Return a protocol by name, or None: a task of one's own may name one that is not in the catalogue."""
    return PROTOCOLS.find(name)


def catalogue() -> tuple[Protocol, ...]:
    """Return all protocols."""
    return PROTOCOLS.values()


def task(
    source: str | Path | Data | GraphLike,
    protocol: str | None = None,
    seed: int = 0,
    *,
    progress: Progress | None = None,
    shards: Shards | None = None,
    **options: Any,
) -> Task:
    """Make a task from a data set and a protocol: the split, the negatives, the metrics.

    Args:
        source: a data set's name, the path of an edge list, of a folder of triples or of a typed graph (a
            folder or zip in HGB's format), a graph, a knowledge graph, a typed graph, or a split of a graph
            or of triples; or a graph of another library (see :func:`trueedge.graph.as_graph`): of networkx,
            scipy, PyG or pandas, an array (m, 2), or a list of pairs.
        protocol: ``existing``, ``heart``, ``degree-corrected``, ``filtered``, … (``trueedge protocols`` lists
            them); by default the data set's own.
        seed: the seed of split and negatives; the same seed gives the same pairs on every machine.
        progress: called with a stage's name, the work done and the total work.
        shards: where ``heart`` writes its negatives shard by shard, so that an interrupted run can resume.
        options: the protocol's options, e.g. ``k=100`` for ``heart``.
    """
    chosen = get(default_protocol(source) if protocol is None else protocol)
    if isinstance(source, Split):
        return from_split(source, chosen.name, seed, None, options, progress, shards)
    found = Source.of(source, chosen.takes, two_kinds(options))
    return _made(chosen, chosen.request(found, seed, options, progress, shards))


def two_kinds(options: Mapping[str, Any]) -> bool | None:
    """Return whether an edge list has two kinds of nodes by the option ``bipartite``; None to detect it."""
    return {"yes": True, "no": False}.get(str(options.get("bipartite")))


def from_split(
    split: Split,
    protocol: str,
    seed: int,
    name: str | None,
    options: Mapping[str, Any],
    progress: Progress | None = None,
    shards: Shards | None = None,
) -> Task:
    """Make a task from the user's own split and a protocol."""
    chosen = get(protocol)
    if "split" not in chosen.takes:
        raise InputError(f"the protocol {protocol} cannot use your own split")
    for key in options:
        if key in chosen.split_options:
            raise InputError(f"{key} controls the split, but the split is given")
    if not isinstance(split, Split):
        raise must_be("split", "from_split", "a split, such as te.split makes", split)
    if not len(split.test):
        raise InputError("the split has no test positives")
    for part, pairs in (("valid", split.valid), ("test", split.test)):
        known = split.train.has_edges(pairs)
        if known.any():
            row = int(known.argmax())
            words = "validation" if part == "valid" else part
            raise InputError(
                f"{int(known.sum())} of {len(pairs)} {words} positives are edges of the training graph,"
                f" the first in row {row}: ({pairs[row, 0]}, {pairs[row, 1]})"
            )
    request = chosen.request(Source(name or split.train.name, split.train), seed, options, progress, shards)
    used = {key: value for key, value in request.options.items() if key not in chosen.split_options}
    return _made(chosen, replace(request, options=used, split=split))


def _made(protocol: Protocol, request: Request) -> Task:
    """Make the task, and warn of choices the protocol had to make and of altered files behind a graph."""
    made = protocol.make(request)
    for note in made.settings.get("notes", ()):
        warnings.warn(note, ScoreWarning, stacklevel=3)
    graph = getattr(made, "graph", None)
    altered = () if graph is None else datasets.altered_notes(graph)
    if request.source.given is not None:
        # Of a data set that is read by name, its reader warns.
        datasets.warn_altered(altered)
    origin = _origin(request, made.settings, altered)
    return replace(made, settings={**made.settings, **origin}) if origin else made


def _origin(request: Request, settings: Mapping[str, Any], altered: tuple[str, ...]) -> dict[str, Any]:
    """Return what a task's settings say of the files it was read from."""
    found: dict[str, Any] = {"notes": (*settings.get("notes", ()), *altered)} if altered else {}
    if request.source.given is None:
        unknown_files = datasets.without_checksum(request.source.name, request.released)
        found |= {"files_without_checksum": unknown_files} if unknown_files else {}
    return found
