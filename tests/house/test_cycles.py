"""No module imports itself, not even through others or within a function."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import trueedge

PACKAGE = Path(trueedge.__file__).parent

Imports = dict[str, set[str]]


def sources() -> dict[str, str]:
    """The text of each module by its dotted name; a package's ``__init__`` has the name of the package."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = ("trueedge", *path.relative_to(PACKAGE).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path.read_text()
    return found


def statements(tree: ast.AST, typing_too: bool) -> Iterator[ast.Import | ast.ImportFrom]:
    """All imports of a module, also those in functions; without those for type checkers unless asked."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING" and not typing_too:
            for other in node.orelse:
                yield from statements(other, typing_too)
        elif not isinstance(node, ast.expr):
            yield from statements(node, typing_too)


def imports_of(modules: dict[str, str]) -> Imports:
    """The modules that each module imports; in ``from package import name`` the submodule, if it is one."""
    found: Imports = {}
    for name, text in modules.items():
        named: set[str] = set()
        # The package's own names are imported when they are first used: what a type checker reads is real.
        for node in statements(ast.parse(text), typing_too=name == "trueedge"):
            if isinstance(node, ast.Import):
                named |= {alias.name for alias in node.names}
            elif node.module is not None:
                whole = {f"{node.module}.{alias.name}" for alias in node.names}
                named |= {one if one in modules else node.module for one in whole}
        found[name] = named & set(modules) - {name}
    return found


def cycles(imports: Imports) -> list[frozenset[str]]:
    """The sets of modules that all reach each other (Tarjan's strongly connected components)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[frozenset[str]] = []

    def visit(name: str) -> None:
        order[name] = low[name] = len(order)
        stack.append(name)
        for other in sorted(imports[name]):
            if other not in order:
                visit(other)
            if other in stack:
                low[name] = min(low[name], low[other])
        if low[name] == order[name]:
            members = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            if len(members) > 1:
                found.append(frozenset(members))

    for name in sorted(imports):
        if name not in order:
            visit(name)
    return found


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert [sorted(cycle) for cycle in cycles(imports_of(sources()))] == []


@pytest.mark.parametrize(
    "text",
    [
        "from trueedge.b import thing",
        "from trueedge import b",
        "import trueedge.b",
        "def late():\n    from trueedge.b import thing",
        "import trueedge",
    ],
)
def test_a_circle_is_seen_in_every_way_to_import(text: str) -> None:
    root = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from trueedge import b"
    modules = {"trueedge": root, "trueedge.a": text, "trueedge.b": "from trueedge.a import other"}
    (found,) = cycles(imports_of(modules))
    assert found >= {"trueedge.a", "trueedge.b"}


def test_imports_for_type_checkers_make_no_circle() -> None:
    typed = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from trueedge.b import thing"
    assert cycles(imports_of({"trueedge.a": typed, "trueedge.b": "import trueedge.a"})) == []
