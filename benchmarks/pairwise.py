"""Pairwise predictors: training steps of LPFormer and NCN beside their peers, and BUDDY's sketches."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.epochs import REAL, small_task, steps_of_ours
from benchmarks.graphs import Sizes
from benchmarks.timing import OURS, Bar, Contender, DisagreementError, Row, absent_rows, invite, race
from trueedge import datasets, methods, tasks

# Enough steps to time: the peers take seconds for one.
MOST_STEPS = {"cpu": 1, "cuda": 4}

# Less than the published batch: on two cores the peers take minutes for a whole one, and PyG's LPFormer asks
# for more than the 140 GiB of a GPU at the published 4,096.
BATCH = {("lpformer", "cpu"): 512, ("ncn", "cpu"): 512, ("lpformer", "cuda"): 1024}


def measure(sizes: Sizes, repeats: int, with_peers: bool = True, device: str = "cpu") -> list[Row]:
    """LPFormer and NCN on ogbl-ddi with their published settings; sketches of Pubmed; without those a toy."""
    rows: list[Row] = []
    name, task = _task(sizes, "ogbl-ddi")
    for method_name, peers in (("lpformer", {"PyG's LPFormer": _pyg}), ("ncn", PLAIN)):
        smaller = BATCH.get((method_name, device))
        settings = {} if smaller is None else {"batch_size": smaller}
        method: Any = methods.create(method_name, settings).for_task(task)
        ours, steps, total = steps_of_ours(task, method, device, MOST_STEPS[device])
        batch = f"{steps} of an epoch's {total} steps of {method.batch_size:,}"
        label = f"{method_name}, {name}, {batch}, {device}"
        makers: dict[str, Callable[[], Contender]] = {
            who: partial(make, who, task, method, steps, device) for who, make in peers.items()
        }
        present, absent = invite(makers if with_peers else {})
        rows += race(label, ours, present, repeats, check) + absent_rows(label, absent)
    if device == "cpu":
        rows += _sketches(sizes, repeats)
    return rows


def check(ours: list[float], theirs: list[float]) -> None:
    """Steps from other first weights come to much the same loss; a step is all that is compared."""
    if abs(ours[0] - theirs[0]) > 0.5 * abs(theirs[0]):
        raise DisagreementError(f"the first loss is {ours[0]:.3f} in ours and {theirs[0]:.3f} in theirs")


def _task(sizes: Sizes, name: str) -> tuple[str, Any]:
    if sizes.separated >= REAL:
        try:
            return name, tasks.task(name, "existing", 0)
        except datasets.MissingFile:
            pass
    return "a random graph", small_task()


def _pyg(who: str, task: Any, method: Any, steps: int, device: str) -> Contender:
    from benchmarks.pyg_lpformer import pyg_lpformer

    return Contender(who, pyg_lpformer(task, method, steps, device), bar=Bar("ratio", 2))


def _plain(who: str, task: Any, method: Any, steps: int, device: str, dense: bool) -> Contender:
    from benchmarks.plain_ncn import plain_ncn

    return Contender(who, plain_ncn(task, method, steps, device, dense), bar=Bar("ratio", 1))


PLAIN: dict[str, Callable[..., Contender]] = {
    "plain PyG, sparse": partial(_plain, dense=False),
    "plain PyG, dense": partial(_plain, dense=True),
}


def _sketches(sizes: Sizes, repeats: int) -> list[Row]:
    """BUDDY's sketches of two hops of every node."""
    import torch

    from trueedge.kernels.neighbors.sketches import own_sketches
    from trueedge.methods.pairwise.models.sketches import Sketches
    from trueedge.training import Messages

    name, task = _task(sizes, "pubmed")
    messages = Messages.of(task.graph)

    def run() -> Sketches:
        registers, minima = map(torch.from_numpy, own_sketches(task.graph.num_nodes, 128, 0))
        return Sketches(messages, registers, minima, 2)

    ours = Contender(OURS, run, bar=Bar("seconds", 5))
    return race(f"BUDDY's sketches, two hops, {name}", ours, [], repeats)
