"""HeaRT: hard negatives for each positive."""

from __future__ import annotations

from trueedge.negatives import heart, heart_shards
from trueedge.negatives.heart import largest_k, ranking_across
from trueedge.splits import Split
from trueedge.tasks.link import LinkTask, Part, joined_graph
from trueedge.tasks.protocols.existing import (
    HEART_PAPER,
    RATIOS,
    RATIOS_HELP,
    benchmark_split,
    link_metrics,
    parts_of,
)
from trueedge.tasks.protocols.own_graphs import (
    CHOICES,
    HELP,
    OPTIONS,
    SPLIT_OPTIONS,
    recorded,
    two_sides,
    with_notes,
)
from trueedge.tasks.protocols.protocol import Request, link_protocol, register
from trueedge.tasks.storage import shards_of


def _build(request: Request, split: Split) -> LinkTask:
    options, rules = dict(request.options), request.source.rules
    if options["eps"] is None:
        options["eps"] = rules.heart_eps
    if options["heuristics"] is None:
        with_features = rules.heart_features and split.train.features is not None
        options["heuristics"] = ("ra", "ppr", "features") if with_features else ("ra", "ppr")
    split, said, notes = two_sides(request, split)
    sides = split.train.sides
    test_graph = joined_graph(split.train, split.valid, rules.valid_in_test)
    asked = {
        "valid": (split.train, None),
        "test": (test_graph or split.train, split.valid if len(split.valid) else None),
    }
    positives = parts_of(split)
    if sides is not None:
        options["heuristics"] = ranking_across(options["heuristics"])
        notes += (f"heart: candidates are ranked by {' and '.join(options['heuristics'])}",)
    if "k" not in request.given:
        allowed = [
            largest_k(graph, positives[part], options["k"], known, options["keep_known"], sides)
            for part, (graph, known) in asked.items()
            if part in positives
        ]
        # Where no k is possible in one of the parts, the sampler's error says so for the smallest.
        largest = max(2, min(allowed))
        if largest < options["k"]:
            sentence = f"heart: k = {largest}, the most this graph allows, instead of {options['k']}"
            options["k"], notes = largest, (*notes, sentence)
    made = {key: options[key] for key in ("k", "heuristics", "keep_known", "alpha", "eps", "ties")}
    made["sides"] = sides
    parts = {}
    for name, pairs in positives.items():
        graph, known = asked[name]
        made |= {"known": known, "seed": request.seed, "progress": request.stage(f"negatives of {name}")}
        if request.shards is None:
            negatives = heart(graph, pairs, **made)
        else:
            place = shards_of(request.shards.folder, name)
            asked_for = {"ends_per_shard": request.shards.ends, "work": request.shards.work}
            stored = heart_shards(graph, pairs, place, **asked_for, **made)
            negatives = stored.assemble()
        parts[name] = Part(pairs, negatives, split.times.get(name))
    return LinkTask(
        dataset=request.source.name,
        protocol="heart",
        seed=request.seed,
        graph=split.train,
        test_graph=test_graph,
        parts=parts,
        metrics=link_metrics(parts["test"], rules.hits),
        headline="mrr",
        settings=with_notes({**recorded(request, split, options), **said}, *split.notes, *notes),
    )


register(
    link_protocol(
        name="heart",
        title="hard negatives for each positive, chosen by heuristics",
        citation=HEART_PAPER,
        headline="mrr",
        split=benchmark_split,
        build=_build,
        split_options=("ratios", *SPLIT_OPTIONS),
        in_shards=True,
        options={
            "ratios": RATIOS,
            "k": 500,
            "heuristics": None,
            "keep_known": False,
            "alpha": 0.15,
            "eps": None,
            "ties": "paper",
            **OPTIONS,
        },
        choices=CHOICES,
        help={
            "ratios": RATIOS_HELP,
            "k": "negatives for each positive, half of them for each end; by default fewer in a small graph",
            "heuristics": "what ranks candidates: ra, ppr, features, cn; by default the data set's own",
            "keep_known": "let known edges be negatives (for graphs whose edges recur, such as ogbl-collab)",
            "alpha": "teleport probability of PPR",
            "eps": "push threshold of PPR; by default the data set's published one",
            "ties": "'paper', or 'released' for the ranking rule behind the released files",
            **HELP,
        },
    )
)
