"""How much is said about progress, and how: lines in a log file, and a word on the first compilation."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Literal

from trueedge.errors import InputError

# A log gets a line this often, in seconds.
EVERY = 30.0
# What the compiler calls a list of compiled functions.
INDEX = "*.nbi"
COMPILING = "Compiling kernels for the first time: about a minute, once"


class Talk:
    """How much is said about progress.

    Attributes:
        level: ``quiet``, ``normal`` or ``verbose``.
        warned: whether it was said that kernels are compiled.
    """

    level: Literal["quiet", "normal", "verbose"] = "normal"
    warned = False


def speak(quiet: bool, verbose: bool = False) -> None:
    """Set how much is said about progress, by the flags of a command."""
    if quiet and verbose:
        raise InputError("--quiet and --verbose contradict each other: leave out one of them")
    Talk.level = "quiet" if quiet else "verbose" if verbose else "normal"


class LogLines:
    """Prints where the work is every half minute, as long as it goes on.

    Args:
        say: prints a line.
        text: what is done first.
        of: how much work there is.
        every: seconds between two lines.
    """

    def __init__(self, say: Callable[[str], None], text: str, of: int, every: float = EVERY) -> None:
        self.text, self.done, self.of = text, 0, of
        self._say, self._every, self._start = say, every, time.monotonic()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True, name="progress")

    def __enter__(self) -> LogLines:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    def report(self, text: str, done: int | None = None, of: int | None = None) -> None:
        """Note where the work is."""
        self.text = text
        self.done = self.done if done is None else done
        self.of = self.of if of is None else of

    def _run(self) -> None:
        while not self._end.wait(self._every):
            part = f" {self.done}/{self.of}" if self.of > 1 else ""
            with suppress(OSError, ValueError):  # nobody reads the log any more
                self._say(f"[{clock(time.monotonic() - self._start)}]{part} {self.text}")


def warn_of_compiling(say: Callable[[str], None]) -> None:
    """Say that kernels are compiled, if none of them was before; once in a process."""
    if Talk.level != "quiet" and not Talk.warned and not is_compiled():
        say(COMPILING)
    Talk.warned = True


def is_compiled() -> bool:
    """Return whether compiled kernels of an earlier run are there."""
    folder = Path(__file__).parents[1] / "kernels"
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
    shared = [home / "numba", *Path(tempfile.gettempdir()).glob("trueedge-compiled-*")]
    # The compiler names a folder after the one that holds the source.
    rooms = [room.name for room in folder.iterdir() if room.is_dir()]
    try:
        return (not chosen and any(folder.glob(f"*/__pycache__/{INDEX}"))) or any(
            any(place.glob(f"{room}_*/{INDEX}"))
            for place in ([Path(chosen)] if chosen else shared)
            for room in rooms
        )
    except OSError:  # a folder of somebody else
        return True


def clock(seconds: float) -> str:
    """Return a time as ``0:07``, ``1:05`` or ``2:03:04``."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
