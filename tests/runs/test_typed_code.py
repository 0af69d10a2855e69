"""Classes without a file: a notebook's are hashed with what they refer to, others are always computed."""

from __future__ import annotations

import linecache
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import trueedge as te
from trueedge.errors import StoreWarning
from trueedge.runs.code import method_code

IMPORTS = """
from dataclasses import dataclass
from typing import ClassVar
import numpy as np
import trueedge as te
"""
CLASS = """
@dataclass(frozen=True)
class Typed(te.methods.Method):
    name: ClassVar[str] = "typed"
    title: ClassVar[str] = "Typed"
    family: ClassVar[str] = "own"
    citation: ClassVar[str] = "none"
    power: float = te.methods.setting(1.0, "of the degrees")

    def fit(self, task, seed=0, device="cpu"):
        BODY
        return lambda pairs: pairs.sum(axis=1) * float(WEIGHT)
"""


PART = """
class Part:
    def value(self):
        return VALUE
"""


class Cells:
    """The namespace of a notebook, in which cells are run as IPython runs them."""

    def __init__(self) -> None:
        module = sys.modules["__notebook__"] = ModuleType("__notebook__")
        self.names: dict[str, Any] = vars(module)
        self.count = 0
        self.run(IMPORTS)

    def run(self, text: str, kept: bool = True) -> None:
        self.count += 1
        # IPython gives every cell a name of its own and puts its lines where tracebacks look for them.
        name = f"/tmp/ipykernel_{id(self)}/{self.count}.py" if kept else "<stdin>"
        if kept:
            linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        exec(compile(text, name, "exec", dont_inherit=True), self.names)

    def typed(self, weight: str = "1", body: str = "pass", kept: bool = True) -> te.methods.Method:
        self.run(CLASS.replace("WEIGHT", weight).replace("BODY", body), kept)
        found = self.names["Typed"]()
        assert isinstance(found, te.methods.Method)
        return found


@pytest.fixture
def notebook(tmp_path: Path, monkeypatch) -> Cells:
    from trueedge.methods import method

    method.METHODS.discover()
    monkeypatch.setattr(method.METHODS, "_entries", dict(method.METHODS._entries))
    monkeypatch.chdir(tmp_path)
    return Cells()


def run(one: te.methods.Method) -> te.Record:
    return te.run("karate", "existing", one, store=te.Store("runs"))


def test_a_cell_that_was_changed_is_another_request(notebook: Cells) -> None:
    found = [run(notebook.typed(weight)) for weight in ("1", "1", "-1", "1")]
    assert [one.cached for one in found] == [False, True, False, True]
    assert found[0].test != found[2].test


def test_another_session_finds_the_record(notebook: Cells) -> None:
    assert [run(Cells().typed()).cached for _ in range(2)] == [False, True]


@pytest.mark.parametrize(
    ("weight", "first", "second"),
    [
        ("helper()", "def helper():\n    return 1", "def helper():\n    return -1"),
        ("outer()", "def helper():\n    return 1", "def helper():\n    return -1"),
        ("SCALE", "SCALE = 1", "SCALE = -1"),
        ("TABLE[0]", "TABLE = np.array([1.0, 2.0])", "TABLE = np.array([-1.0, 2.0])"),
        ("TABLE['a'][0]", "TABLE = {'a': [1]}", "TABLE = {'a': [-1]}"),
        ("Part().value()", PART.replace("VALUE", "1"), PART.replace("VALUE", "-1")),
        ("Part.size", "class Part:\n    size = 1", "class Part:\n    size = -1"),
        ("short()", "short = lambda: 1", "short = lambda: -1"),
        ("bound()", "from functools import partial\nbound = partial(int, 1)", "bound = partial(int, -1)"),
        ("power", "power = np.float64(1)", "power = np.float64(-1)"),
    ],
    ids=lambda value: value,
)
def test_what_a_cell_refers_to_counts(notebook: Cells, weight: str, first: str, second: str) -> None:
    notebook.run("def outer():\n    return helper()\n")
    notebook.run(first)
    one = notebook.typed(weight)
    before = run(one)
    assert run(one).cached
    notebook.run(second)
    again = run(one)
    assert not again.cached
    assert again.test != before.test


