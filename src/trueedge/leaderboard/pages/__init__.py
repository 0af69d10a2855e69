"""The pages of a board: static files, readable without a script and without a server."""

from trueedge.leaderboard.pages.building import Built, build

__all__ = ["Built", "build"]
