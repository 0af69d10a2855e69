"""A stored record is used for the code and the files it was computed with, and for no others."""

from __future__ import annotations

import os
import py_compile
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from own_method import ONLY, ran, write

import trueedge as te
from trueedge.errors import StoreWarning
from trueedge.runs import Cell, run_cells
from trueedge.runs.opened_files import loaded

__all__ = ["ran"]
Ran = Callable[..., str]
NEW, CACHED = "1 new, 0 cached", "0 new, 1 cached"


@pytest.mark.parametrize(
    ("imports", "body", "weight"),
    [
        ("import own_helper", "pass", "own_helper.weight()"),
        ("from own_helper import weight", "pass", "weight()"),
        ("from own_helper import *", "pass", "weight()"),
        ("", "from own_helper import weight", "weight()"),
        ("import importlib", "helper = importlib.import_module('own_helper')", "helper.weight()"),
        ("", "helper = __import__('own_helper')", "helper.weight()"),
        ("import own_package.part", "pass", "own_package.part.weight()"),
        ("import importlib", "helper = importlib.import_module('own_' + 'helper')", "helper.weight()"),
        ("import runpy", "space = runpy.run_path('own_helper.py')", "space['weight']()"),
        ("import importlib\nhelper = importlib.import_module('own_' + 'helper')", "pass", "helper.weight()"),
    ],
    ids=[
        "import",
        "from",
        "star",
        "late",
        "importlib",
        "dunder",
        "package",
        "computed",
        "runpy",
        "at-import",
    ],
)
def test_a_changed_helper_is_another_request(ran: Ran, imports: str, body: str, weight: str) -> None:
    write(imports, body, weight)
    helper = Path("own_package/part.py" if "package" in imports else "own_helper.py")
    helper.parent.mkdir(exist_ok=True)
    (helper.parent / "own_values.py").write_text("VALUE = 1\n")
    for value, expected in (("1", NEW), ("1", CACHED), ("2", NEW), ("1", CACHED)):
        helper.write_text(f"def weight():\n    return {value}\n")
        assert ran() == expected


def test_a_module_that_a_helper_imports_counts_too(ran: Ran) -> None:
    write("import own_helper", weight="own_helper.weight()")
    Path("own_helper.py").write_text("from own_package.part import weight\n")
    Path("own_package").mkdir()
    for value, expected in (("1", NEW), ("1", CACHED), ("2", NEW)):
        Path("own_package/part.py").write_text(f"def weight():\n    return {value}\n")
        assert ran() == expected


