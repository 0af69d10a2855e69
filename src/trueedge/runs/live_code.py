"""Code as it is loaded: the files it comes from, and the source of what has no file, as in a notebook."""

from __future__ import annotations

import ast
import builtins
import dis
import functools
import hashlib
import inspect
import linecache
import logging
import sys
import textwrap
import types
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from trueedge.errors import with_article
from trueedge.graph import Graph
from trueedge.runs.imports import PACKAGE, find, is_users, resolve
from trueedge.runs.named_files import is_name
from trueedge.runs.scanned_source import IMPORTERS, uses
from trueedge.scorers.triple_embeddings import TripleEmbeddings
from trueedge.tasks import Task

# What dataclasses and abstract classes add to a class.
_GENERATED = {"__init__", "__repr__", "__eq__", "__hash__", "__lt__", "__le__", "__gt__", "__ge__"} | {
    *("__setattr__", "__delattr__", "__replace__", "__getstate__", "__setstate__")
}
_ABOUT = {"__module__", "__dict__", "__weakref__", "__doc__", "__abstractmethods__", "_abc_impl"} | {
    *("__dataclass_params__", "__match_args__", "__annotations__", "__qualname__", "__parameters__"),
    *("__orig_bases__", "__firstlineno__", "__static_attributes__", "__dataclass_fields__", "_defined_at"),
}
_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...), PurePath, range, np.generic, np.dtype)
_PARTS_OF_TYPES = (types.BuiltinFunctionType, types.MemberDescriptorType, types.GetSetDescriptorType)
# A deeper or larger value is not worth the time: it counts as one that cannot be hashed.
_DEEPEST = 20
_MOST_VALUES = 100_000


class LiveCode:
    """Everything that loaded classes and functions depend on, as far as it can be told.

    Attributes:
        roots: the files of user's and our own code; what they import is found in them.
        parts: what has no file: source, and values that it refers to.
        names: texts in that source, which may name files.
        reasons: why some of it cannot be hashed.
    """

    def __init__(self) -> None:
        self.roots: dict[Path, None] = {}
        self.parts: list[str] = []
        self.names: set[str] = set()
        self.reasons: list[str] = []
        self._seen: dict[int, object] = {}

    def add(self, name: str, value: Any, typed: bool = True, depth: int = 0) -> None:
        """Add a value.

        Args:
            name: what messages call it.
            value: a class, a function, a module or a value.
            typed: whether it must be hashed; False if it is made by a file that is hashed anyway.
            depth: how deep it is in other values.
        """
        function = _function(value)
        if isinstance(value, types.ModuleType):
            self._add_module(value)
        elif isinstance(value, type):
            self._add_class(value)
        elif isinstance(value, functools.partial):
            for place, one in enumerate((value.func, *value.args, *value.keywords.values())):
                self.add(f"{name}[{place}]", one, typed, depth + 1)
        elif function is not None:
            if isinstance(value, types.MethodType) and not isinstance(value.__self__, type):
                self.add(f"the object of {name}", value.__self__, typed, depth + 1)
            self._add_function(name, function)
        elif not isinstance(value, _PARTS_OF_TYPES):
            self._add_value(name, value, typed, depth)

    def _add_module(self, module: types.ModuleType) -> None:
        path = Path(getattr(module, "__file__", None) or "").resolve()
        if path.is_file() and (path.is_relative_to(PACKAGE) or is_users(path)):
            self.roots[path] = None
        self.parts.append(f"module {module.__name__}")

    def _add_class(self, kind: type) -> None:
        for owner in kind.__mro__:
            if self._is_known(owner):
                continue
            home = sys.modules.get(owner.__module__)
            path = Path(getattr(home, "__file__", None) or "").resolve()
            if path.is_relative_to(PACKAGE) and path.is_file():
                self.roots[path] = None
                continue
            installed = path.is_file() and not is_users(path)
            if owner.__module__ == "builtins" or (installed and owner is not kind):
                continue
            if path.is_file():
                self.roots[path] = None
            self._add_members(owner, typed=not path.is_file())

    def _add_members(self, owner: type, typed: bool) -> None:
        """Add the functions of a class and its own values; if it is in a file, only those that are plain."""
        self.parts.append(f"class {owner.__qualname__}")
        made = "__dataclass_fields__" in vars(owner)
        for name, value in vars(owner).items():
            if name in _ABOUT or (made and name in _GENERATED):
                continue
            if _function(value) is not None or typed:
                self.add(f"{owner.__name__}.{name}", value, typed)
            elif _is_fixed(value):
                self.parts.append(f"{owner.__qualname__}.{name} = {value!r}")

    def _add_function(self, name: str, function: types.FunctionType) -> None:
        if self._is_known(function):
            return
        wrapped = getattr(function, "__wrapped__", None)
        if wrapped is not None:
            self.add(name, wrapped)
        path = Path(function.__code__.co_filename)
        has_file = path.is_file()
        path = path.resolve()
        ours = path.is_relative_to(PACKAGE)
        foreign = ours or (has_file and not is_users(path))
        for cell_name, value in _closure(function):
            # What a decorator of another package holds besides functions is its own affair.
            if not foreign or _function(value) is not None or isinstance(value, type):
                self.add(cell_name, value)
        if foreign:
            if ours:
                self.roots[path] = None
            return
        defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
        if has_file:
            self.roots[path] = None
            self.parts += [f"{function.__qualname__} {value!r}" for value in defaults if _is_fixed(value)]
            return
        for place, value in enumerate(defaults):
            self.add(f"default {place} of {function.__name__}", value)
        self._add_source(name, function)

    def _add_source(self, name: str, function: types.FunctionType) -> None:
        """Add the source of a function without a file, and what its names refer to."""
        code = function.__code__
        lines = linecache.getlines(code.co_filename, function.__globals__)
        if not lines:
            self.reasons.append(
                f"{name} has no source that can be read: it was typed in, or came from standard input"
            )
            return
        text = "".join(inspect.getblock(lines[code.co_firstlineno - 1 :]))
        self.parts.append(text)
        self._add_uses(text, function.__globals__)
        here = Path.cwd() / "typed"
        imports = False
        for kind, used in _names_in(code):
            if kind == "text":
                self.names.add(used)
            elif kind == "import" and (file := find(used, here)) is not None:
                self.roots[file] = None
            elif kind == "global":
                imports = imports or used in (*IMPORTERS, "importlib")
                if used in function.__globals__:
                    self.add(used, function.__globals__[used])
                elif not hasattr(builtins, used):
                    self.parts.append(f"{used} is not defined")
        if imports:
            found = (find(text, here) for kind, text in _names_in(code) if kind == "text")
            self.roots.update((file, None) for file in found if file is not None)

    def _add_uses(self, text: str, names: Mapping[str, Any]) -> None:
        """Add the files of what a source uses of our own package: ``te.splits.ratio``."""
        with suppress(SyntaxError):
            for name, chains in uses(ast.walk(ast.parse(textwrap.dedent(text)))).items():
                module = names.get(name)
                path = Path(getattr(module, "__file__", None) or "").resolve()
                if isinstance(module, types.ModuleType) and path.is_relative_to(PACKAGE):
                    self.roots.update((file, None) for chain in chains for file in resolve(path, chain))

    def _add_value(self, name: str, value: Any, typed: bool, depth: int) -> None:
        if isinstance(value, (Graph, Task)):
            self.parts.append(f"{name} = {value.hash}")
        elif isinstance(value, np.ndarray) and not value.dtype.hasobject:
            content = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
            self.parts.append(f"{name} = {value.dtype.str} {value.shape} {content}")
        elif isinstance(value, _PLAIN):
            self.parts.append(f"{name} = {value!r}")
            self.names |= {value} if isinstance(value, str) and is_name(value) else set()
        elif isinstance(value, logging.Logger):
            self.parts.append(f"{name} = {value.name}")
        elif depth < _DEEPEST and len(self.parts) < _MOST_VALUES and (inner := _items(value)) is not None:
            if self._is_known(value):
                return
            self.parts.append(f"{name}: {type(value).__qualname__}")
            for key, one in inner:
                self.add(f"{name}[{key}]", one, typed, depth + 1)
            if is_dataclass(value) or isinstance(value, TripleEmbeddings):
                self._add_class(type(value))
        elif typed:
            kind = with_article(type(value).__qualname__)
            self.reasons.append(f"the content of {name}, {kind}, cannot be hashed")

    def _is_known(self, value: object) -> bool:
        """Return whether something was added before; it is kept, so that no other object gets its id."""
        known = id(value) in self._seen
        self._seen[id(value)] = value
        return known


