"""Every package that is used is declared and pinned, and the source archive holds the whole repository."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src" / "trueedge").rglob("*.py"))
# Where a package is imported by another name.
IMPORTED_AS = {"scikit-learn": "sklearn", "torch-geometric": "torch_geometric"}


@cache
def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def requirements(*extras: str) -> list[Requirement]:
    """The requirements of the package and of some extras, without those that name other extras."""
    listed = [
        *project()["dependencies"],
        *(one for name in extras for one in project()["optional-dependencies"][name]),
    ]
    found = [Requirement(text) for text in listed]
    return [one for one in found if one.name != project()["name"]]


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    listed = [line.partition("==") for line in lines if line and not line.startswith("#")]
    assert len({canonicalize_name(name) for name, _, _ in listed}) == len(listed)
    return {canonicalize_name(name): version for name, _, version in listed}


def test_every_direct_dependency_is_pinned_to_an_allowed_version_and_nothing_else_is() -> None:
    direct = requirements(*project()["optional-dependencies"])
    pinned = pins()
    assert set(pinned) == {canonicalize_name(one.name) for one in direct}
    wrong = [str(one) for one in direct if pinned[canonicalize_name(one.name)] not in one.specifier]
    assert wrong == []


def test_every_direct_dependency_has_a_lower_bound() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "lowest.py"], capture_output=True, text=True, check=True
    )
    lowest = {canonicalize_name(name): version for name, _, version in map(_pin, done.stdout.splitlines())}
    direct = requirements(*project()["optional-dependencies"])
    assert set(lowest) == {canonicalize_name(one.name) for one in direct}
    for one in direct:
        assert lowest[canonicalize_name(one.name)] in one.specifier, one


def _pin(line: str) -> tuple[str, str, str]:
    return line.partition("==")


@cache
def imports() -> list[tuple[str, str, str]]:
    """Each name that the package imports from elsewhere, also inside functions: file, module, name."""
    return list(_imports())


def _imports() -> Iterator[tuple[str, str, str]]:
    for path in SOURCES:
        left: list[ast.AST] = [ast.parse(path.read_text("utf-8"))]
        while left:
            node = left.pop()
            if isinstance(node, ast.Import):
                yield from ((path.name, alias.name, "") for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                yield from ((path.name, node.module, alias.name) for alias in node.names)
            # No import stands within an expression.
            left += (one for one in ast.iter_child_nodes(node) if not isinstance(one, ast.expr))


def used_packages() -> set[str]:
    roots = {module.partition(".")[0] for _, module, _ in imports()}
    return roots - set(sys.stdlib_module_names) - {"trueedge", "__future__"}


def allowed_packages() -> set[str]:
    declared = {
        canonicalize_name(one.name) for one in requirements("torch", "search", "plot", "dask", "serve")
    }
    names = {IMPORTED_AS.get(name, name.replace("-", "_")) for name in declared}
    # Graphs are made from theirs where they are installed; numba brings llvmlite, torch for a GPU
    # triton, distributed dask.
    return names | {"networkx", "pandas", "pyarrow", "llvmlite", "triton", "dask"}


def seen_packages() -> set[str]:
    """The allowed packages that lines of the sources seem to import: parsing takes a hundred times longer."""
    lines = re.compile(r"^\s*(?:from|import) (\w+)", re.MULTILINE)
    return allowed_packages() & {one for path in SOURCES for one in lines.findall(path.read_text("utf-8"))}


def test_every_package_that_is_imported_is_declared_and_its_names_are_tested() -> None:
    assert used_packages() <= allowed_packages()
    assert used_packages() == seen_packages()


@pytest.mark.parametrize("package", sorted(seen_packages()))
def test_every_name_that_is_imported_exists_in_the_installed_version(package: str) -> None:
    pytest.importorskip(package)
    missing = [
        f"{file}: {module}.{name}"
        for file, module, name in set(imports())
        if module.partition(".")[0] == package and not _exists(module, name)
    ]
    assert missing == []


def _exists(module: str, name: str) -> bool:
    if not name or hasattr(importlib.import_module(module), name):
        importlib.import_module(module)
        return True
    try:
        importlib.import_module(f"{module}.{name}")
    except ImportError:
        return False
    return True


def test_the_readme_names_the_python_that_is_required() -> None:
    stated = re.search(r"Python (\d\.\d+) or newer", (ROOT / "README.md").read_text("utf-8"))
    assert stated is not None
    assert project()["requires-python"] == f">={stated[1]}"


def test_the_source_archive_holds_every_file_of_the_repository(tmp_path: Path) -> None:
    pytest.importorskip("setuptools", "77")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("this is no clone of the repository")
    # What sdist would pack, without packing it or writing into the clone.
    script = "import sys; from setuptools import setup; setup(script_args=sys.argv[1:])"
    words = ["-q", "egg_info", "--egg-base", str(tmp_path)]
    subprocess.run([sys.executable, "-c", script, *words], cwd=ROOT, capture_output=True, check=True)
    packed = set((tmp_path / "trueedge.egg-info" / "SOURCES.txt").read_text("utf-8").splitlines())
    tracked = {name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()}
    assert sorted(tracked - packed - {"MANIFEST.in"}) == []
    assert {"constraints.txt", "Makefile", "docs/index.md", "tests/run", "benchmarks/run.py"} <= packed
    assert [name for name in packed if "__pycache__" in name or name.startswith(".venv")] == []
