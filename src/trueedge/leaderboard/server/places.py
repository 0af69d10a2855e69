"""Where a server keeps its own files: in a folder of the board that git ignores."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from trueedge.errors import InputError

FOLDER = ".server"


@dataclass(frozen=True)
class Places:
    """The files of a server.

    Attributes:
        board: the folder of the board.
    """

    board: Path

    @property
    def own(self) -> Path:
        """Return the folder of everything that is the server's own."""
        return self.board / FOLDER

    @property
    def database(self) -> str:
        """Return the address of the embedded database."""
        return f"sqlite:///{self.own / 'server.db'}"

    @property
    def site(self) -> Path:
        """Return where the pages are built."""
        return self.own / "site"

    @property
    def standings(self) -> Path:
        """Return where the boards are kept as JSON and CSV."""
        return self.own / "standings"

    @property
    def work(self) -> Path:
        """Return where submissions are unpacked while they are checked."""
        return self.own / "work"

    @property
    def lock(self) -> Path:
        """Return the file that the one worker holds a lock on."""
        return self.own / "worker.lock"

    def inbox(self, team: str) -> Path:
        """Return where the uploaded files of a team are."""
        return self.own / "inbox" / hashlib.sha256(team.encode()).hexdigest()[:24]

    def upload(self, team: str, digest: str) -> Path:
        """Return the path of an uploaded file."""
        return self.inbox(team) / digest

    def prepare(self) -> None:
        """Make the folders; only their owner can read them, and git ignores them."""
        try:
            self.own.mkdir(mode=0o700, exist_ok=True)
            for place in (self.own / "inbox", self.site, self.standings, self.work):
                place.mkdir(exist_ok=True)
            ignored = self.own / ".gitignore"
            if not ignored.exists():
                ignored.write_text("*\n")
        except OSError as error:
            raise InputError(f"{self.own} cannot be written to: {error.strerror}") from None


def sync_folder(folder: Path) -> None:
    """Make the names in a folder outlast a power cut."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
