"""The generated tables of README and docs say what the registries say."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from trueedge import methods

ROOT = Path(__file__).parents[2]
CATALOGUE = (ROOT / "docs" / "catalogue.md").read_text()


def check(root: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "tools" / "catalogue.py"), "--check", "--root", str(root)]
    return subprocess.run(command, capture_output=True, text=True)


def published_row(method: str, setting: str, dataset: str) -> dict[str, str]:
    """Return a row of a method's table of published settings, by column."""
    section = CATALOGUE.split("## Published settings", 1)[1].split(f"### {method}\n", 1)[1].split("###", 1)[0]
    lines = [
        [cell.strip(" `") for cell in line.strip("|").split("|")]
        for line in section.splitlines()
        if line.startswith("|")
    ]
    (row,) = (line for line in lines if line[:2] == [setting, dataset])
    return dict(zip(lines[0], row, strict=True))


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


@pytest.mark.parametrize(
    ("method", "setting", "dataset", "task"),
    [
        ("gcn", "heart", "cora", {"protocol": "heart", "dataset": "cora"}),
        ("ncn", "existing", "citeseer", {"protocol": "existing", "dataset": "citeseer"}),
        ("sage", "default", "any", {"protocol": "", "dataset": ""}),
    ],
)
def test_the_catalogue_shows_the_settings_that_are_used(
    method: str, setting: str, dataset: str, task: dict[str, str]
) -> None:
    used: dict[str, Any] = methods.create(method).for_task(SimpleNamespace(**task)).settings()
    row = published_row(method, setting, dataset)
    assert float(row["learning_rate"]) == used["learning_rate"]
    assert float(row["dropout"]) == used["dropout"]


def test_no_boolean_is_called_a_number() -> None:
    settings = CATALOGUE.split("## Methods", 1)[1].split("## Published settings", 1)[0]
    booleans = [line for line in settings.splitlines() if re.search(r"\| `(true|false)` \|", line)]
    assert booleans
    assert all("| `true`, `false` |" in line for line in booleans)


def test_the_readme_names_every_method_and_no_open_setting() -> None:
    readme = (ROOT / "README.md").read_text()
    assert "=None" not in readme
    # Other tests define methods too.
    ours = [kind.name for kind in methods.catalogue() if kind.__module__.startswith("trueedge.")]
    assert [name for name in ours if not named(name, readme)] == []


def named(method: str, text: str) -> bool:
    """Return whether a text has a method's name, or its base and its ending: `tucker` and `+focal`."""
    base, plus, ending = method.partition("+")
    return f"`{method}`" in text or (bool(plus) and f"`{base}`" in text and f"`+{ending}`" in text)
