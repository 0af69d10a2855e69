"""One sentence for what the code of a user's own method raises."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trueedge.errors import InputError
from trueedge.methods import Method
from trueedge.runs.code import source_files
from trueedge.runs.imports import PACKAGE


@contextmanager
def user_error(method: Method) -> Iterator[None]:
    """Turn what a user's own method raises in the block into an InputError of one sentence.

    What trueedge's own methods raise is a bug of trueedge and passes unchanged.
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
    """Return the exception's text, with the file and the line of the user's code it came from."""
    words = next((line for line in str(error).splitlines() if line.strip()), "").strip()
    place = _place(error, method)
    return f"its code raised {type(error).__name__}{words and f': {words}'}{place and f' ({place})'}"


def _place(error: BaseException, method: Method) -> str:
    """Return the innermost line in a file that lies with the method's own; empty where there is none."""
    try:
        files = [path.resolve() for path in source_files(type(method))]
    except (TypeError, OSError):
        files = []
    folders = {path.parent for path in files if not path.is_relative_to(PACKAGE)}
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename).resolve()
        if any(_lies_with(path, folder) for folder in folders):
            return f"{_shown(path)}, line {frame.lineno}"
    return ""


def _lies_with(path: Path, folder: Path) -> bool:
    if not path.is_relative_to(folder) or path.is_relative_to(PACKAGE):
        return False
    # A virtual environment may lie in the user's folder.
    return "site-packages" not in path.relative_to(folder).parts


def _shown(path: Path) -> Path:
    here = Path.cwd().resolve()
    return path.relative_to(here) if path.is_relative_to(here) else path
