"""What a protocol is: how edges are divided, what they are judged against, by which metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from trueedge import datasets
from trueedge.datasets import Release, Rules
from trueedge.errors import InputError, must_be, same_kind, unknown
from trueedge.graph import Graph
from trueedge.progress import Progress
from trueedge.randomness import derive
from trueedge.registry import Registry
from trueedge.splits import Split
from trueedge.tasks.base import Task


@dataclass(frozen=True)
class Source:
    """Where a task's edges come from: a named data set, a graph, or a split of one's own.

    Attributes:
        name: the data set's or graph's name.
        given: the graph, where it did not come by name.
        rules: how published benchmarks use the data set.
    """

    name: str
    given: Graph | None = None
    rules: Rules = field(default_factory=Rules)

    @cached_property
    def graph(self) -> Graph:
        """The whole graph."""
        return self.given if self.given is not None else datasets.load(self.name)

    @cached_property
    def release(self) -> Release | None:
        """The publisher's own parts, where the data set has them."""
        if self.given is not None:
            return None
        read = datasets.get(self.name).release
        return read() if read is not None else None

    @classmethod
    def of(cls, thing: str | Path | Graph) -> Source:
        """The source behind a name, the path of an edge list (self-loops and repeats dropped) or a graph."""
        if isinstance(thing, str) and thing.partition(":")[0] in datasets.names():
            return cls(thing, rules=datasets.get(thing).rules)
        if isinstance(thing, (str, Path)) and _is_file(Path(thing)):
            thing = Graph.from_edges(thing, self_loops="drop", repeats="drop")
        if isinstance(thing, Graph):
            return cls(thing.name, thing)
        if isinstance(thing, Path) or (isinstance(thing, str) and "/" in thing):
            raise InputError(f"there is no file {thing}")
        if not isinstance(thing, str):
            kind = f"{type(thing).__module__}.{type(thing).__name__}"
            raise InputError(f"a task is made from a data set's name, a file or a trueedge Graph, got {kind}")
        return cls(thing, rules=datasets.get(thing).rules)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that is too long, a folder that may not be looked into
        return False


@dataclass(frozen=True)
class Shards:
    """Where negatives are written shard by shard while they are made, so that a killed run goes on.

    Attributes:
        folder: gets a folder of shards for each part; the finished task belongs there too.
        ends: how many end nodes a shard takes.
    """

    folder: Path
    ends: int = 2048


@dataclass(frozen=True)
class Request:
    """All a protocol needs to make a task.

    Attributes:
        source: where the edges come from.
        seed: for split and negatives.
        options: every option of the protocol with its value.
        progress: called with a stage's name, the work done and the work in all.
        shards: where the negatives are written while they are made; None makes them in memory.
    """

    source: Source
    seed: int
    options: Mapping[str, Any]
    progress: Progress | None = None
    shards: Shards | None = None

    def stage(self, name: str) -> Callable[[int, int], None] | None:
        """A progress callback for one stage, or None."""
        if self.progress is None:
            return None
        report = self.progress
        return lambda done, total: report(name, done, total)


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """A way to judge: make one and give it to :func:`register`.

    Attributes:
        name: what users type.
        title: one line on what it asks.
        citation: the paper it comes from.
        headline: the metric it is known by.
        options: the options with their defaults.
        split_options: those of them that say how to split.
        help: one line for each option.
        split: divides the edges.
        judge: adds what the parts are judged against.
        in_shards: whether it can write its negatives in shards while it makes them.
    """

    name: str
    title: str
    citation: str
    headline: str
    split: Callable[[Request], Split]
    judge: Callable[[Request, Split], Task]
    options: Mapping[str, Any] = field(default_factory=dict)
    split_options: tuple[str, ...] = ()
    help: Mapping[str, str] = field(default_factory=dict)
    in_shards: bool = False

    def request(
        self,
        source: Source,
        seed: int,
        options: Mapping[str, Any],
        progress: Progress | None = None,
        shards: Shards | None = None,
    ) -> Request:
        """Check seed and options, and fill in the defaults."""
        derive(seed)
        if shards is not None and not self.in_shards:
            able = ", ".join(one.name for one in catalogue() if one.in_shards)
            raise InputError(f"the protocol {self.name} does not write negatives in shards, {able} does")
        for key in options:
            if key not in self.options:
                raise unknown(f"option of the protocol {self.name}", key, self.options or ["(none)"])
            if not same_kind(options[key], self.options[key]):
                wanted = type(self.options[key]).__name__
                raise must_be(key, f"the protocol {self.name}", f"of type {wanted}", options[key])
        return Request(source, seed, {**self.options, **options}, progress, shards)


PROTOCOLS: Registry[Protocol] = Registry("protocol", "trueedge.tasks.protocols")


def register(protocol: Protocol) -> Protocol:
    """Add a protocol to the catalogue."""
    return PROTOCOLS.add(protocol.name, protocol)


def get(name: str) -> Protocol:
    """The protocol of a name."""
    return PROTOCOLS.get(name)


def catalogue() -> tuple[Protocol, ...]:
    """All protocols."""
    return PROTOCOLS.values()


def task(
    source: str | Path | Graph,
    protocol: str = "heart",
    seed: int = 0,
    *,
    progress: Progress | None = None,
    shards: Shards | None = None,
    **options: Any,
) -> Task:
    """Freeze a data set under a protocol: the split, the negatives, the metrics.

    Args:
        source: a data set's name, the path of an edge list, or a graph.
        protocol: ``existing``, ``heart``, ``degree-corrected``, … (``trueedge protocols`` lists them).
        seed: for split and negatives; the same seed gives the same pairs on every machine.
        progress: called with a stage's name, the work done and the work in all.
        shards: where ``heart`` writes its negatives while it makes them, so that a killed run goes on.
        options: the protocol's options, e.g. ``k=100`` for ``heart``.
    """
    chosen = get(protocol)
    request = chosen.request(Source.of(source), seed, options, progress, shards)
    return chosen.judge(request, chosen.split(request))


def from_split(
    split: Split,
    protocol: str,
    seed: int,
    name: str | None,
    options: Mapping[str, Any],
    progress: Progress | None = None,
    shards: Shards | None = None,
) -> Task:
    """Judge a split of one's own under a protocol."""
    chosen = get(protocol)
    for key in options:
        if key in chosen.split_options:
            raise InputError(f"{key} says how to split, and here the split is given")
    if not len(split.test):
        raise InputError("the split has no test positives")
    for part, pairs in (("valid", split.valid), ("test", split.test)):
        known = split.train.has_edges(pairs)
        if known.any():
            row = int(known.argmax())
            raise InputError(
                f"{int(known.sum())} of {len(pairs)} {part} positives are edges of the training graph,"
                f" the first in row {row}: ({pairs[row, 0]}, {pairs[row, 1]})"
            )
    source = Source(name or split.train.name, split.train)
    given = {key: value for key, value in chosen.options.items() if key not in chosen.split_options}
    request = chosen.request(source, seed, options, progress, shards)
    return chosen.judge(replace(request, options={**given, **options}), split)
