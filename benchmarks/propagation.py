"""How long a forward pass and a training step of NBFNet and TAGNet take, and how many messages they pass.

python -m benchmarks.propagation --device cuda --check
python -m benchmarks.propagation --device cuda -o propagation.json

The twin of NBFNet is its arithmetic written plainly: a message for each edge, and one reduction for each
statistic. Both have the same weights, and their states are compared. On a GPU, scores are also compared with
those along lists of edges. ``--check`` compares these and their gradients on small random graphs, in seconds,
and measures nothing.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812

import trueedge as te
from benchmarks.gpu_cards import write_card
from trueedge import methods
from trueedge.methods.paths.models.network import FullNetwork, PathNetwork, Shape
from trueedge.methods.paths.models.truncated import TruncatedNetwork
from trueedge.randomness import generator
from trueedge.training.loop import seeded
from trueedge.training.paths.edges import Edges
from trueedge.training.paths.objective import PathObjective

REPEATS = 9
# Training steps that are timed together.
STEPS = 10
# The largest difference that rounding explains, relative to the largest value.
TOLERANCE = 1e-3


def plain_states(model: Any, edges: Edges, heads: torch.Tensor, relations: torch.Tensor) -> torch.Tensor:
    """Return NBFNet's last states, float (queries, entities, dim)."""
    dim, entities = model.shape.dim, edges.num_entities
    query = model.query(relations)
    start = query.new_zeros(len(heads), entities, dim)
    start[torch.arange(len(heads)), heads] = query
    states = start
    source, kind, target = edges.head.long(), edges.relation.long(), edges.tail.long()
    where = target.view(1, -1, 1).expand(len(heads), -1, dim)
    number = torch.bincount(target, minlength=entities).view(1, -1, 1) + 1.0
    scale = torch.log(number) / edges.mean_log_degree
    for layer in model.layers:
        vectors = layer.relations(query).view(len(heads), -1, dim)
        messages = states[:, source] * vectors[:, kind]
        total = start.scatter_reduce(1, where, messages, "sum")
        square = start.square().scatter_reduce(1, where, messages.square(), "sum")
        most = start.scatter_reduce(1, where, messages, "amax")
        least = start.scatter_reduce(1, where, messages, "amin")
        mean = total / number
        spread = (square / number - mean.square()).clamp(min=1e-6).sqrt()
        found = torch.cat([mean, most, least, spread], dim=2)
        scaled = torch.cat([states, found, found * scale, found / scale.clamp(min=0.01)], dim=2)
        states = F.relu(layer.norm(layer.linear(scaled))) + states
    return states


def seconds(work: Callable[[], object], device: str) -> float:
    """Return the median time of a call, after two that are not counted."""
    found = []
    for number in range(REPEATS + 2):
        if device == "cuda":
            torch.cuda.synchronize()
        start = time.perf_counter()
        work()
        if device == "cuda":
            torch.cuda.synchronize()
        if number >= 2:
            found.append(time.perf_counter() - start)
    return statistics.median(found)


