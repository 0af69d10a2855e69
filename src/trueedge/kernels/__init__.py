"""Compiled loops over plain arrays.

What the compiler made is kept from run to run, beside this file or in the user's cache. Where neither can be
written to (a package installed by someone else, a user without a home), the compiler would refuse to work: a
folder among the temporary files takes their place.
"""

from __future__ import annotations

import atexit
import os
import shutil
import stat
import tempfile
from pathlib import Path

import numba
from numba.misc.appdirs import AppDirs

VARIABLE = "NUMBA_CACHE_DIR"


def find_cache() -> Path | None:
    """Return the folder to keep compiled code in, or None where the compiler finds one by itself."""
    chosen = [numba.config.CACHE_DIR] if numba.config.CACHE_DIR else []
    usual = [
        Path(__file__).with_name("__pycache__"),
        AppDirs(appname="numba", appauthor=False).user_cache_dir,
    ]
    if numba.config.DISABLE_JIT or any(_is_writable(Path(folder)) for folder in (*chosen, *usual)):
        return None
    return temporary_cache()


def temporary_cache() -> Path:
    """Return a folder for this user alone among the temporary files, the same one in every run.

    Compiled code is run as it is found, so a folder that someone else owns or may write to is left alone, and
    this process gets one of its own.
    """
    folder = Path(tempfile.gettempdir()) / f"trueedge-compiled-{_user()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        private = stat.S_ISDIR(found.st_mode) and not found.st_mode & 0o077
        if private and found.st_uid == _user() and _is_writable(folder):
            return folder
    except OSError:
        pass
    own = Path(tempfile.mkdtemp(prefix="trueedge-compiled-"))
    atexit.register(shutil.rmtree, own, ignore_errors=True)
    return own


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0


def _is_writable(folder: Path) -> bool:
    # Tried, as the compiler does: permissions alone do not tell of read-only disks.
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


_cache = find_cache()
if _cache is not None:
    # The compiler reads its variables again as soon as one of them changes.
    os.environ[VARIABLE] = numba.config.CACHE_DIR = str(_cache)
