"""Blocks of work on all cores: compiled functions that release the interpreter's lock, in plain threads.

Blocks are taken as threads fall idle, so a block of hubs holds nobody up; and unlike the compiler's own loops
this is safe where the caller runs in a thread of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from queue import SimpleQueue
from typing import TypeVar

import numba

Scratch = TypeVar("Scratch")
Result = TypeVar("Result")


def run_blocks(
    work: Callable[[int, int, Scratch], Result],
    total: int,
    size: int,
    make_scratch: Callable[[], Scratch],
    progress: Callable[[int, int], object] | None = None,
) -> list[Result]:
    """Run ``work(first, last, scratch)`` over ``0..total-1`` in blocks; the results in the blocks' order.

    Args:
        work: does the items ``first..last-1``; no two calls share a scratch at one time.
        total: how many items there are.
        size: how many items a block has.
        make_scratch: makes one thread's scratch; called at most once a thread.
        progress: called with (items done, total) after each block, in the caller's thread.
    """
    blocks = [(first, min(first + size, total)) for first in range(0, total, size)]
    threads = min(numba.get_num_threads(), len(blocks))
    if threads <= 1:
        return _run_here(work, blocks, total, make_scratch, progress)
    idle: SimpleQueue[Scratch] = SimpleQueue()
    for _ in range(threads):
        idle.put(make_scratch())

    def one(first: int, last: int) -> Result:
        scratch = idle.get()
        try:
            return work(first, last, scratch)
        finally:
            idle.put(scratch)

    pool = ThreadPoolExecutor(threads)
    try:
        futures = {pool.submit(one, *block): block for block in blocks}
        done = 0
        for future in as_completed(futures):
            future.result()
            done += futures[future][1] - futures[future][0]
            if progress is not None:
                progress(done, total)
        return [future.result() for future in futures]
    finally:
        # After an error or an interrupt the blocks not yet begun are dropped.
        pool.shutdown(cancel_futures=True)


def _run_here(
    work: Callable[[int, int, Scratch], Result],
    blocks: list[tuple[int, int]],
    total: int,
    make_scratch: Callable[[], Scratch],
    progress: Callable[[int, int], object] | None,
) -> list[Result]:
    results: list[Result] = []
    if not blocks:
        return results
    scratch = make_scratch()
    for first, last in blocks:
        results.append(work(first, last, scratch))
        if progress is not None:
            progress(last, total)
    return results
