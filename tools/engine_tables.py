"""The tables of measured engines for docs/many-machines.md, from the stored results."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

COMMANDS = {
    "engine_kills": "python -m benchmarks.engine_kills",
    "engine_poison": "python -m benchmarks.engine_kills --poison 20",
    "engines": "python -m benchmarks.engines",
}


def rows(results: Path) -> list[list[str]]:
    """Return what was measured, the result and the command, for each stored result.

    Args:
        results: the folder of the results.
    """
    return [
        *_kills(_read(results, "engine_kills")),
        *_poison(_read(results, "engine_poison")),
        *_times(results),
    ]


def _read(results: Path, name: str) -> dict[str, Any] | None:
    path = results / f"{name}.json"
    found: dict[str, Any] | None = json.loads(path.read_text()) if path.is_file() else None
    return found


def _kills(found: Mapping[str, Any] | None) -> list[list[str]]:
    if found is None:
        return [["kills", "not measured yet", f"`{COMMANDS['engine_kills']}`"]]
    listed = ", ".join(f"{count} {name}" for name, count in found["kills"].items())
    said = (
        f"of {found['records']} records, {found['lost']} lost, {found['doubled']} doubled,"
        f" {found['other']} with other metrics than one process; longest time without a new record"
        f" {found['longest']:.0f} s"
    )
    return [[f"{sum(found['kills'].values())} × `kill -9` ({listed})", said, f"`{COMMANDS['engine_kills']}`"]]


def _poison(found: Mapping[str, Any] | None) -> list[list[str]]:
    command = f"`{COMMANDS['engine_poison']}`"
    if found is None:
        return [["five cells that end their process, among ten good ones", "not measured yet", command]]
    said = f"{found['records']} good records; {found['condemned']} good cells given up"
    return [[f"five cells that end their process, among ten good ones, {found['runs']} runs", said, command]]


def _times(results: Path) -> list[list[str]]:
    whole = _read(results, "engines") or {}
    lines = []
    for name, shown in _SHOWN.items():
        part = _read(results, f"engines-{name}") or {}
        card = whole.get(name) or part.get(name)
        command = COMMANDS["engines"] if name in whole else f"{COMMANDS['engines']} --only {name}"
        if card is not None:
            lines.append([*shown(card), f"`{command}`"])
    return lines


def _same(found: Mapping[str, Any]) -> str:
    return "the same" if found["identical"] else "other"


def _start(found: Mapping[str, Any]) -> list[str]:
    dask, own = (min(one["wall"] for one in found[name]) for name in ("dask", "processes"))
    return ["from the start to the first record", f"{dask:.1f} s; our own processes {own:.1f} s"]


def _long(found: Mapping[str, Any]) -> list[str]:
    said = f"{found['ratio']:.2f} times our own processes; {_same(found)} records"
    return [f"{found['cells']:,} cells of a second, two workers", said]


def _empty(found: Mapping[str, Any]) -> list[str]:
    dask, own = found["dask"]["wall"], found["processes"]["wall"]
    said = f"{dask:.0f} s; our own processes {own:.0f} s; {_same(found)} records"
    return [f"{found['cells']:,} empty cells, two workers", said]


def _skipped(found: Mapping[str, Any]) -> list[str]:
    return [f"{found['cells']:,} finished cells", f"skipped in {found['dask']['wall']:.1f} s"]


def _shares(found: Mapping[str, Any]) -> list[str]:
    said = (
        f"{_same(found)} content as one run; merged a second time, {found['added_again']} records are added"
    )
    return [f"{found['cells']:,} cells in {found['parts']} shares, merged", said]


def _negatives(found: Mapping[str, Any]) -> list[str]:
    said = (
        f"{_same(found)} bytes by two workers, by a run that was killed after"
        f" {found['shards_at_the_kill']} of {found['shards']} shards and continued, and in memory"
    )
    return [f"shards of a graph with {found['edges']:,} edges", said]


_SHOWN = {
    "start": _start,
    "long": _long,
    "empty": _empty,
    "skipped": _skipped,
    "shares": _shares,
    "negatives": _negatives,
}
