"""The published side of a hidden task: training data, candidates in a fixed order, a hash of the labels."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError, must_be
from trueedge.files.archives import read_archive
from trueedge.files.arrays import NPY, ZIP, array_in, read_array, regular_file
from trueedge.leaderboard.hidden.hidden_card import HiddenCard, read_card
from trueedge.scorers.scorer import ask
from trueedge.tasks import Task, load
from trueedge.tasks.nodes import NodeTask
from trueedge.tasks.triples import TripleTask

CARD, CANDIDATES, TASK = "hidden.json", "candidates.npy", "task"
# More than the header of any .npy array, or of a member of an archive.
BYTES_OF_HEAD = 8192


@dataclass(frozen=True)
class HiddenTask:
    """A hidden task as its participants have it.

    Attributes:
        folder: where it lies.
        card: what is known about it.
    """

    folder: Path
    card: HiddenCard

    @classmethod
    def open(cls, folder: str | Path) -> HiddenTask:
        """Open the public folder of a hidden task, and compare its candidates with their hash."""
        place = Path(folder)
        card, _ = read_card(place / CARD, f"{place} is not a hidden task")
        found = cls(place, card)
        if candidates_hash(found.candidates) != found.card.candidates:
            raise InputError(f"{place} is damaged: its candidates do not have the published hash")
        return found

    @cached_property
    def candidates(self) -> NDArray[np.int64]:
        """Return what has to be scored, in the order of a submission: pairs, links, nodes or queries."""
        found = read_array(self.folder / CANDIDATES)
        if found.dtype.kind not in "iu" or found.shape[:1] != self.card.shape[:1]:
            raise InputError(f"{self.folder / CANDIDATES} does not hold {self.card.shape[0]} candidates")
        return found.astype(np.int64)

    @cached_property
    def task(self) -> Task:
        """Return what a method's ``fit`` gets: training and validation data, without a test part."""
        return load(self.folder / TASK, fitting=True)

    def scores(self, scorer: object) -> NDArray[np.float64]:
        """Return a submission: the scores of all candidates by a fitted scorer, in their order."""
        task = self.task
        part = "valid" if "valid" in task.part_names else "test"
        bound = task.bind(scorer, part)
        answers = np.asarray(ask(bound, self.candidates), dtype=np.float64)
        if isinstance(task, NodeTask) and answers.ndim == 1:
            answers = np.eye(task.num_classes)[task.numbered(answers)]
        return check_submission(answers, self.card.shape, "the scores")


def answer_shape(task: Task, count: int) -> tuple[int, ...]:
    """Return the shape of a submission to a task with so many candidates."""
    if isinstance(task, NodeTask):
        return (count, task.num_classes)
    if isinstance(task, TripleTask):
        return (count, task.num_entities)
    return (count,)


def candidates_hash(candidates: NDArray[Any]) -> str:
    """Return the SHA-256 of candidates and their shape."""
    digest = hashlib.sha256(f"{candidates.shape}".encode())
    digest.update(np.ascontiguousarray(candidates, dtype="<i8").tobytes())
    return digest.hexdigest()


def read_submission(path: Path, shape: tuple[int, ...], what: str = "the submission") -> NDArray[np.float64]:
    """Read a submission, float64 of exactly one shape: a .npy file, or a .npz file of one array.

    Nothing is unpickled, and memory is only allocated for the expected size. Errors do not depend on labels.

    Args:
        path: the file, in any name.
        shape: the shape that the task asks for.
        what: what errors call it.
    """
    place = regular_file(path, what)
    count = math.prod(shape)
    with place.open("rb") as stream:
        size = place.stat().st_size
        start = stream.read(len(NPY))
        stream.seek(0)
        if start == NPY:
            if size > 8 * count + BYTES_OF_HEAD:
                raise InputError(f"{what} has {size:,} bytes, more than {count:,} numbers take")
            values = array_in(stream, size, what, whole=True)
        elif start[:4] in ZIP:
            values = _single(read_archive(path, what, most=8 * count + BYTES_OF_HEAD), what)
        else:
            # Raw numbers do not say their type: n float64 numbers could be 2 n float32 ones.
            raise InputError(f"{what} is neither a .npy nor a .npz file: write it with numpy.save")
    return check_submission(values, shape, what)


def check_submission(values: NDArray[Any], shape: tuple[int, ...], what: str) -> NDArray[np.float64]:
    """Return a submission as float64; refuse anything but finite floats of the right shape."""
    if not isinstance(values, np.ndarray):
        raise must_be("scores", "a submission", "an array", values)
    if values.dtype.kind != "f" or values.dtype.itemsize not in (4, 8):
        raise InputError(f"{what} must hold float32 or float64 numbers, not {values.dtype}")
    if values.shape != shape:
        raise InputError(
            f"{what} has the shape {values.shape}, but the task has {shape}: one number for each candidate"
        )
    nonfinite = int(values.size - np.count_nonzero(np.isfinite(values)))
    if nonfinite:
        raise InputError(f"{what}: {nonfinite:,} of {values.size:,} numbers are NaN or infinite")
    return np.ascontiguousarray(values, dtype=np.float64)


def _single(arrays: Mapping[str, NDArray[Any]], what: str) -> NDArray[Any]:
    if len(arrays) != 1:
        raise InputError(f"{what} holds {len(arrays)} arrays: a submission is one array")
    return next(iter(arrays.values()))
