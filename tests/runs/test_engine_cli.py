"""Commands for many machines: shares, merged folders, workers, and options that make no sense."""

from __future__ import annotations

import os

import pytest

import trueedge as te
from trueedge.runs.engines import serving
from trueedge.runs.engines.serving import environment, named_gpus
from trueedge.runs.processes import THREADS

RUN = ("run", "karate", "-p", "existing", "-m", "cn,ra", "--seeds", "2")


def test_shares_are_run_merged_and_shown(trueedge) -> None:
    for number in ("1", "2"):
        status, out, err = trueedge(*RUN, "--share", f"{number}/2", "--runs", f"part-{number}")
        assert (status, out) == (0, "")
        assert f"share {number}/2: when all shares are done" in err
    status, _, err = trueedge("merge", "part-1", "part-2", "-o", "runs")
    assert status == 0
    assert "4 records added to runs, 0 already there" in err
    status, out, err = trueedge(*RUN, "--runs", "runs")
    assert status == 0
    assert "4 records in runs/records.sqlite: 0 new, 4 cached" in err


def test_a_share_without_cells_is_no_failure(trueedge) -> None:
    assert trueedge(*RUN, "--share", "1/64")[0] == 0
    assert len(te.Store("runs")) == 0


def test_a_part_without_records_is_named_with_status_1(trueedge) -> None:
    trueedge(*RUN, "--share", "1/2", "--runs", "part-1")
    status, _, err = trueedge("merge", "part-1", "part-2", "-o", "runs")
    assert status == 1
    assert "part-2 holds no records" in err
    assert len(te.Store("runs")) == 2


def test_trials_are_shared_and_the_verdict_waits_for_all_shares(trueedge) -> None:
    asked = ("tune", "karate", "-p", "uniform", "-m", "katz", "--seeds", "1", "--option", "valid=0.2")
    status, out, err = trueedge(*asked, "--share", "1/2", "--runs", "a")
    assert (status, out) == (0, "")
    assert "share 1/2" in err
    assert all(record.is_trial for record in te.Store("a").records())
    status, out, err = trueedge(
        *("judge", "karate", "katz", "-p", "existing", "--seeds", "1", "--share", "2/3", "--runs", "b")
    )
    assert (status, out) == (0, "")
    assert 0 < len(te.Store("b")) < 10


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((*RUN, "--engine", "ray"), "ray"),
        ((*RUN, "--scheduler", "tcp://1.2.3.4:8786"), "--scheduler needs an engine"),
        ((*RUN, "--cell-timeout", "5"), "--cell-timeout needs an engine"),
        ((*RUN, "--share", "5/4"), "shares are numbered from 1/4 to 4/4"),
        ((*RUN, "--share", "1/0"), "there can be 1 to 100,000 shares"),
        ((*RUN, "--share", "1/1000000"), "there can be 1 to 100,000 shares"),
        ((*RUN, "--engine", "dask", "--checkpoints", "c"), "--checkpoints needs this machine"),
        (
            (*RUN, "--engine", "dask", "--scheduler", "tcp://h:1", "--scheduler-file", "f"),
            "both name a scheduler",
        ),
        (("tune", "karate", "-m", "katz", "--search", "tpe", "--share", "1/2"), "needs --search grid"),
        (("negatives", "karate", "-o", "n.npz", "--engine", "dask"), "remove --engine"),
        (("negatives", "karate", "-o", "n", "--shards", "--share", "1/2"), "shards need no --share"),
        (("worker", "tcp://h:1", "--gpus", "0,1", "--processes", "2"), "leave out --processes"),
        (("worker", "tcp://h:1", "--gpus", "1,1"), "names a GPU twice"),
    ],
)
def test_options_that_make_no_sense_are_refused(trueedge, words, sentence: str) -> None:
    status, _, err = trueedge(*words)
    assert status == 1
    assert sentence in err


def test_a_worker_needs_an_address_or_a_file(trueedge) -> None:
    pytest.importorskip("distributed", reason="the extra trueedge[dask] is not installed")
    for asked, sentence in (
        ("somewhere", "somewhere is not the address of a scheduler: it has the form tcp://HOST:8786"),
        ("http://h:1", "http://h:1 is not the address of a scheduler"),
        ("tcp://h:99999", "tcp://h:99999 is not the address of a scheduler"),
        ("nowhere/s.json", "there is no scheduler file nowhere/s.json"),
    ):
        status, _, err = trueedge("worker", asked)
        assert status == 1
        assert sentence in err


def test_a_worker_gets_the_threads_of_every_library_and_its_gpu(monkeypatch) -> None:
    found = environment(3, "1")
    assert {found[name] for name in THREADS} == {"3"}
    assert found["CUDA_VISIBLE_DEVICES"] == "1"
    monkeypatch.setitem(os.environ, "CUDA_VISIBLE_DEVICES", "4,5")
    assert named_gpus("all") == ["4", "5"]
    monkeypatch.delitem(os.environ, "CUDA_VISIBLE_DEVICES")
    monkeypatch.setattr(serving, "_gpu_files", lambda: 2)
    assert named_gpus("all") == ["0", "1"]
    monkeypatch.setattr(serving, "_gpu_files", lambda: 0)
    with pytest.raises(te.InputError, match="CUDA_VISIBLE_DEVICES names none"):
        named_gpus("all")


def test_without_dask_a_sentence_says_how_to_install_it(trueedge, monkeypatch) -> None:
    from trueedge.runs.engines import cluster

    monkeypatch.setattr(cluster, "find_spec", lambda name: None)
    status, _, err = trueedge(*RUN, "--engine", "dask")
    assert status == 1
    assert "pip install 'trueedge[dask]'" in err
