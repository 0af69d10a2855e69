"""What a verdict costs: on Cora, and on a generated graph of a million edges.

    python -m benchmarks.verdict [cora] [million]

Every run is a process of its own, on all cores; the first one compiles and does not count. A verdict on Cora
has eleven heuristics, three protocols and five seeds. The graph of a million edges has 200,000 nodes and a
heavy tail of degrees. Results go to ``benchmarks/results/verdict.json``; run it on an idle machine: its load
is noted, and under load only the seconds of processors mean something.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import trueedge as te
from benchmarks.degree_model import fit
from benchmarks.graphs import heavy_tailed
from trueedge.runs.provenance import machine
from trueedge.verdict import Verdict, judge

RESULTS = Path(__file__).parent / "results" / "verdict.json"
MILLION = (200_000, 1_000_000)
# Seconds, on two cores.
BARS = {"cora": 20, "million": 300}
REPEATS = {"cora": 3, "million": 1}
MODEL = "by degree"
AFTER = "tables, slices, checks, audit"


def main(names: list[str]) -> None:
    """Measure in processes of their own, and write what was found."""
    known: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    _measured("cora")
    for name in names:
        runs = [_measured(name) for _ in range(REPEATS[name])]
        best = min(runs, key=lambda run: run["seconds"])
        known[name] = {"bar": BARS[name], **best, "machine": machine()}
        RESULTS.write_text(json.dumps(known, indent=1) + "\n")
        print(json.dumps(known[name], indent=1))


def _measured(name: str) -> dict[str, Any]:
    """Run one verdict in a process of its own; the seconds include its start."""
    load, start = os.getloadavg()[0], time.perf_counter()
    code = f"from benchmarks.verdict import run; run({name!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    seconds = round(time.perf_counter() - start, 1)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return {"seconds": seconds, "load": round(load, 1), **found}


def run(name: str) -> None:
    """Judge a model in this process, and print what each phase took."""
    graph = te.load("cora") if name == "cora" else heavy_tailed(*MILLION)
    phases = Phases()
    with tempfile.TemporaryDirectory() as folder:
        verdict = judge(fit, "cora" if name == "cora" else graph, name=MODEL, store=folder, progress=phases)
    phases.end(AFTER)
    print(json.dumps(_said(verdict, phases)))


def _said(verdict: Verdict, phases: Phases) -> dict[str, Any]:
    return {
        "cpu_seconds": round(time.process_time(), 1),
        "peak_megabytes": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3),
        "records": len(verdict.records),
        "answer": verdict.sentence,
        "notes": list(verdict.notes),
        "cpu_by_phase": {key: round(value, 1) for key, value in phases.cpu.items()},
        "seconds_by_phase": {key: round(value, 1) for key, value in phases.seconds.items()},
        "megabytes_after_each_round": phases.memory,
    }


class Phases:
    """Adds up the time of each phase, as the progress of a verdict tells them.

    Attributes:
        seconds: of each phase, by the clock.
        cpu: the same in seconds of processors.
        memory: what the process holds after each split of the last protocol, in megabytes.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.cpu: dict[str, float] = {}
        self.memory: list[int] = []
        self._last = time.perf_counter(), time.process_time()

    def __call__(self, text: str, done: int, total: int) -> None:
        """Note what has been run since the last call."""
        protocol, _, method = text.partition(" · ")
        # The model is first: its task is made before it.
        self.end(f"{protocol}: task and model" if method == MODEL else method)
        if done == total or (protocol == "degree-corrected" and method == MODEL):
            self.memory.append(_megabytes())

    def end(self, phase: str) -> None:
        """Add the time since the last call to a phase."""
        now = time.perf_counter(), time.process_time()
        self.seconds[phase] = self.seconds.get(phase, 0.0) + now[0] - self._last[0]
        self.cpu[phase] = self.cpu.get(phase, 0.0) + now[1] - self._last[1]
        self._last = now


def _megabytes() -> int:
    """Return the memory this process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return round(pages * os.sysconf("SC_PAGE_SIZE") / 1e6)


if __name__ == "__main__":
    main(sys.argv[1:] or ["cora", "million"])
