"""The container files start the server with options and variables that it has."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path

import pytest

from trueedge.cli import serving

ROOT = Path(__file__).parents[2]


def _options() -> set[str]:
    text = inspect.getsource(serving.serve)
    named = set(re.findall(r'"(--[a-z]+)"', text))
    return named | {f"--{name}" for name in inspect.signature(serving.serve).parameters}


def test_the_container_starts_the_server_with_known_options() -> None:
    text = (ROOT / "Dockerfile").read_text()
    words = json.loads(re.findall(r"^CMD (\[.*\])$", text, re.MULTILINE)[-1])
    assert words[0] == "serve"
    assert {word for word in words if word.startswith("--")} <= _options()
    assert re.search(r"^USER (?!root)", text, re.MULTILINE)


def test_the_compose_file_joins_server_and_postgres() -> None:
    yaml = pytest.importorskip("yaml")
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    assert set(services) == {"server", "database"}
    assert serving.DATABASE in services["server"]["environment"]
    assert services["server"]["environment"][serving.DATABASE].startswith("postgresql://")
    assert services["database"]["image"].startswith("postgres:")
    commented = re.search(r"# command: (serve .*)", (ROOT / "compose.yaml").read_text())
    assert commented is not None
    assert {word for word in commented[1].split() if word.startswith("--")} <= _options()
