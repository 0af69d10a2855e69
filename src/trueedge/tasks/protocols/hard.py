"""HeaRT: hard negatives of each positive's own."""

from __future__ import annotations

from typing import Any

from trueedge.negatives import heart, heart_shards
from trueedge.splits import Split
from trueedge.tasks.link import LinkTask, Part, joined_graph
from trueedge.tasks.protocols.existing import benchmark_split, link_metrics, parts_of
from trueedge.tasks.protocols.protocol import Protocol, Request, register
from trueedge.tasks.storage import shards_of


def _judge(request: Request, split: Split) -> LinkTask:
    options, rules = dict(request.options), request.source.rules
    if options["eps"] is None:
        options["eps"] = rules.heart_eps
    if options["heuristics"] is None:
        with_features = rules.heart_features and split.train.features is not None
        options["heuristics"] = ("ra", "ppr", "features") if with_features else ("ra", "ppr")
    test_graph = joined_graph(split.train, split.valid, rules.valid_in_test)
    made: dict[str, Any] = {
        key: options[key] for key in ("k", "heuristics", "keep_known", "alpha", "eps", "ties")
    }
    parts = {}
    for name, positives in parts_of(split).items():
        graph = test_graph if name == "test" and test_graph is not None else split.train
        known = split.valid if name == "test" and len(split.valid) else None
        made |= {"known": known, "seed": request.seed, "progress": request.stage(f"negatives of {name}")}
        if request.shards is None:
            negatives = heart(graph, positives, **made)
        else:
            place = shards_of(request.shards.folder, name)
            stored = heart_shards(graph, positives, place, ends_per_shard=request.shards.ends, **made)
            negatives = stored.assemble()
        parts[name] = Part(positives, negatives)
    return LinkTask(
        dataset=request.source.name,
        protocol="heart",
        seed=request.seed,
        graph=split.train,
        test_graph=test_graph,
        parts=parts,
        metrics=link_metrics(parts["test"], rules.hits),
        headline="mrr",
        settings={"split": split.name, **options},
    )


register(
    Protocol(
        name="heart",
        title="hard negatives of each positive's own, ranked by heuristics",
        citation="Li et al., Evaluating Graph Neural Networks for Link Prediction, NeurIPS 2023",
        headline="mrr",
        split=benchmark_split,
        judge=_judge,
        split_options=("ratios",),
        in_shards=True,
        options={
            "ratios": (0.85, 0.05, 0.10),
            "k": 500,
            "heuristics": None,
            "keep_known": False,
            "alpha": 0.15,
            "eps": None,
            "ties": "paper",
        },
        help={
            "ratios": "shares of train, valid and test where the data set has no split of its own",
            "k": "negatives for each positive, half of them for each end",
            "heuristics": "what ranks candidates: ra, ppr, features, cn; by default the data set's own",
            "keep_known": "let known edges be negatives (for graphs whose edges recur, as ogbl-collab's)",
            "alpha": "teleport probability of PPR",
            "eps": "push threshold of PPR; by default the data set's published one",
            "ties": "'paper', or 'released' for the ranking rule behind the released files",
        },
    )
)
