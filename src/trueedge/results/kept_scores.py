"""Scores that stay beside the records, so that metrics can be computed again from them."""

from __future__ import annotations

import hashlib
import math
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import open_memmap
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.results.record import Record
from trueedge.scorers.score_files import FileScores, split_flat
from trueedge.tasks import LinkTask, Task

FOLDER = "scores"
# What is claimed of a record is claimed of this part.
PART = "test"
# A file that holds more is no file of ours: 100,000 positives with 500 negatives each are 5 % of it.
MOST_SCORES = 1 << 30


@dataclass(frozen=True, eq=False)
class JudgedScores:
    """The scores of a test part, as they were judged.

    Attributes:
        positive: float64 (P,).
        negative: float64 (M,) shared by all positives, or (P, K) each positive's own.
    """

    positive: NDArray[np.float64]
    negative: NDArray[np.float64]

    @property
    def shape(self) -> dict[str, Any]:
        """How many positives, and the shape of the negatives."""
        return {"positives": len(self.positive), "negatives": list(self.negative.shape)}

    @property
    def hash(self) -> str:
        """A SHA-256 of the scores in the order of the task's pairs, and of their shapes."""
        digest = hashlib.sha256()
        for array in (self.positive, self.negative):
            digest.update(f"{array.shape}".encode())
            digest.update(np.ascontiguousarray(array, dtype="<f8").reshape(-1).view(np.uint8).data)
        return digest.hexdigest()

    @property
    def in_order(self) -> FileScores:
        """As a scorer that gives a task these very scores."""
        flat = np.concatenate([self.positive, self.negative.reshape(-1)])
        return FileScores("kept scores", flat, np.empty(0, np.int64), np.empty(0), 0)

    def save(self, path: Path) -> None:
        """Write them as one ``.npy`` array (n,), the positives and then the negatives row by row.

        Single precision is used where it holds every value exactly. A file that was there is replaced whole.
        """
        flat = self.in_order.in_order
        assert flat is not None
        with np.errstate(over="ignore"):
            single = flat.astype(np.float32)
        kept = single if (single == flat).all() else flat
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(prefix=".scores-", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                np.save(file, kept, allow_pickle=False)
            os.chmod(draft, 0o644)
            os.replace(draft, path)
        except BaseException:
            os.unlink(draft)
            raise


def judge(
    task: Task, scorer: object, parts: Iterable[str], keep: bool
) -> tuple[dict[str, dict[str, float]], JudgedScores | None]:
    """The metrics of each part and, where they shall be kept, the scores of the test part.

    Every pair is scored once. Where each node ranks all others, in blocks, there are no scores to keep.
    """
    values, kept = {}, None
    for part in parts:
        if keep and part == PART and isinstance(task, LinkTask):
            kept = JudgedScores(*task.scores(scorer, part))
            values[part] = task.evaluate(kept.in_order, part)
        else:
            values[part] = task.evaluate(scorer, part)
    return values, kept


def keep(
    runs: Path | None, task: Task, scores: JudgedScores | None
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Write scores into the folder of the records, under their hash.

    Args:
        runs: the folder of the records; None where no scores shall be kept.
        task: what they were judged on.
        scores: None where there are none to keep, which a record says too.

    Returns:
        what the record's provenance says of them, and what went wrong: hours of training are not thrown away
        because a disk is full.
    """
    if runs is None:
        return {}, ()
    if scores is None or not isinstance(task, LinkTask):
        return {"kept": None}, ()
    card = {"scores": scores.hash, "shape": scores.shape, **split_hashes(task)}
    try:
        scores.save(scores_path(runs, card))
    except OSError as error:
        return {}, (f"its scores could not be kept in {runs / FOLDER}: {error.strerror}",)
    return {"kept": card}, ()


def split_hashes(task: LinkTask) -> dict[str, str]:
    """The SHA-256 of a task's split (training graph and positives) and of its negatives."""
    split, negatives = hashlib.sha256(task.graph.hash.encode()), hashlib.sha256()
    for name, part in sorted(task.parts.items()):
        for digest, array in ((split, part.positives), (negatives, part.negatives)):
            digest.update(f"{name} {array.shape}".encode())
            digest.update(np.ascontiguousarray(array, dtype="<i4").reshape(-1).view(np.uint8).data)
    return {"split": split.hexdigest(), "negatives": negatives.hexdigest()}


def scores_path(runs: Path, card: Mapping[str, Any]) -> Path:
    """Where the scores lie that a record speaks of."""
    return runs / FOLDER / f"{card['scores']}.npy"


def settled(record: Record, runs: Path) -> bool:
    """Whether a record's scores are there, or cannot be kept: it need not be run again for them."""
    if "kept" not in record.provenance:
        return False
    card = record.provenance["kept"]
    return card is None or scores_path(runs, card).is_file()


def load_scores(path: Path, positives: int, negatives: Sequence[int]) -> JudgedScores:
    """Read what :meth:`JudgedScores.save` wrote; nothing is allocated for a shape the file does not have.

    Args:
        path: the ``.npy`` file.
        positives: how many positives it must hold.
        negatives: the shape of the negatives, (M,) or (P, K).
    """
    try:
        # A file's head may claim any length: mapping one that is shorter fails, and takes no memory.
        mapped = open_memmap(path, mode="r") if path.is_file() else None
    except Exception:  # a damaged head fails in many ways
        raise InputError(f"{path} is damaged or cut short: it is no whole .npy file of scores") from None
    if mapped is None:
        raise InputError(f"there is no file {path}")
    wanted = positives + math.prod(negatives)
    if mapped.ndim != 1 or mapped.dtype.str not in ("<f4", "<f8"):
        raise InputError(
            f"{path} is no list of scores, but an array of {mapped.dtype} and shape {mapped.shape}"
        )
    if len(mapped) != wanted or wanted > MOST_SCORES:
        shape = " x ".join(map(str, negatives))
        raise InputError(
            f"{path} holds {len(mapped)} scores, not those of {positives} positives and {shape} negatives"
        )
    if os.path.getsize(path) != mapped.offset + mapped.nbytes:
        raise InputError(f"{path} is damaged: something follows the scores")
    return JudgedScores(*split_flat(np.array(mapped, dtype=np.float64), positives, tuple(negatives)))
