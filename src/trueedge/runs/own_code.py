"""Methods and scorers in the user's own files: FILE.py:NAME and MODULE:NAME."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from trueedge.errors import InputError
from trueedge.files.arrays import regular_file
from trueedge.files.text import shown
from trueedge.methods import Method
from trueedge.runs.opened_files import imported, loaded


def own_object(text: str) -> Any:
    """Return the object named FILE.py:NAME or MODULE:NAME; a Method's class becomes a method."""
    place, _, name = text.rpartition(":")
    if not place or not name:
        raise InputError(f"{shown(text)} names no object: write FILE.py:NAME or MODULE:NAME")
    if place.endswith(".py"):
        if not Path(place).exists():
            raise InputError(f"there is no file {place}")
        regular_file(Path(place))
        module = _guarded(lambda: _import_file(Path(place).resolve()), place, "cannot be imported")
    else:
        module = _guarded(lambda: _import_module(place), f"the module {place}", "cannot be imported")
    if not hasattr(module, name):
        raise InputError(f"{place} does not define {name!r}")
    found = getattr(module, name)
    if isinstance(found, type) and issubclass(found, Method):
        if not isinstance(getattr(found, "name", None), str):
            raise InputError(f"{text} has no name: a method's class needs name: ClassVar[str]")
        return _guarded(found, text, "cannot be created")
    return found


def own_method(text: str) -> Method:
    """Return the method named FILE.py:NAME or MODULE:NAME."""
    found = own_object(text)
    if not isinstance(found, Method):
        kind = type(found).__name__
        raise InputError(
            f"{text} is a {kind}, not a subclass of trueedge.methods.Method: 'trueedge judge' takes functions"
            " and scorers as they are, and docs/own-model.md shows how to write a Method"
        )
    return found


def _guarded(call: Callable[[], Any], what: str, failure: str) -> Any:
    """Call the user's code; turn any exception into an InputError."""
    try:
        return call()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        said = next(iter(str(error).splitlines()), "")
        raise InputError(f"{what} {failure}: {type(error).__name__}{said and f': {said}'}") from None


def _import_file(path: Path) -> ModuleType:
    _add_folder(str(path.parent))
    # Under its whole path, so that no other module has its name; dataclasses look their module up there.
    return loaded(str(path), path)


def _import_module(name: str) -> ModuleType:
    _add_folder("")
    return imported(name)


def _add_folder(folder: str) -> None:
    """Let the user's code import modules from its own folder."""
    if folder not in sys.path:
        sys.path.insert(0, folder)
