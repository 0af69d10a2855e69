"""Merge the stores of several runs into one."""

from __future__ import annotations

import json
import os
import shutil
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from trueedge.errors import InputError, StoreWarning
from trueedge.files.writing import replacing
from trueedge.results.kept_scores import FOLDER as SCORES
from trueedge.results.kept_scores import load_scores, scores_path
from trueedge.results.record import Record
from trueedge.results.store import FILE_NAME, FOLDERS, Store


@dataclass
class Merged:
    """What a merge did.

    Attributes:
        new: how many records were added.
        known: how many were there already.
        differing: of these, how many have other metrics than the record that was there.
        problems: a sentence for each part, row or file that is damaged.
        notes: what else is to be known of the records.
    """

    new: int = 0
    known: int = 0
    differing: int = 0
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def merge(
    parts: Sequence[str | Path], into: str | Path, progress: Callable[[str, int, int], object] | None = None
) -> Merged:
    """Add the records of several stores to one, each request once.

    A request that the store has is not added again, so that merging a part twice changes nothing. The
    undamaged records of a damaged part are added. Kept scores are copied too, if they are what their record
    says.

    Args:
        parts: folders of records.
        into: the folder of the store; it is made if it is not there.
        progress: called with the name of a part, the parts done and their number.
    """
    if not parts:
        raise InputError("merge: there is no folder of records to merge")
    store = Store(into)
    there = {_identity(record): _metrics(record) for record in store.records()}
    merged = Merged()
    for done, part in enumerate(map(Path, parts)):
        if progress is not None:
            progress(str(part), done, len(parts))
        found = _records_of(part, merged)
        new: list[Record] = []
        for record in found:
            identity = _identity(record)
            if identity in there:
                merged.known += 1
                merged.differing += there[identity] != _metrics(record)
            else:
                there[identity] = _metrics(record)
                new.append(record)
        store.append_all(new)
        merged.new += len(new)
        merged.problems += [*_copied_scores(found, part, store.folder), *_copied_files(part, store.folder)]
    return merged


def _records_of(part: Path, merged: Merged) -> list[Record]:
    """Return the records of a part that can be read; note what is wrong with the others."""
    if not (part / FILE_NAME).is_file():
        merged.problems.append(f"{part} holds no records")
        return []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", StoreWarning)
        try:
            found = Store(part).records()
        except InputError as error:
            merged.problems.append(str(error))
            return []
    for sentence in (str(one.message) for one in caught if issubclass(one.category, StoreWarning)):
        damaged = "left out" in sentence or "missing" in sentence
        (merged.problems if damaged else merged.notes).append(sentence)
    return found


def _identity(record: Record) -> tuple[str, str]:
    """Return what makes a record the same as another: its request and the files that its code read."""
    return record.key, json.dumps(record.provenance.get("files", {}), sort_keys=True)


def _metrics(record: Record) -> str:
    return json.dumps(record.to_dict()["metrics"], sort_keys=True)


def _copied_scores(records: Iterable[Record], part: Path, into: Path) -> Iterator[str]:
    """Copy the kept scores of records, unless they are there; yield sentences on what is damaged."""
    cards = {card["scores"]: card for record in records if (card := record.provenance.get("kept"))}
    for card in cards.values():
        source, target = scores_path(part, card), scores_path(into, card)
        # Scores that are not there belong to a record that says so itself, or to a run that was killed.
        if target.exists() or not source.is_file():
            continue
        try:
            found = load_scores(source, card if "form" in card else card["shape"])
            if found.hash != card["scores"]:
                raise InputError(f"{source} is damaged: it does not hold the scores of its record")
        except (InputError, KeyError, TypeError) as error:
            yield f"{error}; it was not copied"
            continue
        yield from _copy(source, target)


def _copied_files(part: Path, into: Path) -> Iterator[str]:
    """Copy what else is kept beside the records, unless it is there; yield sentences on what failed."""
    for name in (one for one in FOLDERS if one != SCORES):
        for path in sorted((part / name).glob("*")):
            target = into / name / path.name
            if not target.exists() and not path.name.startswith(".") and path.is_file():
                yield from _copy(path, target)


def _copy(path: Path, target: Path) -> Iterator[str]:
    try:
        os.makedirs(target.parent, exist_ok=True)
        with replacing(target) as draft:
            shutil.copyfile(path, draft)
    except (OSError, InputError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        yield f"{path} could not be copied: {reason}"
