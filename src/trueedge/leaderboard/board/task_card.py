"""The card of a task, ``task.toml``: what is evaluated, and the hash of the frozen task of each seed."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from trueedge.analysis.comparison import FEWEST
from trueedge.errors import InputError, unknown
from trueedge.leaderboard.board.hidden_table import HASH, checked_hidden
from trueedge.leaderboard.board.text_fields import folder_name, folder_name_of, text_field
from trueedge.leaderboard.board.toml_files import read_toml, toml_text
from trueedge.metrics import Scores
from trueedge.metrics import get as get_metric
from trueedge.results.record import plain_value
from trueedge.tasks import LinkTask, Task
from trueedge.tasks.test_parts import hash_of_test_part

FILE = "task.toml"
MOST_SEEDS = 1000
# Files of a site and paths of a server have these names.
TAKEN = (
    *("api", "boards", "boards.json", "index.html", "page.js", "style.css", "submit.html"),
    "trueedge-site.txt",
)


@dataclass(frozen=True, kw_only=True)
class FrozenSeed:
    """What a board keeps of the frozen task of one seed, so that scores can be checked without the data.

    Attributes:
        task: the hash of the task.
        shapes: the shapes of the arrays of scores that the task fixes, by name.
        truth: the hashes of those arrays of a certificate that come from the task, by name.
        test_part: the hash of the test part, if several seeds may have the same one; else empty. It is not
            compared: the hash of the task covers it, and older cards do not have it.
    """

    task: str
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    truth: Mapping[str, str] = field(default_factory=dict)
    test_part: str = field(default="", compare=False)

    @classmethod
    def of(cls, task: Task) -> Self:
        """Return what is kept of a task."""
        shapes: dict[str, tuple[int, ...]] = {}
        if isinstance(task, LinkTask):
            part = task.part("test")
            shapes = {"positive": (len(part.positives),), "negative": part.negatives.shape[:-1]}
        truth = {name: values_hash(array) for name, array in task.truth("test").items()}
        units = hash_of_test_part(task.kind, task.hashes, task.hash)
        return cls(task=task.hash, shapes=shapes, truth=truth, test_part="" if units == task.hash else units)

    @property
    def part(self) -> str:
        """Return the hash of the test part, which seeds with one published test part have in common."""
        return self.test_part or self.task

    def mismatch(self, scores: Scores) -> str:
        """Return why scores cannot be of the test part of this task; empty if they can."""
        held = scores.facts()
        for name, shape in self.shapes.items():
            found = held[name].shape if name in held else None
            if found != tuple(shape):
                return f"the task has {name} scores of the shape {list(shape)}, the certificate of {found}"
        for name, expected in self.truth.items():
            if name not in held or values_hash(held[name]) != expected:
                return f"the {name} in the scores are not those of the task"
        return ""


@dataclass(frozen=True, kw_only=True)
class BoardTask:
    """A task of a board.

    Attributes:
        name: the name of its folder.
        title: what pages call it.
        dataset: the data set's name.
        protocol: the protocol's name.
        options: the protocol's options that were set.
        kind: the kind of task.
        unit: what one value belongs to, a noun.
        headline: the metric that entries are ranked by.
        seeds: what is kept of the frozen task of each seed. An entry is ranked if it has all of these.
        version: a task that changes gets a new version and a new folder.
        superseded_by: the folder of its successor; empty for a current task.
        source: where the data come from: an https address, or a sentence.
        hidden: for hidden labels: season, hashes, shares and dates, as the judge wrote them; else empty.
        audit: the SHA-256 of ``audit.json``; empty for a task without one. Not compared.
    """

    name: str
    title: str
    dataset: str
    protocol: str
    kind: str
    headline: str
    unit: str = "positive"
    options: Mapping[str, Any] = field(default_factory=dict)
    seeds: Mapping[int, FrozenSeed] = field(default_factory=dict)
    version: int = 1
    superseded_by: str = ""
    source: str = ""
    hidden: Mapping[str, Any] = field(default_factory=dict)
    audit: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        folder_name(self.name, "the name of a task")
        if self.name in TAKEN:
            raise InputError(f"a task cannot be called {self.name}: a file of its site has this name")
        for name in ("title", "dataset", "protocol", "kind", "unit", "headline"):
            text_field(getattr(self, name), name, 200)
        if self.source:
            text_field(self.source, "source")
        if self.superseded_by:
            folder_name(self.superseded_by, "superseded_by")
        if type(self.version) is not int or self.version < 1:
            raise InputError(f"version must be a whole number, 1 or more, got {self.version!r}")
        if not self.seeds and not self.hidden:
            raise InputError("the task has no seeds: a board needs the hash of at least one frozen task")
        if len(self.seeds) > MOST_SEEDS:
            raise InputError(f"the task has {len(self.seeds)} seeds; {MOST_SEEDS} are allowed")
        if self.audit and not (isinstance(self.audit, str) and HASH.fullmatch(self.audit)):
            raise InputError("audit must be a hash of 64 digits 0-9 a-f")
        get_metric(self.headline)
        if not isinstance(self.options, Mapping):
            raise InputError(f"options must be a table, got {type(self.options).__name__}")
        object.__setattr__(self, "hidden", checked_hidden(self.hidden))

    @property
    def over(self) -> str:
        """Return what intervals and differences of entries are over.

        They are over ``tasks`` (splits), ``units`` of one split, or ``units and seeds`` of several splits
        with one test part; empty if the scores of so few splits do not suffice.
        """
        parts = {one.part for one in self.seeds.values()}
        if len(parts) >= FEWEST:
            return "tasks"
        # Two splits show too little, and scores do not show how much one varies whose positives share
        # negatives.
        shared = any(len(one.shapes.get("negative", ())) == 1 for one in self.seeds.values())
        if len(parts) != 1 or shared:
            return ""
        return "units" if len({one.task for one in self.seeds.values()}) == 1 else "units and seeds"

    @property
    def untested(self) -> str:
        """Return why no difference of entries can be tested: ``one seed allows no test``; empty if they can.

        Nothing is said of hidden labels: a judge alone compares these entries.
        """
        if self.over or self.labels_hidden:
            return ""
        if len({one.part for one in self.seeds.values()}) > 1:
            return "two splits allow no test"
        # The season of a hidden task has one test part, which no seed draws.
        what = "seed" if len(self.seeds) == 1 and not self.hidden else "test part"
        return f"one {what} allows no test"

    @property
    def labels_hidden(self) -> bool:
        """Return whether nobody but a judge knows the labels: no season has ended and released them."""
        return bool(self.hidden) and not self.seeds

    @classmethod
    def of(cls, tasks: Sequence[Task], name: str | None = None, **given: Any) -> Self:
        """Return the card of frozen tasks that differ in their seed alone."""
        first = tasks[0]
        for one in tasks[1:]:
            for what in ("dataset", "protocol", "kind", "headline"):
                if getattr(one, what) != getattr(first, what):
                    raise InputError(
                        f"seeds of one task must have the same {what}, got {getattr(first, what)} and"
                        f" {getattr(one, what)}"
                    )
        if not first.keeps_scores:
            raise InputError(f"a task under {first.protocol} keeps no scores, so it has no certificates")
        seeds = {one.seed: FrozenSeed.of(one) for one in sorted(tasks, key=lambda one: one.seed)}
        if len(seeds) < len(tasks):
            raise InputError("two of the tasks have the same seed")
        words: dict[str, Any] = {"title": f"{first.dataset} · {first.protocol}", **given}
        return cls(
            name=name or folder_name_of(f"{first.dataset}-{first.protocol}"),
            dataset=first.dataset,
            protocol=first.protocol,
            kind=first.kind,
            unit=first.unit,
            headline=first.headline,
            seeds=seeds,
            **words,
        )

    @classmethod
    def from_toml(cls, path: Path) -> Self:
        """Read a card; the folder must have its name, and errors name the file."""
        try:
            values = read_toml(path)
            known = [one.name for one in fields(cls)]
            for name in values:
                if name not in known:
                    raise unknown("field of a task's card", name, known)
            for one in fields(cls):
                if one.default is MISSING and one.default_factory is MISSING and one.name not in values:
                    raise InputError(f"{one.name} is missing")
            listed = _table(values.pop("seeds", {}), "seeds")
            seeds = {_seed(key): _frozen(one, key) for key, one in listed.items()}
            made = cls(**values, seeds=dict(sorted(seeds.items())))
            if made.name != path.parent.name:
                raise InputError(f"its name is {made.name}, but its folder is {path.parent.name}")
            return made
        except InputError as error:
            raise error if str(path) in str(error) else InputError(f"{path}: {error}") from None

    def to_toml(self) -> str:
        """Return the text of ``task.toml``."""
        plain = json.loads(json.dumps(dict(self.options), default=plain_value))
        values: dict[str, Any] = {
            one.name: getattr(self, one.name)
            for one in fields(self)
            if one.name not in ("options", "seeds", "hidden") and getattr(self, one.name) != ""
        }
        values["options"] = plain
        values["seeds"] = {
            str(seed): {
                "task": one.task,
                **(
                    {"shapes": {name: list(shape) for name, shape in one.shapes.items()}}
                    if one.shapes
                    else {}
                ),
                **({"truth": dict(one.truth)} if one.truth else {}),
                **({"test_part": one.test_part} if one.test_part else {}),
            }
            for seed, one in self.seeds.items()
        }
        kept = {name: value for name, value in values.items() if value != {}}
        return toml_text({**kept, "hidden": dict(self.hidden)} if self.hidden else kept)


def values_hash(array: NDArray[Any]) -> str:
    """Return a SHA-256 of an array's shape and values, whatever the type of these."""
    # Adding zero turns -0.0, which equals 0.0, into it.
    content = np.ascontiguousarray(array, dtype="<f8") + 0.0
    return hashlib.sha256(f"{array.shape}".encode() + content.tobytes()).hexdigest()


