"""The pages outlive their server: another user on another machine builds the same bytes from the folder.

What differs between machines is changed for a process of its own: the working folder, the user's home, the
time zone, the language, the locale, the seed of hashes, the mask of new files, and the number of processes.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.leaderboard.boards import card, certificates, reproduced

import trueedge
from trueedge.leaderboard.board import Board
from trueedge.leaderboard.pages import build

BUILD = """
import locale, os, sys, time
os.umask(0o077)
time.tzset()
try:
    locale.setlocale(locale.LC_ALL, sys.argv[3])
except locale.Error:
    locale.setlocale(locale.LC_ALL, "C")
from trueedge.leaderboard.board import Board
from trueedge.leaderboard.pages import build
if __name__ == "__main__":
    build(Board.open(sys.argv[1]), sys.argv[2], jobs=int(sys.argv[4]))
"""
MACHINES = [
    {"TZ": "Pacific/Kiritimati", "LANG": "tr_TR.UTF-8", "LC_ALL": "tr_TR.UTF-8", "PYTHONHASHSEED": "1"},
    {"TZ": "America/Los_Angeles", "LANG": "C", "LC_ALL": "C", "PYTHONHASHSEED": "4242", "PYTHONUTF8": "0"},
]


def hashes(site: Path) -> dict[str, str]:
    return {
        str(one.relative_to(site)): hashlib.sha256(one.read_bytes()).hexdigest()
        for one in sorted(site.rglob("*"))
        if one.is_file()
    }


def test_another_user_on_another_machine_builds_the_same_bytes(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made / "board", tmp_path / "server" / "board")
    board = Board.open(tmp_path / "server" / "board")
    odd = certificates(tmp_path / "made", "pa")
    board.add(odd, card(name="İstanbul ∑ 模型", authors=("Ö. Ğ.", "Ş. ı")), name="odd")
    reproduced(board.entry("karate-existing", "ra"))
    board.withdraw("karate-existing", "cn", "ungültig", date="2026-01-31")
    build(board, tmp_path / "server" / "site")
    wanted = hashes(tmp_path / "server" / "site")
    assert len(wanted) > 10
    # What is in git, and nothing else, reaches the other machine.
    ignored = shutil.ignore_patterns(".server", ".scores", ".build.json", ".*.draft")
    for number in range(1, 1 + len(MACHINES)):
        home = tmp_path / f"user {number}"
        home.mkdir()
        shutil.copytree(tmp_path / "server" / "board", home / "elsewhere", ignore=ignored)
        (home / "build.py").write_text(BUILD)
    shutil.rmtree(tmp_path / "server")
    for number, machine in enumerate(MACHINES, 1):
        home = tmp_path / f"user {number}"
        kept = {name: os.environ[name] for name in ("PATH", "NUMBA_CACHE_DIR") if name in os.environ}
        kept["PYTHONPATH"] = str(Path(trueedge.__file__).parents[1])
        around = {**kept, **machine, "HOME": str(home), "USER": f"user{number}", "LOGNAME": f"user{number}"}
        words = [sys.executable, "build.py", "elsewhere", "pages", machine["LC_ALL"], str(number)]
        done = subprocess.run(words, cwd=home, env=around, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        assert hashes(home / "pages") == wanted