def _function(value: Any) -> types.FunctionType | None:
    """Return the function in a method, a property, or a function that numba compiles; None for others."""
    inner = value
    if isinstance(value, (types.MethodType, staticmethod, classmethod)):
        inner = value.__func__
    elif isinstance(value, property):
        inner = value.fget
    elif isinstance(value, functools.cached_property):
        inner = value.func
    elif type(value).__module__.startswith("numba."):
        inner = getattr(value, "py_func", None)
    return inner if isinstance(inner, types.FunctionType) else None


def _closure(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield the variables of outer functions that a function uses."""
    cells = function.__closure__ or ()
    for name, cell in zip(function.__code__.co_freevars, cells, strict=True):
        try:
            value = cell.cell_contents
        except ValueError:  # it has no value yet
            continue
        if name != "__class__":
            yield name, value


def _names_in(code: types.CodeType) -> Iterator[tuple[str, str]]:
    """Yield ("global" | "import" | "text", name) for what code refers to, in the functions in it too."""
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield "global", str(step.argval)
        elif step.opname == "IMPORT_NAME":
            yield "import", str(step.argval)
    for value in code.co_consts:
        if isinstance(value, types.CodeType):
            yield from _names_in(value)
        elif isinstance(value, tuple):
            yield from (("text", one) for one in value if is_name(one))
        elif is_name(value):
            yield "text", value


def _items(value: Any) -> list[tuple[object, Any]] | None:
    """Return the parts of a collection or of a dataclass with their places; None for other values."""
    if isinstance(value, Mapping):
        return [*enumerate(value), *value.items()]
    if isinstance(value, (tuple, list)):
        return list(enumerate(value))
    if isinstance(value, (set, frozenset)):
        return list(enumerate(sorted(value, key=repr)))
    if isinstance(value, TripleEmbeddings):
        return [(name, getattr(value, name)) for name in ("function", "entities", "relations")]
    if is_dataclass(value) and not isinstance(value, type):
        return [(one.name, getattr(value, one.name, None)) for one in fields(value)]
    return None


def _is_fixed(value: Any) -> bool:
    """Return whether a value is plain and cannot be changed in place."""
    if isinstance(value, (tuple, frozenset)):
        return all(map(_is_fixed, value))
    return isinstance(value, (bool, int, float, complex, str, bytes, type(None)))
