"""Command lines with odd arguments, run in this process: a number, or one sentence and status 1 or 2."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import sys
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any
from unittest import mock

import typer.main

from benchmarks.attack.mutations import damaged_text
from benchmarks.attack.outcomes import Case, WrongNumberError, expect, same
from benchmarks.attack.plain_metrics import split_in_order
from benchmarks.attack.plain_text import SenselessError, scores_of
from benchmarks.attack.tiny import made_task
from trueedge.cli import app as cli
from trueedge.errors import InputError

SLOW = ("tune", "reproduce")
ODD = (
    "",
    " ",
    "x",
    "-",
    "--",
    "nan",
    "-1",
    "0",
    "1.5",
    "1e400",
    "None",
    "\x1b[31m",
    "ü",
    "a,b",
    ",",
    "=",
    "%s",
    "{}",
)
SOURCES = (
    *(
        "g.csv",
        "g.csv",
        "g.csv",
        "task",
        "task",
        "karate",
        "nope",
        "",
        ".",
        "missing.csv",
        "cora:x=1",
        "karate:",
    ),
    *(
        "price:nodes=-1",
        "price:nodes=x",
        "price:nodes=20,edges=30,seed=1",
        "price:",
        "task/task.json",
        "runs",
        "s.txt",
    ),
)
PLACES = (
    "out.json",
    "out.csv",
    "out.npz",
    "out.html",
    "out",
    ".",
    "",
    "g.csv",
    "g.csv/x.json",
    "deep/er/out.csv",
    "x" * 300,
)
VALUES: dict[str, tuple[str, ...]] = {
    "protocol": (
        "uniform",
        "existing",
        "heart",
        "all",
        "hart",
        "uniform,existing",
        "",
        ",",
        "degree-corrected",
        "triplet",
    ),
    "method": ("cn", "ra", "cn,ra", "cm", "", "nofile.py:X", "os:getcwd", "json:", ":", "g.csv:x", "cn,cn"),
    "option": (
        "k=4",
        "k=-1",
        "k=x",
        "k=",
        "=1",
        "k",
        "uniform.fraction=2",
        "fraction=nan",
        "fraction=0.5",
        "k=1e400",
        "a.b=1",
    ),
    "set_": ("beta=0.1", "katz.beta=x", "beta=", "=", "nope=1", "beta=1e400"),
    "part": ("test", "valid", "train", "tset", ""),
    "device": ("cpu", "cuda:999", "gpu", ""),
    "scorer": ("cn", "nofile.py:f", "os:getcwd", "math:pi", "builtins:len", ":", "nope"),
    "scores": ("s.txt", "s.txt", "missing.txt", "g.csv", ".", "task"),
    "certificate": ("missing.json", "task/task.json", "g.csv", ".", ""),
    "seed": ("0", "1", "-1", "x", "1.5", str(10**30), "007", "٣"),
    "seeds": ("1", "2", "0", "-1", "x", "1e3"),
    "jobs": ("1", "0", "-1", "x"),
    "runs": ("runs", "new", "g.csv", "", "task"),
    "folder": ("runs", "new", "g.csv", "", "task"),
    "shard_size": ("8", "0", "-1", "x"),
    "sample": ("5", "0", "-1", "x", "100"),
}
USUAL_OUTPUT = {
    "export": "out.csv",
    "task": "out",
    "negatives": "out.npz",
    "report": "out.html",
    "certify": "out.json",
}


@cache
def template() -> Path:
    """Return a folder with an edge list, a task, its scores and a store."""
    folder = Path(mkdtemp(prefix="attack-cli-"))
    task = made_task("uniform")
    task.save(folder / "task")
    (folder / "g.csv").write_text("".join(f"{u},{v}\n" for u, v in task.graph.edges.tolist()))
    pairs = made_task("uniform").pairs().tolist()
    lines = dict.fromkeys(f"{u},{v},{score}\n" for (u, v), score in zip(pairs, scores(), strict=True))
    (folder / "s.txt").write_text("".join(lines))
    call(folder, ["run", "task", "-m", "cn,ra", "--runs", "runs", "--keep-scores"])
    return folder


def scores() -> list[float]:
    """Return a score for each pair of the task, in order."""
    return [float((u * 7 + v * 3) % 5) for u, v in made_task("uniform").pairs().tolist()]


def right_values() -> dict[str, float]:
    """Return the metrics of these scores, by brute force."""
    return split_in_order(made_task("uniform").test, scores())


def call(folder: Path, arguments: list[str]) -> tuple[int, str, str]:
    """Run the command line in a folder; return its status and what it wrote."""
    out, err = io.StringIO(), io.StringIO()
    before = os.getcwd()
    os.chdir(folder)
    try:
        silent = contextlib.redirect_stdout(out), contextlib.redirect_stderr(err)
        with silent[0], silent[1], mock.patch.object(sys, "argv", ["trueedge", *arguments]):
            try:
                cli.main()
                status = 0
            except SystemExit as stop:
                status = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    finally:
        os.chdir(before)
    return status, out.getvalue(), err.getvalue()


def check_status(status: int, out: str, err: str) -> None:
    """Raise an InputError for a refusal in words; any other status than 0, 1 and 2 is a failure."""
    # The compiler warns of a variable that it cannot read, with a traceback, and takes its default.
    warned = status == 0 and "is defined but its associated value" in err
    if "Traceback (most recent call last)" in out + err and not warned:
        raise RuntimeError(f"status {status}: {(out + err)[-500:]}")
    if status in (1, 2):
        words = (err + out).strip()
        if not words:
            raise RuntimeError(f"status {status} without a word")
        raise InputError(words.splitlines()[-1])
    if status != 0:
        raise RuntimeError(f"status {status}: {(out + err)[-500:]}")


def check_values(out: str, wanted: dict[str, float]) -> None:
    """Compare the metrics that ``trueedge score`` prints with those of an oracle."""
    shown = re.findall(r"^\W*([a-z@.\d-]+)\s+[\d.]+\s+([\d.]+)\W*$", out, re.MULTILINE)
    expect(shown, f"no metric is shown: {out!r}")
    for name, value in shown:
        if name in wanted:
            expect(abs(float(value) - wanted[name]) < 1e-6, f"{name} is {value}, but {wanted[name]} is right")


def _folder(case: Case) -> Path:
    shutil.copytree(template(), case.folder / "here")
    return case.folder / "here"


def _value(case: Case, command: str, name: str) -> str:
    if case.chance(0.7):
        # Mostly what is expected: otherwise the first odd value hides all others.
        usual = {
            "output": USUAL_OUTPUT.get(command, "out.csv"),
            "file": USUAL_OUTPUT.get(command, "out.csv"),
            "folder": "runs",
            "edges": "g.csv",
            "task": "task",
            "dataset": "g.csv",
        }
        return usual.get(name) or VALUES.get(name, ("",))[0] or case.pick(ODD)
    if name in ("dataset", "task", "edges"):
        return case.pick(SOURCES)
    if name in ("output", "file", "checkpoints", "positives", "negatives"):
        return case.pick([*PLACES, "g.csv"])
    return case.pick([*VALUES.get(name, ODD), *(VALUES.get(name, ())), case.pick(ODD)])


def fuzzed(case: Case) -> None:
    """Draw a command and odd values for its arguments and options."""
    commands: dict[str, Any] = typer.main.get_command(cli.app).commands  # type: ignore[attr-defined]
    name = case.pick([one for one in commands if one not in SLOW])
    command = commands[name]
    words = [name]
    for one in command.params:
        needed = one.param_type_name == "argument"
        if (needed and case.chance(0.95)) or case.chance(0.25) or (name == "run" and one.name == "method"):
            flag = [] if needed else [case.pick(one.opts)]
            plain = getattr(one, "is_flag", False)
            words += flag if plain else [*flag, _value(case, name, str(one.name))]
    if case.chance(0.1):
        words.insert(
            case.number(0, len(words)), case.pick([*ODD, "--help", "--version", "--nope", "-h", "-x"])
        )
    case.tell(words)
    check_status(*call(_folder(case), words))


def slow_commands(case: Case) -> None:
    """Ask the commands that take long for something that they must refuse at once, or for help."""
    name = case.pick(SLOW)
    words = [
        name,
        *case.pick(
            [["nope"], [""], ["--help"], ["karate", "-m", "nope"], [], ["\x1b"], ["g.csv", "--seeds", "0"]]
        ),
    ]
    case.tell(words)
    check_status(*call(_folder(case), words))


def scored(case: Case) -> None:
    """Evaluate a file of scores with odd options and damaged scores: the numbers are those of the file."""
    folder = _folder(case)
    words = ["score", "task", "s.txt"]
    for flag, values in (("--seed", VALUES["seed"]), ("-p", VALUES["protocol"]), ("--part", VALUES["part"])):
        if case.chance(0.3):
            words += [flag, case.pick(values)]
    path = folder / "s.txt"
    data = damaged_text(case, path.read_bytes()) if case.chance(0.6) else path.read_bytes()
    path.write_bytes(data)
    case.tell(words)
    status, out, err = call(folder, words)
    check_status(status, out, err)
    try:
        found = _looked_up(scores_of(data))
    except SenselessError as error:
        raise WrongNumberError(f"read, but it has no meaning ({error})") from None
    check_values(out, split_in_order(made_task("uniform").test, found))


def _looked_up(rows: list[list[str]]) -> list[float]:
    """Return the score of each pair of the task in a table of pairs."""
    table: dict[tuple[int, ...], set[float]] = {}
    for row in rows:
        if len(row) != 3 or not (row[0] + row[1]).isdigit():
            raise SenselessError(f"the row {row}")
        table.setdefault(tuple(sorted(map(int, row[:2]))), set()).add(float(row[2]))
    pairs = [tuple(sorted(pair)) for pair in made_task("uniform").pairs().tolist()]
    if any(len(table.get(pair, ())) != 1 for pair in pairs):
        raise SenselessError("a pair without one score")
    return [next(iter(table[pair])) for pair in pairs]


def recorded(case: Case) -> None:
    """Run a method again and print the store: the table shows what the record holds."""
    folder = _folder(case)
    words = ["run", "task", "-m", case.pick(["pa", "cn", "ra"]), "--runs", case.pick(["runs", "ü n", "a b"])]
    words += case.pick(
        [[], ["--again"], ["--keep-scores"], ["--seeds", "2", "--fixed-split"], ["--seed", "3"]]
    )
    case.tell(words)
    check_status(*call(folder, words))
    status, out, err = call(folder, ["records", "--runs", words[5]])
    check_status(status, out, err)
    task = made_task("uniform")
    from trueedge import methods

    value = task.evaluate(methods.create(words[3]).fit(task))["auc"]
    shown = re.search(rf"^\W*{words[3]}\s+([\d.]+)", out, re.MULTILINE)
    if shown is None:
        raise WrongNumberError(f"{words[3]} is not shown: {out!r}")
    expect(same(round(100 * value, 2), float(shown[1])), f"{shown[1]} is shown, but {100 * value} is right")


FAMILIES = (fuzzed, fuzzed, fuzzed, scored, scored, recorded, slow_commands, fuzzed)
