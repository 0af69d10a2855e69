"""The released HeaRT files, pair for pair."""

from __future__ import annotations

from functools import partial

from trueedge import datasets, splits
from trueedge.errors import InputError
from trueedge.splits import Split
from trueedge.tasks.link import LinkTask, Part
from trueedge.tasks.protocols.existing import link_metrics
from trueedge.tasks.protocols.protocol import Protocol, Request, register


def _split(request: Request) -> Split:
    if request.source.given is not None:
        raise InputError(
            "the released protocols stand on released files: give a data set's name, not a graph"
        )
    return splits.from_release(datasets.released(request.source.name))


def _judge(request: Request, split: Split, *, hard: bool) -> LinkTask:
    name = request.source.name
    release = datasets.released(name)
    listed = {
        "valid": (release.valid, release.heart_valid if hard else release.valid_negatives),
        "test": (release.test, release.heart_test if hard else release.test_negatives),
    }
    parts = {}
    for part, (positives, negatives) in listed.items():
        if negatives is None:
            kind = "HeaRT negatives" if hard else "negatives"
            raise InputError(f"the released files of {name} hold no {kind} for the {part} part")
        parts[part] = Part(positives, negatives)
    return LinkTask(
        dataset=name,
        protocol="heart-released" if hard else "existing-released",
        seed=request.seed,
        graph=split.train,
        parts=parts,
        metrics=link_metrics(parts["test"], request.source.rules.hits),
        headline="mrr",
        settings={"split": split.name, "negatives": "released"},
    )


for _hard in (False, True):
    register(
        Protocol(
            name="heart-released" if _hard else "existing-released",
            title="the released split with its HeaRT negatives"
            if _hard
            else "the released split with its shared negatives",
            citation="Li et al., Evaluating Graph Neural Networks for Link Prediction, NeurIPS 2023",
            headline="mrr",
            split=_split,
            judge=partial(_judge, hard=_hard),
        )
    )
