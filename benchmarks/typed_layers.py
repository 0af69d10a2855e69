"""How long a training step of R-GCN and HGT takes, beside torch_geometric's layers with the same weights.

python -m benchmarks.typed_layers --device cuda -o typed-layers.json

Ours and theirs get the same weights, and their logits are compared. Steps are taken in turns. The last row
adds layer norms and dropout to HGT, as the published settings do; torch_geometric leaves these to the user.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

import torch
from torch import nn
from torch_geometric.nn import HGTConv, RGCNConv

import trueedge as te
from benchmarks.gpu_cards import write_card
from trueedge.methods.typed.models.hgt import HGTModel, LayerShape
from trueedge.methods.typed.models.rgcn import RGCNModel
from trueedge.training.loop import seeded
from trueedge.training.typed.inputs import TypedInputs

# The published sizes on DBLP.
RGCN_DIM, RGCN_LAYERS = 16, 5
HGT_DIM, HGT_LAYERS, HGT_HEADS = 64, 3, 8


class PlainRGCN(nn.Module):
    """A stack of torch_geometric's R-GCN layers with the weights of ours."""

    def __init__(self, ours: RGCNModel, inputs: TypedInputs) -> None:
        super().__init__()
        self.input = ours.input
        relations = ours.rows.relations
        pairs = [torch.stack([one.source, one.target]) for one in relations]
        self.edges = torch.cat(pairs, dim=1)
        counts = torch.tensor([one.shape[1] for one in pairs], device=inputs.device)
        self.kinds = torch.repeat_interleave(torch.arange(len(pairs), device=inputs.device), counts)
        self.layers = nn.ModuleList()
        for layer in ours.layers:
            twin = RGCNConv(*layer.shape[1:], len(relations)).to(inputs.device)
            twin.weight.data.copy_(layer.matrices.data)
            twin.root.data.copy_(layer.own.data)
            twin.bias.data.copy_(layer.bias.data)
            self.layers.append(twin)

    def forward(self, inputs: TypedInputs) -> torch.Tensor:
        """Return the logits of the target type."""
        states = self.input(inputs)
        for number, layer in enumerate(self.layers):
            states = layer(torch.relu(states) if number else states, self.edges, self.kinds)
        return states[inputs.rows(inputs.target)]


class PlainHGT(nn.Module):
    """A stack of torch_geometric's HGT layers with the weights of ours."""

    def __init__(self, ours: HGTModel, inputs: TypedInputs) -> None:
        super().__init__()
        self.input, self.output = ours.input, ours.output
        self.types = list(inputs.graph.node_types)
        self.edges = {
            (self.types[one.source_type], one.name, self.types[one.target_type]): torch.stack(
                [one.source - inputs.starts[one.source_type], one.target - inputs.starts[one.target_type]]
            )
            for one in ours.rows.relations
        }
        metadata = (self.types, list(self.edges))
        dim, heads = ours.output.in_features, ours.layers[0].heads
        self.layers = nn.ModuleList(
            HGTConv(dict.fromkeys(self.types, dim), dim, metadata, heads).to(inputs.device)
            for _ in ours.layers
        )
        for layer, twin in zip(ours.layers, self.layers, strict=True):
            self._copy(layer, twin)

    def _copy(self, layer: Any, twin: Any) -> None:
        for number, kind in enumerate(self.types):
            keys, values = (one.data[number].flatten(1) for one in (layer.keys, layer.values))
            weight = torch.cat([keys[:-1], layer.queries.data[number], values[:-1]], dim=1)
            twin.kqv_lin.lins[kind].weight.data.copy_(weight.T)
            bias = torch.cat([keys[-1], layer.query_bias.data[number], values[-1]])
            twin.kqv_lin.lins[kind].bias.data.copy_(bias)
            twin.out_lin.lins[kind].weight.data.copy_(layer.outputs.data[number].T)
            twin.out_lin.lins[kind].bias.data.copy_(layer.output_bias.data[number])
            twin.skip[kind].data.copy_(layer.skip.data[number])
        twin.k_rel.weight.data.copy_(layer.attention.data.transpose(0, 1).flatten(0, 1))
        twin.v_rel.weight.data.copy_(layer.message.data.transpose(0, 1).flatten(0, 1))
        for number, kinds in enumerate(self.edges):
            twin.p_rel["__".join(kinds)].data.copy_(layer.prior.data[number])

    def forward(self, inputs: TypedInputs) -> torch.Tensor:
        """Return the logits of the target type."""
        whole = torch.tanh(self.input(inputs))
        states = {kind: whole[inputs.rows(number)] for number, kind in enumerate(self.types)}
        for layer in self.layers:
            # A type that receives nothing keeps its states.
            states = states | layer(states, self.edges)
        logits: torch.Tensor = self.output(states[self.types[inputs.target or 0]])
        return logits


