"""What a verdict runs: the protocols that fit the data, the baselines beside the model, and the seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from trueedge import datasets, methods, tasks
from trueedge.errors import InputError
from trueedge.methods import Method
from trueedge.splits import Split, is_published, published
from trueedge.tasks import LinkTask, Task, TripleTask
from trueedge.tasks.protocols import Source, default_protocol, from_split
from trueedge.tasks.protocols import get as get_protocol
from trueedge.verdict.models import OwnModel

SEEDS = 5
#: For plain graphs: easy negatives, hard ones, and ones of equal degree.
PLAIN = ("existing", "heart", "degree-corrected")
RECOMMENDATION = "recommendation"
# Every node ranks every other: with more nodes, that takes longer than everything else.
MOST_NODES_RANKED = 1_000
# With more edges, fewer of them are held out, and baselines get settings that take less time.
MOST_EDGES = 20_000
HELD_OUT = 1_000
CHEAPER: dict[str, dict[str, Any]] = {"ppr": {"eps": 1e-5}, "katz": {"max_length": 3}}
# The families whose methods stand beside the model, by kind of data.
BASELINES = {
    "graph": ("heuristics",),
    "triples": ("counting",),
    "typed": ("counting", "voting"),
    "interactions": ("counting",),
}
# Baselines that only know how popular a node or item is.
POPULARITY = ("pa", "entity-degree", "target-degree", "popularity", "majority")


@dataclass(frozen=True)
class Request:
    """One table of a verdict.

    Attributes:
        source: the data, or a task that is made already.
        protocol: the protocol.
        seeds: the seeds of split, negatives and training; a task that is made keeps its split.
        options: options that this verdict adds to the user's.
    """

    source: Any
    protocol: str
    seeds: tuple[int, ...]
    options: Mapping[str, Any] = field(default_factory=dict)


def requests(
    data: Any,
    protocols: Sequence[str] | None,
    seeds: int,
    fixed: bool,
    options: Mapping[str, Any] | None = None,
) -> list[Request]:
    """Return the tables of a verdict.

    Args:
        data: a data set's name, a graph, a path, a task, or several tasks.
        protocols: only these; None for those that fit the data.
        seeds: the number of seeds.
        fixed: the model is a scorer that is not fitted to each split, so there is one split.
        options: options of the protocols, for those that have them.
    """
    if isinstance(data, Task):
        return [Request(data, data.protocol, tuple(range(1 if fixed else seeds)))]
    if isinstance(data, (list, tuple)) and data and all(isinstance(one, Task) for one in data):
        # A task that is listed twice counts once.
        each = {one.hash: one for one in data}.values()
        return [Request(one, one.protocol, tuple(range(1 if fixed else seeds))) for one in each]
    if isinstance(data, (list, tuple)) and any(isinstance(one, Task) for one in data):
        other = next(one for one in data if not isinstance(one, Task))
        raise InputError(f"judge: a list with a task holds tasks alone, got {other!r} in it")
    names = list(dict.fromkeys(protocols)) if protocols else _fitting(data)
    if fixed:
        return _on_one_split(data, names, options or {})
    # A split by time is always the same: more seeds would only draw other negatives.
    by_time = (options or {}).get("split") == "time"
    all_seeds = tuple(range(1 if by_time else seeds))
    return [Request(data, name, all_seeds, _held_out(data, name, options or {})) for name in names]


def is_made(data: Any) -> bool:
    """Return whether data is a task, or several tasks."""
    return isinstance(data[0] if isinstance(data, (list, tuple)) and data else data, Task)


def is_large(data: Any) -> bool:
    """Return whether data is a graph on which a verdict on all edges would take very long."""
    if is_made(data) or get_protocol(default_protocol(data)).data != "graph":
        return False
    return bool(Source.of(data).graph.num_edges > MOST_EDGES)


def _held_out(data: Any, name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options that hold out about a thousand edges of a large graph; none if the user set theirs."""
    chosen = get_protocol(name)
    if chosen.data != "graph" or not is_large(data) or set(chosen.split_options) & set(options):
        return {}
    source = Source.of(data)
    if chosen.released is not None or (source.given is None and published(source.name) is not None):
        return {}
    share = float(f"{HELD_OUT / source.graph.num_edges:.2g}")
    if "ratios" in chosen.split_options:
        return {"ratios": (round(1 - 2 * share, 12), share, share)}
    return {"fraction": share, "valid": share} if "fraction" in chosen.split_options else {}


