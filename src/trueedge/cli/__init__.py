"""The command line: parse, call, print."""

from trueedge.cli.app import main

__all__ = ["main"]
