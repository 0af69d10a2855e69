"""Your own benchmark: split and negatives as they are in files, with whatever is wrong with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from trueedge.datasets import Rules
from trueedge.errors import InputError
from trueedge.graph import Graph, Interactions, in_sorted, pair_keys
from trueedge.graph.feature_files import with_features
from trueedge.scorers.pair_files import Listed, listed_parts
from trueedge.splits import Split
from trueedge.splits.split import TIME
from trueedge.tasks import ItemTask, LinkTask, Part, Task, task
from trueedge.tasks.protocols import Data, Source, default_protocol, two_kinds
from trueedge.tasks.protocols import get as get_protocol
from trueedge.tasks.protocols.existing import link_metrics
from trueedge.tasks.protocols.own_graphs import CHOICES

DEFAULT_PROTOCOL = "existing"
OWN_NEGATIVES = "own negatives"
NONE = np.empty((0, 2), dtype=np.int32)


@dataclass(frozen=True, eq=False)
class Benchmark:
    """What is audited.

    Attributes:
        task: a task; of links the training graph, the positives and the negatives, as they stand.
        whole: the graph that the split was made of, where its training pairs were given beside it.
        notes: what was taken for what, a sentence each.
        interactions: of recommendation, the interactions that the parts were taken from.
        timed: the graph that the user's own split was made of, whose edges may have times.
    """

    task: Task
    whole: Graph | None = None
    notes: tuple[str, ...] = ()
    interactions: Interactions | None = None
    timed: Graph | None = None


def own_benchmark(
    thing: Task | Data | str | Path,
    protocol: str | None,
    seed: int,
    options: Mapping[str, Any],
    split: object = None,
    negatives: object = None,
    features: object = None,
) -> Benchmark:
    """Return the benchmark of your own split, negatives, or both; a protocol makes what is not given.

    Args:
        thing: a task, whose negatives may be replaced; a graph, an edge list's path or a data set's name.
        protocol: what makes split or negatives where they are not given; None for ``existing``.
        seed: for what the protocol makes.
        options: the protocol's options.
        split: see :func:`trueedge.scorers.pair_files.listed_parts`; or a :class:`trueedge.Split`.
        negatives: likewise; None for the protocol's. Of typed graphs, the kind that is drawn.
        features: float array (n, d) or the path of a .npy file with one, or of a .npz file with
            nothing else; None for the graph's own.
    """
    if isinstance(thing, Task):
        if split is not None or features is not None:
            given = "split" if split is not None else "features"
            raise InputError(f"the task has its own {given}: give its graph instead, or only negatives")
        return Benchmark(thing) if negatives is None else _with_negatives(_link_task(thing), negatives)
    default = audit_protocol(thing)
    if default != DEFAULT_PROTOCOL:
        # Some protocols have options of these names.
        known = get_protocol(protocol or default).options
        extras = {"split": split, "negatives": negatives, "features": features}
        for name, value in extras.items():
            if value is None:
                continue
            if name not in known:
                raise InputError(
                    f"your own {name} can be audited for {LinkTask.title} alone: triples, typed graphs and"
                    " interactions are audited with the split that they have"
                )
            options = {**options, name: value}
        return _as_it_is(thing, protocol or default, seed, options)
    graph = _with_features(thing, features)
    if isinstance(split, str) and split in CHOICES["split"] and not Path(split).exists():
        # The option of this name says how the protocol splits.
        options, split = {**options, "split": split}, None
    if split is None:
        made = task(graph, protocol or DEFAULT_PROTOCOL, seed, **options)
        found = Benchmark(made) if negatives is None else _with_negatives(_link_task(made), negatives)
        if protocol is not None:
            return found
        what = f"{DEFAULT_PROTOCOL} is audited"
        if negatives is not None:
            what = f"{DEFAULT_PROTOCOL} made the split"
        return replace(found, notes=(f"no protocol was given, so {what}", *found.notes))
    if negatives is not None and (protocol is not None or options):
        named = f"the protocol {protocol}" if protocol is not None else f"the option {next(iter(options))}"
        raise InputError(f"split and negatives are both given, so {named} would have no effect")
    whole = Source.of(graph, bipartite=two_kinds(options)).graph
    return _with_split(whole, protocol, seed, options, split, negatives)


def _as_it_is(thing: Data | str | Path, protocol: str, seed: int, options: Mapping[str, Any]) -> Benchmark:
    """Return a benchmark of other data; parts may share triples, which a task would refuse."""
    chosen = get_protocol(protocol)
    request = chosen.request(Source.of(thing, chosen.takes), seed, options)
    made = chosen.make(replace(request, overlaps=True))
    notes = tuple(made.settings.get("notes", ()))
    return Benchmark(made, None, notes, request.source.interactions if isinstance(made, ItemTask) else None)


def audit_protocol(thing: Data | str | Path) -> str:
    """Return the protocol that is audited by default: ``existing`` for graphs, else the data's own."""
    own = default_protocol(thing)
    return DEFAULT_PROTOCOL if "graph" in get_protocol(own).takes else own


