"""Hashes of the code behind a record: of its method, and of what makes and evaluates its task.

A hash covers a file and everything it imports, found in the source without importing it.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path

from trueedge import datasets, metrics
from trueedge.graph import Graph
from trueedge.methods import Method
from trueedge.tasks import Task
from trueedge.tasks.protocols import get

PACKAGE = Path(__file__).resolve().parents[1]
# A name in quotes that may be a file next to the module, such as "published_settings.csv".
_FILE_NAME = re.compile(r"""["']([\w./-]+\.\w+)["']""")
_LIBRARIES = tuple(
    Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib", "purelib", "platlib")
)

Chain = tuple[str, ...]


@dataclass(frozen=True)
class _Import:
    """What an import statement binds: a name to a module, or to something in it (``within``)."""

    name: str
    module: Path
    within: Chain = ()
    # Under ``if TYPE_CHECKING``: what a package with lazy imports exports, and not a dependency.
    typing_only: bool = False


@dataclass
class _Source:
    """What is read from a file: its hash, its imports, the attributes it uses of each, its data files."""

    digest: str
    imports: list[_Import] = field(default_factory=list)
    uses: dict[str, set[Chain]] = field(default_factory=dict)
    data: list[Path] = field(default_factory=list)


@cache
def code_hash(kind: type[Method]) -> str:
    """Return a hash of a method's file and of all it imports; empty if its source cannot be read."""
    try:
        return closure_hash(source_files(kind))
    except (TypeError, OSError):
        return ""


def source_files(kind: type[Method]) -> list[Path]:
    """Return the files of a method's class and of the methods it is derived from."""
    owners = (owner for owner in kind.__mro__ if issubclass(owner, Method))
    found = (inspect.getsourcefile(owner) for owner in owners)
    return list(dict.fromkeys(Path(path) for path in found if path is not None))


def task_code_hash(source: str | Graph | Task, protocol: str) -> str:
    """Return a hash of the code that reads a source, makes its task and evaluates it, with all it imports."""
    if isinstance(source, Task):
        homes = {type(source).__module__}
    else:
        homes = {*_homes(get(protocol))}
        if isinstance(source, str) and datasets.is_name(source):
            homes |= {*_homes(datasets.get(source))}
    homes |= _metric_homes()
    # A user may edit a file and import it again. Our own files do not change.
    ours = all(home.startswith("trueedge.") for home in homes)
    return (_own_modules_hash if ours else _modules_hash)(frozenset(homes))


@cache
def _metric_homes() -> frozenset[str]:
    # A task finds metrics by name, not by import. The user's own metrics come with their protocol.
    found = (home for metric in metrics.catalogue() for home in _homes(metric))
    return frozenset(home for home in found if home.startswith("trueedge."))


def _homes(card: object) -> Iterator[str]:
    """Yield the modules of a card's functions, and the module that registered it, if known."""
    if module := getattr(card, "module", ""):
        yield module
    left = list(vars(card).values())
    while left:
        value = left.pop()
        if isinstance(value, partial):
            left += [value.func, *value.args, *value.keywords.values()]
        elif callable(value) and getattr(value, "__module__", None):
            yield value.__module__


def _modules_hash(names: frozenset[str]) -> str:
    """Return the hash of some modules; modules without a file, as in a notebook, are left out."""
    return closure_hash(path for path in map(module_file, names) if path is not None)


_own_modules_hash = cache(_modules_hash)


def closure_hash(roots: Iterable[Path]) -> str:
    """Return a SHA-256 of Python files and of all they import, independent of where the folders are."""
    found = sorted((_label(path), digest) for path, digest in _closure(roots).items())
    return hashlib.sha256("\n".join(f"{label} {digest}" for label, digest in found).encode()).hexdigest()


def module_file(name: str) -> Path | None:
    """Return the file of a loaded module, or None if it has none or belongs to Python or another package."""
    path = Path(getattr(sys.modules.get(name), "__file__", None) or "").resolve()
    return path if path.suffix == ".py" and (path.is_relative_to(PACKAGE) or _is_users(path)) else None


def _closure(roots: Iterable[Path]) -> dict[Path, str]:
    """Return the hash of each file in the closure, data files included."""
    found: dict[Path, str] = {}
    left = [path.resolve() for path in roots]
    while left:
        path = left.pop()
        if path not in found:
            found[path] = _source(path).digest
            found |= {data: hashlib.sha256(data.read_bytes()).hexdigest() for data in _source(path).data}
            left += _dependencies(path)
    return found


def _label(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix() if path.is_relative_to(PACKAGE) else f"user {path.name}"


def _dependencies(path: Path) -> frozenset[Path]:
    """Return the files a file imports from, directly."""
    return _own_dependencies(path) if path.is_relative_to(PACKAGE) else _read_dependencies(path)


def _source(path: Path) -> _Source:
    # A user may edit and import a file again in the same process. Our own files do not change.
    return _own_source(path) if path.is_relative_to(PACKAGE) else _read_source(path)


def _read_dependencies(path: Path) -> frozenset[Path]:
    source, found = _source(path), set[Path]()
    for one in source.imports:
        for chain in () if one.typing_only else source.uses.get(one.name, {()}):
            found.update(_resolve(one.module, (*one.within, *chain)))
    return frozenset(found)


def _resolve(module: Path, chain: Chain, asked: frozenset[tuple[Path, str]] = frozenset()) -> Iterator[Path]:
    """Yield the files that define ``module.a.b.c``, also through names that a package only re-exports.

    A package that is used as a whole, or that defines the name itself, counts with all it imports.
    """
    if not chain or module.name != "__init__.py":
        yield module
        return
    head, rest = chain[0], chain[1:]
    # A package that exports a submodule of its own under the submodule's name leads back here.
    targets = [one for one in _source(module).imports if one.name == head and (module, head) not in asked]
    for one in targets:
        yield from _resolve(one.module, (*one.within, *rest), asked | {(module, head)})
    if not targets:
        submodule = _file(module.parent, [head])
        yield from [module] if submodule is None else _resolve(submodule, rest, asked)


def _read_source(path: Path) -> _Source:
    """Read a file; a file that this version of Python cannot parse has no imports."""
    content = path.read_bytes()
    source = _Source(hashlib.sha256(content).hexdigest())
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):
        return source
    for node, typing_only in _import_statements(tree.body):
        source.imports += (replace(one, typing_only=typing_only) for one in _imported(node, path))
    modules = {one.name for one in source.imports if not one.within or one.module.name == "__init__.py"}
    if modules:
        source.uses = _uses(tree, modules)
    for name in set(_FILE_NAME.findall(content.decode(errors="replace"))):
        data = path.parent / name
        if data.suffix != ".py" and data.is_file():
            source.data.append(data.resolve())
    return source


_own_source = cache(_read_source)
_own_dependencies = cache(_read_dependencies)


def _import_statements(
    body: Sequence[ast.AST], typing_only: bool = False
) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    """Yield each import at any depth, and whether it stands under ``if TYPE_CHECKING``."""
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node, typing_only
            continue
        test = getattr(node, "test", None)
        guarded = "TYPE_CHECKING" in (getattr(test, "id", ""), getattr(test, "attr", ""))
        yield from _import_statements(getattr(node, "body", ()), typing_only or guarded)
        for part in ("orelse", "finalbody", "handlers", "cases"):
            yield from _import_statements(getattr(node, part, ()), typing_only)


def _imported(node: ast.Import | ast.ImportFrom, importer: Path) -> Iterator[_Import]:
    """Yield what a statement binds, if its files are ours or the user's own."""
    if isinstance(node, ast.ImportFrom):
        module = _find(node.module or "", importer, node.level)
        for alias in node.names:
            name = alias.asname or alias.name
            if module is not None:
                yield _Import(name, module, () if name == "*" else (alias.name,))
                continue
            # A module in a folder without an __init__.py.
            module_name = ".".join(filter(None, (node.module, alias.name)))
            if (file := _find(module_name, importer, node.level)) is not None:
                yield _Import(name, file)
        return
    for alias in node.names:
        first = alias.name.partition(".")[0]
        module = _find(alias.name, importer)
        top = _find(first, importer) if alias.asname is None else None
        # ``import a.b.c`` binds a; the attributes after a tell what is used.
        if top is not None:
            yield _Import(first, top)
        if module is not None and (top is None or module.name != "__init__.py"):
            yield _Import(alias.asname or first, module)


def _uses(tree: ast.AST, names: set[str]) -> dict[str, set[Chain]]:
    """Return the attribute chains of some names; the empty chain if a name is used as a whole."""
    found: dict[str, set[Chain]] = {}
    inner: set[ast.AST] = set()
    for node in ast.walk(tree):
        if node in inner or not isinstance(node, (ast.Attribute, ast.Name)):
            continue
        chain: list[str] = []
        base: ast.AST = node
        while isinstance(base, ast.Attribute):
            chain.insert(0, base.attr)
            base = base.value
            inner.add(base)
        if isinstance(base, ast.Name) and isinstance(base.ctx, ast.Load) and base.id in names:
            found.setdefault(base.id, set()).add(tuple(chain))
    return found


def _find(module: str, importer: Path, level: int = 0) -> Path | None:
    """Return a module's file, or None for modules of Python and other packages."""
    parts = module.split(".") if module else []
    if level:
        return _file(importer.parents[level - 1], parts)
    if parts[0] == PACKAGE.name:
        return _file(PACKAGE, parts[1:])
    if importer.is_relative_to(PACKAGE) or parts[0] in sys.stdlib_module_names:
        return None
    if module in sys.modules:
        return module_file(module)
    folders = [importer.parent, *(Path(entry) for entry in sys.path)]
    places = (_file(folder, parts) for folder in folders if _is_users(folder.resolve()))
    return next((place.resolve() for place in places if place is not None), None)


def _is_users(path: Path) -> bool:
    """Return whether a path is outside the folders of Python and of installed packages."""
    if {"site-packages", "dist-packages"}.intersection(path.parts):
        return False
    return not any(path.is_relative_to(folder) for folder in _LIBRARIES)


def _file(folder: Path, parts: Sequence[str]) -> Path | None:
    """Return the file of a module below a folder, by the parts of its name."""
    place = folder.joinpath(*parts)
    for path in (place / "__init__.py", place.parent / f"{place.name}.py"):
        if path.is_file():
            return path
    return None