class Steps:
    """Training steps of a model, and their times."""

    def __init__(self, model: nn.Module, inputs: TypedInputs) -> None:
        self.model, self.inputs, self.seconds = model, inputs, []
        self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        logits = model(inputs)
        self.classes = torch.arange(len(logits), device=inputs.device) % logits.shape[1]

    def step(self) -> None:
        """Take a step and write down its time."""
        wait = torch.cuda.synchronize if self.inputs.device.type == "cuda" else lambda: None
        wait()
        start = time.perf_counter()
        self.optimizer.zero_grad()
        nn.functional.cross_entropy(self.model(self.inputs), self.classes).backward()
        self.optimizer.step()
        wait()
        self.seconds.append(time.perf_counter() - start)

    @property
    def median(self) -> float:
        """The median time of a step, without the first two."""
        return statistics.median(self.seconds[2:])


def measure(dataset: str, device: str, repeats: int) -> dict[str, Any]:
    """Return the time of a step of each model, after two that are not counted."""
    task = te.task(dataset)
    inputs = TypedInputs.of(task.graph, device, task.target)
    classes = task.num_classes
    with seeded(0, device):
        sizes = (RGCN_DIM, classes, RGCN_LAYERS, 0, 0)
        rgcn = RGCNModel(inputs, "one-hot", *sizes, True, "relation", 0.0).to(device)
        bare = LayerShape(HGT_DIM, HGT_HEADS, norm=False, dropout=0.0)
        given = (inputs, "one-hot", classes, HGT_LAYERS)
        hgt = HGTModel(*given, bare, True, "node").to(device)
        whole = HGTModel(*given, LayerShape(HGT_DIM, HGT_HEADS, dropout=0.5), True, "node").to(device)
        pairs = {"rgcn": (rgcn, PlainRGCN(rgcn, inputs)), "hgt": (hgt, PlainHGT(hgt, inputs))}
    found: dict[str, Any] = {}
    for name, (ours, theirs) in pairs.items():
        with torch.no_grad():
            wanted = theirs(inputs)
            gap = float((ours(inputs) - wanted).abs().max() / wanted.abs().max())
        steps = {name: Steps(ours, inputs), f"{name}, torch_geometric": Steps(theirs, inputs)}
        if name == "hgt":
            steps["hgt with layer norm and dropout"] = Steps(whole, inputs)
        for _ in range(repeats + 2):
            for one in steps.values():
                one.step()
        found |= {label: {"seconds": one.median} for label, one in steps.items()}
        found[f"{name}, torch_geometric"] |= {
            "difference": gap,
            "ratio": steps[f"{name}, torch_geometric"].median / steps[name].median,
        }
    return found


def main() -> None:
    """Measure, print a table, and write a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--dataset", default="dblp", help="a data set for node classification, or its folder")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--repeats", type=int, default=15, help="steps of each model; the median counts")
    parser.add_argument("-o", "--output")
    options = parser.parse_args()
    found = measure(options.dataset, options.device, options.repeats)
    for label, one in found.items():
        extra = f"{one['ratio']:.2f} times ours, difference {one['difference']:.0e}" if "ratio" in one else ""
        print(f"{label:34} {1000 * one['seconds']:9.2f} ms  {extra}")
    if options.output:
        card = {"dataset": options.dataset, "device": options.device, "rows": found}
        write_card(options.output, card, options.device)


if __name__ == "__main__":
    main()
