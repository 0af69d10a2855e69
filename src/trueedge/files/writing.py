"""Files and folders that are written whole or not at all: the old one stays until the new one is complete."""

from __future__ import annotations

import os
import re
import shutil
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from trueedge.errors import InputError

# How numpy says that the system has taken a part of an array alone.
SHORT = re.compile("[0-9]+ requested and [0-9]+ written")


def write_text(path: str | Path, text: str, what: str) -> Path:
    """Write a text file and return its path.

    Args:
        path: where it goes; missing folders are created.
        text: its content.
        what: what it is, for the error where it cannot be written: ``the report``.
    """
    check_target(path, what)
    with replacing(path, what) as draft:
        draft.write_text(text, encoding="utf-8")
    return Path(path)


@contextmanager
def replacing(path: str | Path, what: str | None = None) -> Iterator[Path]:
    """Yield the path of a draft, which takes the place of a file when the block ends without an error.

    Args:
        path: where the file goes; missing folders are created, and a link is followed.
        what: what it is: errors of the system become ``what cannot be written to path``. None leaves them.
    """
    target = Path(os.path.realpath(path))
    draft = _draft_of(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        yield draft
        os.replace(draft, target)
    except (OSError, ValueError) as error:
        if what is None or isinstance(error, InputError):
            raise
        raise _cannot_write(path, what, error) from None
    finally:
        with suppress(OSError):
            draft.unlink()


@contextmanager
def new_folder(folder: str | Path, what: str) -> Iterator[Path]:
    """Yield a draft folder, which takes its place when the block ends without an error.

    Args:
        folder: where it goes: a new or an empty folder; missing folders above it are created.
        what: what it holds, for errors: ``the task``.
    """
    target = Path(folder)
    draft = _draft_of(target.absolute())
    try:
        if target.is_file():
            raise InputError(f"{target} is a file, not a folder")
        if target.is_dir() and any(target.iterdir()):
            raise InputError(f"the folder {target} is not empty: {what} is saved into a new one")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        yield draft
        if target.is_dir():
            target.rmdir()
        draft.rename(target)
    except InputError as error:
        # Users know nothing of drafts.
        raise InputError(str(error).replace(str(draft), str(target))) from None
    except (OSError, ValueError) as error:  # a name may have a NUL in it
        if "\0" not in str(target) and not isinstance(error, OSError):
            raise
        raise _cannot_write(target, what, error) from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def check_target(path: str | Path, what: str, suffixes: tuple[str, ...] = ()) -> None:
    """Refuse a path that cannot be written to, or that has none of the suffixes, before the work is done."""
    path = Path(path)
    if suffixes and path.suffix not in suffixes:
        *others, last = suffixes
        kinds = f"{', '.join(others)} or {last}" if others else last
        raise InputError(f"{path}: write {what} to a {kinds} file")
    try:
        is_other = path.exists() and not path.is_file()
        above = next((one for one in path.absolute().parents if one.exists()), None)
    except (OSError, ValueError) as error:  # a name that is too long, or has a NUL in it
        raise _cannot_write(path, what, error) from None
    if is_other:
        kind = "a folder" if path.is_dir() else "not a regular file"
        raise InputError(f"{what} cannot be written to {path}: it is {kind}")
    if above is not None and not (above.is_dir() and os.access(above, os.W_OK)):
        reason = "cannot be written to" if above.is_dir() else "is not a folder"
        raise InputError(f"{what} cannot be written to {path}: {above} {reason}")


def refuse_inputs(path: str | Path, inputs: Iterable[str | Path], what: str) -> None:
    """Refuse to write over a file that was read, by whatever name, link or spelling.

    Args:
        path: where something is to be written.
        inputs: the files it is made from; those that do not exist do not count.
        what: what is written, for the error: ``the pairs``.
    """
    for one in inputs:
        try:
            same = os.path.samefile(path, one)
        except (OSError, ValueError):
            continue
        if same:
            linked = "a file that" if str(path) == str(one) else f"the same file as {one}, which"
            raise InputError(f"{path} is {linked} this command reads: write {what} to another file")


def _draft_of(target: Path) -> Path:
    """Return a path beside a target that no other thread or process uses."""
    return target.with_name(f".{target.name[:100]}.{os.getpid()}-{threading.get_ident()}.draft")


def _cannot_write(path: str | Path, what: str, error: Exception) -> InputError:
    return InputError(f"{what} cannot be written to {path}: {reason_of(error)}")


def reason_of(error: Exception) -> str:
    """Return why a file cannot be written, in words."""
    if SHORT.search(str(error)):
        return "there is no space left, or files may not be so long"
    return str(getattr(error, "strerror", None) or error)
