"""How long a forward pass of NBFNet and TAGNet takes, and how many messages it passes.

python -m benchmarks.propagation --device cuda -o propagation.json

The twin of NBFNet is its arithmetic written plainly: a message for each edge, and one reduction for each
statistic. Both have the same weights, and their states are compared.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812

import trueedge as te
from trueedge import methods
from trueedge.runs.provenance import machine, versions
from trueedge.training.loop import seeded
from trueedge.training.paths.edges import Edges

REPEATS = 9


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


def measure(dataset: str, device: str, batch: int) -> dict[str, Any]:
    """Return times and messages of all models on the first validation queries of a data set."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        task = te.task(dataset)
    edges = Edges.of(task.graph, device)
    asked = torch.from_numpy(task.queries("valid")[:batch]).to(device)
    heads, relations = asked[:, 0], asked[:, 1]
    found: dict[str, Any] = {}
    wanted = [("nbfnet", 6, {}), ("nbfnet", 12, {})]
    wanted += [("tagnet", layers, {"delta": delta}) for layers in (6, 12) for delta in (1, 2, 3)]
    for name, layers, settings in wanted:
        method: Any = methods.create(name, {"layers": layers, **settings}, data="triples").for_task(task)
        with seeded(0, device):
            model = method.build(task).to(device).eval()
        with torch.no_grad():
            plan = model.plan(edges, heads)
            took = seconds(lambda model=model: model.score(edges, heads, relations), device)
        label = f"{name} {layers} layers" + "".join(f" {key} {value}" for key, value in settings.items())
        found[label] = {"seconds": took, "messages": sum(plan.num_messages)}
        if label == "nbfnet 6 layers":
            with torch.no_grad():
                ours = model.final_states(plan, model.query(relations)).view(len(heads), -1, model.shape.dim)
                theirs = plain_states(model, edges, heads, relations)
                gap = float((ours - theirs).abs().max() / theirs.abs().max())
                took = seconds(lambda model=model: plain_states(model, edges, heads, relations), device)
            found["nbfnet 6 layers, plain"] = {"seconds": took, "difference": gap}
    return found


def main() -> None:
    """Measure, print a table, and write a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--dataset", default="fb15k-237")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("-o", "--output")
    options = parser.parse_args()
    found = measure(options.dataset, options.device, options.batch)
    first = found["nbfnet 6 layers"]
    print(f"{options.dataset}, {options.batch} queries, {options.device}")
    for label, one in found.items():
        share = f"{one['messages'] / first['messages']:.3f}" if "messages" in one else ""
        took = one["seconds"]
        extra = f"difference {one['difference']:.1e}" if "difference" in one else ""
        print(f"{label:28} {1000 * took:9.2f} ms {took / first['seconds']:7.3f} {share:>7} {extra}")
    if options.output:
        card = {"dataset": options.dataset, "batch": options.batch, "device": options.device, "rows": found}
        card |= {"versions": versions(), "machine": machine()}
        if options.device.startswith("cuda"):
            card["machine"]["accelerator"] = torch.cuda.get_device_name(options.device)
        with open(options.output, "w") as file:
            json.dump(card, file, indent=1)


if __name__ == "__main__":
    main()
