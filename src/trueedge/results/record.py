"""A record: one finished cell, with everything needed to judge and repeat it."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError

# The most that ranks may unpack to: those of thirty million positives.
MOST_BYTES = 1 << 28
_KINDS: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("key", "dataset", "protocol", "method", "headline", "created", "packed_ranks"), str),
    **dict.fromkeys(("options", "settings", "metrics", "seconds", "provenance"), Mapping),
    **dict.fromkeys(("seed", "task_seed"), int),
    "peak_memory": (int, float),
    "warnings": (list, tuple),
}


@dataclass(frozen=True)
class Record:
    """One data set under one protocol by one method with one seed.

    Attributes:
        key: what was asked for, as a hash: the same request has the same key.
        dataset: the data set's or graph's name.
        protocol: the protocol's name.
        options: the protocol's options that were set.
        method: the method's name.
        settings: the method's settings, all of them.
        seed: for split, negatives and training.
        task_seed: the seed of split and negatives, where it is another one; else equal to ``seed``.
        headline: the metric the protocol is known by.
        metrics: for each part its metrics, as fractions of 1.
        seconds: time of ``task`` (split and negatives), ``fit`` and ``score``.
        peak_memory: the largest resident memory while fitting and scoring, in bytes.
        warnings: what was found about the scores.
        provenance: hashes of graph, positives and negatives; versions; machine.
        created: when it was finished, UTC.
        packed_ranks: the rank of each test positive, see :attr:`ranks`; empty where there are none.
    """

    key: str
    dataset: str
    protocol: str
    options: Mapping[str, Any]
    method: str
    settings: Mapping[str, Any]
    seed: int
    task_seed: int
    headline: str
    metrics: Mapping[str, Mapping[str, float]]
    seconds: Mapping[str, float]
    peak_memory: int
    warnings: tuple[str, ...] = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)
    created: str = ""
    packed_ranks: str = ""

    @property
    def test(self) -> Mapping[str, float]:
        """The metrics of the test part."""
        if self.is_trial:
            raise InputError(
                f"the record of {self.method} on {self.dataset} is a trial of a search,"
                " which was not judged on the test part"
            )
        return self.metrics["test"]

    @property
    def ranks(self) -> NDArray[np.float64] | None:
        """The mean rank of each test positive among its negatives, float64 (P,), in the task's order."""
        if not self.packed_ranks:
            return None
        try:
            packed = base64.b64decode(self.packed_ranks)
            twice = np.frombuffer(zlib.decompressobj().decompress(packed, MOST_BYTES), dtype="<i8")
            if not len(twice) or twice.min() < 2:
                raise ValueError
        except (ValueError, TypeError, zlib.error) as error:
            raise InputError(
                f"the ranks of the record of {self.method} on {self.dataset} are damaged: run it again"
            ) from error
        return twice / 2.0

    @property
    def is_trial(self) -> bool:
        """Whether it is a trial of a search, which was not judged on the test part."""
        return "test" not in self.metrics

    @property
    def value(self) -> float:
        """The headline metric on the test part; that of a trial on the validation part."""
        return self.metrics["valid" if self.is_trial else "test"][self.headline]

    def to_dict(self) -> dict[str, Any]:
        """A plain dictionary, ready for JSON."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self), default=plain_value))
        return plain

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Record:
        """The record that :meth:`to_dict` wrote down; one that somebody else wrote is looked at first."""
        _check(values)
        return cls(**{**values, "warnings": tuple(values.get("warnings", ()))})


def _check(values: Mapping[str, Any]) -> None:
    """Refuse what no record can hold, by the name of the field."""
    for name, kinds in _KINDS.items():
        value = values.get(name)
        if name in values and (not isinstance(value, kinds) or isinstance(value, bool)):
            raise InputError(f"{name} is {type(value).__name__}")
    metrics = values.get("metrics", {})
    judged = metrics.get("test", metrics.get("valid"))
    for part in (*metrics.values(), values.get("seconds", {})):
        if not isinstance(part, Mapping):
            raise InputError("a part has no metrics")
        for name, number in part.items():
            # Compared and not converted: a whole number of any length may stand here.
            if isinstance(number, bool) or not isinstance(number, (int, float)) or not abs(number) < 2**63:
                raise InputError(f"{name} is no number")
    if judged is None or values.get("headline") not in judged:
        raise InputError(f"it does not have its headline {values.get('headline')!r}")


def pack_ranks(ranks: NDArray[np.float64] | None) -> str:
    """Mean ranks as a text: they are halves of whole numbers, and many are the same."""
    if ranks is None:
        return ""
    return base64.b64encode(zlib.compress(np.rint(2.0 * ranks).astype("<i8").tobytes())).decode()


def plain_value(value: Any) -> Any:
    """What JSON writes for a value it does not know: numpy scalars, paths, tuples inside."""
    return value.item() if hasattr(value, "item") else str(value)


def request_key(**request: Any) -> str:
    """A hash of what was asked for; the order of keys does not matter."""
    text = json.dumps(request, sort_keys=True, default=plain_value)
    return hashlib.sha256(text.encode()).hexdigest()
