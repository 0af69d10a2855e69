"""The existing setting: random negatives, the same for every positive."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trueedge import splits
from trueedge.negatives import uniform
from trueedge.randomness import derive
from trueedge.splits import Split
from trueedge.tasks.link import LinkTask, Part, joined_graph
from trueedge.tasks.protocols.protocol import Protocol, Request, register


def benchmark_split(request: Request) -> Split:
    """The publisher's own split, where there is one; else train, valid and test by ratios."""
    release = request.source.release
    if release is not None:
        return splits.from_release(release)
    return splits.ratio(request.source.graph, request.options["ratios"], seed=request.seed)


def link_metrics(part: Part, hits: tuple[int, ...]) -> tuple[str, ...]:
    """The ranking metrics that a part's number of negatives allows."""
    size = part.negatives.shape[-2]
    names = ["mrr", *(f"hits@{k}" for k in hits if k <= size), "auc"]
    if not part.per_positive:
        names.append("ap")
    return (*names, "mrr.optimistic", "mrr.pessimistic")


def parts_of(split: Split) -> dict[str, NDArray[np.int32]]:
    """The parts of a split that hold positives."""
    return {name: pairs for name, pairs in (("valid", split.valid), ("test", split.test)) if len(pairs)}


def _judge(request: Request, split: Split) -> LinkTask:
    release = request.source.release
    published = {} if release is None else {"valid": release.valid_negatives, "test": release.test_negatives}
    everything = np.concatenate([split.valid, split.test])
    parts = {}
    for name, positives in parts_of(split).items():
        negatives = published.get(name)
        if negatives is None:
            negatives = uniform(
                split.train,
                positives,
                ratio=request.options["ratio"],
                known=everything,
                seed=derive(request.seed, name),
            )
        parts[name] = Part(positives, negatives)
    rules = request.source.rules
    metrics = link_metrics(parts["test"], rules.hits)
    return LinkTask(
        dataset=request.source.name,
        protocol="existing",
        seed=request.seed,
        graph=split.train,
        test_graph=joined_graph(split.train, split.valid, rules.valid_in_test),
        parts=parts,
        metrics=metrics,
        headline=rules.headline if rules.headline in metrics else "mrr",
        settings={
            "split": split.name,
            "negatives": "published" if published else "uniform",
            **request.options,
        },
    )


register(
    Protocol(
        name="existing",
        title="random negatives shared by all positives: what most papers report",
        citation="Hu et al., Open Graph Benchmark, NeurIPS 2020; Li et al., NeurIPS 2023, section 2.3",
        headline="mrr",
        split=benchmark_split,
        judge=_judge,
        split_options=("ratios",),
        options={"ratios": (0.85, 0.05, 0.10), "ratio": 1},
        help={
            "ratios": "shares of train, valid and test where the data set has no split of its own",
            "ratio": "negatives for each positive",
        },
    )
)
