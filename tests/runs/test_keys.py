"""Keys of records: code that a cell uses changes its key when it is edited, and no other code does."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import trueedge as te
from trueedge.runs import Cell
from trueedge.runs.closures import closure, label
from trueedge.runs.code import method_code, task_code
from trueedge.runs.imports import PACKAGE, dependencies

CELLS = [
    ("ra", "existing"),
    ("pa", "existing"),
    ("ncn", "existing"),
    ("gcn", "existing"),
    ("ra", "heart"),
    ("pa", "uniform"),
]
SCRIPT = f"""
import json, trueedge as te
from trueedge.runs import Cell
cells = {{f"{{m}} {{p}}": Cell("karate", p, te.methods.create(m)) for m, p in {CELLS}}}
print(json.dumps({{name: [cell.task_key, cell.key] for name, cell in cells.items()}}))
"""
Keys = dict[str, list[str]]


@pytest.fixture(scope="module")
def copy(tmp_path_factory) -> Path:
    """A copy of the package."""
    folder = tmp_path_factory.mktemp("copy") / "trueedge"
    shutil.copytree(PACKAGE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def keys(copy: Path) -> Keys:
    """The keys of some cells, by the copy."""
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**os.environ, "PYTHONPATH": str(copy.parent), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    found: Keys = json.loads(ran.stdout)
    return found


@pytest.fixture(scope="module")
def before(copy: Path) -> Keys:
    return keys(copy)


EVERY = {f"{method} {protocol}" for method, protocol in CELLS}


@pytest.mark.parametrize(
    ("files", "changed", "changed_tasks"),
    [
        (("kernels/neighbors/intersection.py",), {"ra existing", "ra heart"}, set()),
        (("methods/pairwise/seal.py", "methods/pairwise/models/seal.py"), set(), set()),
        (("methods/pairwise/models/common_neighbors.py",), {"ncn existing"}, set()),
        (("methods/published_settings.csv",), {"gcn existing", "ncn existing"}, set()),
        (("tasks/protocols/hard.py",), {"ra heart"}, {"ra heart"}),
        (("metrics/ranking.py", "tasks/link.py"), EVERY, EVERY),
        (("datasets/embedded/__init__.py",), EVERY, EVERY),
        (("report/page.py", "report/page.css", "datasets/wikipedia.py", "runs/__init__.py"), set(), set()),
    ],
)
def test_an_edit_changes_the_keys_of_what_uses_it(
    copy: Path, before: Keys, files, changed, changed_tasks
) -> None:
    contents = {copy / name: (copy / name).read_bytes() for name in files}
    try:
        for path, content in contents.items():
            comment = b"/* edited */\n" if path.suffix == ".css" else b"# edited\n"
            path.write_bytes(content + (b"" if path.suffix == ".csv" else comment))
            if path.suffix == ".csv":
                path.write_bytes(content.replace(b"0.01", b"0.02"))
        after = keys(copy)
    finally:
        for path, content in contents.items():
            path.write_bytes(content)
    assert {name for name in before if after[name][1] != before[name][1]} == changed
    assert {name for name in before if after[name][0] != before[name][0]} == changed_tasks


def files_of(kind: type[te.methods.Method]) -> set[str]:
    return {label(path, PACKAGE) for path in closure([Path(sys.modules[kind.__module__].__file__)]).code}


BUILT_IN = [kind for kind in te.methods.catalogue() if kind.__module__.startswith("trueedge.")]


@pytest.mark.parametrize("kind", BUILT_IN, ids=lambda kind: kind.name)
def test_no_method_depends_on_rooms_after_methods(kind) -> None:
    later = ("results/", "analysis/", "runs/", "search/", "studies/", "audit/", "report/", "cli/")
    files = files_of(kind)
    assert f"{kind.__module__.partition('.')[2].replace('.', '/')}.py" in files
    assert [name for name in files if name.startswith(later)] == []
    assert not any(name.endswith("__init__.py") for name in files)


def test_every_protocol_has_a_hash_of_its_own_module() -> None:
    for one in te.tasks.protocols.catalogue():
        assert one.module.startswith("trueedge.tasks.protocols.")
        assert len(task_code("karate", one.name).hash) == 64
    task = te.task("karate", "existing")
    assert len(task_code(task, "existing").hash) == 64


OWN = """
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import trueedge as te
import numpy as np
import own_{name}_weights
from own_{name}_parts import scaled

if TYPE_CHECKING:
    import own_{name}_unused


@dataclass(frozen=True)
class Own(te.methods.Method):
    title: ClassVar[str] = "own"
    family: ClassVar[str] = "test"
    citation: ClassVar[str] = "none"

    def fit(self, task, seed=0, device="cpu"):
        from own_{name}_late import noise

        return lambda pairs: scaled(pairs) + noise + own_{name}_weights.WEIGHT + np.zeros(len(pairs))