def load(dataset: str) -> Any:
    """Return the task of a data set."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return te.task(dataset)


def measure(dataset: str, device: str, batch: int) -> dict[str, Any]:
    """Return times and messages of all models on the first validation queries of a data set."""
    task = load(dataset)
    edges = Edges.of(task.graph, device)
    asked = torch.from_numpy(task.queries("valid")[:batch]).to(device)
    heads, relations = asked[:, 0], asked[:, 1]
    found: dict[str, Any] = {}
    wanted: list[tuple[str, int, dict[str, Any]]] = [("nbfnet", 6, {}), ("nbfnet", 12, {})]
    wanted += [("tagnet", layers, {"delta": delta}) for layers in (6, 12) for delta in (1, 2, 3)]
    for name, layers, settings in wanted:
        method: Any = methods.create(name, {"layers": layers, **settings}, data="triples").for_task(task)
        with seeded(0, device):
            model = method.build(task).to(device).eval()
        label = f"{name} {layers} layers" + "".join(f" {key} {value}" for key, value in settings.items())
        with torch.no_grad():
            found[label] = one = {
                "seconds": seconds(lambda model=model: model.score(edges, heads, relations), device),
                "plan_seconds": seconds(lambda model=model: model.plan(edges, heads), device),
                "messages": sum(model.plan(edges, heads).num_messages),
            }
            if model.walks:
                ours = model.score(edges, heads, relations)
                with mock.patch.object(PathNetwork, "walks", False):
                    one["difference"] = gap(ours, model.score(edges, heads, relations))
            if label == "nbfnet 6 layers":
                plan = model.plan(edges, heads)
                states = model.final_states(plan, model.query(relations))[plan.rows.long()]
                difference = gap(states, plain_states(model, edges, heads, relations))
                took = seconds(lambda model=model: plain_states(model, edges, heads, relations), device)
                found["nbfnet 6 layers, plain"] = {"seconds": took, "difference": difference}
    return found


def measure_training(dataset: str, device: str, batch: int) -> dict[str, Any]:
    """Return the time of a training step of each model with its settings for a data set."""
    task = load(dataset)
    edges = Edges.of(task.graph, device)
    found = {}
    for name in ("nbfnet", "tagnet"):
        method: Any = methods.create(name, {"batch_size": batch}, data="triples").for_task(task)
        with seeded(0, device):
            model = method.build(task).to(device).train()
        given = method.negatives, method.temperature, method.remove_all
        objective = PathObjective(task.graph.triples, edges, batch, *given)
        optimizer = torch.optim.Adam(model.parameters(), lr=method.learning_rate)
        rng = generator(0, "batches")
        batches = [one for one, _ in zip(objective.steps(rng), range(STEPS), strict=False)]

        def train(
            model: Any = model, objective: Any = objective, optimizer: Any = optimizer, batches: Any = batches
        ) -> None:
            for one in batches:
                optimizer.zero_grad()
                objective.loss(model, one).backward()
                optimizer.step()

        found[f"{name}, training on {dataset}"] = {"seconds": seconds(train, device) / len(batches)}
    return found


def check(device: str) -> float:
    """Return the largest difference between layers that walk along edges and lists of edges.

    Scores and the gradients of all weights are compared, with the same weights, on random graphs from which
    some edges are removed.
    """
    most = 0.0
    rng = np.random.default_rng(0)
    triples = np.unique(rng.integers(0, [190, 7, 190], (900, 3)), axis=0)
    edges = Edges.of_triples(triples, 200, 7, device)
    without = edges.without(torch.from_numpy(triples[::9].copy()).to(device))
    # The last entity has no edges.
    heads, relations = torch.arange(0, 200, 199 // 9, device=device), torch.arange(10, device=device)
    heads[-1] = 199
    cases: list[dict[str, Any]] = [
        {},
        {"message": "transe", "degree_messages": True},
        {"bias": False, "degree_messages": True},
        {"start_messages": False, "dim": 20},
    ]
    for settings in cases:
        for delta in (None, 0, 1, 2, 3):
            with seeded(0, device):
                shape = Shape(14, **settings)
                model: Any = FullNetwork(shape) if delta is None else TruncatedNetwork(shape, delta)
            model.to(device)
            if not model.walks:
                raise SystemExit(f"there is nothing to compare on {device}: it has no kernels of Triton")
            for graph in (edges, without):
                found = outcome(model, graph, heads, relations)
                with mock.patch.object(PathNetwork, "walks", False):
                    expected = outcome(model, graph, heads, relations)
                largest = max(gap(*pair) for pair in zip(found, expected, strict=True))
                print(f"{settings} delta {delta}: difference {largest:.1e}")
                most = max(most, largest)
    return most


def outcome(model: Any, edges: Edges, heads: torch.Tensor, relations: torch.Tensor) -> list[torch.Tensor]:
    """Return the scores of all entities, and the gradients of a sum of them."""
    model.zero_grad()
    scores = model.score(edges, heads, relations)
    # Not symmetric: gradients that sum to 0 would differ by rounding alone.
    slopes = torch.linspace(-1, 2, scores.numel(), device=scores.device).view(scores.shape)
    scores.backward(slopes)
    return [scores.detach(), *(one.grad.clone() for one in model.parameters() if one.grad is not None)]


def gap(ours: torch.Tensor, theirs: torch.Tensor) -> float:
    """Return the largest difference, relative to the largest value."""
    return float((ours - theirs).abs().max() / theirs.abs().max().clamp(min=1e-6))


def main() -> None:
    """Measure, print a table, and write a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--dataset", default="fb15k-237")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--training", default="fb237-v4", help="data set of the training steps")
    parser.add_argument("--training-batch", type=int, default=64)
    parser.add_argument("--check", action="store_true", help="compare kernels with lists of edges, and stop")
    parser.add_argument("-o", "--output")
    options = parser.parse_args()
    if options.check:
        most = check(options.device)
        print(f"largest difference {most:.1e}")
        raise SystemExit(0 if most < TOLERANCE else 1)
    found = measure(options.dataset, options.device, options.batch)
    found |= measure_training(options.training, options.device, options.training_batch)
    first = found["nbfnet 6 layers"]
    print(f"{options.dataset}, {options.batch} queries, {options.device}")
    for label, one in found.items():
        share = f"{one['messages'] / first['messages']:.3f}" if "messages" in one else ""
        took = one["seconds"]
        ratio = "" if "training" in label else f"{took / first['seconds']:.3f}"
        extra = f"plan {1000 * one['plan_seconds']:.2f} ms " if "plan_seconds" in one else ""
        extra += f"difference {one['difference']:.1e}" if "difference" in one else ""
        print(f"{label:28} {1000 * took:9.2f} ms {ratio:>7} {share:>7} {extra}")
    if options.output:
        card = {"dataset": options.dataset, "batch": options.batch, "device": options.device, "rows": found}
        write_card(options.output, card, options.device)


if __name__ == "__main__":
    main()
