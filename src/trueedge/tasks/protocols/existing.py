"""The existing setting and the released files of HeaRT: a split with fixed or random negatives."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from trueedge import splits
from trueedge.errors import InputError
from trueedge.negatives import uniform
from trueedge.randomness import derived_seed
from trueedge.splits import Split
from trueedge.tasks.link import LinkTask, Part, joined_graph
from trueedge.tasks.protocols.own_graphs import (
    CHOICES,
    HELP,
    OPTIONS,
    SPLIT_OPTIONS,
    divide,
    recorded,
    two_sides,
    with_notes,
)
from trueedge.tasks.protocols.protocol import Request, link_protocol, register

HEART_PAPER = "Li et al., Evaluating Graph Neural Networks for Link Prediction, NeurIPS 2023"
RATIOS = (0.85, 0.05, 0.10)
RATIOS_HELP = "shares of train, valid and test where the data set has no split of its own"


def benchmark_split(request: Request) -> Split:
    """Return the published split if there is one, else a split by ratios: random, or by time."""
    if request.release is not None:
        if request.options.get("split", "random") != "random":
            raise InputError(f"{request.source.name} has a published split: leave out split=time")
        return request.release.split
    graph, ratios = request.source.graph, request.options["ratios"]
    return divide(request, graph, ratios, lambda: splits.ratio(graph, ratios, seed=request.seed))


def link_metrics(part: Part, hits: tuple[int, ...]) -> tuple[str, ...]:
    """Return the ranking metrics for which a part has enough negatives."""
    size = part.negatives.shape[-2]
    names = ["mrr", *(f"hits@{k}" for k in hits if k <= size), "auc"]
    if not part.per_positive:
        names.append("ap")
    return (*names, "mrr.optimistic", "mrr.pessimistic")


def parts_of(split: Split) -> dict[str, NDArray[np.int32]]:
    """Return the non-empty parts of a split, int32 (P, 2) each."""
    return {name: pairs for name, pairs in (("valid", split.valid), ("test", split.test)) if len(pairs)}


def _build(request: Request, split: Split, *, name: str) -> LinkTask:
    fixed = {} if request.release is None else request.release.negatives
    everything = np.concatenate([split.valid, split.test])
    split, said, notes = two_sides(request, split)
    sides = split.train.sides
    parts = {}
    for part, positives in parts_of(split).items():
        negatives = fixed.get(part)
        if negatives is None:
            negatives = uniform(
                split.train,
                positives,
                ratio=request.options["ratio"],
                known=everything,
                seed=derived_seed(request.seed, part),
                sides=sides,
            )
        parts[part] = Part(positives, negatives, split.times.get(part))
    rules = request.source.rules
    metrics = link_metrics(parts["test"], rules.hits)
    origin = "uniform" if request.release is None else "published"
    return LinkTask(
        dataset=request.source.name,
        protocol=name,
        seed=request.seed,
        graph=split.train,
        test_graph=joined_graph(split.train, split.valid, rules.valid_in_test),
        parts=parts,
        metrics=metrics,
        headline=rules.headline if rules.headline in metrics else "mrr",
        settings=with_notes(
            {
                "split": split.name,
                "negatives": origin if request.released is None else "released",
                **recorded(request, split),
                **said,
            },
            *split.notes,
            *notes,
        ),
    )


def redraw(task: LinkTask, seed: int) -> NDArray[np.int32]:
    """Draw other negatives for the test part, as many uniform random pairs.

    Published and released shared negatives are uniform random pairs too.
    """
    positives, negatives = task.test.positives, task.test.negatives
    return uniform(
        task.graph,
        positives,
        ratio=len(negatives) / len(positives),
        known=all_positives(task),
        seed=seed,
        sides=task.graph.sides,
    )


def all_positives(task: LinkTask) -> NDArray[np.int32]:
    """Return the positives of all parts, int32 (n, 2)."""
    return np.concatenate([part.positives for part in task.parts.values()])


register(
    link_protocol(
        name="existing",
        title="random negatives shared by all positives: what most papers report",
        citation="Hu et al., Open Graph Benchmark, NeurIPS 2020; Li et al., NeurIPS 2023, section 2.3",
        headline="mrr",
        split=benchmark_split,
        build=partial(_build, name="existing"),
        redraw=redraw,
        own_headlines=True,
        split_options=("ratios", *SPLIT_OPTIONS),
        options={"ratios": RATIOS, "ratio": 1, **OPTIONS},
        choices=CHOICES,
        help={"ratios": RATIOS_HELP, "ratio": "negatives for each positive", **HELP},
    )
)
for _name, _released, _what in (
    ("existing-released", "shared", "shared"),
    ("heart-released", "heart", "HeaRT"),
):
    register(
        link_protocol(
            name=_name,
            title=f"the released split with its {_what} negatives",
            citation=HEART_PAPER,
            headline="mrr",
            split=benchmark_split,
            build=partial(_build, name=_name),
            own_headlines=True,
            released=_released,
            redraw=redraw if _released == "shared" else None,
        )
    )
