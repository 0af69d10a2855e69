"""Shards of negatives on a cluster: the same bytes as in memory, whoever made them."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import numpy as np
import pytest

import trueedge as te
from trueedge.errors import InputError
from trueedge.negatives.heart import heart
from trueedge.negatives.heart_shards import ShardWork, heart_shards
from trueedge.runs.engines import shards
from trueedge.runs.engines.mapped_objects import load_mapped, save_mapped
from trueedge.runs.engines.shards import ShardsOnDask, make_shard

GRAPH = te.datasets.price(300, 1200)
ASKED = {"k": 20, "seed": 3}


def by_hand(negatives, asked, progress) -> None:
    """Make shards as workers do, one after the other, without a cluster."""
    data = negatives.folder / ".request-0"
    save_mapped(asked, data)
    for shard in range(negatives.num_shards):
        assert make_shard(str(negatives.folder), str(data), shard, te.__version__) == ""
    data.unlink()


def test_shards_by_workers_are_those_in_memory(tmp_path: Path) -> None:
    positives = GRAPH.edges[::9]
    made = heart_shards(GRAPH, positives, tmp_path / "s", ends_per_shard=16, work=by_hand, **ASKED)
    np.testing.assert_array_equal(made.assemble(), heart(GRAPH, positives, **ASKED))
    assert sorted(path.name for path in (tmp_path / "s").iterdir() if path.name.startswith(".")) == []


def test_a_run_that_was_killed_is_continued_with_the_same_bytes(tmp_path: Path) -> None:
    positives = GRAPH.edges[::9]

    def killed(negatives, asked, progress) -> None:
        work = ShardWork(negatives, asked, None)
        work.write(1, negatives.path(1))
        # Cut short, and a draft that nobody finished.
        work.write(2, negatives.path(2))
        negatives.path(2).write_bytes(negatives.path(2).read_bytes()[:-40])
        (negatives.folder / ".shard-00003.npy.host-1-ab.draft").write_bytes(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        heart_shards(GRAPH, positives, tmp_path / "s", ends_per_shard=16, work=killed, **ASKED)
    made = heart_shards(GRAPH, positives, tmp_path / "s", ends_per_shard=16, work=by_hand, **ASKED)
    np.testing.assert_array_equal(made.assemble(), heart(GRAPH, positives, **ASKED))


def test_two_workers_of_a_cluster_make_the_same_shards(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="the extra trueedge[dask] is not installed")
    positives, seen = GRAPH.edges[::9], []
    made = heart_shards(
        *(GRAPH, positives, tmp_path / "s"),
        ends_per_shard=32,
        work=ShardsOnDask(jobs=2),
        progress=lambda done, total: seen.append((done, total)),
        **ASKED,
    )
    np.testing.assert_array_equal(made.assemble(), heart(GRAPH, positives, **ASKED))
    assert seen[-1][0] == seen[-1][1]
    assert [path.name for path in (tmp_path / "s").iterdir() if path.name.startswith(".")] == []


def test_complete_shards_start_no_cluster(tmp_path: Path, monkeypatch) -> None:
    positives = GRAPH.edges[::9]
    heart_shards(GRAPH, positives, tmp_path / "s", ends_per_shard=32, work=by_hand, **ASKED)
    monkeypatch.setattr(shards, "Cluster", lambda *_: pytest.fail("a cluster was started"))
    heart_shards(GRAPH, positives, tmp_path / "s", ends_per_shard=32, work=ShardsOnDask(jobs=2), **ASKED)


def test_a_worker_without_the_folder_or_with_another_version_says_so(tmp_path: Path) -> None:
    assert "does not share the folder" in make_shard(str(tmp_path), str(tmp_path / "no"), 0, te.__version__)
    assert "has trueedge" in make_shard(str(tmp_path), str(tmp_path / "no"), 0, "0.0.9")


def test_a_worker_whose_disk_is_full_says_so(tmp_path: Path, monkeypatch) -> None:
    def no_space(work, shard, draft) -> None:
        draft.write_bytes(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def one(negatives, asked, progress) -> None:
        save_mapped(asked, negatives.folder / ".request-1")
        monkeypatch.setattr(ShardWork, "write", no_space)
        said.append(
            make_shard(str(negatives.folder), str(negatives.folder / ".request-1"), 0, te.__version__)
        )
        raise KeyboardInterrupt

    said: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        heart_shards(GRAPH, GRAPH.edges[::9], tmp_path / "s", ends_per_shard=32, work=one, **ASKED)
    assert f"cannot write shard 0 to {tmp_path / 's'}: No space left on device" in said[0]
    assert not list((tmp_path / "s").glob(".shard-*"))


def test_a_refusal_matters_only_where_the_shard_is_not_there(tmp_path: Path, monkeypatch) -> None:
    pytest.importorskip("distributed", reason="the extra trueedge[dask] is not installed")
    positives = GRAPH.edges[::9]

    class Answered:
        def add_done_callback(self, call) -> None:
            call(self)

        def done(self) -> bool:
            return True

        def result(self, timeout: float) -> str:
            return "the worker on a machine does not share the folder of the shards"

    class Client:
        def submit(self, task, folder, data, shard, version, pure) -> Answered:
            if makes:
                task(folder, data, shard, version)
            return Answered()

    class Elsewhere:
        address, client = "tcp://h:1", Client()

        def need_workers(self, count: int) -> None:
            pass

        def close(self) -> None:
            pass

    monkeypatch.setattr(shards, "Cluster", lambda *_: Elsewhere())
    monkeypatch.setattr(shards, "_workers", lambda _: 1)
    asked = {"ends_per_shard": 32, "work": ShardsOnDask("tcp://h:1"), **ASKED}
    makes = False
    with pytest.raises(
        InputError, match=r"does not share the folder of the shards; finished shards are kept"
    ):
        heart_shards(GRAPH, positives, tmp_path / "s", **asked)
    # Another driver may have made it in the meantime, and have removed the request.
    makes = True
    made = heart_shards(GRAPH, positives, tmp_path / "s", **asked)
    np.testing.assert_array_equal(made.assemble(), heart(GRAPH, positives, **ASKED))


def test_mapped_objects_are_what_was_saved_and_damage_is_named(tmp_path: Path) -> None:
    path = tmp_path / "graph"
    save_mapped((GRAPH, np.arange(7.0)), path)
    graph, numbers = load_mapped(path)
    assert graph.hash == GRAPH.hash
    np.testing.assert_array_equal(numbers, np.arange(7.0))
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(InputError, match="does not have its full length"):
        load_mapped(path)
    path.write_bytes(b"something else")
    with pytest.raises(InputError, match="holds no data for workers"):
        load_mapped(path)
    with pytest.raises(InputError, match="cannot be read"):
        load_mapped(tmp_path / "nothing")
