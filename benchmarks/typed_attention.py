"""How long a training step of Simple-HGN, GAT and GCN takes on a typed graph, beside PyG's layers.

python -m benchmarks.typed_attention --device cuda -o typed_attention.json
python -m benchmarks.typed_attention --device cuda --dataset dblp
python -m benchmarks.typed_attention --device cuda --tune       other sizes of tiles

All models have the same sizes (3 layers, 8 heads of 64 by default), learned input vectors, and dropout of
states and attention. Before any time is taken, attention and its gradients are compared with plain torch.
Without a data set, a random graph with the sizes of DBLP is used.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

import trueedge as te
from benchmarks.gpu_cards import write_card
from trueedge import methods
from trueedge.graph.typed import HeteroGraph, Labels, Relation
from trueedge.graph.typed_validation import sorted_edges
from trueedge.training.loop import seeded
from trueedge.training.typed.attention import attend, plain_attention
from trueedge.training.typed.attention_inputs import Logits, Mixing
from trueedge.training.typed.features import FeatureInput
from trueedge.training.typed.inputs import TypedInputs

CLASSES = 4
OURS: dict[str, tuple[str, dict[str, Any]]] = {
    "simple-hgn": ("simple-hgn", {"edge_dim": 64, "residual": True, "beta": 0.05}),
    "simple-hgn without edge types": (
        "simple-hgn",
        {"edge_dim": 64, "residual": True, "beta": 0.05, "edge_types": False},
    ),
    "gat with edge types": (
        "simple-hgn",
        {"edge_dim": 64, "residual": False, "beta": 0.0, "normalize": False},
    ),
    "gat": ("gat-hetero", {"attention_dropout": 0.5}),
    "gcn": ("gcn-hetero", {}),
}
PEERS = ("PyG GATConv", "PyG GATConv with edge types", "PyG GCNConv")


class PygStack(nn.Module):
    """Layers of PyG after the same input: attention, with or without edge types, or convolutions."""

    def __init__(self, inputs: TypedInputs, options: argparse.Namespace, label: str) -> None:
        super().__init__()
        from torch_geometric.nn import GATConv, GCNConv

        dim, heads, count = options.dim, options.heads, options.layers
        self.input, self.typed = FeatureInput(inputs, "one-hot", dim), label == PEERS[1]
        self.arcs = torch.stack([inputs.arcs.source, inputs.arcs.target])
        self.kinds = nn.Embedding(inputs.arcs.num_kinds, dim)
        if label == PEERS[2]:
            sizes = [dim] * count + [CLASSES]
            made = [GCNConv(sizes[n], sizes[n + 1], cached=True, add_self_loops=False) for n in range(count)]
        else:
            sizes = [dim] + [dim * heads] * (count - 1)
            shared = {"dropout": 0.5, "negative_slope": 0.05, "add_self_loops": False}
            shared["edge_dim"] = dim if self.typed else None
            made = [GATConv(given, dim, heads, **shared) for given in sizes[:-1]]
            made.append(GATConv(sizes[-1], CLASSES, 1, **shared))
        self.layers = nn.ModuleList(made)

    def forward(self, inputs: TypedInputs) -> torch.Tensor:
        """Return the logits of the target type's nodes."""
        states = self.input(inputs)
        for number, layer in enumerate(self.layers):
            states = F.dropout(F.elu(states) if number else states, 0.5, self.training)
            if self.typed:
                states = layer(states, self.arcs, self.kinds(inputs.arcs.kind))
            else:
                states = layer(states, self.arcs)
        return states[inputs.rows(inputs.target)]


def dblp_sized() -> HeteroGraph:
    """Return a random graph with the node types, relations and degrees of DBLP."""
    rng = np.random.default_rng(0)
    counts = np.array([4057, 14328, 7723, 20])
    starts = np.concatenate([[0], np.cumsum(counts)])
    relations, edges = [], []
    for name, other, number in (("author", 0, 19645), ("term", 2, 85810), ("venue", 3, 14328)):
        # A few terms and venues have most of the papers.
        popularity = rng.pareto(1.2, counts[other]) + 0.5
        ends = rng.choice(counts[other], number, p=popularity / popularity.sum()) + starts[other]
        papers = rng.permutation(np.arange(number) % counts[1]) + starts[1]
        for pairs, label, kinds in (
            (np.column_stack([papers, ends]), f"paper-{name}", (1, other)),
            (np.column_stack([ends, papers]), f"{name}-paper", (other, 1)),
        ):
            relations.append(Relation(label, *kinds))
            edges.append(sorted_edges(pairs, int(starts[-1]))[0])
    authors = np.arange(counts[0], dtype=np.int32)
    labels = Labels(0, authors, authors % CLASSES, tuple("abcd"))
    types = ("author", "paper", "term", "venue")
    return HeteroGraph(types, starts, tuple(relations), tuple(edges), labels=labels, name="dblp-sized")


def contenders(task: Any, inputs: TypedInputs, options: argparse.Namespace) -> dict[str, nn.Module]:
    """Return untrained models by name."""
    shared = {"dim": options.dim, "layers": options.layers, "features": "one-hot", "dropout": 0.5}
    found: dict[str, nn.Module] = {}
    for label, (name, own) in OURS.items():
        attentive = {} if label == "gcn" else {"heads": options.heads, "slope": 0.05}
        method: Any = methods.create(name, {**shared, **attentive, **own}).for_task(task)
        with seeded(0, options.device):
            found[label] = method.build(task, inputs, CLASSES)
    if not options.no_peers:
        for label in PEERS:
            with seeded(0, options.device):
                found[label] = PygStack(inputs, options, label)
    return found


