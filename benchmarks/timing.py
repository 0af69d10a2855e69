"""Races: the same task for trueedge and its peers, in one process, in turns, answers compared first."""

from __future__ import annotations

import gc
import os
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any, Literal

import numpy as np

from trueedge.runs.provenance import peak_memory

OURS = "trueedge"
# Seconds between two turns.
REST = 0.3


class DisagreementError(Exception):
    """A peer gave another answer, so it is none."""


@dataclass(frozen=True)
class Bar:
    """What has to be reached.

    Attributes:
        kind: at least a ``ratio`` of a peer's time to ours, or at most so many ``seconds``, or at most a
            growth ``exponent``.
        value: how much.
    """

    kind: Literal["ratio", "seconds", "exponent"]
    value: float

    def __str__(self) -> str:
        return {
            "ratio": f"at least {self.value:g} times",
            "seconds": f"under {self.value:g} s",
            "exponent": f"at most {self.value:g}",
        }[self.kind]


@dataclass(frozen=True)
class Contender:
    """One way to do a task.

    Attributes:
        who: the package.
        run: does the task, all of what a caller would wait for, on data in the package's own form.
        read: turns what ``run`` gives into what is compared.
        share: which part of the task ``run`` does; times are divided by it.
        bar: what its ratio to trueedge, or its own time, has to reach.
        note: what a reader has to know.
    """

    who: str
    run: Callable[[], Any]
    read: Callable[[Any], Any] = lambda answer: answer
    share: float = 1.0
    bar: Bar | None = None
    note: str = ""


@dataclass(frozen=True)
class Row:
    """A line of the table: one package on one task.

    Attributes:
        task: what was done.
        who: the package.
        seconds: the median time of the whole task, None where the package is not installed.
        user: the user CPU seconds of the same, median.
        first: the seconds of the first call, which compiles or loads compiled code, and is in no median.
        memory: the most bytes that a call added to the process.
        fastest: the seconds of the fastest turn.
        slowest: the seconds of the slowest turn.
        others: which share of the processors other processes had during the race; None where that is unknown.
        share: which part of the task was timed.
        ratio: its seconds by ours; None for trueedge itself.
        exponent: how the cost grows, where that is the question.
        bar: what had to be reached, in words.
        reached: whether it was; None without a bar.
        note: what a reader has to know.
    """

    task: str
    who: str
    seconds: float | None
    user: float | None = None
    first: float | None = None
    memory: int | None = None
    fastest: float | None = None
    slowest: float | None = None
    others: float | None = None
    share: float = 1.0
    ratio: float | None = None
    exponent: float | None = None
    bar: str = ""
    reached: bool | None = None
    note: str = ""


@dataclass
class Clock:
    """The runs of one contender."""

    seconds: list[float]
    user: list[float]
    memory: int = 0
    first: float = 0.0

    def time(self, run: Callable[[], Any]) -> Any:
        """Run once, and write down what it took."""
        gc.collect()
        # Threads of the one before spin for a while after their work is done.
        time.sleep(REST)
        resident = resident_memory()
        with peak_memory() as peak:
            user, start = resource.getrusage(resource.RUSAGE_SELF).ru_utime, time.perf_counter()
            answer = run()
            self.seconds.append(time.perf_counter() - start)
            self.user.append(resource.getrusage(resource.RUSAGE_SELF).ru_utime - user)
        self.memory = max(self.memory, peak.memory - resident)
        return answer

    def forget_first(self) -> None:
        """Keep the first run apart from the others."""
        self.first = self.seconds.pop()
        self.user.pop()


class Bystanders:
    """What other processes take of the machine within a block: they slow down whoever has the turn.

    User CPU time does not tell: threads that wait for one that was put aside spin, and caches are shared.

    Attributes:
        share: of all processors, from 0 to 1; None where the system does not tell (Linux tells).
    """

    share: float | None = None

    def __enter__(self) -> Bystanders:
        """Start to watch."""
        self._busy, self._own, self._start = _busy_seconds(), time.process_time(), time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        """Work the share out."""
        busy = _busy_seconds()
        if busy is not None and self._busy is not None:
            taken = (busy - self._busy) - (time.process_time() - self._own)
            room = (time.perf_counter() - self._start) * (os.cpu_count() or 1)
            self.share = min(max(taken / room, 0.0), 1.0)


