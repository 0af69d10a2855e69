"""The headline's value for each unit of a certificate: from its scores, or packed beside it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.files.archives import read_archive
from trueedge.files.writing import replacing
from trueedge.leaderboard.board.entry import Entry
from trueedge.metrics import get as get_metric
from trueedge.results.certificate_check import certified_scores
from trueedge.results.packed_units import MOST_BYTES, WIDTHS, is_mean

Array = NDArray[np.float64]


def headline_values(entry: Entry, seed: int) -> Array:
    """Return the headline's value for each unit of a seed, float64 (n,).

    Their mean must be what the certificate claims: no page shows a number that its scores do not give.
    """
    if seed in entry.kept_values:
        return entry.kept_values[seed]
    card = entry.certificates[seed]
    name = card["headline"]
    if entry.keeps_units_alone(seed):
        values = read_units(entry.units_path(seed), name)
    else:
        values = certified_values(entry.paths[seed], card)
    claimed = card["metrics"][name]
    if not is_mean(float(values.mean()), claimed):
        where = f"{entry.task}/{entry.name}, seed {seed}"
        raise InputError(
            f"{where}: the mean over units is {name} {values.mean():.6g}, claimed is {claimed:.6g}"
        )
    return values


def certified_values(path: Path, card: Mapping[str, Any]) -> Array:
    """Return the headline's value for each unit of a certificate, from scores that have its hash."""
    scores = certified_scores(path, card)
    if isinstance(scores, InputError):
        raise scores
    if scores.hash != card["hashes"]["scores"]:
        raise InputError(f"the scores of {path} do not have the hash that it says")
    return get_metric(card["headline"]).per_unit(scores)


def write_units(path: Path, values: Mapping[str, Array]) -> None:
    """Write the values per unit of some metrics: each distinct value once, and a code for each unit."""
    arrays: dict[str, NDArray[Any]] = {}
    for name, one in values.items():
        levels, codes = np.unique(one, return_inverse=True)
        width = next(kind for kind in WIDTHS if len(levels) <= np.iinfo(kind).max + 1)
        arrays |= {f"{name} values": levels.astype("<f8"), f"{name} codes": codes.reshape(-1).astype(width)}
    with replacing(path) as draft, draft.open("wb") as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


def read_units(path: Path, metric: str) -> Array:
    """Return what :func:`write_units` wrote of one metric, float64 (n,)."""
    arrays = read_archive(path, most=MOST_BYTES)
    levels, codes = arrays.get(f"{metric} values"), arrays.get(f"{metric} codes")
    if levels is None or codes is None:
        raise InputError(f"{path} holds no values of {metric}")
    fits = (
        levels.ndim == codes.ndim == 1
        and levels.dtype == np.float64
        and codes.dtype.str[1:] in ("u1", "u2", "u4")
    )
    if not fits or not codes.size or not np.isfinite(levels).all() or codes.max() >= len(levels):
        raise InputError(f"{path} does not hold values of units")
    found: Array = levels[codes]
    return found
