"""Scores of the test part, kept with the records, so that a record can be certified."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.files.archives import read_archive
from trueedge.files.arrays import map_array
from trueedge.files.text import plain
from trueedge.files.writing import replacing
from trueedge.metrics import Evaluation, PairScores, Scores
from trueedge.metrics.scores import FORMS
from trueedge.results.record import Record
from trueedge.scorers.score_files import split_flat
from trueedge.tasks import Task
from trueedge.tasks.base import KINDS

FOLDER = "scores"
PART = "test"
# No file of ours holds more: 100,000 positives with 500 negatives each are 5 % of it.
MOST_SCORES = 1 << 30
# More than the header of any .npy array of a few dimensions.
BYTES_OF_HEAD = 4096


def evaluate_parts(
    task: Task, scorer: object, parts: Iterable[str], keep: bool
) -> tuple[dict[str, Evaluation], Scores | None]:
    """Evaluate each part; return the metrics and, if they are to be kept, the scores of the test part."""
    values, kept = {}, None
    for part in parts:
        if keep and part == PART and task.keeps_scores:
            kept = task.scores(scorer, part)
            values[part] = task.evaluate_scores(kept, part)
        else:
            values[part] = task.evaluate(scorer, part)
    return values, kept


class ScoresToKeep(Protocol):
    """Scores that are written once their record is stored: a full disk does not cost hours of training."""

    def save(self) -> str:
        """Write them; return a sentence on why that failed, or nothing."""
        ...


@dataclass(frozen=True)
class HeldScores:
    """Scores in the memory of this process, for the folder of the records (``runs``)."""

    scores: Scores
    runs: Path

    def save(self) -> str:
        """Write them to a file named by their hash."""
        try:
            save_scores(self.scores, scores_path(self.runs, describe(self.scores)))
        except (OSError, InputError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            return f"its scores could not be kept in {self.runs / FOLDER}: {reason}"
        return ""


def to_keep(
    runs: Path | None, scores: Scores | None
) -> tuple[dict[str, Any], tuple[str, ...], HeldScores | None]:
    """Return the entry for a record's provenance, warnings, and the scores to write after the record.

    Args:
        runs: the folder of the records; None if no scores are to be kept.
        scores: None if the task keeps no scores, which the record then says.
    """
    if runs is None:
        return {}, (), None
    if scores is None:
        return {"kept": None}, (), None
    try:
        return {"kept": describe(scores)}, (), HeldScores(scores, runs)
    except InputError as error:
        return {}, (f"its scores could not be kept in {runs / FOLDER}: {error}",), None


def without_scores(record: Record, complaint: str) -> Record:
    """Return a record whose scores could not be written, as it is shown."""
    origin = {name: value for name, value in record.provenance.items() if name != "kept"}
    return replace(record, provenance=origin, warnings=(*record.warnings, complaint))


def describe(scores: Scores) -> dict[str, Any]:
    """Return the hash, the form and the shapes of scores."""
    shapes = {name: list(array.shape) for name, array in scores.arrays().items()}
    return {"scores": scores.hash, "form": scores.form, "shapes": shapes}


def scores_path(runs: Path, card: Mapping[str, Any]) -> Path:
    """Return the path of a record's scores; version 0.1 wrote ``.npy`` files."""
    return runs / FOLDER / f"{card['scores']}.{'npz' if 'form' in card else 'npy'}"


def settled(record: Record, runs: Path) -> bool:
    """Return whether a record's scores exist or cannot be kept, so that it need not be run again."""
    if "kept" not in record.provenance:
        return False
    card = record.provenance["kept"]
    # Earlier versions kept no scores of some kinds of tasks that have them now.
    return not can_be_kept(record) if card is None else scores_path(runs, card).is_file()


def can_be_kept(record: Record) -> bool:
    """Return whether tasks of a record's kind keep scores."""
    kind = KINDS.find(record.kind)
    return kind is None or kind.keeps_scores


def save_scores(scores: Scores, path: Path) -> None:
    """Write scores to an ``.npz`` file, in single precision if that is exact; an older file is replaced."""
    arrays = {name: _compact(array) for name, array in scores.arrays().items()}
    with replacing(path) as draft, draft.open("wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]


def load_scores(path: Path, card: Mapping[str, Any]) -> Scores:
    """Read what :func:`save_scores` of this version or 0.1 wrote; false shapes allocate no memory.

    Args:
        path: the file.
        card: ``form`` and ``shapes``; in version 0.1 the numbers of ``positives`` and ``negatives``.
    """
    if "form" not in card:
        return _load_pairs(path, card["positives"], card["negatives"])
    most = sum(BYTES_OF_HEAD + 8 * math.prod(shape) for shape in card["shapes"].values())
    arrays = read_archive(path, most=most)
    shapes = {name: list(array.shape) for name, array in arrays.items()}
    if shapes != card["shapes"]:
        raise InputError(f"{path} holds {_in_words(shapes)}, not {_in_words(card['shapes'])}")
    if any(array.dtype.kind not in "iufb" for array in arrays.values()):
        raise InputError(f"{path} holds something other than numbers")
    try:
        return FORMS.get(card["form"]).from_arrays(arrays)
    except InputError as error:
        raise InputError(f"{path} does not hold such scores: {error}") from None


def _compact(array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype != np.float64:
        return array
    with np.errstate(over="ignore"):
        single = array.astype(np.float32)
    return single if (single == array).all() else array


def _load_pairs(path: Path, positives: int, negatives: Sequence[int]) -> PairScores:
    """Read scores of positives and negatives from one ``.npy`` array (n,), as version 0.1 wrote them."""
    # A file's header may claim any length: mapping a shorter file fails without using memory.
    mapped = map_array(path)
    wanted = positives + math.prod(negatives)
    if mapped.ndim != 1 or mapped.dtype.str not in ("<f4", "<f8"):
        raise InputError(f"{path} must hold a list of scores, got {mapped.dtype} of shape {mapped.shape}")
    if len(mapped) != wanted or wanted > MOST_SCORES:
        shape = " x ".join(map(str, negatives))
        raise InputError(
            f"{path} holds {len(mapped)} scores, not those of {positives} positives and {shape} negatives"
        )
    if os.path.getsize(path) != mapped.offset + mapped.nbytes:
        raise InputError(f"{path} is damaged: something follows the scores")
    return PairScores.check(*split_flat(np.array(mapped, dtype=np.float64), positives, tuple(negatives)))


def _in_words(shapes: Mapping[str, Sequence[int]]) -> str:
    """Return the names and shapes of arrays: ``positive (7), negative (7, 20)``."""
    return (
        ", ".join(f"{plain(name)} ({', '.join(map(str, shape))})" for name, shape in shapes.items())
        or "no array"
    )
