"""HeaRT negatives of large graphs in shards; a run can be resumed or shared by several processes."""

from __future__ import annotations

import inspect
import json
import os
import time
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueedge.errors import InputError, unknown, whole_number
from trueedge.graph import Graph, pair_keys
from trueedge.negatives.heart import Request, checked, heart, problem_of
from trueedge.negatives.shard_files import (
    SECONDS_BETWEEN_CHECKS,
    claimed,
    draft_of,
    publish,
    write_once,
    write_rows,
)
from trueedge.negatives.sharded import (
    CARD,
    FORMAT,
    POSITIVES,
    VERSION,
    ShardedNegatives,
    hash_pairs,
    read_card,
)
from trueedge.progress import Steps

if TYPE_CHECKING:
    from trueedge.kernels.arrays.threads import Scratches
    from trueedge.kernels.negatives.hard_candidates import Problem, Scratch

# Part of every request; increase it when the same request gives different negatives.
RULE = 1
_DEFAULTS = {
    name: each.default
    for name, each in inspect.signature(heart).parameters.items()
    if each.default is not each.empty and name != "progress"
}


# Makes all shards that are missing: of the negatives in a folder, for a request, reporting progress.
Work = Callable[[ShardedNegatives, Request, Steps | None], object]


def heart_shards(
    graph: Graph,
    positives: ArrayLike,
    folder: str | os.PathLike[str],
    *,
    ends_per_shard: int = 2048,
    progress: Steps | None = None,
    work: Work | None = None,
    **options: Any,
) -> ShardedNegatives:
    """Write the negatives of :func:`trueedge.negatives.heart`, exactly the same, into a folder in shards.

    Called again with the same arguments, it continues where it was stopped and does nothing once all shards
    are there. Several processes called with the same arguments share the work, and each returns when all of
    it is done. A damaged shard is written again.

    Args:
        graph: the training graph, whose structure and features the heuristics read.
        positives: int array (P, 2), without self-pairs.
        folder: a new or empty folder, or one with negatives of the same request.
        ends_per_shard: end nodes per shard. A killed run loses at most one shard per process.
        progress: called with (end nodes done by all processes, end nodes in all) as the work goes on.
        work: makes the shards elsewhere, such as on a cluster; by default this process makes them.
        options: ``k``, ``heuristics``, ``known``, ``keep_known``, ``alpha``, ``eps``, ``ties``, ``seed`` and
            ``sides``, as :func:`trueedge.negatives.heart` takes them, with the same defaults.

    Returns:
        The negatives on disk, to be read in parts or as one array (P, k, 2).
    """
    for name in options:
        if name not in _DEFAULTS:
            raise unknown("option of heart_shards", name, _DEFAULTS)
    asked = checked(graph, positives, **{**_DEFAULTS, **options})
    ends_per_shard = whole_number("ends_per_shard", "heart_shards", ends_per_shard, 1)
    place = Path(folder)
    try:
        _begin(place, asked, ends_per_shard)
        negatives = ShardedNegatives.at(place)
        if work is None:
            ShardWork(negatives, asked, progress).finish()
        else:
            work(negatives, asked, progress)
    except OSError as error:
        raise InputError(f"{place} cannot be written: {error.strerror or error}") from None
    return negatives


def _begin(folder: Path, asked: Request, ends_per_shard: int) -> None:
    """Write the folder's manifest; refuse a folder with another one."""
    request = _content(asked, ends_per_shard)
    card = folder / CARD
    if folder.exists() and not card.exists():
        _refuse_foreign(folder)
    folder.mkdir(parents=True, exist_ok=True)

    def write(file: BinaryIO) -> None:
        with claimed(folder / POSITIVES) as beside:
            # Nobody else comes here while the card is claimed.
            assert beside is not None
            np.save(beside, asked.positives.astype(np.int32), allow_pickle=False)
            publish(beside, folder / POSITIVES)
        text = json.dumps({"format": FORMAT, "version": VERSION, "request": request}, indent=1)
        file.write(text.encode() + b"\n")

    write_once(card, write)
    _refuse_another(folder, read_card(folder), request)


