"""Cells: run once, recorded with where they come from."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import trueedge as te
from trueedge.errors import InputError
from trueedge.runs import Cell, run_cells


@dataclass(frozen=True)
class Counting(te.methods.Method):
    """Counts how often it is fitted."""

    title: ClassVar[str] = "counts"
    family: ClassVar[str] = "test"
    citation: ClassVar[str] = "none"
    fits: ClassVar[list[int]] = []
    name = "counting"

    def fit(self, task, seed=0, device="cpu"):
        self.fits.append(seed)
        noise = np.random.default_rng(seed).random(task.num_nodes)
        return type("S", (), {"score": lambda _, pairs: noise[pairs].sum(axis=1)})()


@pytest.fixture(autouse=True)
def _forget():
    from trueedge.methods import method

    Counting.fits.clear()
    yield
    method.METHODS._entries.pop("counting", None)


def test_a_request_that_is_stored_is_not_run_again(tmp_path: Path) -> None:
    store = te.Store(tmp_path)
    first = te.run("karate", "existing", Counting(), seed=1, store=store)
    again = te.run("karate", "existing", Counting(), seed=1, store=store)
    assert Counting.fits == [1]
    assert again.to_dict() == first.to_dict()
    te.run("karate", "existing", Counting(), seed=2, store=store)
    te.run("karate", "existing", Counting(), seed=1, store=store, ratio=2)
    te.run("karate", "uniform", Counting(), seed=1, store=store)
    assert Counting.fits == [1, 2, 1, 1]


def test_a_record_says_where_it_comes_from() -> None:
    record = te.run("karate", "existing", "katz", seed=3, settings={"beta": 0.01})
    task = te.task("karate", "existing", seed=3)
    assert record.provenance["task"] == task.hash
    assert record.provenance["hashes"]["graph"] == task.graph.hash
    assert record.provenance["versions"]["trueedge"] == te.__version__
    assert record.settings["beta"] == 0.01
    assert set(record.metrics) == {"valid", "test"}
    assert record.peak_memory > 1_000_000
    assert set(record.seconds) == {"task", "fit", "score"}
    assert record.created.endswith("+00:00")


def test_the_same_seed_gives_the_same_numbers() -> None:
    assert (
        te.run("karate", "existing", "lrw", seed=5).metrics
        == te.run("karate", "existing", "lrw", seed=5).metrics
    )


def test_the_split_can_stay_while_the_seed_moves() -> None:
    records = [te.run("karate", "existing", Counting(), seed=seed, task_seed=0) for seed in (0, 1)]
    assert records[0].provenance["task"] == records[1].provenance["task"]
    assert records[0].metrics != records[1].metrics


def test_a_cell_that_cannot_run_gives_its_reason_and_the_others_run(tmp_path: Path) -> None:
    cells = [Cell("karate", "existing", te.methods.create(name)) for name in ("cn", "cosine", "ra")]
    outcomes = list(run_cells(cells, te.Store(tmp_path)))
    assert [outcome.record is not None for outcome in outcomes] == [True, False, True]
    assert "features" in outcomes[1].reason
    with pytest.raises(InputError, match="features"):
        te.run("karate", "existing", "cosine")


def test_a_graph_of_ones_own_is_told_apart_by_its_content(tmp_path: Path, random_graph) -> None:
    store = te.Store(tmp_path)
    for seed in (0, 1, 0):
        te.run(random_graph(seed, 30, 120), "existing", "cn", store=store)
    assert len(store) == 2


def test_warnings_about_scores_are_kept_in_the_record() -> None:
    @dataclass(frozen=True)
    class Flat(Counting):
        def fit(self, task, seed=0, device="cpu"):
            return lambda pairs: np.ones(len(pairs))

    record = te.run("karate", "existing", Flat())
    assert any("all scores are 1" in sentence for sentence in record.warnings)


def test_settings_do_not_go_with_a_method_that_has_them() -> None:
    with pytest.raises(InputError, match="settings"):
        te.run("karate", "existing", te.methods.create("katz"), settings={"beta": 0.1})


EDITED = """
from dataclasses import dataclass
from typing import ClassVar

import trueedge as te


