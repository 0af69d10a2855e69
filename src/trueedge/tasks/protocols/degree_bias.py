"""A fraction of the edges against as many other pairs: uniform, degree-corrected, triplets, all."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from trueedge import splits
from trueedge.errors import must_be
from trueedge.negatives import degree_corrected, triplet, uniform
from trueedge.randomness import derive
from trueedge.splits import Split
from trueedge.tasks.link import LinkTask, Part
from trueedge.tasks.protocols.existing import parts_of
from trueedge.tasks.protocols.protocol import Request, link_protocol, register
from trueedge.tasks.recommend import RecommendTask

PAPER = "Aiyappa et al., Implicit Degree Bias in the Link Prediction Task, ICML 2025"
SPLIT_OPTIONS = {"fraction": 0.25, "valid": 0.0, "keep_connected": True, "component": "largest"}
SPLIT_HELP = {
    "fraction": "share of the edges in the test part",
    "valid": "share of the edges in the validation part",
    "keep_connected": "keep a random spanning tree in train, as the published runs did",
    "component": "'largest' component of the graph, or 'all'",
}
Sampler = Callable[..., NDArray[np.int32]]


def _split(request: Request) -> Split:
    options = request.options
    if options["component"] not in ("largest", "all"):
        raise must_be("component", "the protocol", "'largest' or 'all'", options["component"])
    graph = request.source.graph
    return splits.fraction(
        graph.largest_component() if options["component"] == "largest" else graph,
        options["fraction"],
        seed=request.seed,
        keep_connected=options["keep_connected"],
        valid=options["valid"],
    )


def _build(request: Request, split: Split, *, name: str, sampler: Sampler) -> LinkTask:
    known = np.concatenate([split.valid, split.test])
    own = {key: value for key, value in request.options.items() if key not in SPLIT_OPTIONS}
    parts = {
        part: Part(
            positives, sampler(split.train, positives, known=known, seed=derive(request.seed, part), **own)
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
        settings={"split": split.name, **request.options},
    )


def _build_recommendation(request: Request, split: Split) -> RecommendTask:
    # With fewer than 100 candidates, a list of 100 holds all of them and measures nothing.
    sizes = [k for k in (10, 100) if k < split.train.num_nodes] or [1]
    return RecommendTask(
        dataset=request.source.name,
        protocol="recommendation",
        seed=request.seed,
        graph=split.train,
        hidden=parts_of(split),
        metrics=tuple(f"{metric}@{k}" for metric in ("ndcg", "recall", "vcmpr") for k in sizes),
        headline=f"ndcg@{sizes[-1]}",
        settings={"split": split.name, **request.options},
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
            options={**SPLIT_OPTIONS, **_options},
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
        options=SPLIT_OPTIONS,
        split_options=tuple(SPLIT_OPTIONS),
        help=SPLIT_HELP,
    )
)
