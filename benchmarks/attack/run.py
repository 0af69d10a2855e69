"""Attack trueedge with generated input, and count what came of it.

python -m benchmarks.attack                              about 150 attacks, a few seconds
python -m benchmarks.attack --size nightly               thousands of them, some minutes
python -m benchmarks.attack --category readers --only 17 one attack again

An attack is refused in one sentence, right (the number is that of an independent oracle) or noted (right, and
a note names the oddity). It fails with a silent wrong number, a traceback, a hang or a lost record.
"""

from __future__ import annotations

import argparse
import faulthandler
import importlib
import json
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.attack.museum_case import museum_families
from benchmarks.attack.outcomes import FAILURES, GOOD, LIMIT, Family, Found, attack
from benchmarks.attack.tiny import warm_up

CATEGORIES = ("readers", "stores", "tasks", "models", "certificates", "scorers", "environments", "museum")
SIZES = ("quick", "nightly")
RESULTS = Path(__file__).parents[1] / "results" / "attack.json"
#: Seconds after which the whole run is given up: an attack hangs where no signal can reach it.
GIVE_UP = 150.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the attacks that were asked for; 1 if one of them succeeded."""
    options = _parse(arguments)
    started = time.monotonic()
    found: list[Found] = []
    for one in attacks(
        options.category or CATEGORIES, options.size, options.seed, options.only, options.limit
    ):
        found.append(one)
        if options.verbose or one.failed:
            print(f"{one.category} {one.number}, {one.family}: {one.outcome}\n    {one.story}", flush=True)
    console = Console(width=None if sys.stdout.isatty() else 160)
    console.print(table(found))
    whole = not options.category and options.only is None
    if options.output is not None or whole:
        write(options.output or RESULTS, options, found, time.monotonic() - started)
    return int(any(one.failed for one in found))


def attacks(
    categories: Sequence[str], size: str, seed: int, only: int | None = None, limit: float = LIMIT
) -> Iterator[Found]:
    """Run attacks and yield their outcomes."""
    warm_up()
    for category in categories:
        families, count = load(category, size)
        for number in range(count) if only is None else [only]:
            if families:
                with _watched(f"{category} {number}"):
                    yield attack(category, families, number, seed, limit)


def load(category: str, size: str) -> tuple[dict[str, Family], int]:
    """Return the families of a category, and the number of its attacks."""
    if category == "museum":
        families = museum_families() if find_spec("benchmarks.attack.museum") else {}
        return families, len(families) if size == "nightly" else min(3, len(families))
    module = importlib.import_module(f"benchmarks.attack.{category}")
    return module.FAMILIES, module.COUNTS[size]


class _watched:  # noqa: N801
    """End the process, and name the attack, if it hangs in code that no signal interrupts."""

    def __init__(self, name: str) -> None:
        self.timer = threading.Timer(GIVE_UP, self._stop)
        self.timer.daemon = True
        self.name = name

    def __enter__(self) -> None:
        self.timer.start()

    def __exit__(self, *error: object) -> None:
        self.timer.cancel()

    def _stop(self) -> None:
        print(f"{self.name}: hang, for more than {GIVE_UP:g} seconds", file=sys.stderr, flush=True)
        faulthandler.dump_traceback()
        os._exit(1)


def table(found: Sequence[Found]) -> Table:
    """Return the counts by category and outcome."""
    shown = Table(title="attacks by category and outcome")
    shown.add_column("category")
    for outcome in (*GOOD, *FAILURES, "all"):
        shown.add_column(outcome, justify="right")
    counts = Counter((one.category, one.outcome) for one in found)
    named = list(dict.fromkeys(one.category for one in found))
    for category in named:
        row = [counts[category, outcome] for outcome in (*GOOD, *FAILURES)]
        shown.add_row(category, *map(str, row), str(sum(row)))
    row = [sum(one.outcome == outcome for one in found) for outcome in (*GOOD, *FAILURES)]
    shown.add_row("all", *map(str, row), str(sum(row)))
    return shown


def write(path: Path, options: argparse.Namespace, found: Sequence[Found], seconds: float) -> None:
    """Write the counts by category, family and outcome, and every failure, to a JSON file."""
    counts: dict[str, dict[str, dict[str, int]]] = {}
    for one in found:
        row = counts.setdefault(one.category, {}).setdefault(one.family, {})
        row[one.outcome] = row.get(one.outcome, 0) + 1
    content: dict[str, Any] = {
        "size": options.size,
        "seed": options.seed,
        "attacks": len(found),
        "seconds": round(seconds, 1),
        "outcomes": {outcome: sum(one.outcome == outcome for one in found) for outcome in (*GOOD, *FAILURES)},
        "families": counts,
        "failures": [
            {"category": one.category, "number": one.number, "family": one.family}
            | {"outcome": one.outcome, "story": one.story}
            for one in found
            if one.failed
        ],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1) + "\n")


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    kind: Callable[..., argparse.HelpFormatter] = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("python -m benchmarks.attack", description=__doc__, formatter_class=kind)
    parser.add_argument("--size", choices=SIZES, default="quick")
    parser.add_argument("--seed", type=int, default=0, help="for everything that is random in the attacks")
    parser.add_argument("--category", action="append", choices=CATEGORIES, help="one of them; repeatable")
    parser.add_argument("--only", type=int, help="the number of one attack in its category")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds after which an attack hangs")
    parser.add_argument("--output", type=Path, help=f"the file of the results, {RESULTS.name} by default")
    parser.add_argument("--verbose", action="store_true", help="tell of every attack")
    return parser.parse_args(arguments)