def _content(asked: Request, ends_per_shard: int) -> dict[str, Any]:
    """Return all that the shards depend on, as JSON can hold it."""
    known = np.unique(pair_keys(asked.known, asked.graph.num_nodes))
    return {
        "rule": RULE,
        # Not its labels: negatives are the same whatever the nodes are called.
        "graph": asked.graph.hash_without_labels,
        "positives": hash_pairs(asked.positives),
        "known": hash_pairs(known),
        "keep_known": asked.keep_known,
        "k": asked.k,
        # Their order changes nothing.
        "heuristics": sorted(asked.heuristics),
        "alpha": asked.alpha,
        "eps": asked.eps,
        "ties": asked.ties,
        "seed": asked.seed,
        "ends_per_shard": ends_per_shard,
        # Manifests from before there were sides have none.
        **({} if asked.sides is None else {"sides": hash_pairs(asked.sides.of)}),
    }


def _refuse_foreign(folder: Path) -> None:
    if not folder.is_dir():
        raise InputError(f"{folder} is a file, not a folder")
    ours = {POSITIVES, draft_of(folder / POSITIVES).name, CARD, draft_of(folder / CARD).name}
    foreign = sorted(set(os.listdir(folder)) - ours)
    # Another process may have begun here since we looked.
    if foreign and not (folder / CARD).exists():
        raise InputError(f"{folder} is neither empty nor a folder of negatives: {foreign[0]!r} is in it")


def _refuse_another(folder: Path, found: dict[str, Any], request: dict[str, Any]) -> None:
    for key, value in request.items():
        if found.get(key) == value:
            continue
        hashed = {"graph": "another graph", "positives": "other positives", "known": "other known edges"}
        hashed["sides"] = "other sides"
        differs = f"for {hashed[key]}" if key in hashed else f"with {key} {found.get(key)!r}, not {value!r}"
        raise InputError(f"{folder} holds the negatives of another request: it was begun {differs}")


class ShardWork:
    """One process's part in filling a folder."""

    def __init__(self, negatives: ShardedNegatives, asked: Request, progress: Steps | None) -> None:
        self.negatives = negatives
        self.asked = asked
        self.progress = progress
        self.done = 0
        self.left = list(range(negatives.num_shards))

    def finish(self) -> None:
        """Make every free shard, and wait for those that other processes make."""
        waiting = False
        while self.left:
            if waiting:
                time.sleep(SECONDS_BETWEEN_CHECKS)
            before = len(self.left)
            self.left = [shard for shard in self.left if not self._see_to(shard)]
            waiting = len(self.left) == before
        for path in map(self.negatives.path, range(self.negatives.num_shards)):
            # Left by a process that was killed after claiming a shard that was just made.
            if draft_of(path).exists():
                _discard_draft(path)

    def write(self, shard: int, path: Path) -> None:
        """Compute a shard and write it to a file of the caller's choice, safely on the disk."""
        with path.open("wb") as file:
            write_rows(file, self._compute(shard), self.negatives.salt(shard))
            file.flush()
            os.fsync(file.fileno())

    def count(self, shards: Iterable[int]) -> None:
        """Count shards as done."""
        for shard in shards:
            first, last = self.negatives.stretch(shard)
            self.done += last - first
        self._report(0)

    def _see_to(self, shard: int) -> bool:
        """Return whether a shard is there now."""
        path = self.negatives.path(shard)
        if not self.is_good(shard):
            with claimed(path) as file:
                if file is None:
                    return False
                if self.is_good(shard):
                    draft_of(path).unlink()  # another has made it since we looked
                else:
                    write_rows(file, self._compute(shard), self.negatives.salt(shard))
                    publish(file, path)
        self.count([shard])
        return True

    def _compute(self, shard: int) -> NDArray[np.int32]:
        from trueedge.kernels.arrays.grouping import Groups
        from trueedge.kernels.negatives.hard_candidates import corrupted_ends

        ends, (first, last) = Groups(*self.negatives.ends), self.negatives.stretch(shard)
        problem, scratches = self._tools
        return corrupted_ends(
            problem, ends, self.asked.positives, first, last, scratches, lambda done, _: self._report(done)
        )

    @cached_property
    def _tools(self) -> tuple[Problem, Scratches[Scratch]]:
        from trueedge.kernels.negatives.hard_candidates import heart_scratches

        problem = problem_of(self.asked)
        return problem, heart_scratches(problem, self.asked.eps)

    def _report(self, further: int) -> None:
        if self.progress is not None:
            self.progress(self.done + further, len(self.negatives.ends.keys))

    def is_good(self, shard: int) -> bool:
        """Return whether a shard is there and undamaged."""
        try:
            self.negatives.read(shard, verify=True)
        except InputError:
            return False
        return True


def _discard_draft(path: Path) -> None:
    with claimed(path) as file:
        if file is not None:
            draft_of(path).unlink()
