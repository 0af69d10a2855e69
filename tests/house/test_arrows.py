"""Data flows one way: a room imports only from rooms before it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import trueedge

ROOMS = (
    "kernels",
    "files",
    "graph",
    "datasets",
    "splits",
    "negatives",
    "metrics",
    "statistics",
    "scorers",
    "tasks",
    "training",
    "methods",
    "results",
    "analysis",
    "runs",
    "search",
    "studies",
    "audit",
    "verdict",
    "report",
    "leaderboard",
    "cli",
)
FOUNDATION = ("errors", "html", "moved", "progress", "randomness", "registry", "version")
PACKAGE = Path(trueedge.__file__).parent
FILES = sorted(path for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE)


def imported_rooms(source: str) -> Iterator[str]:
    left: list[ast.AST] = [ast.parse(source)]
    while left:
        node = left.pop()
        # No import stands within an expression.
        left += (one for one in ast.iter_child_nodes(node) if not isinstance(one, ast.expr))
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level:
            yield "relative"
            continue
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == "trueedge":
                # A bare import brings in every room.
                yield parts[1] if len(parts) > 1 else "everything"


def backwards(room: str, source: str) -> list[str]:
    """The rooms a file imports although they do not come before it."""
    if room == "kernels":
        return [name for name in imported_rooms(source) if name != "kernels"]
    allowed = {*ROOMS[: ROOMS.index(room) + 1], *FOUNDATION}
    return [name for name in imported_rooms(source) if name not in allowed]


def test_every_room_imports_only_from_rooms_before_it() -> None:
    rooms = {path: path.relative_to(PACKAGE).parts[0] for path in FILES}
    assert set(rooms.values()) == set(ROOMS)
    found = {str(path): backwards(room, path.read_text()) for path, room in rooms.items()}
    assert {path: names for path, names in found.items() if names} == {}


def test_an_arrow_that_points_back_is_seen() -> None:
    assert backwards("graph", "from trueedge import tasks") == ["tasks"]
    assert backwards("metrics", "import trueedge.methods.method") == ["methods"]
    assert backwards("kernels", "from trueedge.errors import InputError") == ["errors"]
    assert backwards("cli", "import trueedge") == ["everything"]
    assert backwards("cli", "def f():\n    from . import app") == ["relative"]
    assert (
        backwards("tasks", "from trueedge.metrics import evaluate\nfrom trueedge.errors import must_be") == []
    )


def test_there_is_no_drawer_for_odds_and_ends() -> None:
    names = {path.name for path in PACKAGE.rglob("*.py")}
    assert names.isdisjoint({"utils.py", "helpers.py", "common.py", "misc.py"})
