"""The command line: parse, call, print."""

from __future__ import annotations

import os
import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line in whatever state its caller left the streams and the folder."""
    for name in ("stdout", "stderr"):
        # The caller closed it: what would be written to it is lost, and no reason to fail.
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    try:
        os.getcwd()
    except OSError:
        # Checked before the imports: the compiler's would fail.
        print("trueedge: the current folder does not exist any more: change to another one", file=sys.stderr)
        sys.exit(1)
    from trueedge.cli.app import main as run

    run()
