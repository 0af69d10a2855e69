"""HeaRT negatives of large graphs, made shard by shard: a killed run goes on, and several can share one."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueedge.errors import InputError, must_be
from trueedge.graph import Graph, pair_keys
from trueedge.negatives.heart import Request, checked, problem_of
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

# Part of every request: to be raised when the same request would get other negatives than before.
RULE = 1


def heart_shards(
    graph: Graph,
    positives: ArrayLike,
    folder: str | os.PathLike[str],
    k: int = 500,
    heuristics: Sequence[str] = ("ra", "ppr"),
    known: ArrayLike | None = None,
    keep_known: bool = False,
    alpha: float = 0.15,
    eps: float = 1e-5,
    ties: str = "paper",
    seed: int = 0,
    ends_per_shard: int = 2048,
    progress: Steps | None = None,
) -> ShardedNegatives:
    """The negatives of :func:`trueedge.negatives.heart`, the very same, written into a folder shard by shard.

    Asked again with the same arguments it goes on where it was stopped, in whatever way, and does nothing
    where all is done. Several processes that ask for the same at one time share the work, and each returns
    when all of it is done. A shard that was damaged since is made again.

    Args:
        graph: the training graph, whose structure and features the heuristics read.
        positives: int array (P, 2), without self-pairs.
        folder: where to; new or empty, or one that holds negatives of the same request.
        k: how many negatives a positive gets, even.
        heuristics: some of ``ra``, ``cn``, ``ppr`` and ``features``.
        known: int array (m, 2), further edges that may not be negatives.
        keep_known: allow known edges as negatives, all but the positive itself.
        alpha: the probability of PageRank's walk to go back to its start.
        eps: PageRank's error bound a unit of degree.
        ties: ``"paper"`` or ``"released"``.
        seed: for what is drawn uniformly.
        ends_per_shard: how many end nodes a shard takes: what a kill can lose, and how finely work is shared.
        progress: called with (end nodes done, by whomever, end nodes in all) as the work goes on.

    Returns:
        The negatives on disk, to be read in parts or as one array (P, k, 2).
    """
    asked = checked(graph, positives, k, heuristics, known, keep_known, alpha, eps, ties, seed)
    whole = isinstance(ends_per_shard, (int, np.integer)) and not isinstance(ends_per_shard, bool)
    if not whole or ends_per_shard < 1:
        raise must_be("ends_per_shard", "heart_shards", "a whole number, 1 or more", ends_per_shard)
    place = Path(folder)
    try:
        _begin(place, asked, int(ends_per_shard))
        negatives = ShardedNegatives.at(place)
        _Work(negatives, asked, progress).finish()
    except OSError as error:
        raise InputError(f"{place} cannot be written: {error.strerror or error}") from None
    return negatives


def _begin(folder: Path, asked: Request, ends_per_shard: int) -> None:
    """Have the folder say what it is for; refuse one that is for something else."""
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
    """All that the shards depend on, as JSON can hold it."""
    known = np.unique(pair_keys(asked.known, asked.graph.num_nodes))
    return {
        "rule": RULE,
        "graph": asked.graph.hash,
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
        differs = f"for {hashed[key]}" if key in hashed else f"with {key} {found.get(key)!r}, not {value!r}"
        raise InputError(f"{folder} holds the negatives of another request: it was begun {differs}")


class _Work:
    """One process's part in filling a folder."""

    def __init__(self, negatives: ShardedNegatives, asked: Request, progress: Steps | None) -> None:
        self.negatives = negatives
        self.asked = asked
        self.progress = progress
        self.done = 0
        self.left = list(range(negatives.num_shards))

    def finish(self) -> None:
        """Make every shard that nobody makes, and wait for those that somebody else does."""
        waiting = False
        while self.left:
            if waiting:
                time.sleep(SECONDS_BETWEEN_CHECKS)
            before = len(self.left)
            self.left = [shard for shard in self.left if not self._see_to(shard)]
            waiting = len(self.left) == before
        for path in map(self.negatives.path, range(self.negatives.num_shards)):
            # Whoever was killed between claiming a shard and seeing that it was just made has left this.
            if draft_of(path).exists():
                _discard_draft(path)

    def _see_to(self, shard: int) -> bool:
        """Whether a shard is there now."""
        path = self.negatives.path(shard)
        if not self._is_good(shard):
            with claimed(path) as file:
                if file is None:
                    return False
                if self._is_good(shard):
                    draft_of(path).unlink()  # another has made it since we looked
                else:
                    write_rows(file, self._compute(shard), self.negatives.salt(shard))
                    publish(file, path)
        first, last = self.negatives.stretch(shard)
        self.done += last - first
        self._report(0)
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

    def _is_good(self, shard: int) -> bool:
        try:
            self.negatives.read(shard, verify=True)
        except InputError:
            return False
        return True


def _discard_draft(path: Path) -> None:
    with claimed(path) as file:
        if file is not None:
            draft_of(path).unlink()