def _link_task(made: Task) -> LinkTask:
    if isinstance(made, LinkTask):
        return made
    raise InputError(
        f"{made.protocol} is a protocol of {made.title} tasks: your own split or negatives can be audited for"
        f" {LinkTask.title} alone"
    )


def _with_features(thing: Data | str | Path, features: object) -> Data | str | Path:
    """The graph with other features, where some are given."""
    return thing if features is None else with_features(Source.of(thing).graph, features)


def _with_negatives(made: LinkTask, given: object) -> Benchmark:
    """A task with negatives from elsewhere."""
    listed = listed_parts(given, "negatives", made.graph)
    positives = {name: made.part(name).positives for name in made.part_names}
    parts = {
        name: replace(part, times=made.part(name).times) for name, part in _parts(positives, listed).items()
    }
    metrics = link_metrics(parts["test"], Rules().hits)
    changed = replace(
        made,
        protocol=OWN_NEGATIVES,
        parts=parts,
        metrics=metrics,
        headline=made.headline if made.headline in metrics else "mrr",
        settings={**_of_split(made.settings), "negatives": _origins(listed)},
    )
    return Benchmark(changed, None, tuple(_told(listed, positives)))


def _with_split(
    graph: Graph,
    protocol: str | None,
    seed: int,
    options: Mapping[str, Any],
    split: object,
    negatives: object,
) -> Benchmark:
    if isinstance(split, Split):
        split = {"train": split.train.edges, "valid": split.valid, "test": split.test}
        split = {part: pairs for part, pairs in split.items() if len(pairs)}
    listed = listed_parts(split, "positives", graph)
    train = listed.get("train")
    divided = _divided(graph, listed)
    seen, how, notes = divided.train, divided.name, list(divided.notes)
    divided = replace(divided, notes=())
    positives = {part: one.pairs for part, one in listed.items() if part != "train"}
    if negatives is None:
        made = _judged(divided, protocol or DEFAULT_PROTOCOL, seed, options, listed)
        notes.append(f"no negatives were given: {made.protocol} made them")
    else:
        others = listed_parts(negatives, "negatives", seen)
        parts = _parts(positives, others)
        made = LinkTask(
            dataset=graph.name,
            protocol=OWN_NEGATIVES,
            seed=seed,
            graph=seen,
            parts=parts,
            metrics=link_metrics(parts["test"], Rules().hits),
            headline="mrr",
            settings={"split": how, "negatives": _origins(others)},
        )
        notes += _told(others, positives)
    return Benchmark(made, graph if train is not None else None, tuple(notes), timed=graph)


def own_split(graph: Graph, given: object) -> Split:
    """Return the user's own split of a graph; its notes say what was taken for what.

    Args:
        graph: the graph; it is the training graph if the split has no training pairs.
        given: see :func:`trueedge.scorers.pair_files.listed_parts`.
    """
    return _divided(graph, listed_parts(given, "positives", graph))


def _divided(graph: Graph, listed: Mapping[str, Listed]) -> Split:
    train = listed.get("train")
    seen = graph if train is None else _with_times(graph.only_edges(train.pairs), graph)
    notes = [note for one in listed.values() for note in one.notes]
    notes += _told_of_graph(graph, seen, listed)
    valid = listed["valid"].pairs if "valid" in listed else NONE
    return Split(seen, valid, listed["test"].pairs, f"files {_origins(listed)}", tuple(notes))


def _with_times(seen: Graph, graph: Graph) -> Graph:
    """Return the training graph with the times that its edges have in the whole graph, if all have one."""
    if TIME not in graph.edge_data or not in_sorted(seen.edge_keys, graph.edge_keys).all():
        return seen
    rows = np.searchsorted(graph.edge_keys, seen.edge_keys)
    return replace(seen, edge_data={TIME: graph.edge_data[TIME][rows]})


