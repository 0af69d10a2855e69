"""Numbers as papers printed them: data, never ours."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from trueedge.errors import InputError

# The note of a value that is printed once, and compared with ours in a further way.
AGAIN = "printed once"


@dataclass(frozen=True)
class PublishedValue:
    """One printed number.

    Attributes:
        table: where it stands, e.g. ``heart/table-1``.
        dataset: the data set's name.
        protocol: the setting's name in the paper.
        method: the method's name, as in the catalogue.
        metric: the metric's name.
        mean: as printed (percent in HeaRT's tables), or None where the paper prints a reason.
        std: as printed, or None.
        note: the reason, or a remark.
    """

    table: str
    dataset: str
    protocol: str
    method: str
    metric: str
    mean: float | None
    std: float | None
    note: str


@cache
def published(paper: str) -> tuple[PublishedValue, ...]:
    """Return all printed numbers of a paper, in the order of its tables."""
    path = files("trueedge.studies") / "published" / f"{paper}.csv"
    if not path.is_file():
        raise InputError(f"no published numbers of {paper!r} are known")
    return tuple(
        PublishedValue(
            row["table"],
            row["dataset"],
            row["protocol"],
            row["method"],
            row["metric"],
            float(row["mean"]) if row["mean"] else None,
            float(row["std"]) if row["std"] else None,
            row["note"],
        )
        for row in csv.DictReader(path.read_text("utf-8").splitlines())
    )
