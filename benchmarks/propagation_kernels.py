"""Which kernels a forward pass of NBFNet and of TAGNet waits for on a GPU.

python -m benchmarks.propagation_kernels -o propagation_kernels.json
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile

from benchmarks.gpu_cards import write_card
from benchmarks.propagation import load
from trueedge import methods
from trueedge.training.loop import seeded
from trueedge.training.paths.edges import Edges

DATASET, BATCH, DEVICE = "fb15k-237", 16, "cuda"
MODELS: dict[str, tuple[str, dict[str, int]]] = {
    "nbfnet 6 layers": ("nbfnet", {"layers": 6}),
    "tagnet 6 layers delta 2": ("tagnet", {"layers": 6, "delta": 2}),
    "tagnet 12 layers delta 2": ("tagnet", {"layers": 12, "delta": 2}),
}
WARM_UP, REPEATS, PROFILED = 4, 12, 5
# The kernels that are listed.
LISTED = 8


def measure(task: Any, name: str, settings: dict[str, int]) -> dict[str, Any]:
    """Return times in milliseconds, rows, messages, and the kernels that take longest."""
    edges = Edges.of(task.graph, DEVICE)
    asked = torch.from_numpy(task.queries("valid")[:BATCH]).to(DEVICE)
    method: Any = methods.create(name, settings, data="triples").for_task(task)
    with seeded(0, DEVICE):
        model = method.build(task).to(DEVICE).eval()

    def work() -> None:
        with torch.no_grad():
            model.score(edges, asked[:, 0], asked[:, 1])

    for _ in range(WARM_UP):
        work()
    whole, returned = [], []
    for _ in range(REPEATS):
        torch.cuda.synchronize()
        start = time.perf_counter()
        work()
        returned.append(1000 * (time.perf_counter() - start))
        torch.cuda.synchronize()
        whole.append(1000 * (time.perf_counter() - start))
    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        for _ in range(PROFILED):
            work()
        torch.cuda.synchronize()
    kernels: list[Any] = [one for one in profiler.key_averages() if str(one.device_type).endswith("CUDA")]
    kernels.sort(key=lambda one: -one.self_device_time_total)
    taken = {one.key: one.self_device_time_total / 1000 / PROFILED for one in kernels}
    plan = model.plan(edges, asked[:, 0])
    return {
        "milliseconds": statistics.median(whole),
        "milliseconds until the CPU returns": statistics.median(returned),
        "milliseconds of kernels": sum(taken.values()),
        "kernels": dict(list(taken.items())[:LISTED]),
        "rows": [step.last - step.first for step in plan.steps],
        "messages": plan.num_messages,
    }


def main() -> None:
    """Measure all models, print what takes longest, and write a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("-o", "--output")
    options = parser.parse_args()
    task = load(DATASET)
    found = {label: measure(task, *given) for label, given in MODELS.items()}
    for label, one in found.items():
        print(f"{label}: {one['milliseconds']:.2f} ms, of kernels {one['milliseconds of kernels']:.2f} ms")
        for name, took in one["kernels"].items():
            print(f"    {took:.3f} {name[:80]}")
    if options.output:
        write_card(options.output, {"dataset": DATASET, "batch": BATCH, "rows": found}, DEVICE)


if __name__ == "__main__":
    main()