def _table(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{what} must be a table, got {type(value).__name__}")
    return value


def _seed(key: str) -> int:
    if not re.fullmatch("0|[1-9][0-9]{0,17}", key):
        raise InputError(f"{key!r} is not the number of a seed")
    return int(key)


def _frozen(values: Any, key: str) -> FrozenSeed:
    given = _table(values, f"seed {key}")
    truth = _table(given.get("truth", {}), f"truth of seed {key}")
    shapes = _table(given.get("shapes", {}), f"shapes of seed {key}")
    hashes = [given.get("task"), *truth.values()]
    hashes += [given["test_part"]] if "test_part" in given else []
    if not given or set(given) - {"task", "shapes", "truth", "test_part"}:
        raise InputError(f"seed {key} must have task, shapes, truth and test_part, and nothing else")
    if not all(isinstance(one, str) and HASH.fullmatch(one) for one in hashes):
        raise InputError(f"seed {key} must have hashes of 64 digits 0-9 a-f")
    sizes = [size for one in shapes.values() for size in (one if isinstance(one, list) else [None])]
    if not all(type(size) is int and size >= 0 for size in sizes):
        raise InputError(f"seed {key} must have shapes that are lists of whole numbers, 0 or more")
    return FrozenSeed(
        task=given["task"],
        shapes={name: tuple(shape) for name, shape in shapes.items()},
        truth=truth,
        test_part=given.get("test_part", ""),
    )