@dataclass(frozen=True)
class Edited(te.methods.Method):
    title: ClassVar[str] = "edited"
    family: ClassVar[str] = "test"
    citation: ClassVar[str] = "none"

    def fit(self, task, seed=0, device="cpu"):
        return lambda pairs: SIGN * pairs.sum(axis=1)


Edited.name = "edited"
"""


def test_a_method_whose_file_was_edited_is_another_request(tmp_path: Path, monkeypatch) -> None:
    path, keys = tmp_path / "edited.py", []
    for sign in ("1.0", "-1.0", "1.0"):
        path.write_text(EDITED.replace("SIGN", sign))
        spec = importlib.util.spec_from_file_location("edited", path)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "edited", module)
        spec.loader.exec_module(module)
        keys.append(Cell("karate", "uniform", module.Edited()).key)
    assert keys[0] == keys[2] != keys[1]


def test_a_task_that_is_made_already_can_be_run(tmp_path: Path) -> None:
    task = te.task("karate", "existing", seed=4)
    record = te.run(task, method="ra", store=te.Store(tmp_path))
    assert record.metrics == te.run("karate", "existing", "ra", seed=4).metrics
    assert (record.protocol, record.task_seed, record.dataset) == ("existing", 4, "karate")
    with pytest.raises(InputError, match="made already"):
        te.run(task, "heart", "ra")
    with pytest.raises(InputError, match="made already"):
        te.run(task, method="ra", ratio=2)


def test_the_same_graph_under_another_name_is_found_and_called_by_the_name_asked_for(tmp_path: Path) -> None:
    store = te.Store(tmp_path)
    edges = te.load("karate").edges
    graphs = [te.Graph.from_edges(edges, name=name) for name in "ab"]
    assert [te.run(graph, "uniform", "cn", store=store).dataset for graph in graphs] == ["a", "b"]
    assert len(store) == 1


def test_warnings_of_a_stored_record_name_the_data_set_that_was_asked_for(tmp_path: Path) -> None:
    store = te.Store(tmp_path / "runs")
    graph = te.datasets.load("bibliography")
    names = ("first", "second")
    records = [te.run(replace(graph, name=name), method="majority", store=store) for name in names]
    assert [one.cached for one in records] == [False, True]
    for one, name in zip(records, names, strict=True):
        assert len(one.warnings) > 0
        assert all(warning.startswith(f"{name} node-classification ") for warning in one.warnings)


def test_what_is_stored_can_be_computed_again(tmp_path: Path) -> None:
    store = te.Store(tmp_path)
    cell = Cell("karate", "uniform", te.methods.create("cn"))
    outcomes = [next(run_cells([cell], store, again=again)) for again in (False, False, True)]
    assert [outcome.fresh for outcome in outcomes] == [True, False, True]
    assert len(store) == 2


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [
        ({"device": "banana"}, "device"),
        ({"seed": -1}, "seed"),
        ({"seed": 2**63}, "seed"),
        ({"seed": 1.5}, "seed"),
        ({"method": None}, "method"),
        ({"method": te.methods.get("cn")}, "method"),
        ({"settings": ["beta"]}, "settings"),
        ({"protocol": ["uniform"]}, "protocol"),
    ],
)
def test_a_request_that_cannot_be_is_refused_before_any_work(arguments: dict, culprit: str) -> None:
    with pytest.raises(InputError, match=culprit):
        te.run(**{"source": "karate", "protocol": "uniform", "method": "katz", **arguments})


def test_numbers_of_numpy_are_stored_as_numbers(tmp_path: Path) -> None:
    store = te.Store(tmp_path)
    record = te.run(
        "karate", "uniform", "katz", seed=np.int64(1), settings={"max_length": np.int64(3)}, store=store
    )
    assert record.seed == 1
    assert [one.seed for one in store.records()] == [1]


def test_changed_files_of_a_data_set_are_another_request_and_said(
    tmp_path: Path, data_folder, monkeypatch
) -> None:
    folder = tmp_path / "heart" / "citeseer"
    shutil.copytree(data_folder / "heart" / "citeseer", folder, copy_function=shutil.copyfile)
    shutil.copytree(data_folder / "planetoid", tmp_path / "planetoid", copy_function=shutil.copyfile)
    monkeypatch.setenv("TRUEEDGE_DATA", str(tmp_path))
    store = te.Store(tmp_path / "runs")
    first = te.run("citeseer", "existing-released", "cn", store=store)
    lines = (folder / "test_neg.txt").read_text().splitlines()
    (folder / "test_neg.txt").write_text("\n".join(lines[:200]))
    second = te.run("citeseer", "existing-released", "cn", store=store)
    assert len(store) == 2
    assert first.test != second.test
    assert any("test_neg.txt is not the published file" in sentence for sentence in second.warnings)
    assert not any("published" in sentence for sentence in first.warnings)


def test_a_learned_method_without_torch_says_how_to_get_it(monkeypatch) -> None:
    import sys

    import trueedge as te

    for name in [name for name in sys.modules if name == "torch" or name.startswith("trueedge.training")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(InputError, match=r"needs torch: run pip install -e '.\[torch\]' -c constraints.txt"):
        te.run("karate", "existing", "gcn")


CRASHING = """
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

