"""Files that the texts in a source name."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TypeGuard

from trueedge.runs.lookups import is_file, is_folder

# A longer text is no path.
_LONGEST_NAME = 1024
# The folders above a file in which the files that it names are looked for, and the folders below each other.
_LEVELS = 3


def is_name(text: object) -> TypeGuard[str]:
    """Return whether a value may be the name of a file or a folder."""
    return isinstance(text, str) and 0 < len(text) <= _LONGEST_NAME and not set("\n\0").intersection(text)


def named_files(names: Iterable[str], folder: Path) -> set[Path]:
    """Return the files that texts name: absolute, or below a folder, those above it or the working folder.

    A text may also name a folder of the files, as in ``Path(__file__).parent / "data" / "emb.npy"``.
    """
    # A joined text may begin with a slash: folder + "/emb.npy".
    texts = {text for name in names for text in (os.path.expanduser(name), name.lstrip("/"))}
    texts -= {"", "/", os.curdir}
    places = {str(one) for one in (folder, *list(folder.parents)[: _LEVELS - 1], Path.cwd())}
    new = places
    for _ in range(_LEVELS - 1):
        below = {os.path.join(place, text) for place in new for text in texts}
        new = {os.path.normpath(place) for place in below if is_folder(place)} - places
        places |= new
    found = {os.path.join(place, text) for place in places for text in texts}
    return {Path(path).resolve() for path in found if is_file(path)}