def _judged(
    split: Split, protocol: str, seed: int, options: Mapping[str, Any], listed: Mapping[str, Listed]
) -> LinkTask:
    """A protocol's negatives for positives as they stand, which a task made to be judged on would refuse."""
    chosen = get_protocol(protocol)
    request = chosen.request(Source(split.train.name, split.train), seed, options)
    for key in options:
        if key in chosen.split_options:
            raise InputError(f"the option {key} says how to split, but the split is given")
    loops = {
        part: pairs[:, 0] == pairs[:, 1] for part, pairs in (("valid", split.valid), ("test", split.test))
    }
    # Nothing can be drawn for a pair of a node and itself; negatives that all share need not be.
    sound = replace(split, valid=split.valid[~loops["valid"]], test=split.test[~loops["test"]])
    if not len(sound.test):
        raise InputError(
            f"{listed['test'].place(0)}: this test positive joins a node to itself, as all of them do: there"
            " is nothing to draw negatives for"
        )
    made = _link_task(chosen.make(replace(request, split=sound)))
    if not any(loop.any() for loop in loops.values()):
        return made
    if made.test.per_positive:
        part = "valid" if loops["valid"].any() else "test"
        row = int(loops[part].argmax())
        raise InputError(
            f"{listed[part].place(row)}: this {part} positive joins a node to itself, for which {protocol}"
            " makes no negatives: give negatives of your own, or a protocol whose negatives all share"
        )
    raw = {"valid": split.valid, "test": split.test}
    drawn = {name: part.negatives for name, part in made.parts.items()}
    return replace(
        made, parts={name: Part(raw[name], drawn.get(name, NONE)) for name in raw if len(raw[name])}
    )


def _parts(positives: Mapping[str, Any], negatives: Mapping[str, Listed]) -> dict[str, Part]:
    for part, listed in negatives.items():
        if part not in positives:
            raise InputError(f"{listed.origin}: there are negatives for the {part} part, but no positives")
        own, asked = listed.pairs.shape[0], len(positives[part])
        if listed.pairs.ndim == 3 and own != asked:
            raise InputError(
                f"{listed.origin} has negatives for {own:,} positives, but the {part} part has {asked:,}"
            )
    return {
        part: Part(pairs, negatives[part].pairs if part in negatives else NONE)
        for part, pairs in positives.items()
    }


def _told_of_graph(graph: Graph, seen: Graph, listed: Mapping[str, Listed]) -> list[str]:
    """What the graph is taken for, and where it and the split disagree."""
    nodes = graph.num_nodes
    train = listed.get("train")
    held = np.concatenate([listed[part].pairs for part in ("valid", "test") if part in listed])
    if train is None:
        inside = int(graph.has_edges(held).sum())
        told = f"the split has no training pairs: {graph.name} is used as the training graph"
        if inside == len(held):
            told += (
                f", although all {inside:,} positives are its edges; if it is the whole graph, give the"
                " training pairs too"
            )
        return [told]
    notes = [f"the training graph is {train.origin} ({seen.num_edges:,} edges), not {graph.name}"]
    loops = int((train.pairs[:, 0] == train.pairs[:, 1]).sum())
    repeats = len(train.pairs) - loops - seen.num_edges
    if loops or repeats:
        notes.append(f"{train.origin}: {loops:,} self-loops and {repeats:,} repeated edges were dropped")
    keys = np.sort(np.concatenate([seen.edge_keys, pair_keys(held[held[:, 0] != held[:, 1]], nodes)]))
    left = int((~in_sorted(graph.edge_keys, keys)).sum())
    strange = int((~in_sorted(np.unique(keys), graph.edge_keys)).sum())
    if left:
        notes.append(f"{left:,} of the {graph.num_edges:,} edges of {graph.name} are in no part of the split")
    if strange:
        notes.append(f"{strange:,} pairs of the split are not edges of {graph.name}")
    return notes


def _told(listed: Mapping[str, Listed], positives: Mapping[str, Any]) -> list[str]:
    notes = [note for one in listed.values() for note in one.notes]
    for part in positives:
        if part not in listed:
            notes.append(f"the {part} part has no negatives: only its positives are examined")
            continue
        shape = listed[part].pairs.shape
        each = (
            f"{shape[1]:,} for each positive" if len(shape) == 3 else f"{shape[0]:,} that all positives share"
        )
        notes.append(f"the {part} negatives come from {listed[part].origin}: {each}")
    return notes


def _origins(listed: Mapping[str, Listed]) -> str:
    return ", ".join(f"{part}: {one.origin}" for part, one in listed.items())


def _of_split(settings: Mapping[str, Any]) -> dict[str, Any]:
    """What a task's settings say of its split and of the files it was read from."""
    kept = ("split", "ratios", "fraction", "component", "notes", "files_without_checksum")
    return {key: settings[key] for key in kept if key in settings}
