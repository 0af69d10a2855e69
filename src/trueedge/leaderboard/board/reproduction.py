"""Proofs that an entry was reproduced: another party's certificate, or its method run again."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Self

from trueedge.errors import InputError, is_number
from trueedge.files.cards import read_json
from trueedge.leaderboard.board.person_names import person_field
from trueedge.leaderboard.board.text_fields import LONGEST_NAME, date_field
from trueedge.results.certificate_file import MOST_BYTES

FORMAT = "trueedge reproduction"
HOW = ("certificate", "rerun")
PROOF = re.compile(r"reproduced-[a-z0-9][a-z0-9.+-]*\.json")


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """Somebody else got the same.

    Attributes:
        by: who.
        date: when, a day.
        how: by a ``certificate`` of their own, or by a ``rerun`` of the entry's method.
        seed: the certificate of the entry that was reproduced.
        seal: the seal of that certificate.
        metric: the metric that was compared.
        value: what they got.
        low: the lower end of the entry's interval.
        high: the upper end.
        certificate: their certificate, if there is one; its scores are in a file beside the proof.
        versions: the versions of a rerun.
    """

    by: str
    date: str
    how: str
    seed: int
    seal: str
    metric: str
    value: float
    low: float
    high: float
    certificate: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        person_field(self.by, "by", LONGEST_NAME)
        date_field(self.date, "date")
        if self.how not in HOW:
            raise InputError(f"how must be {' or '.join(HOW)}, got {self.how!r}")
        if type(self.seed) is not int:
            raise InputError(f"seed must be a whole number, got {self.seed!r}")
        if not all(is_number(one) for one in (self.value, self.low, self.high)):
            raise InputError("value, low and high must be numbers")
        for name in ("certificate", "versions"):
            if not isinstance(getattr(self, name), Mapping):
                raise InputError(f"{name} must be an object, got {type(getattr(self, name)).__name__}")
        if bool(self.certificate) != (self.how == "certificate"):
            raise InputError(
                "certificate must be that of another party, or empty if the method was run again"
            )
        if not self.low <= self.value <= self.high:
            raise InputError(
                f"{self.by} got {self.metric} {self.value:.6g}, which is not in the entry's interval"
                f" [{self.low:.6g}, {self.high:.6g}]"
            )

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a proof; what it says is compared with its certificate by :meth:`Board.check`."""
        found = read_json(path, absent=str(path.parent), damaged=f"{path}: it", most=MOST_BYTES)
        known = cls.__dataclass_fields__.keys()
        if not isinstance(found, dict) or found.pop("format", None) != FORMAT:
            raise InputError(f"{path} does not say 'format': '{FORMAT}'")
        if set(found) - known:
            raise InputError(f"{path} has an unknown field {sorted(set(found) - known)[0]!r}")
        try:
            for one in fields(cls):
                if one.default_factory is MISSING and one.name not in found:
                    raise InputError(f"{one.name} is missing")
            return cls(**found)
        except InputError as error:
            raise InputError(f"{path}: {error}") from None

    def text(self) -> str:
        """Return the content of the proof's file."""
        return json.dumps({"format": FORMAT, **asdict(self)}, indent=2, allow_nan=False) + "\n"
