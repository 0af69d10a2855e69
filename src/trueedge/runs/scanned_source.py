"""What a Python source says by itself: its imports, what it uses of each, and its short texts.

Parsing our own source takes a second, in every process. So what was found in it is kept under the hash of
each source, beside this file, like the compiled kernels.
"""

from __future__ import annotations

import ast
import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

from trueedge.errors import InputError
from trueedge.files.writing import replacing
from trueedge.runs.named_files import is_name

# Functions that import the module whose name they are given.
IMPORTERS = ("import_module", "__import__", "find_spec", "run_module")
# More sources than the package has are of older versions of it.
_MOST_KEPT = 5000

Chain = tuple[str, ...]


@dataclass(frozen=True)
class Statement:
    """An import.

    Attributes:
        module: the module of ``from module import …``; empty for ``from . import …`` and for ``import …``.
        level: how many dots stand before it; None for ``import …``.
        names: what is imported, each with the name after ``as``, or None.
        typing_only: whether it stands under ``if TYPE_CHECKING``.
    """

    module: str
    level: int | None
    names: tuple[tuple[str, str | None], ...]
    typing_only: bool = False

    @property
    def bound(self) -> Iterator[str]:
        """Return the names that it may bind."""
        return (other or name.partition(".")[0] for name, other in self.names)


@dataclass(frozen=True)
class Scanned:
    """What a source says: imports, the attributes that it uses of each imported name, short texts."""

    statements: tuple[Statement, ...] = ()
    uses: Mapping[str, set[Chain]] = field(default_factory=dict)
    texts: tuple[str, ...] = ()


@lru_cache(maxsize=256)
def scanned(content: bytes) -> Scanned:
    """Scan a source; one that this version of Python cannot parse says nothing."""
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError):
        return Scanned()
    nodes = list(_nodes(tree))
    constants = (node.value for node in nodes if isinstance(node, ast.Constant))
    statements = (*_import_statements(tree.body), *_import_calls(nodes))
    bound = {name for statement in statements for name in statement.bound}
    return Scanned(
        statements,
        {name: chains for name, chains in uses(nodes).items() if name in bound},
        tuple(dict.fromkeys(text for text in constants if is_name(text))),
    )


def own_scan(content: bytes, digest: str) -> Scanned:
    """Return imports and uses of a source of ours, from what is kept if its hash is there.

    Args:
        content: the source.
        digest: its SHA-256.
    """
    kept = _kept()
    if digest not in kept:
        found = scanned(content)
        kept[digest] = Scanned(found.statements, found.uses)
        _NEW.add(digest)
    return kept[digest]


def keep_scans() -> None:
    """Keep what was found in our own sources, for other processes."""
    if not _NEW:
        return
    kept = _kept() if len(_kept()) <= _MOST_KEPT else {digest: _kept()[digest] for digest in _NEW}
    _NEW.clear()
    card = {"scanner": _scanner(), "scans": {digest: _to_json(scan) for digest, scan in kept.items()}}
    # Whoever cannot write there parses again next time.
    with suppress(OSError, InputError), replacing(_place()) as draft:
        draft.write_text(json.dumps(card, separators=(",", ":")), encoding="utf-8")


_NEW: set[str] = set()


@cache
def _kept() -> dict[str, Scanned]:
    """Return what was found in sources of ours, by their hash."""
    try:
        card = json.loads(_place().read_bytes())
        if card["scanner"] != _scanner():
            return {}
        return {digest: _from_json(*scan) for digest, scan in card["scans"].items()}
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return {}


def _place() -> Path:
    return Path(cache_from_source(__file__)).with_suffix(".json")


def _scanner() -> str:
    """Return a hash of this file: another one may find something else."""
    return f"{sys.version} {hashlib.sha256(Path(__file__).read_bytes()).hexdigest()}"


def _to_json(scan: Scanned) -> list[Any]:
    statements = [[one.module, one.level, one.names, one.typing_only] for one in scan.statements]
    return [statements, {name: sorted(chains) for name, chains in scan.uses.items()}]


def _from_json(statements: list[Any], used: dict[str, list[list[str]]]) -> Scanned:
    return Scanned(
        tuple(
            Statement(module, level, tuple((name, other) for name, other in names), typing_only)
            for module, level, names, typing_only in statements
        ),
        {name: {tuple(chain) for chain in chains} for name, chains in used.items()},
    )


def _nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a tree, each before those below it, in half the time of ``ast.walk``."""
    left = [tree]
    while left:
        node = left.pop()
        yield node
        for name, value in vars(node).items():
            if isinstance(value, list):
                left += [one for one in value if isinstance(one, ast.AST)]
            # Whether a name is read or written has no parts.
            elif isinstance(value, ast.AST) and name != "ctx":
                left.append(value)


def _import_statements(body: Sequence[ast.AST], typing_only: bool = False) -> Iterator[Statement]:
    """Yield each import at any depth."""
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = tuple((alias.name, alias.asname) for alias in node.names)
            if isinstance(node, ast.ImportFrom):
                yield Statement(node.module or "", node.level, names, typing_only)
            else:
                yield Statement("", None, names, typing_only)
            continue
        test = getattr(node, "test", None)
        guarded = "TYPE_CHECKING" in (getattr(test, "id", ""), getattr(test, "attr", ""))
        yield from _import_statements(getattr(node, "body", ()), typing_only or guarded)
        for part in ("orelse", "finalbody", "handlers", "cases"):
            yield from _import_statements(getattr(node, part, ()), typing_only)


def _import_calls(nodes: Iterable[ast.AST]) -> Iterator[Statement]:
    """Yield a statement for each call such as ``importlib.import_module("helper")``."""
    for node in nodes:
        if not isinstance(node, ast.Call) or not node.args:
            continue
        called, first = getattr(node.func, "attr", getattr(node.func, "id", "")), node.args[0]
        if called not in IMPORTERS or not isinstance(first, ast.Constant) or not is_name(first.value):
            continue
        name = str(first.value).lstrip(".")
        level = len(str(first.value)) - len(name)
        # No statement binds such a name, so the module counts as a whole.
        yield Statement(name, level, (("*", None),)) if level else Statement("", None, ((name, "()"),))


def uses(nodes: Iterable[ast.AST]) -> dict[str, set[Chain]]:
    """Return the attribute chains of each name; the empty chain if a name is used as a whole."""
    found: dict[str, set[Chain]] = {}
    inner: set[ast.AST] = set()
    for node in nodes:
        if node in inner or not isinstance(node, (ast.Attribute, ast.Name)):
            continue
        chain: list[str] = []
        base: ast.AST = node
        while isinstance(base, ast.Attribute):
            chain.insert(0, base.attr)
            base = base.value
            inner.add(base)
        if isinstance(base, ast.Name) and isinstance(base.ctx, ast.Load):
            found.setdefault(base.id, set()).add(tuple(chain))
    return found