def training_step(model: nn.Module, inputs: TypedInputs) -> Callable[[], None]:
    """Return a function that takes a step."""
    model.to(inputs.device).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-4, weight_decay=1e-4)
    assert inputs.target is not None
    rows = torch.arange(0, inputs.count(inputs.target), 4, device=inputs.device)
    classes = rows % CLASSES

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(model(inputs)[rows], classes).backward()
        optimizer.step()

    return step


def measure(task: Any, inputs: TypedInputs, options: argparse.Namespace) -> dict[str, dict[str, float]]:
    """Return the median time of a step of each model, in turns, and its peak memory on a GPU."""
    steps = {label: training_step(one, inputs) for label, one in contenders(task, inputs, options).items()}
    spent: dict[str, list[float]] = {label: [] for label in steps}
    memory: dict[str, float] = {}
    cuda = inputs.device.type == "cuda"
    for turn in range(options.repeats + 1):
        for label, step in steps.items():
            if cuda:
                torch.cuda.synchronize()
                torch.cuda.reset_peak_memory_stats()
            count = options.steps if turn else 2
            start = time.perf_counter()
            for _ in range(count):
                step()
            if cuda:
                torch.cuda.synchronize()
                memory[label] = torch.cuda.max_memory_allocated() / 1e6
            # The first turn compiles and warms up.
            if turn:
                spent[label].append((time.perf_counter() - start) / count)
    return {
        label: {"seconds": statistics.median(one), **({"megabytes": memory[label]} if cuda else {})}
        for label, one in spent.items()
    }


def differences(inputs: TypedInputs, options: argparse.Namespace) -> dict[str, float]:
    """Return how far attention and its gradients are from plain torch, relative to the largest number."""
    arcs, heads, device = inputs.arcs, options.heads, inputs.device
    drawn = torch.Generator().manual_seed(0)
    shapes = [
        (inputs.num_nodes, heads, options.dim),
        *[(inputs.num_nodes, heads)] * 2,
        (arcs.num_kinds, heads),
    ]
    start = [torch.randn(shape, generator=drawn) for shape in shapes]
    previous = torch.rand(len(arcs), heads, generator=drawn).to(device)
    results = []
    for plain in (False, True):
        values, source, target, kind = (one.to(device, copy=True).requires_grad_() for one in start)
        logits = Logits(source, target, kind, 0.05)
        torch.manual_seed(1)
        if plain:
            kept = (torch.rand(len(arcs), heads, device=device) >= 0.5).view(torch.uint8)
            total, weights = plain_attention(values, logits, arcs, Mixing(0.95 / 0.5, kept, previous, 0.05))
        else:
            total, weights = attend(values, logits, arcs, 0.5, previous, 0.05)
        total.square().sum().backward()
        results.append([total.detach(), weights, values.grad, source.grad, target.grad, kind.grad])
        del total, weights
    names = ("sums", "attention", "by values", "by sources", "by targets", "by kinds")
    return {
        name: float((one - other).abs().max() / other.abs().max())
        for name, one, other in zip(names, *results, strict=True)
    }


def tune(task: Any, inputs: TypedInputs, options: argparse.Namespace) -> None:
    """Print the time of Simple-HGN for other sizes of tiles."""
    from trueedge.training.typed import fused

    chosen = argparse.Namespace(**{**vars(options), "no_peers": True})
    for tile in (512, 1024, 2048):
        for warps in (1, 2, 4):
            for arcs in (32, 64, 128):
                fused.TILE, fused.WARPS, fused.ARCS = tile, warps, arcs
                took = measure(task, inputs, chosen)["simple-hgn"]["seconds"]
                print(f"tile {tile:5} warps {warps} arcs {arcs:4} {1000 * took:8.3f} ms", flush=True)


def main() -> None:
    """Compare, measure, print a table, and write a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--dataset", help="a typed data set with labels, or a folder in HGB's format")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dim", type=int, default=64)
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--steps", type=int, default=10, help="steps in a turn")
    parser.add_argument("--no-peers", action="store_true", help="leave PyG out")
    parser.add_argument("--tune", action="store_true", help="try other sizes of tiles, on a GPU")
    parser.add_argument("-o", "--output")
    options = parser.parse_args()
    task: Any = te.task(options.dataset or dblp_sized(), "node-classification")
    inputs = TypedInputs.of(task.graph, options.device, task.target)
    gaps = differences(inputs, options)
    print("differences from plain torch: " + ", ".join(f"{key} {value:.1e}" for key, value in gaps.items()))
    if options.tune:
        tune(task, inputs, options)
        return
    rows = measure(task, inputs, options)
    first = rows["gat"]["seconds"]
    name = options.dataset or task.graph.name
    print(f"{name}: {inputs.num_nodes} nodes, {len(inputs.arcs)} arcs, {options.device}")
    for label, one in rows.items():
        extra = f"{one['megabytes']:8.0f} MB" if "megabytes" in one else ""
        print(f"{label:32} {1000 * one['seconds']:9.2f} ms {one['seconds'] / first:7.3f} {extra}")
    if options.output:
        card = {"dataset": name, "device": options.device, "arcs": len(inputs.arcs), "rows": rows}
        card |= {"sizes": {key: getattr(options, key) for key in ("dim", "heads", "layers")}}
        card |= {"differences": gaps}
        write_card(options.output, card, options.device)


if __name__ == "__main__":
    main()