Own.name = "own-{name}"
"""


def test_a_users_method_depends_on_the_modules_next_to_it(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))

    def key(name: str = "key", **edited: str) -> str:
        texts = {
            "": OWN.format(name=name),
            "_weights": 'TABLE = "own.csv"\nWEIGHT = 1.0\n',
            "_late": "noise = 0.5\n",
            "_unused": "nothing = 0\n",
            "_parts/__init__": "from .scaling import scaled\nfrom .other import other\n",
            "_parts/scaling": "def scaled(pairs):\n    return pairs.sum(axis=1)\n",
            "_parts/other": "other = 1\n",
        }
        (tmp_path / f"own_{name}_parts").mkdir(exist_ok=True)
        (tmp_path / "own.csv").write_text(edited.pop("csv", "1"))
        for place, text in texts.items():
            (tmp_path / f"own_{name}{place}.py").write_text(text + edited.get(place, ""))
        spec = importlib.util.spec_from_file_location(f"own_{name}", tmp_path / f"own_{name}.py")
        module = importlib.util.module_from_spec(spec)
        for loaded in [one for one in sys.modules if one.startswith(f"own_{name}")]:
            monkeypatch.delitem(sys.modules, loaded)
        monkeypatch.setitem(sys.modules, f"own_{name}", module)
        spec.loader.exec_module(module)
        code = method_code(module.Own)
        assert code.reason == ""
        assert code.files == {tmp_path / "own.csv"}
        return code.hash

    first = key()
    assert key() == first
    for used in ("", "_weights", "_late", "_parts/scaling"):
        assert key(**{used: "# edited\n"}) != first, used
    assert key(csv="2") == first
    for unused in ("_unused", "_parts/other"):
        assert key(**{unused: "# edited\n"}) == first, unused


def test_the_key_of_a_task_does_not_depend_on_where_the_package_lies(before: Keys) -> None:
    cell = Cell("karate", "existing", te.methods.create("ra"))
    assert before["ra existing"] == [cell.task_key, cell.key]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("from trueedge.graph import Graph", {"graph/graph.py"}),
        ("from trueedge import splits\nsplits.ratio(1)", {"splits/ratio.py"}),
        ("import trueedge as te\ndef f(x): return te.splits.ratio(x)", {"splits/ratio.py"}),
        ("import trueedge.splits.ratio\ntrueedge.splits.ratio(1)", {"splits/ratio.py"}),
        ("import trueedge as te\nte.Graph", {"graph/graph.py"}),
        ("from trueedge.kernels.walks import push as kernel\nkernel.push_values", {"kernels/walks/push.py"}),
        ("def f():\n  try:\n    from trueedge.errors import unknown\n  except OSError: ...", {"errors.py"}),
        # Used as a whole: everything that the package imports counts.
        (
            "from trueedge import splits\nprint(splits)",
            {"splits/__init__.py", "splits/ratio.py", "splits/repeat.py"},
        ),
        ("from trueedge.splits import *", {"splits/__init__.py", "splits/ratio.py", "splits/repeat.py"}),
        ("import numpy, os.path\nfrom scipy.sparse import csr_array", set()),
        ("import typing\nif typing.TYPE_CHECKING:\n  from trueedge.graph import Graph", set()),
        ("from bare import part\npart.x", {"user bare/part.py"}),
        ("import bare.part", {"user bare/part.py"}),
        ("from bare.part import *", {"user bare/part.py"}),
        ("import importlib\nimportlib.import_module('bare.part')", {"user bare/part.py"}),
        (
            "from importlib import import_module as imp, import_module\nimport_module('bare.part')",
            {"user bare/part.py"},
        ),
        ("def f():\n  return __import__('bare.part')", {"user bare/part.py"}),
        ("import runpy\nrunpy.run_path('bare/part.py')", {"user bare/part.py"}),
        ("this is no Python", set()),
    ],
)
def test_imports_are_followed_to_the_files_that_define_what_is_used(
    tmp_path: Path, code: str, expected: set
) -> None:
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "part.py").write_text("x = 1\n")
    path = tmp_path / "some_code.py"
    path.write_text(code)
    found = {label(one, tmp_path) for one in closure([path]).code}
    assert expected <= found
    if not expected:
        assert found == {"user some_code.py"}
    if not any(name.endswith("__init__.py") for name in expected) and "run_path" not in code:
        direct = {label(one, tmp_path) for one in dependencies(path)} - {"__init__.py"}
        assert direct == expected
