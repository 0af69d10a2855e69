"""What a user's own method raised, in one sentence."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trueedge.errors import InputError
from trueedge.methods import Method

_PACKAGE = Path(__file__).resolve().parents[1]


@contextmanager
def told(method: Method) -> Iterator[None]:
    """Whatever the code of a user's method raises within the block, as one sentence.

    What trueedge's own methods raise is an error of trueedge, and stays what it is.
    """
    try:
        yield
    except InputError:
        raise
    except (Exception, SystemExit) as error:
        if type(method).__module__.partition(".")[0] == "trueedge":
            raise
        raise InputError(_sentence(error, method)) from None


def _sentence(error: BaseException, method: Method) -> str:
    """The exception, with the file and the line of the user's code that it came from."""
    words = next((line for line in str(error).splitlines() if line.strip()), "").strip()
    place = _place(error, method)
    return f"its code raised {type(error).__name__}{words and f': {words}'}{place and f' ({place})'}"


def _place(error: BaseException, method: Method) -> str:
    """The innermost line in a file that lies with the method's own; empty where there is none."""
    try:
        files = [path.resolve() for path in type(method).sources()]
    except (TypeError, OSError):
        files = []
    folders = {path.parent for path in files if not path.is_relative_to(_PACKAGE)}
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename).resolve()
        if any(_lies_with(path, folder) for folder in folders):
            return f"{_shown(path)}, line {frame.lineno}"
    return ""


def _lies_with(path: Path, folder: Path) -> bool:
    if not path.is_relative_to(folder) or path.is_relative_to(_PACKAGE):
        return False
    # An environment may lie in the user's folder.
    return "site-packages" not in path.relative_to(folder).parts


def _shown(path: Path) -> Path:
    here = Path.cwd().resolve()
    return path.relative_to(here) if path.is_relative_to(here) else path
