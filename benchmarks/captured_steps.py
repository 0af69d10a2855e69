"""How long a training step of an embedding model takes on a GPU, taken directly and replayed as a CUDA graph.

python -m benchmarks.captured_steps           FB15k-237, batch 128, the published settings
"""

from __future__ import annotations

import time
from typing import Any

import torch

import trueedge as te
from trueedge.methods import create
from trueedge.training import captured, seeded
from trueedge.training.loop import History, _Training
from trueedge.training.triples import TripleIndex

NAMES = ("conve", "conve+kgmixup", "tucker", "tucker+kgmixup")
WARM_UP, STEPS = 60, 400


def milliseconds(task: Any, index: TripleIndex, name: str, graphs: int) -> tuple[float, float]:
    """Return the time of a step and the last loss; at most ``graphs`` shapes of steps are captured."""
    captured.MOST_SHAPES = graphs
    method: Any = create(name).for_task(task)
    with seeded(0, "cuda"):
        model = method.build(task.graph).cuda()
    objective, schedule = method.make_objective(index), method.schedule()
    run = _Training(model, objective, schedule, None, History(None), 0, "cuda", name, {})
    model.train()
    steps = iter(objective.steps(run.rng))
    for _ in range(WARM_UP):
        run.captured(next(steps))
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(STEPS):
        loss = run.captured(next(steps))
    torch.cuda.synchronize()
    return 1000 * (time.perf_counter() - start) / STEPS, float(loss)


def main() -> None:
    """Print a line for each model."""
    task = te.task("fb15k-237", "filtered")
    index = TripleIndex(task.graph, "cuda")
    for name in NAMES:
        (direct, _), (replayed, loss) = (milliseconds(task, index, name, graphs) for graphs in (0, 8))
        print(f"{name:16} direct {direct:.2f} ms, replayed {replayed:.2f} ms, loss {loss:.4f}", flush=True)


if __name__ == "__main__":
    main()
