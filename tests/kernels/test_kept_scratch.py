"""Scratch is kept for the next call on the same graph, and for no other."""

from __future__ import annotations

import gc

import numpy as np

from trueedge.kernels.arrays import kept_scratch
from trueedge.kernels.arrays.kept_scratch import KeptScratch


def read_only(*starts: int) -> np.ndarray:
    indptr = np.array(starts)
    indptr.flags.writeable = False
    return indptr


def test_the_same_graph_and_parameters_get_what_was_left():
    kept = KeptScratch(lambda indptr, alpha: [len(indptr), alpha])
    graph = read_only(0, 1, 2)
    first = kept.of(graph, 0.5).take()
    assert first == [3, 0.5]
    kept.of(graph, 0.5).give(first)
    assert kept.of(graph, 0.5).take() is first
    assert kept.of(graph, 0.5).take() is not first, "it is in use"


def test_another_graph_or_parameter_gets_its_own():
    kept = KeptScratch(lambda indptr, alpha: [len(indptr), alpha])
    graph, equal = read_only(0, 1, 2), read_only(0, 1, 2)
    kept.of(graph, 0.5).give([0, 0])
    assert kept.of(equal, 0.5).take() == [3, 0.5]
    kept.of(graph, 0.5).give([0, 0])
    assert kept.of(graph, 0.25).take() == [3, 0.25]


def test_nothing_is_kept_of_a_graph_that_may_change_or_is_large(monkeypatch):
    kept = KeptScratch(lambda indptr: [len(indptr)])
    writeable = np.array([0, 1, 2])
    kept.of(writeable).give([0])
    assert kept.of(writeable).take() == [3]
    monkeypatch.setattr(kept_scratch, "MOST_NODES", 2)
    large = read_only(0, 1, 2)
    kept.of(large).give([0])
    assert kept.of(large).take() == [3]


def test_it_goes_with_its_graph():
    kept = KeptScratch(lambda indptr: [len(indptr)])
    graph = read_only(0, 1, 2)
    kept.of(graph)
    assert kept._last is not None
    del graph
    gc.collect()
    assert kept._last is None
