"""Cards: JSON files that describe the content of a folder."""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path
from typing import Any

from trueedge.errors import InputError
from trueedge.files.whole import read_whole

# A card has about a thousand bytes. The worst one of this size takes a hundred megabytes of memory.
MOST_BYTES = 1 << 22


def read_json(path: Path, *, absent: str, damaged: str, most: int = MOST_BYTES) -> Any:
    """Return the content of a card, any JSON value.

    Args:
        path: the file.
        absent: the start of the error if there is none: ``/graph is not a saved graph``.
        damaged: the start of the error if it is not a card: ``/graph is damaged: graph.json``.
        most: the largest size in bytes.
    """
    try:
        if "\0" in str(path):
            raise InputError(f"{str(path)!r} cannot be read: a name has no NUL in it")
        about, content = read_whole(path, most)
        if stat.S_ISDIR(about.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(about.st_mode):
            raise InputError(f"{damaged} is not a regular file")
        if content is None:
            raise InputError(f"{damaged} has {about.st_size:,} bytes, which is too large for a card")
        return json.loads(content)
    except InputError:
        raise
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"{absent}: it has no {path.name}") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        raise InputError(f"{damaged} is not JSON") from None