import trueedge as te


@dataclass(frozen=True)
class Crashing(te.methods.Method):
    title: ClassVar[str] = "crashing"
    family: ClassVar[str] = "test"
    citation: ClassVar[str] = "none"
    where: str = te.methods.setting("fit", "where it fails")

    def fit(self, task, seed=0, device="cpu"):
        if self.where == "leave":
            raise SystemExit(3)
        if self.where == "fit":
            raise RuntimeError("out of luck\\nand of lines")
        if self.where == "silent":
            raise ValueError
        if self.where == "stop":
            raise KeyboardInterrupt
        return lambda pairs: np.linalg.inv(np.zeros((2, 2)))


Crashing.name = "crashing"
"""


@pytest.fixture
def crashing(tmp_path: Path, monkeypatch) -> type[te.methods.Method]:
    path = tmp_path / "crashing.py"
    path.write_text(CRASHING)
    spec = importlib.util.spec_from_file_location("crashing", path)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "crashing", module)
    spec.loader.exec_module(module)
    monkeypatch.chdir(tmp_path)
    return module.Crashing


@pytest.mark.parametrize(
    ("where", "told", "line"),
    [
        ("fit", "RuntimeError: out of luck", 'RuntimeError("out'),
        ("silent", "ValueError", "raise ValueError"),
        ("leave", "SystemExit: 3", "SystemExit(3)"),
        # Numpy raises it: what counts is where the user's code called numpy.
        ("score", "LinAlgError: Singular matrix", "np.linalg.inv"),
    ],
)
def test_what_ones_own_method_raises_is_a_reason_with_its_line(crashing, where, told, line) -> None:
    number = next(i for i, text in enumerate(CRASHING.splitlines(), 1) if line in text)
    cells = [Cell("karate", "existing", one) for one in (crashing(where=where), te.methods.create("ra"))]
    failed, ran = run_cells(cells)
    assert failed.reason == f"its code raised {told} (crashing.py, line {number})"
    assert failed.record is None
    assert ran.record is not None


def test_what_ones_own_method_raises_is_raised_where_one_cell_is_run(crashing) -> None:
    with pytest.raises(RuntimeError, match="out of luck"):
        te.run("karate", "existing", crashing())
    with pytest.raises(KeyboardInterrupt):
        list(run_cells([Cell("karate", "existing", crashing(where="stop"))]))


def test_what_a_method_of_trueedge_raises_is_an_error_of_trueedge(monkeypatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("a bug")

    ra = te.methods.create("ra")
    monkeypatch.setattr(type(ra), "fit", fail)
    with pytest.raises(RuntimeError, match="a bug"):
        list(run_cells([Cell("karate", "existing", ra)]))


def test_an_error_while_the_task_is_made_is_not_blamed_on_the_method(crashing, monkeypatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(te.tasks, "task", fail)
    with pytest.raises(RuntimeError, match="a bug"):
        list(run_cells([Cell("karate", "existing", crashing())]))


def test_a_trial_says_that_it_was_not_judged_on_the_test_part() -> None:
    (outcome,) = run_cells([Cell("karate", "existing", te.methods.create("ra"), parts=("valid",))])
    assert outcome.record.is_trial
    with pytest.raises(InputError, match="ra on karate is a trial of a search"):
        _ = outcome.record.test
