"""Freed memory is kept while a model is trained on a CPU, and given back afterwards."""

from __future__ import annotations

import resource
import subprocess
import sys
import threading

import numpy as np
import pytest
import torch

import trueedge as te
from trueedge.training import memory
from trueedge.training.memory import MMAP_MAX, TRIM_THRESHOLD, kept_memory

gnu = pytest.mark.skipif(memory._gnu_library() is None, reason="needs the GNU C library")
# Above every limit of the C library, so that such a block is given back when it is freed.
LARGE = 48 << 20


class FakeLibrary:
    """Notes what it is asked for."""

    def __init__(self) -> None:
        self.calls: list[tuple[int, ...]] = []

    def mallopt(self, name: int, value: int) -> int:
        self.calls.append((name, value))
        return 1

    def malloc_trim(self, pad: int) -> int:
        self.calls.append((pad,))
        return 1


# A heap that other tests have used may have a free place for a large block, so this runs in a new process.
PAGE_FAULTS = f"""
import resource
from trueedge.training.memory import kept_memory

def faults_of_large_blocks():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(8):
        b"x" * {LARGE}
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

with kept_memory("cpu"):
    faults_of_large_blocks()
    inside = faults_of_large_blocks()
print(inside, faults_of_large_blocks())
"""


@gnu
def test_blocks_that_are_allocated_again_cost_few_page_faults() -> None:
    ran = subprocess.run([sys.executable, "-c", PAGE_FAULTS], capture_output=True, text=True, check=True)
    inside, outside = map(int, ran.stdout.split())
    # One large block has 12,288 pages, or 24 huge ones.
    assert 10 * inside < outside


SMALL_BLOCKS = """
import resource
from trueedge.training.memory import kept_memory

def faults_of_small_blocks():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(100):
        b"x" * (1 << 20)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

faults_of_small_blocks()
before = faults_of_small_blocks()
with kept_memory("cpu"):
    pass
faults_of_small_blocks()
print(before, faults_of_small_blocks())
"""


@gnu
def test_small_blocks_cost_as_few_page_faults_afterwards_as_before() -> None:
    ran = subprocess.run([sys.executable, "-c", SMALL_BLOCKS], capture_output=True, text=True, check=True)
    before, after = map(int, ran.stdout.split())
    # Given back each time, the hundred blocks have 25,600 pages.
    assert after <= before + 100


@gnu
def test_memory_is_given_back_afterwards() -> None:
    def resident() -> int:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize()

    before = resident()
    with kept_memory("cpu"):
        torch.ones(4 * LARGE // 4)
        inside = resident()
    assert inside - before > 2 * LARGE
    assert resident() - before < LARGE


def test_only_the_last_block_to_end_gives_memory_back(monkeypatch: pytest.MonkeyPatch) -> None:
    library = FakeLibrary()
    monkeypatch.setattr(memory, "_gnu_library", lambda: library)
    with kept_memory("cpu"):
        with kept_memory("cpu"):
            pass
        thread = threading.Thread(target=_keep_in_a_thread)
        thread.start()
        thread.join()
        assert library.calls == [(MMAP_MAX, 0), (TRIM_THRESHOLD, -1)]
    assert library.calls[-1] == (0,)
    assert len(library.calls) == 6


def test_memory_is_given_back_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    library = FakeLibrary()
    monkeypatch.setattr(memory, "_gnu_library", lambda: library)
    with pytest.raises(ValueError, match="a step"), kept_memory("cpu"):
        raise ValueError("a step")
    assert library.calls[-1] == (0,)


@pytest.mark.parametrize("device", ["cuda", "cuda:0"])
def test_a_gpu_leaves_the_memory_of_the_process_alone(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_gnu_library", lambda: pytest.fail("asked"))
    with kept_memory(device):
        pass


def test_nothing_happens_without_the_gnu_library(monkeypatch: pytest.MonkeyPatch) -> None:
    memory._gnu_library.cache_clear()
    monkeypatch.setattr(memory.sys, "platform", "darwin")
    try:
        assert memory._gnu_library() is None
        with kept_memory("cpu"):
            pass
    finally:
        memory._gnu_library.cache_clear()


def test_a_training_has_the_same_weights_with_kept_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    task = te.task("karate", "existing")
    pairs = task.graph.edges

    def scores() -> np.ndarray:
        return np.asarray(te.methods.get("gcn")(epochs=3).fit(task, seed=0).score(pairs))

    kept = scores()
    monkeypatch.setattr(memory, "_gnu_library", lambda: None)
    np.testing.assert_array_equal(kept, scores())


def _keep_in_a_thread() -> None:
    with kept_memory("cpu"):
        pass
