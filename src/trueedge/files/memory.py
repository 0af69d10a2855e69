"""How much memory this process can still use."""

from __future__ import annotations

import os
from pathlib import Path

MEMORY = Path("/proc/meminfo")
GROUPS = Path("/proc/self/cgroup")
GROUP_FOLDERS = Path("/sys/fs/cgroup")
# The files of a group's limit and of what it uses, in the second version of control groups and in the first.
LIMITS = (("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes"))


def free_memory() -> int | None:
    """Return the bytes this process can still use, or None where the system does not say.

    That is the least of what the machine has free, what the limit of a container leaves and what the
    process's own limit leaves. What the system keeps of files counts as free.
    """
    known = [bound for bound in (_of_machine(), _of_group(), _of_process()) if bound is not None]
    return max(0, min(known)) if known else None


def as_size(count: int) -> str:
    """Return a number of bytes for a message: ``300 MB``, ``1.5 GB``, ``12 GB``."""
    if count < 1e9:
        return f"{count / 1e6:,.0f} MB"
    return f"{count / 1e9:.1f} GB" if count < 1e10 else f"{count / 1e9:,.0f} GB"


def _of_machine() -> int | None:
    found = _listed(MEMORY)
    if "MemAvailable" in found:
        return 1024 * (found["MemAvailable"] + found.get("SwapFree", 0))
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _of_group() -> int | None:
    """Return what the limits of this process's control group and of those around it leave."""
    left = []
    for line in _read(GROUPS).splitlines():
        _, kinds, path = (line.split(":", 2) + ["", ""])[:3]
        if kinds not in ("", "memory"):
            continue
        root = GROUP_FOLDERS / kinds
        own = root / path.lstrip("/")
        # A container may show its own group as the root.
        for folder in {own, *own.parents, root}:
            if folder.is_relative_to(root):
                left += [_left(folder / limit, folder / used) for limit, used in LIMITS]
    return min((count for count in left if count is not None), default=None)


def _left(limit: Path, used: Path) -> int | None:
    most, now = _read(limit).strip(), _read(used).strip()
    if not most.isdecimal() or not now.isdecimal():
        return None
    cached = _listed(limit.with_name("memory.stat"))
    return int(most) - int(now) + cached.get("inactive_file", 0) + cached.get("active_file", 0)


def _of_process() -> int | None:
    try:
        import resource

        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        if most == resource.RLIM_INFINITY:
            return None
        return most - int(_read(Path("/proc/self/statm")).split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (ImportError, AttributeError, ValueError, OSError, IndexError):
        return None


def _listed(path: Path) -> dict[str, int]:
    """Return the numbers of a file with one name and number per line."""
    rows = [line.replace(":", " ").split() for line in _read(path).splitlines()]
    return {row[0]: int(row[1]) for row in rows if len(row) > 1 and row[1].isdecimal()}


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except (OSError, ValueError):
        return ""
