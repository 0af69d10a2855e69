"""HeaRT's Figures 1, 3, 4 and 5: how many common neighbours positives and negatives have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge import datasets, methods, negatives, tasks
from trueedge.analysis.figure import Figure, Series
from trueedge.errors import InputError
from trueedge.randomness import generator
from trueedge.scorers.scorer import score_pairs
from trueedge.studies.study import Comparison, Finding, Plan, chosen, register_listed
from trueedge.tasks import LinkTask, Part
from trueedge.tasks.protocols import get as get_protocol

SMALL = ("cora", "citeseer", "pubmed")
# The figure's data sets, and whether it draws the negatives of HeaRT too.
FIGURES = {
    1: (("ogbl-collab", "ogbl-ppa", "ogbl-citation2"), False),
    3: ((*SMALL, "ogbl-ddi"), False),
    4: (SMALL, True),
    5: (("ogbl-collab", "ogbl-ddi", "ogbl-ppa", "ogbl-citation2"), True),
}
# Where the bars begin: single counts first, then in steps of about two.
STARTS = np.array([0, 1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000])
# HeaRT's negatives of a positive do not depend on other positives, so a sample of this size is enough.
MOST_POSITIVES = 5000


def _run(plan: Plan, *, number: int) -> Finding:
    names, hard = FIGURES[number]
    study = f"heart/figure-{number}"
    chosen(plan.methods, ["cn"], f"method of {study}")
    rows, figures, missing = [], [], []
    wanted = chosen(plan.datasets, names, f"data set of {study}")
    for done, name in enumerate(wanted):
        if plan.progress is not None:
            plan.progress(name, done, len(wanted))
        for released in (False, True):
            try:
                counted = common_neighbours(name, hard, released)
            except datasets.MissingFile as error:
                missing += [] if released else [str(error)]
                continue
            figures.append(_figure(study, name, counted, released))
            rows += _rows(name, counted)
    if not figures:
        raise InputError(f"nothing of {study} could be drawn: {missing[0]}")
    return Finding(rows, missing, figures=figures)


def common_neighbours(
    dataset: str, hard: bool = True, released: bool = False
) -> dict[tuple[str, str], NDArray[np.int64]]:
    """Return the common neighbours of each test pair, by (protocol, positives or negatives).

    Args:
        dataset: a data set's name.
        hard: also count those of HeaRT's negatives.
        released: use the split and negatives of the released files.
    """
    datasets.available(dataset, released="shared" if released else None)
    suffix = "-released" if released else ""
    existing = tasks.task(dataset, f"existing{suffix}", 0)
    assert isinstance(existing, LinkTask)
    parts = {existing.protocol: existing.test}
    if hard:
        judged = (
            tasks.task(dataset, "heart-released", 0)
            if released
            else thinned(existing, ("test",), MOST_POSITIVES)
        )
        assert isinstance(judged, LinkTask)
        parts[judged.protocol] = judged.test
    # Both settings have the same positives: they are counted once, all of them.
    pairs = {(existing.protocol, "positives"): existing.test.positives}
    pairs |= {(protocol, "negatives"): part.negatives.reshape(-1, 2) for protocol, part in parts.items()}
    scorer = existing.bind(methods.create("cn").fit(existing), "test")
    return {key: score_pairs(scorer, found).astype(np.int64) for key, found in pairs.items()}


def thinned(
    task: LinkTask, names: Sequence[str] = ("valid", "test"), most: int = 5000, seed: int = 0
) -> LinkTask:
    """Return a HeaRT task on the graph of another, with at most ``most`` random positives per part."""
    kept = {}
    for name in names:
        positives = task.part(name).positives
        if len(positives) > most:
            rows = generator(seed, "thinned", name).choice(len(positives), size=most, replace=False)
            positives = positives[np.sort(rows)]
        kept[name] = positives
    return hardened(task, kept, seed)


def hardened(task: LinkTask, positives: Mapping[str, NDArray[np.int32]], seed: int = 0) -> LinkTask:
    """Return a HeaRT task with some positives of another task's parts, int32 (p, 2) each."""
    settings = heart_settings(task)
    parts = {}
    for name, some in positives.items():
        known = task.valid.positives if name == "test" and "valid" in task.parts else None
        drawn = negatives.heart(task.graph_for(name), some, known=known, seed=seed, **settings)
        parts[name] = Part(some, drawn)
    return replace(task, protocol="heart", parts=parts, seed=seed, settings=settings)


def heart_settings(task: LinkTask) -> dict[str, Any]:
    """Return the default settings of HeaRT's negatives for a named data set."""
    rules, defaults = datasets.get(task.dataset).rules, get_protocol("heart").options
    with_features = rules.heart_features and task.features is not None
    return {
        "k": defaults["k"],
        "heuristics": ("ra", "ppr", "features") if with_features else ("ra", "ppr"),
        "alpha": defaults["alpha"],
        "eps": rules.heart_eps,
    }


def shares(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the share of the pairs in each bin of ``STARTS``, float64 (12,)."""
    places = np.searchsorted(STARTS, counts, side="right") - 1
    return np.bincount(places, minlength=len(STARTS)) / max(1, len(counts))


def _figure(
    study: str, dataset: str, counted: Mapping[tuple[str, str], NDArray[np.int64]], released: bool
) -> Figure:
    found = {key: shares(counts) for key, counts in counted.items()}
    used = 1 + max(int(np.flatnonzero(values)[-1]) for values in found.values())
    series = tuple(
        Series(_name(*key), tuple(_labels()[:used]), tuple(values[:used].tolist()))
        for key, values in found.items()
    )
    where = f"{dataset}, released files" if released else dataset
    sizes = "; ".join(f"{len(counts):,} {_name(*key)}" for key, counts in counted.items())
    some = len(counted) > 2 and not released and len(next(iter(counted.values()))) > MOST_POSITIVES
    return Figure(
        name=f"{study.replace('/', '-')}-{dataset}{'-released' if released else ''}",
        title=f"Common neighbours of test pairs: {where}",
        kind="bars",
        x_label="common neighbours",
        y_label="share of the pairs",
        series=series,
        note=sizes + (f" of {MOST_POSITIVES:,} positives" if some else ""),
    )


def _name(protocol: str, which: str) -> str:
    setting = "HeaRT" if protocol.startswith("heart") else "existing"
    return which if which == "positives" else f"{which}, {setting}"


def _labels() -> list[str]:
    ends = [*STARTS[1:] - 1]
    single = [str(a) if a == b else f"{a}–{b}" for a, b in zip(STARTS, ends, strict=False)]
    return [*single, f"{STARTS[-1]:,} or more"]


def _rows(dataset: str, counted: Mapping[tuple[str, str], NDArray[np.int64]]) -> list[Comparison]:
    """Return the percentage without common neighbours, and their mean number."""
    rows = []
    for (protocol, which), counts in counted.items():
        for metric, value in (
            ("without a common neighbour, %", 100.0 * float((counts == 0).mean())),
            ("common neighbours, mean", float(counts.mean())),
        ):
            rows.append(Comparison(dataset, protocol, which, metric, value, 0.0, 1, None))
    return rows


for _number in FIGURES:
    register_listed(f"heart/figure-{_number}", partial(_run, number=_number))
