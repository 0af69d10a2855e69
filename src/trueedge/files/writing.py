"""Text files that are written whole or not at all: what was there stays until the new one is complete."""

from __future__ import annotations

import os
from pathlib import Path

from trueedge.errors import InputError


def write_text(path: str | Path, text: str, what: str) -> Path:
    """Write a text beside its place and move it there; returns the path.

    Args:
        path: where it goes; folders on the way are made.
        text: what is written.
        what: what it is, for the sentence where it cannot be: ``the report``.
    """
    check_target(path, what)
    # Through a link: the file it names is replaced, not the link.
    target = Path(os.path.realpath(path))
    draft = target.with_name(f".{target.name[:100]}.{os.getpid()}.draft")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(text, encoding="utf-8")
        os.replace(draft, target)
    except (OSError, ValueError) as error:
        draft.unlink(missing_ok=True)
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{what} cannot be written to {path}: {reason}") from None
    return Path(path)


def check_target(path: str | Path, what: str, suffixes: tuple[str, ...] = ()) -> None:
    """Refuse a place that nothing can be written to, before the work is done.

    Args:
        path: where something shall go.
        what: what it is.
        suffixes: the endings it may have, any where there are none.
    """
    path = Path(path)
    if suffixes and path.suffix not in suffixes:
        raise InputError(f"{path}: {what} is written to a {' or '.join(suffixes)} file")
    if path.exists() and not path.is_file():
        kind = "a folder" if path.is_dir() else "no regular file"
        raise InputError(f"{what} cannot be written to {path}: it is {kind}")
    above = next((one for one in path.absolute().parents if one.exists()), None)
    if above is not None and not (above.is_dir() and os.access(above, os.W_OK)):
        reason = "cannot be written to" if above.is_dir() else "is no folder"
        raise InputError(f"{what} cannot be written to {path}: {above} {reason}")
