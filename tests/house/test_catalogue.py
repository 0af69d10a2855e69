"""The generated tables of README and docs say what the registries say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def check(root: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "tools" / "catalogue.py"), "--check", "--root", str(root)]
    return subprocess.run(command, capture_output=True, text=True)


def test_the_tables_are_up_to_date() -> None:
    done = check(ROOT)
    assert done.returncode == 0, done.stderr


def test_a_table_edited_by_hand_is_seen(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    for name in ("README.md", "docs/catalogue.md", "docs/published.md", "docs/speed.md"):
        (tmp_path / name).write_text((ROOT / name).read_text().replace("| `ra` |", "| `rb` |"))
    done = check(tmp_path)
    assert done.returncode == 1
    assert "make tables" in done.stderr