HERE = "from pathlib import Path\nHERE = Path(__file__).parent"
WAYS = {
    "beside": ("", "np.load('emb.npy')", "emb.npy"),
    "spaces": ("", "np.load('my emb.npy')", "my emb.npy"),
    "no-ending": (HERE, "np.loadtxt(HERE / 'weights')", "weights"),
    "file": (HERE, "np.load(HERE / 'emb.npy')", "emb.npy"),
    "folders": (HERE, "np.load(HERE / 'data' / 'one' / 'emb.npy')", "data/one/emb.npy"),
    "sub-folder": ("", "np.load('data/emb.npy')", "data/emb.npy"),
    "join": (
        "import os",
        "np.load(os.path.join(os.path.dirname(__file__), 'data', 'emb.npy'))",
        "data/emb.npy",
    ),
    "plus": ("import os", "np.load(os.path.dirname(__file__) + '/emb.npy')", "emb.npy"),
    "above": (HERE, "np.load(HERE.parent / 'data' / 'emb.npy')", "../data/emb.npy"),
    "absolute": ("", "np.load('ABSOLUTE/emb.npy')", "elsewhere/emb.npy"),
    "computed": ("", "np.load('em' + chr(98) + '.npy')", "emb.npy"),
    "format": ("", "np.load(f'emb-{seed}.npy')", "emb-0.npy"),
    "environment": ("import os", "np.load(os.environ['OWN_EMB'])", "elsewhere/emb.npy"),
    "opened": ("", "np.frombuffer(open('em' + 'b.npy', 'rb').read()[-8:])[0]", "emb.npy"),
    "mapped": ("", "np.load('em' + 'b.npy', mmap_mode='r')", "emb.npy"),
    "at-import": ("import numpy as np\nEMB = np.load('em' + chr(98) + '.npy')", "EMB", "emb.npy"),
    "at-import-named": ("import numpy as np\nEMB = np.load('emb.npy')", "EMB", "emb.npy"),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_changed_data_file_is_another_request(ran: Ran, way: str, monkeypatch, tmp_path: Path) -> None:
    imports, weight, name = WAYS[way]
    (tmp_path / "code").mkdir()
    place = (
        tmp_path / ("code" if way in ("file", "folders", "no-ending", "join", "plus", "above") else "") / name
    )
    place.parent.mkdir(parents=True, exist_ok=True)
    monkeypatch.setenv("OWN_EMB", str(place))
    code = "code/mine.py" if "code" in str(place.relative_to(tmp_path)) or way == "above" else "mine.py"
    write(imports, weight=weight.replace("ABSOLUTE", str(tmp_path / "elsewhere")), path=code)
    words = (*ONLY[:-1], f"{code}:Mine")
    for value, expected in ((1.0, NEW), (1.0, CACHED), (2.0, NEW), (2.0, CACHED), (1.0, CACHED)):
        (np.savetxt if way == "no-ending" else np.save)(
            place, np.array(value) if way != "no-ending" else [value]
        )
        assert ran(*words) == expected, way


def test_a_file_that_a_setting_names_counts(ran: Ran) -> None:
    write(weight="np.load(self.path)")
    for name, value, expected in (("a", 1, NEW), ("a", 1, CACHED), ("a", 2, NEW), ("b", 2, NEW)):
        np.save(f"{name}.npy", value)
        assert ran(*ONLY, "--set", f"path={name}.npy") == expected


def test_a_file_that_appears_later_counts(ran: Ran) -> None:
    write("import os", weight="np.load('emb.npy') if os.path.exists('emb.npy') else 1")
    assert [ran(), ran()] == [NEW, CACHED]
    np.save("emb.npy", 2)
    assert [ran(), ran()] == [NEW, CACHED]
    os.remove("emb.npy")
    assert ran() == CACHED


def test_a_copy_with_an_old_date_counts(ran: Ran) -> None:
    write(weight="np.load('emb.npy')")
    np.save("emb.npy", 1.0)
    os.utime("emb.npy", (1e9, 1e9))
    assert [ran(), ran()] == [NEW, CACHED]
    np.save("emb.npy", 2.0)
    os.utime("emb.npy", (1e9, 1e9))
    assert ran() == NEW


def test_what_a_run_writes_is_no_input(ran: Ran) -> None:
    body = "np.save('best.npy', np.random.default_rng().random())"
    write(body=body, weight="1 + 0 * np.load('best.npy')")
    assert [ran(), ran(), ran()] == [NEW, CACHED, CACHED]
    assert "best.npy" not in te.Store("runs").records()[0].provenance["files"]


def test_a_checkpoint_of_torch_is_no_input(ran: Ran) -> None:
    pytest.importorskip("torch")
    body = "import torch; torch.save(torch.rand(1) + seed, 'best.pt')"
    write(body=body, weight="1 + 0 * torch.load('best.pt').item()")
    found = [ran(*ONLY, "--seeds", "2") for _ in range(2)]
    assert found == ["2 new, 0 cached", "0 new, 2 cached"]


def test_a_method_by_the_name_of_its_module_counts_with_what_it_reads(ran: Ran) -> None:
    words = (*ONLY[:-1], "own_package.mine:Mine")
    imports = "import numpy as np\nEMB = np.load('em' + chr(98) + '.npy')"
    write(imports, weight="EMB", path="own_package/mine.py")
    for value, expected in ((1.0, NEW), (1.0, CACHED), (2.0, NEW)):
        np.save("emb.npy", value)
        assert ran(*words) == expected


def test_a_record_says_which_files_it_read_by_names_that_others_may_see(ran: Ran, tmp_path: Path) -> None:
    write(weight="np.load('em' + 'b.npy')")
    np.save("emb.npy", 1.0)
    ran()
    (record,) = te.Store("runs").records()
    assert list(record.provenance["files"]) == ["emb.npy"]
    assert re.fullmatch("[0-9a-f]{64}", record.provenance["files"]["emb.npy"])


@pytest.mark.exhaustive
def test_several_processes_know_the_files_too(ran: Ran) -> None:
    write(weight="np.load('em' + 'b.npy')")
    two = (*ONLY, "--jobs", "2")
    for value, expected in ((1, NEW), (1, CACHED), (2, NEW)):
        np.save("emb.npy", value)
        assert ran(*two) == expected


def test_a_file_that_a_class_holds_in_memory_counts_for_its_later_records(ran: Ran) -> None:
    write("import functools", weight="read()")
    with open("mine.py", "a") as file:
        file.write("\n@functools.cache\ndef read():\n    return np.load('em' + 'b.npy')\n")
    for value, expected in ((1, "2 new, 0 cached"), (1, "0 new, 2 cached"), (2, "2 new, 0 cached")):
        np.save("emb.npy", value)
        assert ran(*ONLY, "--seeds", "2") == expected


def test_seeds_of_other_files_are_not_pooled(ran: Ran, trueedge) -> None:
    write(weight="np.load('emb.npy')")
    np.save("emb.npy", 1)
    ran(*ONLY, "--seeds", "5")
    np.save("emb.npy", -1)
    ran(*ONLY, "--seeds", "2")
    _, out, err = trueedge("records")
    assert "2 seeds" in out
    assert "3 records of an earlier version of mine are left out" in err


def imported(name: str = "mine") -> type[te.methods.Method]:
    found = loaded(name, "mine.py").Mine
    assert issubclass(found, te.methods.Method)
    return found


def test_code_that_was_edited_after_its_import_is_computed_and_not_reused(ran: Ran) -> None:
    write()
    kind, store = imported(), te.Store("runs")
    te.run("karate", "existing", kind(), store=store)
    assert te.run("karate", "existing", kind(), store=store).cached
    write(weight="-1")
    with pytest.warns(
        StoreWarning, match=r"mine is computed, .*: mine\.py was changed after it was imported"
    ):
        wrong = te.run("karate", "existing", kind(), store=store)
    assert not wrong.cached
    # The number of the old code is not found for the new one.
    assert ran() == NEW
    records = te.Store("runs").records()
    assert records[-1].test != records[0].test == records[1].test


def test_a_helper_that_was_edited_after_its_import_is_noticed(ran: Ran) -> None:
    write("import own_helper", weight="own_helper.WEIGHT")
    Path("own_helper.py").write_text("WEIGHT = 1\n")
    sys.path.insert(0, str(Path.cwd()))
    store = te.Store("runs")
    te.run("karate", "existing", imported()(), store=store)
    Path("own_helper.py").write_text("WEIGHT = -1\n")
    with pytest.warns(StoreWarning, match=r"own_helper\.py was changed after it was imported"):
        te.run("karate", "existing", imported()(), store=store)
    assert ran() == NEW


@pytest.mark.parametrize(
    ("body", "weight", "reason"),
    [
        (
            "open('mine.py', 'a').write('#')",
            "1",
            "mine.py was changed after it was imported",
        ),
        (
            "weight = np.load('emb.npy'); import subprocess; subprocess.run(['touch', 'emb.npy'])",
            "weight",
            "emb.npy was changed while it ran",
        ),
    ],
    ids=["code", "data"],
)
def test_what_changed_while_it_ran_is_not_reused(ran: Ran, body: str, weight: str, reason: str) -> None:
    write(body=body, weight=weight)
    np.save("emb.npy", 1.0)
    assert [ran(), ran()] == [NEW, NEW]
    (first, _) = te.Store("runs").records()
    assert reason in first.provenance["not_reused"]


def test_a_file_that_was_changed_after_the_import_and_not_read_since_is_not_trusted(ran: Ran) -> None:
    write("import numpy as np\nEMB = np.load('emb.npy')", weight="EMB")
    np.save("emb.npy", 1.0)
    kind, store = imported(), te.Store("runs")
    np.save("emb.npy", -1.0)
    record = te.run("karate", "existing", kind(), store=store)
    assert "emb.npy was changed after the code that names it was imported" in record.provenance["not_reused"]
    assert ran() == NEW


FACTORY = """
def made(power, table):
    @dataclass(frozen=True)
    class Inner(Mine):
        name: ClassVar[str] = "inner"

        def fit(self, task, seed=0, device="cpu"):
            return lambda pairs: (pairs.sum(axis=1) * power).astype(float) + table[0]

    return Inner

def with_value(power):
    return type("Plain", (Mine,), {"name": "plain", "power": power})
"""


def test_classes_of_one_function_differ_by_what_it_was_given(ran: Ran) -> None:
    write()
    with open("mine.py", "a") as file:
        file.write(FACTORY)
    module, store = loaded("mine", "mine.py"), te.Store("runs")
    cells = [Cell("karate", "existing", module.made(power, [0])()) for power in (1, -1, 1)]
    assert [outcome.fresh for outcome in run_cells(cells, store)] == [True, True, False]
    arrays = [Cell("karate", "existing", module.made(1, np.array([value]))()) for value in (1, 2, 1)]
    assert [outcome.fresh for outcome in run_cells(arrays, store)] == [True, True, False]
    plain = [Cell("karate", "existing", module.with_value(value)()) for value in (1, 2, 1)]
    assert [outcome.fresh for outcome in run_cells(plain, store)] == [True, True, False]
    hidden = Cell("karate", "existing", module.made(1, iter([1]))())
    with pytest.warns(StoreWarning, match="the content of table, a list_iterator, cannot be hashed"):
        store_less = list(run_cells([hidden], store))
    assert store_less[0].reason


def test_a_record_from_the_store_says_so_and_since_when(ran: Ran, trueedge, tmp_path: Path) -> None:
    store = te.Store(tmp_path / "runs")
    first = te.run("karate", "existing", "ra", store=store)
    again = te.run("karate", "existing", "ra", store=store)
    assert (first.cached, again.cached) == (False, True)
    assert again.created == first.created
    assert "cached" not in again.to_dict()
    (outcome,) = run_cells([Cell("karate", "existing", te.methods.create("ra"))], store)
    assert outcome.record.cached
    _, _, err = trueedge("run", "karate", "-p", "existing", "-m", "ra", "--seeds", "1")
    assert f"0 new, 1 cached (computed on {first.created[:10]})" in err


def test_a_range_of_dates_is_said(capsys, tmp_path: Path) -> None:
    from trueedge.cli.running import note_records

    record = te.run("karate", "existing", "ra")
    dates = ("2026-11-02T10:00:00+00:00", "2026-10-30T10:00:00+00:00")
    old = [replace(record, cached=True, created=date) for date in dates]
    note_records(te.Store(tmp_path), [record, *old])
    assert "1 new, 2 cached (computed from 2026-10-30 to 2026-11-02)" in capsys.readouterr().err


def test_a_file_that_was_replaced_within_a_second_is_read_again(tmp_path, monkeypatch) -> None:
    """Python itself would take the compiled code of the first one: its time and size are the same."""
    path = tmp_path / "replaced_within_a_second.py"
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    values = []
    for value in (1, 2):
        path.write_text(f"VALUE = {value}\n")
        os.utime(path, (1_000_000_000, 1_000_000_000))
        values.append(loaded(path.stem, path).VALUE)
        monkeypatch.delitem(sys.modules, path.stem)
        # Compiled code as an import would leave it.
        py_compile.compile(str(path))
    assert values == [1, 2]
