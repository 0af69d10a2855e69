"""Cards: the JSON file in a folder that says what the folder holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from trueedge.errors import InputError

# A card has some thousand bytes. Read, the worst of this size takes a hundred megabytes.
MOST_BYTES = 1 << 22


def read_json(path: Path, *, absent: str, damaged: str, most: int = MOST_BYTES) -> Any:
    """What a card says, whatever JSON value that is.

    Args:
        path: the file.
        absent: the sentence where there is none, up to its reason: ``/graph is no saved graph``.
        damaged: the sentence where it is no card, up to what is wrong: ``/graph is damaged: graph.json``.
        most: how many bytes a card may have.
    """
    try:
        # A pipe would be waited for without end; a folder says itself what it is.
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise InputError(f"{damaged} is no regular file")
        size = path.stat().st_size
        if size > most:
            raise InputError(f"{damaged} has {size:,} bytes, which is too large for a card")
        return json.loads(path.read_bytes())
    except InputError:
        raise
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"{absent}: it has no {path.name}") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        raise InputError(f"{damaged} is not JSON") from None
