"""Blocks in threads."""

from __future__ import annotations

import threading

import numba
import pytest

from trueedge.kernels.arrays.threads import Scratches, run_blocks


@pytest.fixture(params=[1, 2])
def threads(request):
    before = numba.get_num_threads()
    if request.param > numba.config.NUMBA_NUM_THREADS:
        pytest.skip("this machine has one core")
    numba.set_num_threads(request.param)
    yield request.param
    numba.set_num_threads(before)


@pytest.mark.parametrize("total", [0, 1, 5, 6, 7, 100])
def test_results_come_in_the_blocks_order_and_cover_everything(threads, total):
    results = run_blocks(lambda first, last, _: list(range(first, last)), total, 3, list)
    assert [item for block in results for item in block] == list(range(total))


def test_no_two_blocks_share_a_scratch_at_one_time(threads):
    made = []
    everybody = threading.Event()

    def make() -> dict:
        made.append({"busy": False})
        if len(made) == threads:
            everybody.set()
        return made[-1]

    def work(first: int, last: int, scratch: dict) -> None:
        assert not scratch["busy"]
        scratch["busy"] = True
        # On a busy machine one thread might do all before another begins.
        everybody.wait(60)
        scratch["busy"] = False

    run_blocks(work, 40, 1, make)
    assert len(made) == threads


def test_scratch_is_handed_from_run_to_run(threads):
    made = []
    scratches = Scratches(lambda: made.append([]) or made[-1])
    for _ in range(3):
        run_blocks(lambda first, last, scratch: scratch.append(first), 10, 2, scratches)
    assert 1 <= len(made) <= threads
    assert sorted(first for scratch in made for first in scratch) == sorted([0, 2, 4, 6, 8] * 3)


def test_scratch_that_an_error_left_half_used_is_not_used_again(threads):
    made = []
    scratches = Scratches(lambda: made.append(len(made)) or made[-1])
    with pytest.raises(ZeroDivisionError):
        run_blocks(lambda first, last, scratch: 1 // 0, 1, 1, scratches)
    run_blocks(lambda first, last, scratch: None, 1, 1, scratches)
    assert made == [0, 1]


def test_progress_counts_up_to_the_total_in_the_callers_thread(threads):
    seen = []
    caller = threading.get_ident()

    def progress(done: int, total: int) -> None:
        assert threading.get_ident() == caller
        seen.append((done, total))

    run_blocks(lambda first, last, _: None, 10, 3, list, progress)
    assert [total for _, total in seen] == [10] * 4
    assert sorted(done for done, _ in seen) == [done for done, _ in seen]
    assert seen[-1] == (10, 10)


def test_an_error_in_a_block_is_raised_and_stops_the_rest(threads):
    ran = []

    def work(first: int, last: int, _: list) -> None:
        ran.append(first)
        threading.Event().wait(0.001)
        raise ValueError(f"block {first}")

    with pytest.raises(ValueError, match="block"):
        run_blocks(work, 1000, 1, list)
    assert len(ran) < 1000


def test_an_error_in_progress_is_raised(threads):
    def progress(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_blocks(lambda first, last, _: None, 10, 1, list, progress)
