"""Which files a Python file imports, and which files it names: found in the source without importing it."""

from __future__ import annotations

import hashlib
import os
import re
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from pathlib import Path

from trueedge.runs.lookups import is_file, loaded_path, searched
from trueedge.runs.scanned_source import Chain, Statement, own_scan, scanned

PACKAGE = Path(__file__).resolve().parents[1]
# A name in quotes that may be a file next to one of our modules, such as "published_settings.csv".
_FILE_NAME = re.compile(r"""["']([\w./-]+\.\w+)["']""")
_LIBRARIES = tuple(
    Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib", "purelib", "platlib")
)


@dataclass(frozen=True)
class Import:
    """What an import statement binds: a name to a module, or to something in it (``within``)."""

    name: str
    module: Path
    within: Chain = ()
    # Under ``if TYPE_CHECKING``: what a package with lazy imports exports, and not a dependency.
    typing_only: bool = False


@dataclass
class Source:
    """What is read from a file.

    Attributes:
        digest: the hash of its content.
        imports: its imports.
        uses: the attributes it uses of each.
        data: of our own files, the data files that it names.
        names: of a user's file, all short texts in it, which may name files.
    """

    digest: str
    imports: list[Import] = field(default_factory=list)
    uses: dict[str, set[Chain]] = field(default_factory=dict)
    data: list[Path] = field(default_factory=list)
    names: tuple[str, ...] = ()


def source(path: Path) -> Source:
    """Return what is read from a file. A user may edit a file in the meantime; our own do not change."""
    return _own_source(path) if path.is_relative_to(PACKAGE) else _read_source(path)


def dependencies(path: Path) -> frozenset[Path]:
    """Return the files a file imports from, directly."""
    return _own_dependencies(path) if path.is_relative_to(PACKAGE) else _read_dependencies(path)


def module_file(name: str) -> Path | None:
    """Return the file of a loaded module, or None if it has none or belongs to Python or another package."""
    path = Path(loaded_path(name) or "").resolve()
    return path if is_code(path) and (path.is_relative_to(PACKAGE) or is_users(path)) else None


def is_code(path: Path) -> bool:
    """Return whether a file is a module: Python source, or a compiled extension."""
    return path.suffix == ".py" or path.name.endswith(tuple(EXTENSION_SUFFIXES))


def is_users(path: Path) -> bool:
    """Return whether a path is outside the folders of Python and of installed packages."""
    if {"site-packages", "dist-packages"}.intersection(path.parts):
        return False
    return not any(path.is_relative_to(folder) for folder in _LIBRARIES)


def find(module: str, importer: Path, level: int = 0) -> Path | None:
    """Return a module's file, or None for modules of Python and other packages."""
    parts = module.split(".") if module else []
    if level:
        return _file(importer.parents[level - 1], parts)
    if not all(part.isidentifier() for part in parts) or not parts:
        return None
    if parts[0] == PACKAGE.name:
        return _file(PACKAGE, parts[1:])
    if importer.is_relative_to(PACKAGE):
        return None
    if loaded_path(module) is not None:
        return module_file(module)
    if parts[0] in sys.stdlib_module_names:
        return None
    folders = [importer.parent, *(Path(entry) for entry in sys.path)]
    places = (_file(folder, parts) for folder in folders if is_users(folder.resolve()))
    found = next((place.resolve() for place in places if place is not None), None)
    return found or searched(_installed_in_place, module)


def _installed_in_place(module: str) -> Path | None:
    """Return the file of a module that an import hook finds, as for a package installed with ``-e``."""
    parts = module.split(".")
    try:
        spec = find_spec(parts[0])
    except (ImportError, ValueError, AttributeError):
        return None
    places = list(getattr(spec, "submodule_search_locations", None) or ())
    if not places and len(parts) == 1 and spec is not None and spec.origin:
        places = [os.path.dirname(spec.origin)]
        found = [_file(Path(place), parts) for place in places]
    else:
        found = [_file(Path(place), parts[1:]) for place in places]
    return next((path.resolve() for path in found if path is not None and is_users(path.resolve())), None)


def _read_dependencies(path: Path) -> frozenset[Path]:
    read, found = source(path), set[Path]()
    for one in read.imports:
        for chain in () if one.typing_only else read.uses.get(one.name, {()}):
            found.update(resolve(one.module, (*one.within, *chain)))
    return frozenset(found)


def resolve(module: Path, chain: Chain, asked: frozenset[tuple[Path, str]] = frozenset()) -> Iterator[Path]:
    """Yield the files that define ``module.a.b.c``, also through names that a package only re-exports.

    A package that is used as a whole, or that defines the name itself, counts with all it imports.
    """
    if not chain or module.name != "__init__.py":
        yield module
        return
    head, rest = chain[0], chain[1:]
    # A package that exports a submodule of its own under the submodule's name leads back here.
    targets = [one for one in source(module).imports if one.name == head and (module, head) not in asked]
    for one in targets:
        yield from resolve(one.module, (*one.within, *rest), asked | {(module, head)})
    if not targets:
        submodule = _file(module.parent, [head])
        yield from [module] if submodule is None else resolve(submodule, rest, asked)


def _read_source(path: Path) -> Source:
    """Read a file; an extension, or a file that this version of Python cannot parse, has no imports."""
    content = path.read_bytes()
    read = Source(hashlib.sha256(content).hexdigest())
    ours = path.is_relative_to(PACKAGE)
    if path.suffix == ".py":
        found = own_scan(content, read.digest) if ours else scanned(content)
        for statement in found.statements:
            bound = _imported(statement, path)
            read.imports += (replace(one, typing_only=statement.typing_only) for one in bound)
        modules = {one.name for one in read.imports if not one.within or one.module.name == "__init__.py"}
        read.uses = {name: chains for name, chains in found.uses.items() if name in modules}
        read.names = () if ours else found.texts
    if not ours:
        return read
    for name in set(_FILE_NAME.findall(content.decode(errors="replace"))):
        data = path.parent / name
        if data.suffix != ".py" and data.is_file():
            read.data.append(data.resolve())
    return read


_own_source = cache(_read_source)
_own_dependencies = cache(_read_dependencies)


def _imported(statement: Statement, importer: Path) -> Iterator[Import]:
    """Yield what a statement binds, if its files are ours or the user's own."""
    level = statement.level
    if level is not None:
        module = find(statement.module, importer, level)
        for name, other in statement.names:
            bound = other or name
            if module is not None:
                yield Import(bound, module, () if bound == "*" else (name,))
                continue
            # A module in a folder without an __init__.py.
            module_name = ".".join(filter(None, (statement.module, name)))
            if (file := find(module_name, importer, level)) is not None:
                yield Import(bound, file)
        return
    for name, other in statement.names:
        first = name.partition(".")[0]
        module = find(name, importer)
        top = find(first, importer) if other is None else None
        # ``import a.b.c`` binds a; the attributes after a tell what is used.
        if top is not None:
            yield Import(first, top)
        if module is not None and (top is None or module.name != "__init__.py"):
            yield Import(other or first, module)


def _file(folder: Path, parts: Sequence[str]) -> Path | None:
    """Return the file of a module below a folder, by the parts of its name."""
    place = folder.joinpath(*parts)
    names = (f"{place.name}{ending}" for ending in (".py", *EXTENSION_SUFFIXES))
    for path in (place / "__init__.py", *(place.parent / name for name in names)):
        if is_file(path):
            return path
    return None