def _on_one_split(data: Any, names: Sequence[str], options: Mapping[str, Any]) -> list[Request]:
    """Return requests whose tasks have the split of the first: a fixed scorer knows one training graph.

    Other protocols would also number the nodes in another way, where they take the largest component.
    """
    given = {
        name: {key: options[key] for key in get_protocol(name).options if key in options} for name in names
    }
    first = tasks.task(data, names[0], 0, **given[names[0]])
    found = [Request(data, names[0], (0,))]
    if not isinstance(first, LinkTask):
        return [Request(data, name, (0,)) for name in names]
    valid = first.valid.positives if "valid" in first.part_names else first.test.positives[:0]
    times = {part: one.times for part, one in first.parts.items() if one.times is not None}
    how = str(first.settings.get("split", names[0]))
    split = Split(first.graph, valid, first.test.positives, how, times=times)
    for name in names[1:]:
        chosen = get_protocol(name)
        if "split" in chosen.takes:
            own = {key: value for key, value in given[name].items() if key not in chosen.split_options}
            made = from_split(split, name, 0, first.dataset, own)
            found.append(Request(made, name, (0,)))
    return found


def _fitting(data: Any) -> list[str]:
    """Return the protocols that fit some data."""
    first = default_protocol(data)
    if get_protocol(first).data != "graph":
        return [first]
    graph = Source.of(data).graph
    small = graph.num_nodes <= MOST_NODES_RANKED
    return [*PLAIN, *([RECOMMENDATION] if small else [])]


def baselines(data: str, kind: str, model: Method, large: bool = False) -> list[Method]:
    """Return the methods that stand beside a model, without the model itself.

    Args:
        data: the kind of data.
        kind: the kind of task.
        model: the model.
        large: whether the graph is large, so that some methods get settings that take less time.
    """
    families = BASELINES[data]
    names = [
        one.name
        for one in methods.catalogue()
        if one.family in families and data in one.takes and one.can_do(kind)
    ]
    if isinstance(model, OwnModel) and model.name in names:
        # Their records could not be told apart.
        raise InputError(f"a baseline is called {model.name!r}: give your model another name")
    return [methods.create(one, CHEAPER.get(one) if large else None) for one in names if one != model.name]


def first_protocol(data: Any, protocols: Sequence[str] | str | None) -> str:
    """Return the first protocol of a verdict: that of a task, the first that is asked for, or the default."""
    if isinstance(data, Task):
        return data.protocol
    if isinstance(data, (list, tuple)) and data and isinstance(data[0], Task):
        return data[0].protocol
    if protocols:
        return protocols if isinstance(protocols, str) else protocols[0]
    return default_protocol(data)


def kinds(data: Any, protocol: str) -> tuple[str, str]:
    """Return the kind of task and of data."""
    one = data[0] if isinstance(data, (list, tuple)) and data and isinstance(data[0], Task) else data
    if isinstance(one, Task):
        return one.kind, one.data
    found = get_protocol(protocol)
    return found.kind, found.data


def has_one_split(request: Request) -> bool:
    """Return whether all seeds of a request have the same split, so that there may be one task only."""
    source, chosen = request.source, get_protocol(request.protocol)
    if isinstance(source, (Task, Split)) or len(request.seeds) == 1:
        return True
    if chosen.data != "graph" or chosen.released is not None:
        return True
    return isinstance(source, str) and datasets.is_name(source) and is_published(source)


def is_inductive(request: Request) -> bool:
    """Return whether the test part of a request has entities that the training graph does not have."""
    if isinstance(request.source, Task):
        return isinstance(request.source, TripleTask) and request.source.test_graph is not None
    return "inductive triples" in get_protocol(request.protocol).takes


def reduced(data: Any, requests: Sequence[Request], baselines: Sequence[Method]) -> str:
    """Return a sentence on what is less than usual, because a graph is large."""
    edges = Source.of(data).graph.num_edges
    cheaper = {one.name: CHEAPER[one.name] for one in baselines if one.name in CHEAPER}
    said = [
        f"{name} has {', '.join(f'{key}={value:g}' for key, value in settings.items())}"
        for name, settings in cheaper.items()
    ]
    if any(one.options for one in requests):
        names = "ratios or fraction"
        said.insert(0, f"about {HELD_OUT:,} edges are held out in each part, unless you set {names}")
    return f"This graph is large ({edges:,} edges): {', and '.join(said)}"
