"""Style sheets and scripts of the pages."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def resource(name: str) -> str:
    """Return the text of a style sheet or script of this package."""
    return files("trueedge.leaderboard.pages").joinpath(name).read_text(encoding="utf-8")
