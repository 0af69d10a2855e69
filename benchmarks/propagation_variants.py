"""Which parts of the kernels make a forward pass of NBFNet and TAGNet faster, one after the other.

python -m benchmarks.propagation_variants -o propagation_variants.json

Each variant has what the one above has, and one part more:

rows   none of the parts below
skip   states that no path has reached yet are not read: they are 0
score  one kernel scores all entities
all    one kernel maps and updates; this is what the package does

Scores are compared with those along lists of edges, in plain torch. A trial without a GPU, on a folder with a
few triples:

TRITON_INTERPRET=1 python -m benchmarks.propagation_variants --device cpu --dataset FOLDER --repeats 1
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any
from unittest import mock

import torch
import torch.nn.functional as F  # noqa: N812
from torch.profiler import ProfilerActivity, profile

from benchmarks.gpu_cards import write_card
from benchmarks.propagation import TOLERANCE, gap, load, measure_training
from trueedge import methods
from trueedge.methods.paths.models import truncated
from trueedge.methods.paths.models.network import PathNetwork
from trueedge.training.loop import seeded
from trueedge.training.paths.edges import Edges
from trueedge.training.paths.gpu import kernels, layer
from trueedge.training.paths.walks import WalkedPlan, walked_pruned_plan

VARIANTS = {
    "rows": (),
    "skip": ("skip",),
    "score": ("skip", "score"),
    "all": ("skip", "score", "map"),
}
WARM_UP, PROFILED, LISTED = 4, 5, 10


def plan_that_skips_nothing(edges: Edges, sources: torch.Tensor, layers: int, delta: int) -> WalkedPlan:
    """Return a pruned plan whose kernels read all states."""
    plan = walked_pruned_plan(edges, sources, layers, delta)
    return replace(plan, spans=tuple((*span[:4], plan.num_rows) for span in plan.spans))


def plain_scores(states: Any, plan: Any, query: Any, hidden: Any, out: Any) -> torch.Tensor:
    """Return the logits of all entities, in torch."""
    rows = torch.cat([states, states.new_zeros(len(query), states.shape[1])])
    every = torch.arange(len(query), device=query.device)
    asked = torch.cat([query[plan.query], query])
    logits = out(F.relu(hidden(torch.cat([rows, asked], dim=1)))).squeeze(1)
    place = torch.where(plan.rows < 0, plan.num_rows + every.unsqueeze(1), plan.rows)
    found: torch.Tensor = logits[place]
    return found


@contextmanager
def variant(name: str) -> Iterator[None]:
    """Use the parts of a variant alone."""
    parts = VARIANTS[name]
    with ExitStack() as stack:
        if "skip" not in parts:
            stack.enter_context(mock.patch.object(truncated, "walked_pruned_plan", plan_that_skips_nothing))
        if "score" not in parts:
            stack.enter_context(mock.patch.object(kernels, "score_entities", plain_scores))
        if "map" not in parts:
            stack.enter_context(mock.patch.object(layer, "LARGEST_FUSED", 0))
        yield


class Bench:
    """A model, and how long it takes to score all entities.

    Args:
        task: the task whose first validation queries are asked.
        name, settings: of the method.
        options: of the command line.
    """

    def __init__(self, task: Any, name: str, settings: dict[str, int], options: Any) -> None:
        self.device = options.device
        self.edges = Edges.of(task.graph, self.device)
        self.asked = torch.from_numpy(task.queries("valid")[: options.batch]).to(self.device)
        method: Any = methods.create(name, settings, data="triples").for_task(task)
        with seeded(0, self.device):
            self.model = method.build(task).to(self.device).eval()
        with mock.patch.object(PathNetwork, "walks", False):
            self.expected = self.score()

    def score(self) -> torch.Tensor:
        """Return the logits of all entities."""
        with torch.no_grad():
            found: torch.Tensor = self.model.score(self.edges, self.asked[:, 0], self.asked[:, 1])
        return found

    def wait(self) -> None:
        """Wait for the GPU."""
        if self.device != "cpu":
            torch.cuda.synchronize()

    def measure(self, repeats: int) -> dict[str, Any]:
        """Return times in milliseconds, and the difference from the scores along lists."""
        difference = gap(self.score(), self.expected)
        for _ in range(WARM_UP if self.device != "cpu" else 0):
            self.score()
        whole, returned = [], []
        for _ in range(repeats):
            self.wait()
            start = time.perf_counter()
            self.score()
            returned.append(1000 * (time.perf_counter() - start))
            self.wait()
            whole.append(1000 * (time.perf_counter() - start))
        times = {"whole": statistics.median(whole), "returned": statistics.median(returned)}
        return {**times, "difference": difference, **self.profile()}

    def profile(self) -> dict[str, Any]:
        """Return the time of all kernels, and of those that take longest."""
        if self.device == "cpu":
            return {"of kernels": 0.0, "kernels": {}}
        with profile(activities=[ProfilerActivity.CUDA]) as profiler:
            for _ in range(PROFILED):
                self.score()
            self.wait()
        every: list[Any] = [one for one in profiler.key_averages() if str(one.device_type).endswith("CUDA")]
        taken = {one.key: one.self_device_time_total / 1000 / PROFILED for one in every}
        longest = sorted(taken, key=lambda key: -taken[key])[:LISTED]
        return {"of kernels": sum(taken.values()), "kernels": {key: taken[key] for key in longest}}


def report(name: str, one: dict[str, Any]) -> None:
    """Print the times of a variant."""
    first = next(iter(one.values()))
    for label, found in one.items():
        print(
            f"{name:6} {label:20} {found['whole']:8.2f} ms {found['whole'] / first['whole']:6.3f}"
            f"  CPU {found['returned']:.2f}  kernels {found['of kernels']:.2f}"
            f"  difference {found['difference']:.1e}",
            flush=True,
        )


def main() -> None:
    """Measure all variants, print a table, and write a file after each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--dataset", default="fb15k-237")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--variants", nargs="+", choices=list(VARIANTS), default=list(VARIANTS))
    parser.add_argument("--training", help="also time training steps, on this data set")
    parser.add_argument("-o", "--output")
    options = parser.parse_args()
    task, layers = load(options.dataset), options.layers
    wanted: dict[str, tuple[str, dict[str, int]]] = {
        f"nbfnet {layers} layers": ("nbfnet", {"layers": layers}),
        f"tagnet {layers} layers": ("tagnet", {"layers": layers, "delta": 2}),
        f"tagnet {2 * layers} layers": ("tagnet", {"layers": 2 * layers, "delta": 2}),
    }
    benches = {label: Bench(task, *given, options) for label, given in wanted.items()}
    rows: dict[str, Any] = {}
    card = {"dataset": options.dataset, "batch": options.batch, "device": options.device, "rows": rows}
    with ExitStack() as stack:
        if options.device == "cpu":
            stack.enter_context(mock.patch.object(PathNetwork, "walks", True))
        for name in options.variants:
            with variant(name):
                rows[name] = {label: bench.measure(options.repeats) for label, bench in benches.items()}
                report(name, rows[name])
                if options.training:
                    trained = measure_training(options.training, options.device, 64)
                    rows[name] |= trained
                    for label, one in trained.items():
                        print(f"{name:6} {label}: {1000 * one['seconds']:.2f} ms", flush=True)
            if options.output:
                write_card(options.output, card, options.device)
    for label, taken in ((label, rows[name][label]["kernels"]) for label in benches):
        print(label, *(f"    {value:.3f} {key[:80]}" for key, value in taken.items()), sep="\n")
    most = max(one["difference"] for found in rows.values() for one in found.values() if "difference" in one)
    print(f"largest difference {most:.1e}")
    raise SystemExit(0 if most < TOLERANCE else 1)


if __name__ == "__main__":
    main()
