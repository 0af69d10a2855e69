"""Exact values of every metric for each unit, as text that fits into a record.

Beside them are the nodes that units share, and every metric with other draws of shared negatives.

Metrics of a test part are often functions of the same few ranks. So each distinct value is written once, and
units hold codes; metrics that group the units in the same way share their codes.
"""

from __future__ import annotations

import base64
import math
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.metrics import UnitValues

# The largest size of an unpacked array: values of thirty million units.
MOST_BYTES = 1 << 28
WIDTHS = ("<u1", "<u2", "<u4")
ROUNDING = 1e-9
# The most bytes of a metric with other draws of its negatives: ten thousand draws.
MOST_REDRAWN = 80_000


def pack(units: UnitValues, metrics: Mapping[str, float] | None = None) -> dict[str, Any]:
    """Return ``unit``, ``count`` and ``groups`` (``codes``, and the distinct ``values`` of each metric).

    There are also ``ends`` (``width`` and ``codes``, two for each unit) if units are edges, and ``redraws``
    (the values of each metric) if they share their negatives.

    Values whose mean is not the metric (given in ``metrics``) are left out: nothing can be done with them.
    """
    claimed = metrics or {}
    kept = {
        name: values
        for name, values in units.values.items()
        if name not in claimed or is_mean(float(np.mean(values)), claimed[name])
    }
    if not kept:
        return {}
    groups: dict[str, dict[str, Any]] = {}
    for name, values in kept.items():
        # Compared bit by bit: -0.0 is not 0.0 here.
        bits = np.ascontiguousarray(values, dtype="<f8").view("<i8")
        found, first, codes = np.unique(bits, return_index=True, return_inverse=True)
        # Numbered by first appearance, so that any one-to-one function of the ranks has the same codes.
        order = np.argsort(first)
        places = np.empty_like(order)
        places[order] = np.arange(len(order))
        width = _width(len(found))
        text = _text(places[codes.reshape(-1)].astype(width))
        group = groups.setdefault(text, {"width": width, "codes": text, "values": {}})
        group["values"][name] = _text(found[order])
    count = len(next(iter(kept.values())))
    packed: dict[str, Any] = {"unit": units.unit, "count": count, "groups": list(groups.values())}
    if units.ends is not None:
        width = _width(int(units.ends.max()) + 1)
        packed["ends"] = {"width": width, "codes": _text(units.ends.astype(width))}
    if units.redraws is not None:
        drawn = {name: values for name, values in units.redraws.items() if name in kept}
        packed["redraws"] = {name: _text(np.asarray(values, dtype="<f8")) for name, values in drawn.items()}
    return packed


def unpack(packed: Mapping[str, Any], metric: str) -> NDArray[np.float64] | None:
    """Return a metric's value for each unit, float64 (n,), or None; a ValueError if it cannot be read."""
    for group in packed.get("groups", ()):
        if metric in group["values"]:
            codes = _codes(packed["count"], group)
            levels = _levels(group["values"][metric], packed["count"], int(codes.max()) + 1)
            found: NDArray[np.float64] = levels[codes].astype(np.float64)
            return found
    return None


def unpack_ends(packed: Mapping[str, Any]) -> NDArray[np.int64] | None:
    """Return the numbers of the nodes that units share, int64 (n, 2), or None; a ValueError if damaged."""
    if "ends" not in packed:
        return None
    codes = _codes(2 * packed["count"], packed["ends"])
    return codes.astype(np.int64).reshape(-1, 2)


def unpack_redraws(packed: Mapping[str, Any], metric: str) -> NDArray[np.float64] | None:
    """Return a metric with other draws of shared negatives, float64 (R,); a ValueError if damaged.

    It is empty without other draws, and None if nothing says that negatives are shared.
    """
    if "redraws" not in packed:
        return None
    text = packed["redraws"].get(metric)
    values = np.empty(0) if text is None else np.frombuffer(inflate(text, MOST_REDRAWN), dtype="<f8")
    if not np.isfinite(values).all():
        raise ValueError("a metric with other negatives is not a number")
    return values.astype(np.float64)


def is_mean(mean: float, claimed: float) -> bool:
    """Return whether a mean over units is a metric's value, up to the rounding of sums in another order."""
    return math.isclose(mean, claimed, rel_tol=ROUNDING, abs_tol=ROUNDING)


def means(packed: Mapping[str, Any]) -> dict[str, float]:
    """Return the mean of each metric over the units; a ValueError if they cannot be read."""
    found = {}
    for group in packed.get("groups", ()):
        codes = _codes(packed["count"], group)
        counts = np.bincount(codes)
        for name, text in group["values"].items():
            levels = _levels(text, packed["count"], len(counts))
            found[name] = float(counts @ levels[: len(counts)]) / len(codes)
    return found


def _codes(count: Any, group: Mapping[str, Any]) -> NDArray[Any]:
    """Return the code of each unit."""
    width = group["width"]
    if type(count) is not int or not 0 < count <= MOST_BYTES or width not in WIDTHS:
        raise ValueError(f"{count!r} codes of type {width!r}")
    codes = np.frombuffer(inflate(group["codes"], count * np.dtype(width).itemsize), dtype=width)
    if len(codes) != count:
        raise ValueError(f"{len(codes)} codes of {count} units")
    return codes


def _levels(text: str, count: int, least: int) -> NDArray[np.float64]:
    """Return the distinct values that codes refer to."""
    levels: NDArray[np.float64] = np.frombuffer(inflate(text, 8 * count), dtype="<f8")
    if len(levels) < least:
        raise ValueError("codes and values do not fit together")
    return levels


def inflate(text: str, most: int = MOST_BYTES) -> bytes:
    """Return the bytes of compressed text; a ValueError if it is damaged or more than ``most`` bytes."""
    stream = zlib.decompressobj()
    try:
        content = stream.decompress(base64.b64decode(text, validate=True), min(most, MOST_BYTES) + 1)
    except (zlib.error, TypeError) as error:
        raise ValueError(str(error)) from None
    if not stream.eof or stream.unused_data or len(content) > most:
        raise ValueError("the bytes are cut short, or too many")
    return content


def _width(count: int) -> str:
    """Return the smallest type of so many codes."""
    return next(kind for kind in WIDTHS if count <= np.iinfo(kind).max + 1)


def _text(array: NDArray[Any]) -> str:
    return base64.b64encode(zlib.compress(array.tobytes())).decode()
