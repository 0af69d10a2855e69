"""Odd environments: variables, streams, limits and folders of a process, and odd arguments in this one."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.attack import arguments
from benchmarks.attack.outcomes import Case, Family, HangError, expect
from trueedge.errors import InputError

ROOT = Path(__file__).parents[2]
#: A process takes about a second: two attacks of the quick size start one, and a third of the others.
COUNTS = {"quick": 26, "nightly": 468}
MEGABYTE = 1 << 20
SECONDS = 29

Variables = Mapping[str, str | None]
VARIABLES: tuple[Variables, ...] = (
    *({"NUMBA_NUM_THREADS": value} for value in ("0", "-1", "x", "1", "999", "")),
    {"NUMBA_DISABLE_JIT": "1"},
    {"NUMBA_DISABLE_JIT": "x"},
    *({"NUMBA_CACHE_DIR": value} for value in ("/proc/not/here", "/dev/null", "", "/proc")),
    {"NUMBA_THREADING_LAYER": "bogus"},
    {"NUMBA_CAPTURED_ERRORS": "new_style"},
    *({name: value} for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS") for value in ("0", "-1", "x")),
    *({"PYTHONHASHSEED": value} for value in ("0", "1", "4294967295")),
    *({"LC_ALL": value} for value in ("C", "POSIX", "tr_TR.UTF-8", "xx_XX")),
    {"LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    *({"PYTHONIOENCODING": value} for value in ("ascii", "latin1", "ascii:strict", "utf-16", "cp037")),
    *({"HOME": value} for value in (None, "/proc/not/here", "", "/dev/null")),
    {"HOME": None, "XDG_CACHE_HOME": None, "NUMBA_CACHE_DIR": None},
    *({"TMPDIR": value} for value in ("/proc/not/here", "", "/dev/null")),
    *({"COLUMNS": value} for value in ("1", "0", "-5", "x", "100000")),
    {"TERM": "dumb"},
    {"TERM": None, "NO_COLOR": "1"},
    {"FORCE_COLOR": "1"},
    *({"TRUEEDGE_DATA": value} for value in ("/proc/not/here", "/dev/null", "", "~nobody/x", "\udcff")),
    {"TRUEEDGE_CACHE": "/dev/null/x"},
    {"PYTHONOPTIMIZE": "2"},
    {"PYTHONDONTWRITEBYTECODE": "1"},
    {"PYTHONWARNINGS": "error::UserWarning"},
    {"PYTHONDEVMODE": "1"},
    {"PATH": None},
    {"TZ": "Not/AZone"},
    {"USER": None, "LOGNAME": None},
    {"CUDA_VISIBLE_DEVICES": "x"},
    {"PYTHONUNBUFFERED": "1"},
    {"PYTHONSAFEPATH": "1"},
)
#: Shell commands around the one that is run, which is "$@".
SHELLS = {
    "stdout closed": '"$@" >&-',
    "stderr closed": '"$@" 2>&-',
    "all closed": '"$@" <&- >&- 2>&-',
    "stdin closed": '"$@" <&-',
    "full disk": '"$@" > /dev/full',
    "full disk for errors": '"$@" 2> /dev/full',
    "closed pipe": '"$@" | true',
    "folder removed": 'mkdir gone && cd gone && rmdir ../gone && "$@"',
    "nothing may be written": 'umask 0777; "$@"',
}
LIMITS: dict[str, tuple[int, int]] = {
    "8 open files": (resource.RLIMIT_NOFILE, 8),
    "16 open files": (resource.RLIMIT_NOFILE, 16),
    "files of 0 bytes": (resource.RLIMIT_FSIZE, 0),
    "files of 4096 bytes": (resource.RLIMIT_FSIZE, 4096),
    "2 GB of memory": (resource.RLIMIT_AS, 2048 * MEGABYTE),
    "1 GB of memory": (resource.RLIMIT_AS, 1024 * MEGABYTE),
    "1 MB of stack": (resource.RLIMIT_STACK, MEGABYTE),
    "no core": (resource.RLIMIT_CORE, 0),
}


def _environment(changes: Variables) -> dict[str, str]:
    changed: Variables = {**os.environ, "PYTHONPATH": str(ROOT / "src"), **changes}
    return {name: value for name, value in changed.items() if value is not None}


def _command(case: Case) -> list[str]:
    """Return a command with a number that is known; computing something takes twice as long as reading it."""
    here = arguments.template()
    words = ["score", str(here / "task"), str(here / "s.txt")]
    if case.chance(0.2):
        words = ["run", str(here / "task"), "-m", "cn", "--runs", str(case.folder / "runs")]
    return [sys.executable, "-m", "trueedge", *words]


def _run(case: Case, command: list[str], more: dict[str, Any]) -> None:
    """Run a command and compare its number, if it says one."""
    try:
        done = subprocess.run(command, cwd=case.folder, capture_output=True, timeout=SECONDS, **more)
    except subprocess.TimeoutExpired:
        raise HangError from None
    out, err = (data.replace(b"\0", b"").decode(errors="replace") for data in (done.stdout, done.stderr))
    if done.returncode == 1 and not (out + err).strip() and ("2>" in command[2]):
        raise InputError("there is no stream for the sentence")
    arguments.check_status(done.returncode, out, err)
    if not out.strip():
        raise InputError("nothing is shown")
    if "score" in command:
        arguments.check_values(out, arguments.right_values())
    else:
        expect("cn" in out, f"no method in {out!r}")


def variables(case: Case) -> None:
    """Set one of the variables that the interpreter, the compiler or the package read, or two."""
    changes = {**case.pick(VARIABLES), **(case.pick(VARIABLES) if case.chance(0.2) else {})}
    command = _command(case)
    case.tell(changes, command[3])
    if {"PYTHONIOENCODING": "utf-16"}.items() <= changes.items() or changes.get(
        "PYTHONIOENCODING"
    ) == "cp037":
        # Its output is not ASCII: only the status counts.
        done = subprocess.run(command, cwd=case.folder, capture_output=True, env=_environment(changes))
        arguments.check_status(done.returncode, "", "")
        return
    _run(case, command, {"env": _environment(changes)})


def streams(case: Case) -> None:
    """Close a stream, fill the disk behind it, or remove the folder."""
    name = case.pick(list(SHELLS))
    command = _command(case)
    case.tell(name, command[3])
    _run(case, ["sh", "-c", SHELLS[name], "sh", *command], {"env": _environment({})})


def limits(case: Case) -> None:
    """Allow the process few files, little memory or small files."""
    name = case.pick(list(LIMITS))
    kind, most = LIMITS[name]
    hard = resource.getrlimit(kind)[1]
    command = _command(case)
    case.tell(name, command[3])
    within = most if hard == resource.RLIM_INFINITY else min(most, hard)

    def limit() -> None:
        resource.setrlimit(kind, (within, hard))

    # One thread for linear algebra: the stacks of many would count as memory.
    _run(case, command, {"env": _environment({"OPENBLAS_NUM_THREADS": "1"}), "preexec_fn": limit})


PROCESSES: tuple[Callable[[Case], None], ...] = (variables, streams, variables, limits)
_LISTED = (*3 * arguments.FAMILIES, *3 * PROCESSES)
FAMILIES: dict[str, Family] = {
    f"{one.__name__.replace('_', ' ')}{' ' * at}": one for at, one in enumerate(_LISTED)
}
