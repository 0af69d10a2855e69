"""Split what a team that tunes a mixture of models is told into a real gain, a chosen one, and rounding.

python -m benchmarks.leaderboard_tuning               the network of messages, and four generated graphs

A board shows a value that is rounded down to the step of its ladder. So the rise from one shown value to the
next has three parts, in points:

- real: the gain of the last submission over the first on the private units, which nobody was answered about,
- chosen: how much larger its gain on the public units is, since the answers chose it,
- rounding: what the first value lost by rounding, less what the last one did.

``over`` is what matters to a reader of the board: how far the last shown value is above the value of that
submission on the private units.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import leaderboard_answers
from benchmarks.leaderboard_answers import Case, Channel, Setting, settings
from benchmarks.leaderboard_attack import TRIES
from trueedge.runs.provenance import machine, versions

RESULTS = Path(__file__).parent / "results"
PARTS = ("told", "real", "chosen", "rounding", "over")
# The generated graphs have about the size and the mean degree of the network of messages. No rule was
# adjusted on any of them.
GENERATED: dict[str, Case] = {
    f"lfr-{mixing}-{seed}": (f"lfr:nodes=2000,mixing={mixing},mean_degree=14,seed={seed}", "uniform", {})
    for mixing in (0.3, 0.6)
    for seed in (1, 2)
}


def tuned(setting: Setting, rng: np.random.Generator) -> dict[str, float]:
    """Return the parts of what a team is told that searches the weights of a mixture, in points."""
    secret = setting.secret
    channel = Channel(secret, "ladder", setting.board("ladder"))
    channel.ask(setting.honest)
    models = np.stack([setting.honest, *setting.others])
    weights = np.eye(len(models))[0]
    # The submission that the board shows at first: the honest model, or the baseline that it does not beat.
    first = setting.honest if channel.shown is not None else setting.others[0]
    start = before = channel.board.shown or 0.0
    last = first
    for _ in range(TRIES - 1):
        changed = weights + rng.normal(0, 0.2, len(weights))
        best = channel.board.best
        channel.ask(changed @ models)
        if channel.board.best is not best:
            weights, last, before = changed, changed @ models, channel.board.shown or 0.0
    public, private = (
        [secret.values(one, public=part).mean for one in (first, last)] for part in (True, False)
    )
    gains = {"public": public[1] - public[0], "real": private[1] - private[0]}
    found = {
        "told": before - start,
        "real": gains["real"],
        "chosen": gains["public"] - gains["real"],
        "rounding": before - start - gains["public"],
        "over": before - private[1],
    }
    return {name: 100 * value for name, value in found.items()}


def measure(task: str, draws: int) -> dict[str, Any]:
    """Return the mean and the standard error of each part over draws of the public units."""
    drawn = [tuned(one, np.random.default_rng(number)) for number, one in enumerate(settings(task, draws))]
    row: dict[str, Any] = {"task": task, "draws": draws}
    for name in PARTS:
        values = np.array([one[name] for one in drawn])
        row[name] = round(float(values.mean()), 4)
        row[f"{name}_error"] = round(float(values.std(ddof=1) / np.sqrt(draws)), 4)
        row[f"{name}_worst"] = round(float(values.max()), 4)
    return row


def main(words: Sequence[str] | None = None) -> int:
    """Measure all tasks, print a line for each, and write the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--draws", type=int, default=8, help="draws of the public units, two or more")
    parser.add_argument("--tasks", default=",".join(("messages-uniform", *GENERATED)))
    parser.add_argument("--output", type=Path, default=RESULTS / "leaderboard-attack-tuning.json")
    given = parser.parse_args(words)
    leaderboard_answers.FRESH_TASKS.update(GENERATED)
    rows = []
    for task in given.tasks.split(","):
        rows.append(measure(task, given.draws))
        cells = "  ".join(f"{name} {rows[-1][name]:+.2f} ± {rows[-1][f'{name}_error']:.2f}" for name in PARTS)
        print(f"{task:18} {cells}", flush=True)
    content = {"machine": machine(), "versions": versions(), "tries": TRIES, "rows": rows}
    given.output.write_text(json.dumps(content, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
