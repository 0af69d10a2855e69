"""A table in Markdown, and where the project is."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[1]


def table(columns: list[str], rows: list[list[str]]) -> str:
    """Return a table in Markdown."""
    assert all(len(row) == len(columns) for row in rows)
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
