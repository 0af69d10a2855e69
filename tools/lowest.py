"""Print the lowest version that pyproject.toml allows of each package, as constraints for pip."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(\[[\w,]+\])?>=(?P<version>[\d.]+)(,<[\d.]+)?")


def lowest_versions() -> dict[str, str]:
    """The lower bound of each package; the highest one where several extras have their own."""
    project = tomllib.loads(PROJECT.read_text("utf-8"))["project"]
    bounds: dict[str, str] = {}
    for listed in (project["dependencies"], *project["optional-dependencies"].values()):
        for text in listed:
            if text.startswith(f"{project['name']}["):
                continue
            found = REQUIREMENT.fullmatch(text)
            if found is None:
                raise SystemExit(f"pyproject.toml: {text!r} has no lower bound")
            name, version = found["name"], found["version"]
            bounds[name] = max(bounds.get(name, "0"), version, key=_parts)
    return dict(sorted(bounds.items()))


def _parts(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


if __name__ == "__main__":
    for name, version in lowest_versions().items():
        print(f"{name}=={version}")
