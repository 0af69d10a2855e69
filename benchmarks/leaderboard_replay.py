"""Replay the draws of a hidden task from its public folder: find the labels by trying seeds.

python -m benchmarks.leaderboard_replay                      100 seeds, on a generated graph
python -m benchmarks.leaderboard_replay --seeds 10000

Whoever knows the seed of a task can draw its negatives again. The attackers see the public folder alone.
They try the seed it shows and many others:

- exact: the negatives of ``uniform`` are numbers of free pairs. In the order of all pairs, each candidate is
  either a drawn number or a positive, which moves the numbers behind it by one.
- naive: other pairs stand in for the positives, and whatever the sampler draws is called a negative.

A task that an ordinary seed has drawn is there for contrast. What is measured is the mean of two shares: of
positives and of negatives that are labelled right. Guessing gives a half.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import trueedge as te
from trueedge.graph import Graph, in_sorted, pair_keys
from trueedge.kernels.negatives.sampling import distinct
from trueedge.leaderboard.hidden.making import hide
from trueedge.leaderboard.hidden.public_folder import HiddenTask
from trueedge.leaderboard.hidden.secret_folder import Secret
from trueedge.randomness import derive, generator
from trueedge.runs.provenance import machine, versions
from trueedge.splits import Split
from trueedge.tasks import LinkTask

RESULT = Path(__file__).parent / "results" / "leaderboard-replay.json"
GRAPH = "barabasi-albert:nodes=2500,attach=3"
SEEDS = 100
Labels = NDArray[np.bool_]
Attack = Callable[[HiddenTask, int], Labels]


def exact(hidden: HiddenTask, seed: int) -> Labels:
    """Return which candidates a seed calls positives, if the negatives are those of ``uniform``."""
    graph, pairs = hidden.task.graph, hidden.candidates
    size, positives = graph.num_nodes, len(pairs) // 2
    free = size * (size - 1) // 2 - graph.num_edges - positives
    drawn = distinct(generator(derive(seed, "test"), "negatives", "uniform"), free, positives)
    places = _places(pairs, size)
    places -= np.searchsorted(np.sort(_places(graph.edges.astype(np.int64), size)), places)
    numbers, found, before = set(drawn.tolist()), np.zeros(len(pairs), dtype=np.bool_), 0
    for row in np.argsort(places).tolist():
        if int(places[row]) - before not in numbers:
            found[row] = True
            before += 1
    return found


def naive(hidden: HiddenTask, seed: int) -> Labels:
    """Return which candidates a seed does not draw as negatives of other positives."""
    graph, pairs = hidden.task.graph, hidden.candidates
    chosen = np.random.default_rng(0).permutation(len(pairs))[: len(pairs) // 2]
    split = Split(graph, np.empty((0, 2), np.int32), pairs[chosen].astype(np.int32), "stand-ins")
    drawn = LinkTask.from_split(split, hidden.card.protocol, seed, "stand-ins").test.negatives
    keys = np.unique(pair_keys(drawn.reshape(-1, 2).astype(np.int64), graph.num_nodes))
    return np.asarray(~in_sorted(pair_keys(pairs, graph.num_nodes), keys))


ATTACKS: dict[str, Attack] = {"exact": exact, "naive": naive}


def replay(hidden: HiddenTask, attack: Attack, seeds: int = SEEDS) -> Labels:
    """Return the labels by the best of many seeds: that which explains most candidates as its negatives."""
    tried = dict.fromkeys([hidden.task.seed, *range(seeds)])
    return min((attack(hidden, seed) for seed in tried), key=np.count_nonzero)


def right(found: Labels, secret: Secret) -> float:
    """Return the mean share of positives and of negatives that are labelled right."""
    truth = np.zeros(len(found), dtype=np.bool_)
    truth[secret.places[: secret.num_units]] = True
    return float((found[truth].mean() + (~found[~truth]).mean()) / 2)


def private_graph() -> Graph:
    """Return a graph in place of one that nobody else has."""
    graph: Graph = replace(te.datasets.load(GRAPH), name="private")
    return graph


def by_ordinary_seed(graph: Graph, protocol: str) -> Callable[[int], te.Task]:
    """Return what gives the task of the seed 0 out as one that a secret seed has drawn."""
    return lambda seed: replace(te.task(graph, protocol, 0), seed=seed)


def rows(seeds: int) -> list[dict[str, object]]:
    """Return what each attacker finds in a task of an ordinary seed, and in one of a secret key."""
    graph, found = private_graph(), []
    for protocol, attacks in (("uniform", ("exact", "naive")), ("degree-corrected", ("naive",))):
        makes = {
            "an ordinary seed": by_ordinary_seed(graph, protocol),
            "a secret key": partial(te.task, graph, protocol),
        }
        for drawn_by, make in makes.items():
            with tempfile.TemporaryDirectory() as folder:
                hidden = hide(make, Path(folder) / "public", Path(folder) / "secret")
                secret = Secret.open(Path(folder) / "secret")
                for name in attacks:
                    share = right(replay(hidden, ATTACKS[name], seeds), secret)
                    found.append(
                        {"protocol": protocol, "drawn by": drawn_by, "attack": name, "right": round(share, 3)}
                    )
    return found


def _places(pairs: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Return the place of each pair among all pairs in sorted order."""
    first, second = np.sort(pairs, axis=1).T
    return first * (2 * size - first - 1) // 2 + second - first - 1


def main(words: Sequence[str] | None = None) -> int:
    """Print and write what the attackers find."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=SEEDS, help="how many seeds are tried")
    parser.add_argument("-o", "--output", type=Path, default=RESULT)
    given = parser.parse_args(words)
    found = rows(given.seeds)
    for one in found:
        print(*(f"{value!s:18}" for value in one.values()))
    content = {
        "graph": GRAPH,
        "seeds": given.seeds,
        "rows": found,
        "machine": machine(),
        "versions": versions(),
    }
    given.output.write_text(json.dumps(content, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
