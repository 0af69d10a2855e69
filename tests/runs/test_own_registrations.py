"""Protocols, metrics, data sets and kinds of tasks from a user's own files: their code counts too."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

import trueedge as te
from trueedge.datasets.dataset import DATASETS
from trueedge.metrics.metric import METRICS
from trueedge.runs import Cell, run_cells
from trueedge.runs.opened_files import loaded
from trueedge.tasks.protocols.protocol import PROTOCOLS

PROTOCOL = """
import numpy as np
import trueedge as te
from own_parts import drawn
from trueedge.tasks.protocols.protocol import link_protocol, register

def split(request):
    return te.splits.ratio(request.source.graph, seed=request.seed)

def build(request, split):
    negatives = drawn(split.train)
    parts = {name: te.Part(getattr(split, name), negatives) for name in ("valid", "test")}
    return te.LinkTask(
        dataset=request.source.name, protocol="own", seed=request.seed, metrics=("mrr", "own-mean"),
        headline="mrr", graph=split.train, parts=parts,
    )

register(link_protocol(
    split=split, build=build, name="own", title="own", citation="none", headline="mrr",
))
"""
PARTS = """
import numpy as np
def drawn(graph):
    pairs = np.array([(u, v) for u in range(34) for v in range(u)])
    return pairs[~graph.has_edges(pairs)][SLICE].astype(np.int32)
"""
METRIC = """
from trueedge.metrics.metric import Metric, register
register(Metric(
    pattern="own-mean", title="own", layouts=("shared", "per-positive"), formula="own", citation="none",
    values=lambda scores: FACTOR / scores.ranks.mean,
))
"""
DATASET = """
import numpy as np
import trueedge as te
def read():
    kept = int(np.load(NAME))
    return te.Graph.from_edges(te.load("karate").edges[:kept], 34, name="own-karate")
te.datasets.register(te.datasets.Dataset(
    name="own-karate", family="own", title="own", num_nodes=34, num_edges=None, num_features=None,
    licence="none", source="none", citation="none", read=read, protocol="existing",
))
"""


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch) -> Iterator[Callable[..., list[bool]]]:
    """Run a cell after importing some files as a new process would; whether its record is new."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def run(source: str, protocol: str, *files: str) -> bool:
        with ExitStack() as stack:
            for registry in (PROTOCOLS, METRICS, DATASETS):
                stack.enter_context(registry.restored())
            sys.modules.pop("own_parts", None)
            for name in files:
                loaded(str(tmp_path / name), tmp_path / name)
            cell = Cell(source, protocol, te.methods.create("ra"))
            (outcome,) = run_cells([cell], te.Store("runs"))
            assert outcome.record is not None, outcome.reason
            return outcome.fresh

    yield run
    sys.modules.pop("own_parts", None)


def test_a_protocol_its_helpers_and_its_metrics(fresh) -> None:
    Path("own.py").write_text(PROTOCOL)
    Path("own_parts.py").write_text(PARTS.replace("SLICE", ":50"))
    Path("own_metric.py").write_text(METRIC.replace("FACTOR", "1.0"))
    files = ("own_metric.py", "own.py")
    assert [fresh("karate", "own", *files) for _ in range(2)] == [True, False]
    Path("own_metric.py").write_text(METRIC.replace("FACTOR", "0.5"))
    assert [fresh("karate", "own", *files) for _ in range(2)] == [True, False]
    Path("own_parts.py").write_text(PARTS.replace("SLICE", "50:100"))
    assert [fresh("karate", "own", *files) for _ in range(2)] == [True, False]
    Path("own.py").write_text(PROTOCOL.replace("seed=request.seed)\n\n", "seed=request.seed + 1)\n\n"))
    assert [fresh("karate", "own", *files) for _ in range(2)] == [True, False]
    # Our own protocols do not use it.
    assert [fresh("karate", "existing", *files) for _ in range(2)] == [True, False]
    assert fresh("karate", "existing") is False


@pytest.mark.parametrize("name", ["'edges.npy'", "'edg' + chr(101) + 's.npy'"], ids=["named", "computed"])
def test_a_data_set_and_the_files_it_reads(fresh, name: str) -> None:
    Path("own.py").write_text(DATASET.replace("NAME", name))
    np.save("edges.npy", 70)
    assert [fresh("own-karate", "existing", "own.py") for _ in range(2)] == [True, False]
    np.save("edges.npy", 75)
    assert [fresh("own-karate", "existing", "own.py") for _ in range(2)] == [True, False]
    Path("own.py").write_text(DATASET.replace("NAME", name).replace("[:kept]", "[-kept:]"))
    assert fresh("own-karate", "existing", "own.py") is True


def test_a_reader_that_a_function_made(fresh) -> None:
    text = DATASET.replace(
        "def read():\n    kept = int(np.load(NAME))", "def read(kept=None):\n    kept = KEPT"
    )
    Path("own.py").write_text(text.replace("read=read", "read=made(KEPT)").replace("te.datasets.register", (
        "def made(kept):\n    return lambda: te.Graph.from_edges(te.load('karate').edges[:kept], 34)\n"
        "import own_parts\nte.datasets.register"
    ), 1).replace("KEPT", "own_parts.KEPT"))  # fmt: skip
    Path("own_parts.py").write_text("KEPT = 70\n")
    assert [fresh("own-karate", "existing", "own.py") for _ in range(2)] == [True, False]
    Path("own_parts.py").write_text("KEPT = 75\n")
    assert fresh("own-karate", "existing", "own.py") is True


def test_a_task_that_names_a_metric_of_the_user(fresh, tmp_path: Path) -> None:
    from trueedge.runs.code import task_code

    task = te.task("karate", "existing")
    plain = task_code(task, "existing")
    hashes = []
    for factor in ("1.0", "0.5"):
        Path("own_metric.py").write_text(METRIC.replace("FACTOR", factor))
        with METRICS.restored():
            loaded("own_metric", "own_metric.py")
            from dataclasses import replace

            assert task_code(task, "existing") == plain
            hashes.append(task_code(replace(task, metrics=("mrr", "own-mean")), "existing").hash)
    assert len({plain.hash, *hashes}) == 3