def _busy_seconds() -> float | None:
    """The processor seconds the whole machine has worked since it was started."""
    try:
        fields = Path("/proc/stat").read_text().splitlines()[0].split()[1:]
    except OSError:
        return None
    user, nice, system, _, _, irq, softirq, steal = (int(field) for field in fields[:8])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def race(
    task: str,
    ours: Contender,
    peers: Sequence[Contender],
    repeats: int,
    check: Callable[[Any, Any], None] | None = None,
) -> list[Row]:
    """Time everybody on one task: each first once, to warm up and to compare answers, then in turns.

    Args:
        task: what it is.
        ours: trueedge.
        peers: the others.
        repeats: how many turns; the median counts.
        check: raises :class:`DisagreementError` where two answers, ours and theirs, differ by more than they
            may; by default numbers may differ by 1e-9 of their size.
    """
    check = check or agree
    clocks = [Clock([], []) for _ in (ours, *peers)]
    first = clocks[0].time(ours.run)
    clocks[0].forget_first()
    answer = ours.read(first) if peers else None
    for peer, clock in zip(peers, clocks[1:], strict=True):
        theirs = peer.read(clock.time(peer.run))
        try:
            check(answer, theirs)
        except DisagreementError as problem:
            raise DisagreementError(f"{task}: {peer.who} and trueedge differ: {problem}") from None
        clock.forget_first()
        del theirs
    del first, answer
    with Bystanders() as bystanders:
        for _ in range(repeats):
            for contender, clock in zip((ours, *peers), clocks, strict=True):
                clock.time(contender.run)
    base = median(clocks[0].seconds) / ours.share
    rows = [_row(task, ours, clocks[0], None)]
    rows += [_row(task, peer, clock, base) for peer, clock in zip(peers, clocks[1:], strict=True)]
    return [replace(row, others=bystanders.share) for row in rows]


def _row(task: str, contender: Contender, clock: Clock, base: float | None) -> Row:
    seconds = median(clock.seconds) / contender.share
    ratio = None if base is None else seconds / base
    bar, reached = contender.bar, None
    if bar is not None and bar.kind == "seconds":
        reached = seconds < bar.value
    elif bar is not None and ratio is not None:
        reached = ratio >= bar.value
    return Row(
        task=task,
        who=contender.who,
        seconds=seconds,
        user=median(clock.user) / contender.share,
        first=clock.first,
        memory=clock.memory,
        fastest=min(clock.seconds) / contender.share,
        slowest=max(clock.seconds) / contender.share,
        share=contender.share,
        ratio=ratio,
        bar="" if bar is None else str(bar),
        reached=reached,
        note=contender.note,
    )


def invite(makers: dict[str, Callable[[], Contender]]) -> tuple[list[Contender], list[str]]:
    """Make the contenders whose packages are there; the names of the others come second.

    Args:
        makers: makes each contender by its name; a package that is missing shows by its import.
    """
    present, absent = [], []
    for who, make in makers.items():
        try:
            present.append(make())
        except ModuleNotFoundError:
            absent.append(who)
    return present, absent


def absent_rows(task: str, names: Sequence[str]) -> list[Row]:
    """A line for each package that is not installed."""
    return [Row(task, who, None, note="not installed") for who in names]


def agree(ours: Any, theirs: Any) -> None:
    """Refuse numbers that differ by more than 1e-9 of their size; a shorter answer is to the first ones."""
    theirs = np.asarray(theirs)
    ours = np.asarray(ours)[: len(theirs)]
    close = np.isclose(ours, theirs, rtol=1e-9, atol=1e-12)
    if not close.all():
        at = int(np.argmin(close))
        raise DisagreementError(f"number {at} is {ours[at]} in ours and {theirs[at]} in theirs")


def resident_memory() -> int:
    """The bytes of memory this process has now; 0 where the system does not tell (Linux tells)."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * resource.getpagesize()
