"""Provenance of a record: content hashes, versions, machine."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from trueedge.tasks import Task
from trueedge.version import VERSION

PACKAGES = ("numpy", "scipy", "numba", "torch", "torch_geometric")


def provenance(task: Task, device: str) -> dict[str, Any]:
    """Return hashes of the task's content, versions of the software, the machine and its threads."""
    return {
        "task": task.hash,
        "hashes": dict(task.hashes),
        "task_settings": dict(task.settings),
        "versions": versions(),
        "machine": {**machine(), **_accelerator(device)},
        "threads": _threads(),
        "device": device,
        **({"commit": found} if (found := commit()) else {}),
    }


@cache
def versions() -> dict[str, str]:
    """Return the versions of Python, trueedge and the packages it computes with."""
    found = {"python": platform.python_version(), "trueedge": VERSION}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


@cache
def machine() -> dict[str, Any]:
    """Describe the machine, without host or user names."""
    return {
        "system": platform.system(),
        "architecture": platform.machine(),
        "processor": _processor(),
        "cores": os.cpu_count(),
    }


@cache
def commit(clone: Path = Path(__file__).parents[3]) -> str:
    """Return the commit that a clone of the package is at; empty where it is not a clone.

    Changes since that commit are not seen: for these there are the hashes of the code in a record's key.

    Args:
        clone: the folder of the clone.
    """
    try:
        folder = clone / ".git"
        if folder.is_file():  # a further working tree of a clone
            folder = (clone / folder.read_text("utf-8").removeprefix("gitdir:").strip()).resolve()
        head = (folder / "HEAD").read_text("utf-8").strip()
        if not head.startswith("ref:"):
            return _as_commit(head)
        name = head.removeprefix("ref:").strip()
        shared = folder / "commondir"
        roots = (
            [folder, (folder / shared.read_text("utf-8").strip()).resolve()] if shared.is_file() else [folder]
        )
        for root in roots:
            if (root / name).is_file():
                return _as_commit((root / name).read_text("utf-8"))
        for line in (roots[-1] / "packed-refs").read_text("utf-8").splitlines():
            if line.endswith(f" {name}"):
                return _as_commit(line.partition(" ")[0])
    except (OSError, ValueError):
        return ""
    return ""


def _as_commit(text: str) -> str:
    """Return a commit's hash, or nothing where the text is none."""
    word = text.strip()
    return word if re.fullmatch(r"[0-9a-f]{40}([0-9a-f]{24})?", word) else ""


def _threads() -> int | None:
    """Return the number of threads of dense products, on which sums of floats depend."""
    torch = sys.modules.get("torch")
    return None if torch is None else int(torch.get_num_threads())


def _accelerator(device: str) -> dict[str, str]:
    torch = sys.modules.get("torch")
    if not device.startswith("cuda") or torch is None or not torch.cuda.is_available():
        return {}
    return {"accelerator": torch.cuda.get_device_name(device)}


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "")


@dataclass
class Peak:
    """The largest resident memory seen, in bytes; 0 if the system does not report it."""

    memory: int = 0


@contextmanager
def peak_memory() -> Iterator[Peak]:
    """Measure the largest resident memory of this process within the block (Linux)."""
    peak = Peak()
    with suppress(OSError):
        # 5 resets the high-water mark of the resident set (proc(5)).
        Path("/proc/self/clear_refs").write_text("5")
    try:
        yield peak
    finally:
        peak.memory = _high_water_mark()


def _high_water_mark() -> int:
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM")), 0)
