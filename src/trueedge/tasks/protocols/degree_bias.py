"""A fraction of the edges against as many other pairs: uniform, degree-corrected, triplets, all."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge import splits
from trueedge.errors import InputError, must_be
from trueedge.negatives import degree_corrected, triplet, uniform
from trueedge.randomness import derived_seed
from trueedge.splits import Split
from trueedge.tasks.link import LinkTask, Part
from trueedge.tasks.protocols import own_graphs
from trueedge.tasks.protocols.existing import all_positives, parts_of
from trueedge.tasks.protocols.own_graphs import divide, recorded, two_sides, with_notes
from trueedge.tasks.protocols.protocol import Request, link_protocol, register
from trueedge.tasks.recommend import RecommendTask

PAPER = "Aiyappa et al., Implicit Degree Bias in the Link Prediction Task, ICML 2025"
SPLIT_OPTIONS = {
    "fraction": 0.25,
    "valid": 0.0,
    "keep_connected": True,
    "tree": "random",
    "component": "largest",
    **own_graphs.SPLIT_OPTIONS,
}
SPLIT_HELP = {
    "fraction": "share of the edges in the test part",
    "valid": "share of the edges in the validation part",
    "keep_connected": "keep a spanning tree in train, as the published runs did",
    "tree": "the tree that is kept: 'random', or the 'minimum' one by node ids, as in the published runs",
    "component": "'largest' component of the graph, or 'all'",
    **own_graphs.HELP,
}
Sampler = Callable[..., NDArray[np.int32]]


def _split(request: Request) -> Split:
    options = request.options
    if options["component"] not in ("largest", "all"):
        raise must_be("component", "the protocol", "'largest' or 'all'", options["component"])
    by_time = options["split"] == "time"
    if by_time and "keep_connected" in request.given and options["keep_connected"]:
        raise InputError("keep_connected is for random splits: a split by time keeps the earliest edges")
    graph = request.source.graph
    graph = graph.largest_component() if options["component"] == "largest" else graph
    test, valid = options["fraction"], options["valid"]
    ratios = (max(0.0, 1 - valid - test), valid, test)

    def random() -> Split:
        kept = options["keep_connected"]
        tree = options["tree"]
        return splits.fraction(graph, test, seed=request.seed, keep_connected=kept, valid=valid, tree=tree)

    return divide(request, graph, ratios, random)


def _build(request: Request, split: Split, *, name: str, sampler: Sampler) -> LinkTask:
    known = np.concatenate([split.valid, split.test])
    own = {
        key: value
        for key, value in request.options.items()
        if key not in SPLIT_OPTIONS and key != "bipartite"
    }
    split, said, notes = two_sides(request, split)
    sides = split.train.sides
    own["sides"] = sides
    parts = {
        part: Part(
            positives,
            sampler(split.train, positives, known=known, seed=derived_seed(request.seed, part), **own),
            split.times.get(part),
        )
        for part, positives in parts_of(split).items()
    }
    test = parts["test"]
    names = ["auc", "mrr", "mrr.optimistic", "mrr.pessimistic"]
    if not test.per_positive:
        pooled = len(test.positives) + len(test.negatives)
        names[1:1] = ["ap", *(f"precision@{k}" for k in (10, 100, 1000) if k <= pooled)]
    return LinkTask(
        dataset=request.source.name,
        protocol=name,
        seed=request.seed,
        graph=split.train,
        parts=parts,
        metrics=tuple(names),
        headline="auc",
        settings=_settings(request, split, said, notes),
    )


def _redraw(task: LinkTask, seed: int, *, sampler: Sampler, own: tuple[str, ...]) -> NDArray[np.int32]:
    """Draw other negatives for the test part, as many and by the same options (``own``)."""
    positives = task.test.positives
    chosen = {name: task.settings[name] for name in own if name in task.settings and name != "ratio"}
    ratio = len(task.test.negatives) / len(positives)
    known, sides = all_positives(task), task.graph.sides
    return sampler(task.graph, positives, ratio=ratio, known=known, seed=seed, sides=sides, **chosen)


def _settings(request: Request, split: Split, said: dict[str, Any], notes: tuple[str, ...]) -> dict[str, Any]:
    settings = {**recorded(request, split), **said}
    if request.options.get("split") == "time":
        # It is for random splits.
        settings.pop("keep_connected")
    if settings.get("tree") == SPLIT_OPTIONS["tree"]:
        # As in tasks of earlier versions, whose hashes stay valid.
        settings.pop("tree")
    return with_notes(settings, *split.notes, *notes)


def _build_recommendation(request: Request, split: Split) -> RecommendTask:
    # With fewer than 100 candidates, a list of 100 holds all of them and measures nothing.
    split, said, notes = two_sides(request, split)
    sides = split.train.sides
    most = split.train.num_nodes if sides is None else min(int((sides == side).sum()) for side in (0, 1))
    sizes = [k for k in (10, 100) if k < most] or [1]
    return RecommendTask(
        dataset=request.source.name,
        protocol="recommendation",
        seed=request.seed,
        graph=split.train,
        hidden=parts_of(split),
        sides=sides,
        metrics=tuple(f"{metric}@{k}" for metric in ("ndcg", "recall", "vcmpr") for k in sizes),
        headline=f"ndcg@{sizes[-1]}",
        settings=_settings(request, split, said, notes),
    )


_RATIO: dict[str, object] = {"ratio": 1, "redraw": "both"}
_RATIO_HELP = {
    "ratio": "negatives for each positive",
    "redraw": "which end of a rejected pair is redrawn: 'both', or the 'target' as in the published runs",
}
_SAMPLED: tuple[tuple[str, str, Sampler, dict[str, object], dict[str, str]], ...] = (
    ("uniform", "a quarter of the edges against uniform random pairs", uniform, _RATIO, _RATIO_HELP),
    (
        "degree-corrected",
        "a quarter of the edges against pairs drawn by degree, so that degree alone carries no information",
        degree_corrected,
        {**_RATIO, "degrees": "full"},
        {**_RATIO_HELP, "degrees": "degrees of the 'full' graph (Algorithm 1) or of 'train'"},
    ),
    (
        "triplet",
        "each edge against one of its nodes paired with a uniform random node",
        triplet,
        {"k": 1, "keep": "random"},
        {"k": "partners for each positive", "keep": "the end that is kept: 'source', 'target' or 'random'"},
    ),
)
for _name, _title, _sampler, _options, _help in _SAMPLED:
    register(
        link_protocol(
            name=_name,
            title=_title,
            citation=PAPER,
            headline="auc",
            split=_split,
            build=partial(_build, name=_name, sampler=_sampler),
            redraw=partial(_redraw, sampler=_sampler, own=tuple(_options)) if "ratio" in _options else None,
            options={**SPLIT_OPTIONS, **_options, "bipartite": "auto"},
            choices=own_graphs.CHOICES,
            split_options=tuple(SPLIT_OPTIONS),
            help={**SPLIT_HELP, **_help},
        )
    )
register(
    link_protocol(
        kind="recommend",
        name="recommendation",
        title="each node ranks all nodes except its known neighbours",
        citation=PAPER,
        headline="ndcg@100",
        split=_split,
        build=_build_recommendation,
        options={**SPLIT_OPTIONS, "bipartite": "auto"},
        choices=own_graphs.CHOICES,
        split_options=tuple(SPLIT_OPTIONS),
        help=SPLIT_HELP,
    )
)
