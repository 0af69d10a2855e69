"""The protocol of recommendation: each user ranks all items."""

from __future__ import annotations

import numpy as np

from trueedge.errors import InputError
from trueedge.splits.interactions import RATIOS, WAYS, core, split_interactions
from trueedge.tasks.items import ItemTask, metrics_for
from trueedge.tasks.protocols.protocol import Protocol, Request, register


def _items(request: Request) -> ItemTask:
    data, options = request.source.interactions, request.options
    notes = list(data.notes)
    if options["min_rating"] < 0:
        raise InputError(f"min_rating must be 0 or more, got {options['min_rating']:g}")
    if options["min_rating"] > 0:
        if data.ratings is None:
            raise InputError(f"{data.name} has no ratings: leave min_rating at 0")
        kept = np.asarray(data.ratings >= options["min_rating"])
        if not kept.any():
            raise InputError(f"{data.name}: no rating is {options['min_rating']:g} or more")
        notes.append(
            f"min_rating={options['min_rating']:g} keeps {int(kept.sum()):,} of {len(kept):,} interactions"
        )
        data = data.keep(kept)
    if options["core"] < 0:
        raise InputError(f"core must be 0 or more, got {options['core']}")
    if options["core"]:
        before = data.num_users, data.num_items
        data = core(data, options["core"])
        notes.append(
            f"core={options['core']} keeps {data.num_users} of {before[0]} users and {data.num_items} of"
            f" {before[1]} items"
            + ("" if data.test is None else "; interactions of the published test part count, too")
        )
    train, hidden = split_interactions(data, options["ratios"], options["split"], request.seed)
    metrics = metrics_for(train.num_items)
    way = options["split"]
    if data.test is not None:
        by_time = way == "time"
        if by_time:
            notes.append(f"{data.name} has a published test part: split=time chose the validation part only")
        way = "published test part" + (", validation part by time" if by_time else "")
    return ItemTask(
        dataset=request.source.name,
        protocol="full-ranking",
        seed=request.seed,
        metrics=metrics,
        headline=metrics[0],
        settings={**options, "split": way, **({"notes": tuple(notes)} if notes else {})},
        graph=train,
        hidden=hidden,
    )


register(
    Protocol(
        name="full-ranking",
        kind="items",
        title="each user ranks all items except those of the training part",
        citation="Lv et al., Are We Really Making Much Progress?, KDD 2021",
        headline="ndcg@20",
        make=_items,
        takes=("interactions",),
        options={"ratios": RATIOS, "split": WAYS[0], "core": 0, "min_rating": 0.0},
        choices={"split": WAYS},
        split_options=("ratios", "split", "core", "min_rating"),
        help={
            "ratios": "shares of train, valid and test for each user; a published test part is kept",
            "split": "hold out random interactions of each user, or by time the latest ones",
            "core": "keep only users and items with at least so many interactions",
            "min_rating": "keep only interactions with at least this rating",
        },
    )
)
