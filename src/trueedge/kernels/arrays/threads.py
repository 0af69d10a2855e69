"""Blocks of work on all cores: compiled functions that release the interpreter's lock, in plain threads.

Blocks are taken as threads fall idle, so a block of hubs holds nobody up; the caller's thread takes some too.
Unlike the compiler's own loops this is safe where the caller runs in a thread of its own and in a forked
process: no thread outlives its run.
"""

from __future__ import annotations

from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Generic, TypeVar

import numba

Scratch = TypeVar("Scratch")
Result = TypeVar("Result")
# Called with the items done and the items in all.
Steps = Callable[[int, int], object]
# Enough that an unlucky block does not hold up the rest.
BLOCKS_PER_THREAD = 4
# More would only wait for each other, whatever a variable says.
MOST_THREADS = 256


class Scratches(Generic[Scratch]):
    """Scratch that outlives a run: made when a thread first needs one, and handed from run to run."""

    def __init__(self, make: Callable[[], Scratch]) -> None:
        self._make = make
        self._idle: SimpleQueue[Scratch] = SimpleQueue()

    def take(self) -> Scratch:
        """One that nobody uses, a new one where there is none."""
        try:
            return self._idle.get_nowait()
        except Empty:
            return self._make()

    def give(self, scratch: Scratch) -> None:
        """Leave one to the next who asks."""
        self._idle.put(scratch)


def thread_count() -> int:
    """Return the number of threads: what ``numba.set_num_threads`` says, else ``NUMBA_NUM_THREADS``.

    ``numba.get_num_threads`` would start threads of the compiler's own, which a forked process does not have:
    it is only asked where they run already.
    """
    try:
        numba.threading_layer()
    except ValueError:
        return min(MOST_THREADS, max(1, int(numba.config.NUMBA_NUM_THREADS)))
    return min(MOST_THREADS, int(numba.get_num_threads()))


def even_blocks(total: int, least: int) -> int:
    """Return a size of blocks of ``total`` items: a few for each thread, and ``least`` items or more."""
    if total <= least:
        return max(least, 1)
    return max(least, 1, -(-total // (BLOCKS_PER_THREAD * thread_count())))


def run_blocks(
    work: Callable[[int, int, Scratch], Result],
    total: int,
    size: int,
    make_scratch: Callable[[], Scratch] | Scratches[Scratch],
    progress: Steps | None = None,
) -> list[Result]:
    """Run ``work(first, last, scratch)`` over ``0..total-1`` in blocks; the results in the blocks' order.

    Args:
        work: does the items ``first..last-1``; no two calls share a scratch at one time.
        make_scratch: makes one thread's scratch, and is called at most once a thread; or what keeps them from
            run to run.
        progress: called with (items done, total) after each block, in the caller's thread.
    """
    blocks = [(first, min(first + size, total)) for first in range(0, total, size)]
    threads = min(thread_count(), len(blocks)) if len(blocks) > 1 else 1
    scratches = make_scratch if isinstance(make_scratch, Scratches) else Scratches(make_scratch)

    def one(first: int, last: int) -> Result:
        scratch = scratches.take()
        result = work(first, last, scratch)
        # Not where an error left it half used.
        scratches.give(scratch)
        return result

    if threads <= 1:
        return _run_here(one, blocks, total, progress)
    return _run_together(one, blocks, threads, total, progress)


def _run_here(
    one: Callable[[int, int], Result], blocks: list[tuple[int, int]], total: int, progress: Steps | None
) -> list[Result]:
    results: list[Result] = []
    for first, last in blocks:
        results.append(one(first, last))
        if progress is not None:
            progress(last, total)
    return results


def _run_together(
    one: Callable[[int, int], Result],
    blocks: list[tuple[int, int]],
    threads: int,
    total: int,
    progress: Steps | None,
) -> list[Result]:
    """Let the caller's thread and others take blocks until none is left."""
    results: dict[int, Result] = {}
    finished: SimpleQueue[int] = SimpleQueue()
    failed: list[BaseException] = []
    left = iter(range(len(blocks)))
    lock = Lock()

    def run_next() -> bool:
        """Run the next block, and return whether there was one."""
        with lock:
            place = next(left, None)
        if place is None or failed:
            return False
        results[place] = one(*blocks[place])
        finished.put(place)
        return True

    def help_out() -> None:
        try:
            while run_next():
                pass
        except BaseException as error:  # the caller raises it
            failed.append(error)
        finished.put(-1)

    helpers = [Thread(target=help_out) for _ in range(threads - 1)]
    counted = _Counted(blocks, total, finished, progress)
    try:
        for helper in helpers:
            helper.start()
        while run_next():
            counted.report(wait=False)
        counted.report(wait=True, idle=len(helpers))
    except BaseException as error:
        # After an error or an interrupt the blocks not yet begun are dropped.
        failed.append(error)
    finally:
        for helper in helpers:
            if helper.ident is not None:
                helper.join()
    if failed:
        raise failed[0]
    return [results[place] for place in range(len(blocks))]


class _Counted:
    """Counts the items of finished blocks, and reports them in the caller's thread."""

    def __init__(
        self, blocks: list[tuple[int, int]], total: int, finished: SimpleQueue[int], progress: Steps | None
    ) -> None:
        self._blocks, self._total, self._finished, self._progress = blocks, total, finished, progress
        self._done = self._idle = 0

    def report(self, wait: bool, idle: int = 0) -> None:
        """Report blocks that are finished; if asked to wait, until so many helpers have nothing to do."""
        while not wait or self._idle < idle:
            try:
                place = self._finished.get(block=wait)
            except Empty:
                return
            if place < 0:
                self._idle += 1
                continue
            self._done += self._blocks[place][1] - self._blocks[place][0]
            if self._progress is not None:
                self._progress(self._done, self._total)
