"""A Postgres of its own in a folder, for benchmarks and tests: started, killed and stopped."""

from __future__ import annotations

import glob
import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path

SECONDS = 60.0


def binary(name: str) -> str | None:
    """Return the path of a program of Postgres, or None if it is not installed."""
    found = sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}")) or [shutil.which(name) or ""]
    return found[-1] or None


class Postgres:
    """A database cluster that listens at 127.0.0.1 alone.

    Args:
        folder: where it keeps its data; it is made.
    """

    def __init__(self, folder: Path) -> None:
        if binary("initdb") is None:
            raise SystemExit("Postgres is not installed")
        self.folder = folder
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self.port = int(found.getsockname()[1])
        # Postgres refuses to run as root.
        self._user = pwd.getpwnam("postgres") if os.geteuid() == 0 else None
        folder.mkdir(parents=True)
        folder.parent.chmod(0o755)
        if self._user is not None:
            os.chown(folder, self._user.pw_uid, self._user.pw_gid)
        self._run("initdb", "-D", str(folder / "data"), "-U", "trueedge", "-A", "trust")
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        """Return the address of its database."""
        return f"postgresql://trueedge@127.0.0.1:{self.port}/postgres"

    def _words(self, program: str, *words: str) -> list[str]:
        return [str(binary(program)), *words]

    def _options(self) -> dict[str, object]:
        if self._user is None:
            return {}
        return {"user": self._user.pw_uid, "group": self._user.pw_gid}

    def _run(self, program: str, *words: str) -> None:
        subprocess.run(
            self._words(program, *words),
            check=True,
            capture_output=True,
            cwd="/",
            **self._options(),  # type: ignore[call-overload]
        )

    def start(self) -> None:
        """Start it, and wait until it answers."""
        until = time.monotonic() + SECONDS
        ready = ["-h", "127.0.0.1", "-p", str(self.port), "-U", "trueedge"]
        while time.monotonic() < until:
            # Processes of a killed one may still hold its memory: a moment later they are gone.
            if self._process is None or self._process.poll() is not None:
                self._launch()
            if subprocess.run(self._words("pg_isready", *ready), capture_output=True).returncode == 0:
                return
            time.sleep(0.2)
        raise SystemExit("Postgres did not start")

    def _launch(self) -> None:
        data, port = str(self.folder / "data"), str(self.port)
        words = ["-D", data, "-p", port, "-h", "127.0.0.1", "-k", str(self.folder)]
        self._process = subprocess.Popen(  # type: ignore[call-overload]
            self._words("postgres", *words),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
            **self._options(),
        )

    def kill(self) -> None:
        """Kill it and all its processes with SIGKILL."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def stop(self) -> None:
        """Stop it for good."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                self.kill()
