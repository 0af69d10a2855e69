"""The card of a hidden task, which both of its folders hold: the judge's with the salt and the key."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from trueedge.errors import InputError
from trueedge.files.cards import read_json
from trueedge.leaderboard.board import BoardTask
from trueedge.tasks.storage import KINDS

FORMAT = "trueedge hidden task"
VERSION = 2
# Its splits and negatives were drawn by a seed that is in the public folder.
REPLAYABLE = 1


@dataclass(frozen=True)
class HiddenCard:
    """What everybody may know about a hidden task.

    Attributes:
        name: the name of the task on its board.
        kind: the kind of task.
        dataset: the name of the data set.
        protocol: the protocol's name.
        metric: what submissions are judged by.
        season: the name of the season.
        closes: the day of its end, as YYYY-MM-DD; empty if it is not set.
        shape: the shape of a submission.
        candidates: the SHA-256 of the candidates.
        labels: the salted SHA-256 of the labels.
        public_share: the share of the units whose values the ladder answers with.
    """

    name: str
    kind: str
    dataset: str
    protocol: str
    metric: str
    season: str
    closes: str
    shape: tuple[int, ...]
    candidates: str
    labels: str
    public_share: float

    def to_json(self) -> str:
        """Return the card as the text of its file."""
        return json.dumps({"format": FORMAT, "version": VERSION, **asdict(self)}, indent=2) + "\n"

    def board_task(self) -> BoardTask:
        """Return the card of the task on a board."""
        return BoardTask(
            name=self.name,
            title=f"{self.dataset} · {self.protocol} · hidden labels",
            dataset=self.dataset,
            protocol=self.protocol,
            kind=self.kind,
            headline=self.metric,
            unit=KINDS.get(self.kind).unit,
            hidden=self.on_board(),
        )

    def on_board(self) -> dict[str, Any]:
        """Return what the card of a board's task says about it; the season opens today."""
        return {
            "season": self.season,
            "opens": datetime.now(UTC).date().isoformat(),
            **({"closes": self.closes} if self.closes else {}),
            "candidates": self.candidates,
            "labels": self.labels,
            "public_share": self.public_share,
            "shape": list(self.shape),
        }

    @classmethod
    def from_plain(cls, plain: Any, where: str) -> HiddenCard:
        """Return the card of a JSON value, or raise an InputError that names its place."""
        if not isinstance(plain, Mapping) or plain.get("format") != FORMAT:
            raise InputError(f"{where} does not describe a hidden task")
        if plain.get("version") == REPLAYABLE:
            raise InputError(
                f"{where} is of an older version, whose labels can be found by the published seed: hide the"
                " data again with 'trueedge leaderboard hide'"
            )
        if plain.get("version") != VERSION:
            raise InputError(f"{where} has the version {plain.get('version')!r}, this one reads {VERSION}")
        fields: dict[str, Any] = {}
        for name, kind in cls.__annotations__.items():
            value = plain.get(name)
            if kind == "str" and not isinstance(value, str):
                raise InputError(f"{where}: {name} is missing")
            fields[name] = value
        shape, share = fields["shape"], fields["public_share"]
        if (
            not isinstance(shape, (list, tuple))
            or not shape
            or not all(type(one) is int and one > 0 for one in shape)
        ):
            raise InputError(f"{where}: shape must be a list of whole numbers")
        if not isinstance(share, float) or not 0 < share < 1:
            raise InputError(f"{where}: public_share must lie between 0 and 1")
        return cls(**{**fields, "shape": tuple(shape)})


def read_card(path: Path, absent: str) -> tuple[HiddenCard, Mapping[str, Any]]:
    """Return the card in a file, and all that the file says.

    Args:
        path: the file.
        absent: the start of the error if there is none.
    """
    plain = read_json(path, absent=absent, damaged=f"{path.parent} is damaged: {path.name}")
    return HiddenCard.from_plain(plain, str(path)), plain
