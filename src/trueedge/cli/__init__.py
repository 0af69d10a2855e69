"""The command line: parse, call, print."""

from __future__ import annotations

import os
import re
import sys

from trueedge.errors import InputError

__all__ = ["main"]
THREADS_VARIABLE = "NUMBA_NUM_THREADS"


def main() -> None:
    """Run the command line in whatever state its caller left streams, folder and variables."""
    for name in ("stdout", "stderr"):
        # The caller closed it: what would be written to it is lost, and no reason to fail.
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    try:
        check_folder()
        check_threads()
        from trueedge.cli.app import main as run
    except InputError as error:
        print(f"trueedge: {error}", file=sys.stderr)
        sys.exit(1)
    run()


def check_folder() -> None:
    """Refuse a current folder that was removed, with which the imports of the compiler would fail."""
    try:
        os.getcwd()
    except OSError:
        raise InputError("the current folder does not exist any more: change to another one") from None


def check_threads() -> None:
    """Refuse a number of threads at which the compiler would fail while it is imported."""
    chosen = os.environ.get(THREADS_VARIABLE)
    if chosen is not None and not re.fullmatch("0*[1-9][0-9]{0,8}", chosen):
        raise InputError(f"{THREADS_VARIABLE} is {chosen!r}: a whole number of threads is needed, 1 or more")