def test_a_module_that_a_cell_imports_counts(notebook: Cells, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    for imports, weight, body in (
        ("import own_cell_helper", "own_cell_helper.WEIGHT", "pass"),
        ("from own_cell_helper import weight", "weight()", "pass"),
        ("", "helper.WEIGHT", "import own_cell_helper as helper"),
        ("import importlib", "helper.WEIGHT", "helper = importlib.import_module('own_cell_helper')"),
    ):
        keys = set()
        for value in (1, 2, 1):
            Path("own_cell_helper.py").write_text(f"WEIGHT = {value}\ndef weight():\n    return WEIGHT\n")
            monkeypatch.delitem(sys.modules, "own_cell_helper", raising=False)
            cells = Cells()
            cells.run(imports)
            code = method_code(type(cells.typed(weight, body)))
            assert code.reason == ""
            keys.add(code.hash)
        assert len(keys) == 2, imports


def test_a_file_that_a_cell_reads_counts(notebook: Cells) -> None:
    one = notebook.typed("np.load('em' + 'b.npy')")
    found = []
    for value in (1.0, 1.0, -1.0):
        np.save("emb.npy", value)
        found.append(run(one).cached)
    assert found == [False, True, False]


def test_embeddings_of_triples_are_hashed_with_their_numbers(notebook: Cells) -> None:
    found = []
    for value in (1.0, 1.0, -1.0):
        notebook.run(f"emb = te.TripleEmbeddings('distmult', np.full((3, 2), {value}), np.ones((1, 2)))")
        found.append(run(notebook.typed("emb.entities.sum()")).cached)
    assert found == [False, True, False]


@pytest.mark.parametrize(
    ("cell", "weight", "reason"),
    [
        (
            "rng = np.random.default_rng(0)",
            "rng.random()",
            "the content of rng, a Generator, cannot be hashed",
        ),
        ("one = iter([1] * 99)", "next(one)", "the content of one, a list_iterator, cannot be hashed"),
        (
            "things = {'a': object()}",
            "len(things)",
            r"the content of things\[a\], an object, cannot be hashed",
        ),
    ],
    ids=["generator", "iterator", "object"],
)
def test_what_cannot_be_hashed_is_computed_and_said_once(
    notebook: Cells, cell: str, weight: str, reason: str
) -> None:
    notebook.run(cell)
    one = notebook.typed(weight)
    with pytest.warns(
        StoreWarning, match=f"typed is computed, and no stored record is used: {reason}"
    ) as said:
        found = [run(one) for _ in range(3)]
    assert len([one for one in said if one.category is StoreWarning]) == 1
    assert not any(one.cached for one in found)
    assert len(te.Store("runs")) == 3


def test_a_class_without_source_is_computed_and_never_reused(notebook: Cells) -> None:
    said = r"Typed\.fit has no source that can be read: it was typed in, or came from standard input"
    for weight in ("1", "1", "-1"):
        one = notebook.typed(weight, kept=False)
        with pytest.warns(StoreWarning, match=said):
            record = run(one)
        assert not record.cached
        assert not run(one).cached
    assert len(te.Store("runs")) == 6
    keys = [record.key for record in te.Store("runs").records()]
    assert len(set(keys)) == 3
    assert len({record.provenance["code"] for record in te.Store("runs").records()}) == 3


def test_records_of_typed_classes_are_not_pooled_over_sessions(notebook: Cells) -> None:
    from trueedge.analysis.tables import tables

    for weight, seeds in (("1", 3), ("-1", 2)):
        one = notebook.typed(weight, kept=False)
        for seed in range(seeds):
            te.run("karate", "existing", one, seed=seed, store=te.Store("runs"))
    (table,) = tables(te.Store("runs").records())
    assert table.lines[0].row.seeds == 2
    assert table.left_out == ("3 records of an earlier version of typed are left out",)


def test_a_script_from_standard_input_gets_no_number_of_another_one(tmp_path: Path) -> None:
    code = (
        IMPORTS
        + CLASS.replace("BODY", "pass")
        + """
record = te.run("karate", "existing", Typed(), store=te.Store("runs"))
print(record.cached, record.value)
"""
    )
    found = []
    for weight in ("1", "-1"):
        ran = subprocess.run(
            [sys.executable, "-"],
            input=code.replace("WEIGHT", weight),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        assert ran.stderr.count("typed is computed, and no stored record is used") == 1
        found.append(ran.stdout.split())
    assert [one[0] for one in found] == ["False", "False"]
    assert found[0][1] != found[1][1]


def test_a_decorated_and_inherited_method_counts(notebook: Cells) -> None:
    keys = []
    for value in (1, 2, 1):
        cells = Cells()
        cells.run(
            "import functools\n"
            "def doubled(function):\n"
            "    @functools.wraps(function)\n"
            f"    def inner(*given, **named):\n        return (function(*given, **named), {value})[0]\n"
            "    return inner\n"
        )
        cells.typed()
        cells.run(
            "class Child(Typed):\n"
            "    name = 'child'\n"
            "    @doubled\n"
            "    def fit(self, task, seed=0, device='cpu'):\n"
            "        return super().fit(task, seed, device)\n"
        )
        code = method_code(cells.names["Child"])
        assert code.reason == ""
        keys.append(code.hash)
    assert keys[0] == keys[2] != keys[1]
