"""Make the API reference from docstrings: a page for the names of ``trueedge``, and one for each subpackage.

mkdocs makes the pages when it builds the site (tools/site_hooks.py); "python tools/api_pages.py" prints one.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
import re
import sys
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import trueedge

TOP = "trueedge"
# The command line says what it does itself: trueedge --help.
NO_PAGES = ("cli",)
# The parts of a docstring, and how a page calls them.
SECTIONS = {"Args": "Arguments", "Attributes": "Attributes", "Returns": "Returns", "Raises": "Raises"}
ROLE = re.compile(r":(?:class|func|meth|mod|attr|data):`~?\.?([^`]+)`")
ENTRY = re.compile(r"(\S[^:\n]{0,60}?):\s+(.*)", re.DOTALL)


def pages() -> dict[str, str]:
    """Return the markdown of each page, by its path under ``docs/``."""
    found = {f"api/{room.rpartition('.')[2]}.md": page(room) for room in rooms()}
    return {"api/index.md": index(), **found}


def rooms() -> list[str]:
    """Return ``trueedge`` and its subpackages that have public names, in alphabetical order."""
    inner = sorted(
        one.name for one in pkgutil.iter_modules(trueedge.__path__) if one.ispkg and one.name not in NO_PAGES
    )
    return [TOP, *(f"{TOP}.{name}" for name in inner if public(f"{TOP}.{name}"))]


def public(room: str) -> dict[str, Any]:
    """Return the public names of a package and what they stand for, without modules and deprecated names."""
    module = importlib.import_module(room)
    found = {name: getattr(module, name) for name in getattr(module, "__all__", ())}
    return {
        name: value
        for name, value in sorted(found.items(), key=lambda one: one[0].lower())
        if not name.startswith("_")
        and not inspect.ismodule(value)
        and (inspect.isclass(value) or inspect.isfunction(value))
        and not (inspect.getdoc(value) or "").startswith("Deprecated")
    }


def index() -> str:
    """Return the page that lists all names, with the first line of each docstring."""
    lines = [
        "# API reference",
        "",
        "Made from the docstrings. `import trueedge as te` gives the names of the first table; those of a"
        " subpackage are reached as `te.graph.read_edges`, except those of `training`, which needs torch:"
        " `from trueedge.training import train`.",
    ]
    for room in rooms():
        lines += ["", f"## {room}", "", "| name | |", "| --- | --- |"]
        file = f"{room.rpartition('.')[2]}.md"
        for name, value in public(room).items():
            first = inline(summary(value)).replace("|", "\\|")
            lines.append(f"| [`{name}`]({file}#{anchor(name)}) | {first} |")
    return "\n".join(lines) + "\n"


def page(room: str) -> str:
    """Return the page of a package."""
    module = importlib.import_module(room)
    parts = [f"# {room}", markdown(inspect.getdoc(module) or "")]
    for name, value in public(room).items():
        home = _home(room, value)
        if home is not None:
            there, own = home.split(".")[-2:]
            link = f"[`{home}`]({there}.md#{anchor(own)})"
            parts += [heading(2, name), f"`{room}.{name}`: see {link}.", inline(summary(value))]
        elif inspect.isclass(value):
            parts += of_class(name, value)
        else:
            parts += of_function(name, value, 2)
    return "\n\n".join(part for part in parts if part) + "\n"


def of_class(name: str, kind: type) -> Iterator[str]:
    """Yield the parts of a page about a class: its signature, its docstring and its public methods."""
    yield heading(2, name)
    yield code(f"class {name}{signature(kind)}")
    yield markdown(inspect.getdoc(kind) or "")
    for attribute, member in members(kind).items():
        yield from of_function(f"{name}.{attribute}", member, 3)


def members(kind: type) -> dict[str, Any]:
    """Return the public methods and properties that a class defines itself, by name."""
    return {
        name: value
        for name, value in vars(kind).items()
        if not name.startswith("_")
        and isinstance(value, (property, cached_property, classmethod, staticmethod, type(members)))
    }


def of_function(name: str, given: Any, level: int) -> Iterator[str]:
    """Yield the parts of a page about a function, a method or a property."""
    function = plain(given)
    yield heading(level, name)
    if not isinstance(given, (property, cached_property)):
        start = "classmethod " if isinstance(given, classmethod) else ""
        yield code(f"{start}{name}{signature(function)}")
    yield markdown(inspect.getdoc(function) or "")


def plain(member: Any) -> Any:
    """Return the function behind a method or property."""
    if isinstance(member, property):
        return member.fget
    return getattr(member, "func", getattr(member, "__func__", member))


def signature(call: Any) -> str:
    """Return the arguments of a call without annotations: they are in the docstring, in words."""
    try:
        found = inspect.signature(call)
    except (TypeError, ValueError):
        return "()"
    kept = [
        one.replace(annotation=one.empty, default=_default(one))
        for one in found.parameters.values()
        if one.name not in ("self", "cls")
    ]
    return str(found.replace(parameters=kept, return_annotation=found.empty))


def _default(one: inspect.Parameter) -> Any:
    """Return a default that has a short form, such as a number; others are an ellipsis."""
    if one.default is one.empty or isinstance(one.default, (int, float, str, bool, tuple, type(None))):
        return one.default
    return _Dots()


class _Dots:
    def __repr__(self) -> str:
        return "…"


def _home(room: str, value: Any) -> str | None:
    """Return the full name on another page, if a name is described there; each is described once."""
    if room == TOP:
        return None
    for name, other in public(TOP).items():
        if other is value:
            return f"{TOP}.{name}"
    first = next(other for other in rooms() if any(one is value for one in public(other).values()))
    name = next(name for name, one in public(first).items() if one is value)
    return None if first == room else f"{first}.{name}"


def summary(value: Any) -> str:
    """Return the first paragraph of a docstring, on one line."""
    return " ".join((inspect.getdoc(value) or "").partition("\n\n")[0].split())


def markdown(doc: str) -> str:
    """Return a docstring as markdown: its sections become lists."""
    found: list[str] = []
    for block in re.split(r"\n\n+", doc):
        head, _, body = block.partition("\n")
        title = SECTIONS.get(head.rstrip(":")) if head.endswith(":") else None
        if title is None:
            literal = bool(found) and found[-1].endswith("::") and block.startswith("    ")
            found.append(code(inspect.cleandoc(block)) if literal else inline(block))
        else:
            found.append(f"**{title}**\n\n" + "\n".join(f"- {one}" for one in entries(body)))
    return "\n\n".join(part[:-1] if part.endswith("::") else part for part in found)


def entries(body: str) -> Iterator[str]:
    """Yield the entries of a section, each on one line: its name as code, then what it is."""
    for entry in re.split(r"\n(?!\s)", inspect.cleandoc(body)):
        text = " ".join(entry.split())
        named = ENTRY.fullmatch(text)
        if named and " " not in named[1].replace(", ", ""):
            yield f"`{named[1]}`: {inline(named[2])}"
        else:
            yield inline(text)


def inline(text: str) -> str:
    """Return text with references and literals as code, and nothing that markdown would take for HTML."""
    text = ROLE.sub(r"`\1`", text).replace("``", "`")
    return re.sub(r"<(?=[^\s<>`]+>)", "&lt;", text)


def heading(level: int, name: str) -> str:
    """Return a heading that can be linked to."""
    return f"{'#' * level} {name} {{ #{anchor(name)} }}"


def anchor(name: str) -> str:
    """Return what a heading is linked by: names may differ in their case alone."""
    return re.sub(r"[^a-z0-9-]", "-", name.lower()) + ("-class" if name[0].isupper() else "")


def code(text: str) -> str:
    """Return a block of code; no test runs it, since its language is ``py``."""
    return f"```py\n{text}\n```"


def fields_of(kind: type) -> list[str]:
    """Return the names of the arguments that make an object of a class."""
    if dataclasses.is_dataclass(kind):
        return [one.name for one in dataclasses.fields(kind) if one.init]
    start = kind.__dict__.get("__init__")
    found = [] if start is None else list(inspect.signature(start).parameters.values())[1:]
    return [one.name for one in found if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]


if __name__ == "__main__":
    print(pages()[sys.argv[1] if len(sys.argv) > 1 else "api/index.md"])
