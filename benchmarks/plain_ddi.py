"""Three published trainings on ogbl-ddi as one writes them by hand: do the published values follow from them?

    python -m benchmarks.plain_ddi mf --seeds 5 --jobs 5 --device cuda
    python -m benchmarks.plain_ddi node2vec --seeds 5 --jobs 5 --device cuda
    python -m benchmarks.plain_ddi gae --seeds 5 --jobs 5 --device cuda

Plain torch: it shares no code with the package but the reader of the data. The trainings are those of Li et
al., Evaluating Graph Neural Networks for Link Prediction, NeurIPS 2023, as their code has them:

- ``mf``: vectors from a standard normal distribution, which the predictor multiplies entry by entry. There is
  no layer between, and no gradient is clipped. Ours had three layers and a clip (``--layers 3 --clip 1``).
- ``node2vec``: vectors that begin at a standard normal distribution and take 34 steps of Adam, two for each
  group of 256 nodes; then an MLP on the fixed vectors. ``--passes 0`` leaves the random vectors as they are.
- ``gae``: a GCN trained to reconstruct the adjacency by dot products, but evaluated by an MLP that no
  gradient ever reaches (``--scorer mlp``); by dot products with ``--scorer dot``.

Each metric is read off the test part at the epoch where its own validation value is highest.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

HITS = (20, 50, 100)
DIM, BATCH, TINY = 256, 65536, 1e-15
PATIENCE = 100
# Learning rate and dropout as published for the existing setting.
PUBLISHED = {"mf": (0.01, 0.3), "node2vec": (0.001, 0.3), "gae": (0.001, 0.0)}
# Walks of node2vec: dimension, nodes per walk, window, walks per node, nodes per step, learning rate.
VECTORS, LENGTH, WINDOW, WALKS, NODES, RATE = 128, 40, 20, 10, 256, 0.01


class Mlp(nn.Module):
    """Linear layers with ReLU and dropout between them."""

    def __init__(self, sizes: list[int], dropout: float) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(*pair) for pair in pairwise(sizes))
        self.dropout = dropout

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """The output of the last layer; the input itself where there is no layer."""
        for place, layer in enumerate(self.layers):
            states = layer(states)
            if place < len(self.layers) - 1:
                states = F.dropout(F.relu(states), self.dropout, self.training)
        return states


class Plain(nn.Module):
    """Vectors, learned or fixed, an MLP on them, and a predictor of the entrywise product."""

    def __init__(self, vectors: torch.Tensor, is_learned: bool, layers: int, dropout: float) -> None:
        super().__init__()
        if is_learned:
            self.vectors = nn.Parameter(vectors)
        else:
            self.register_buffer("vectors", vectors)
        self.encoder = Mlp([vectors.shape[1]] * (layers > 0) + [DIM] * layers, dropout)
        self.predictor = Mlp([DIM, DIM, DIM, 1], dropout)

    def encode(self) -> torch.Tensor:
        """The states of all nodes."""
        return self.encoder(self.vectors) if len(self.encoder.layers) else self.vectors

    def score(self, states: torch.Tensor, pairs: torch.Tensor) -> torch.Tensor:
        """The probability of each pair."""
        return torch.sigmoid(self.predictor(states[pairs[:, 0]] * states[pairs[:, 1]])).squeeze(1)

    def parts(self) -> list[list[nn.Parameter]]:
        """The weights whose gradients share one norm."""
        learned = [self.vectors] if isinstance(self.vectors, nn.Parameter) else []
        groups = [learned + list(self.encoder.parameters()), list(self.predictor.parameters())]
        return [group for group in groups if group]

    def train_epoch(self, edges: torch.Tensor, optimizer: torch.optim.Optimizer, clip: float) -> None:
        """Take a step for each batch of edges, with as many random pairs."""
        self.train()
        for batch in torch.randperm(len(edges), device=edges.device).split(BATCH):
            optimizer.zero_grad()
            states = self.encode()
            negatives = torch.randint(0, len(states), (len(batch), 2), device=edges.device)
            loss = -torch.log(self.score(states, edges[batch]) + TINY).mean()
            loss = loss - torch.log(1 - self.score(states, negatives) + TINY).mean()
            loss.backward()
            for part in self.parts() if clip else ():
                nn.utils.clip_grad_norm_(part, clip)
            optimizer.step()


class AutoEncoder(nn.Module):
    """A GCN of three layers on learned vectors, and the scorer that evaluates it."""

    def __init__(self, edges: torch.Tensor, nodes: int, scorer: str, dropout: float) -> None:
        super().__init__()
        adjacency = torch.zeros(nodes, nodes, device=edges.device)
        adjacency[edges[:, 0], edges[:, 1]] = adjacency[edges[:, 1], edges[:, 0]] = 1.0
        looped = adjacency + torch.eye(nodes, device=edges.device)
        root = looped.sum(1).rsqrt()
        self.register_buffer("adjacency", adjacency)
        self.register_buffer("averaging", root[:, None] * looped * root)
        self.vectors = nn.Parameter(nn.init.xavier_uniform_(torch.empty(nodes, DIM)))
        self.weights = nn.ParameterList(nn.init.xavier_uniform_(torch.empty(DIM, DIM)) for _ in range(3))
        self.biases = nn.ParameterList(torch.zeros(DIM) for _ in range(3))
        self.dropout = dropout
        self.untrained = Mlp([DIM, DIM, DIM, 1], dropout) if scorer == "mlp" else None

    def encode(self) -> torch.Tensor:
        """The states of all nodes."""
        states: torch.Tensor = self.vectors
        for place, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            states = self.averaging @ (states @ weight) + bias
            if place < len(self.weights) - 1:
                states = F.dropout(F.relu(states), self.dropout, self.training)
        return states

    def score(self, states: torch.Tensor, pairs: torch.Tensor) -> torch.Tensor:
        """The score of each pair, between 0 and 1."""
        product = states[pairs[:, 0]] * states[pairs[:, 1]]
        return torch.sigmoid(product.sum(1) if self.untrained is None else self.untrained(product).squeeze(1))

    def train_epoch(self, edges: torch.Tensor, optimizer: torch.optim.Optimizer, clip: float) -> None:
        """Take one step for all pairs."""
        del edges
        self.train()
        optimizer.zero_grad()
        states = self.encode()
        F.binary_cross_entropy(torch.sigmoid(states @ states.t()), self.adjacency).backward()
        for part in ([self.vectors], [*self.weights, *self.biases]) if clip else ():
            nn.utils.clip_grad_norm_(part, clip)
        optimizer.step()


def walk_vectors(edges: torch.Tensor, nodes: int, passes: int) -> torch.Tensor:
    """The vectors of node2vec, float (nodes, 128): walks against random nodes, one vector for each node."""
    device = edges.device
    both = torch.cat([edges, edges.flip(1)])
    both = both[torch.argsort(both[:, 0])]
    degrees = torch.bincount(both[:, 0], minlength=nodes)
    first = torch.cumsum(degrees, 0) - degrees
    vectors = nn.Parameter(torch.randn(nodes, VECTORS, device=device))
    optimizer = torch.optim.Adam([vectors], lr=RATE)
    # A window begins at each node of a walk that has a whole window before it ends.
    begin, other = torch.ones(LENGTH, LENGTH, device=device).triu(1).tril(WINDOW - 1).nonzero(as_tuple=True)
    whole = begin <= LENGTH - WINDOW
    begin, other = begin[whole], other[whole]
    for _ in range(passes):
        for group in torch.randperm(nodes, device=device).split(NODES):
            walks = [group.repeat(WALKS)]
            for _ in range(LENGTH - 1):
                chosen = torch.rand(len(walks[0]), device=device) * degrees[walks[-1]]
                walks.append(both[first[walks[-1]] + chosen.long(), 1])
            noise = torch.randint(0, nodes, (len(walks[0]), LENGTH), device=device)
            noise[:, 0] = walks[0]
            optimizer.zero_grad()
            loss = torch.zeros((), device=device)
            for is_noise, sequences in ((False, torch.stack(walks, 1)), (True, noise)):
                found = vectors[sequences]
                chance = torch.sigmoid(torch.bmm(found, found.transpose(1, 2))[:, begin, other])
                loss = loss - torch.log((1 - chance if is_noise else chance) + TINY).mean()
            loss.backward()
            optimizer.step()
    return vectors.detach()


def measured(positive: torch.Tensor, negative: torch.Tensor) -> dict[str, float]:
    """OGB's Hits@K, the share of positives strictly above the K-th negative, and AUC; four decimals each."""
    top = torch.topk(negative, max(HITS)).values
    found = {f"hits@{k}": float((positive > top[k - 1]).double().mean()) for k in HITS}
    ordered = torch.sort(negative).values
    below, up_to = (torch.searchsorted(ordered, positive, right=right).double() for right in (False, True))
    found["auc"] = float((below + up_to).mean() / 2 / len(negative))
    return {name: round(value, 4) for name, value in found.items()}


def train(asked: argparse.Namespace, seed: int) -> dict[str, Any]:
    """The test value of each metric where its own validation value is highest, and the number of epochs."""
    from trueedge import tasks

    task = tasks.task("ogbl-ddi", "existing", 0)

    def on_device(pairs: Any) -> torch.Tensor:
        return torch.from_numpy(np.array(pairs, dtype=np.int64)).to(asked.device)

    edges, nodes = on_device(task.graph.edges), task.graph.num_nodes
    parts = [
        (on_device(part.positives), on_device(part.negatives).reshape(-1, 2))
        for part in (task.valid, task.test)
    ]
    del task
    start = time.perf_counter()
    torch.manual_seed(seed)
    if asked.method == "gae":
        model: Any = AutoEncoder(edges, nodes, asked.scorer, asked.dropout)
    elif asked.method == "mf":
        model = Plain(torch.randn(nodes, DIM), True, asked.layers, asked.dropout)
    else:
        model = Plain(walk_vectors(edges, nodes, asked.passes), False, 3, asked.dropout)
    model = model.to(asked.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=asked.learning_rate)
    best: dict[str, tuple[float, float]] = {}
    waited, epoch = 0, 0
    while epoch == 0 or (waited <= PATIENCE and time.perf_counter() - start < asked.seconds):
        epoch += 1
        model.train_epoch(edges, optimizer, asked.clip)
        model.eval()
        with torch.no_grad():
            states = model.encode()
            valid, test = (
                measured(
                    *(torch.cat([model.score(states, some) for some in pairs.split(BATCH)]) for pairs in part)
                )
                for part in parts
            )
        waited = 0 if valid["hits@20"] > best.get("hits@20", (0.0, 0.0))[0] else waited + 1
        for name, value in valid.items():
            if name not in best or value > best[name][0]:
                best[name] = (value, test[name])
        if asked.verbose and epoch % 10 == 0:
            print(seed, epoch, valid, test, flush=True)
    stopped = "early stopping" if waited > PATIENCE else "out of time"
    found = {name: 100 * value for name, (_, value) in best.items()}
    seconds = round(time.perf_counter() - start, 1)
    print(seed, json.dumps(found), f"{epoch} epochs, {seconds} s, {stopped}", flush=True)
    return {"seed": seed, **found, "epochs": epoch, "seconds": seconds, "stopped": stopped}


def parsed() -> argparse.Namespace:
    """The command line, with published values where nothing is said."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("method", choices=sorted(PUBLISHED))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="end a training after this time")
    parser.add_argument("--learning-rate", type=float)
    parser.add_argument("--dropout", type=float)
    parser.add_argument("--clip", type=float, help="largest norm of gradients; 0: none")
    parser.add_argument("--layers", type=int, default=0, help="mf: layers between vectors and predictor")
    parser.add_argument("--passes", type=int, default=2, help="node2vec: passes over all nodes")
    parser.add_argument("--scorer", choices=("mlp", "dot"), default="mlp", help="gae: what is evaluated")
    parser.add_argument("--tf32", action="store_true", help="matrix products with ten bits of mantissa")
    parser.add_argument("--name", default="", help="appended to the name of the file")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("-o", "--output", type=Path, default=Path("benchmarks/results"))
    asked = parser.parse_args()
    rate, dropout = PUBLISHED[asked.method]
    asked.learning_rate = rate if asked.learning_rate is None else asked.learning_rate
    asked.dropout = dropout if asked.dropout is None else asked.dropout
    asked.clip = float(asked.method != "mf") if asked.clip is None else asked.clip
    return asked


def one_seed(asked: argparse.Namespace, seed: int) -> dict[str, Any]:
    """Train one seed, in a process of its own where there are several."""
    torch.set_num_threads(1)
    torch.backends.cuda.matmul.allow_tf32 = asked.tf32
    return train(asked, seed)


def main() -> None:
    """Train with some seeds and write down mean and standard deviation of each metric."""
    asked = parsed()
    tasks = [(asked, seed) for seed in range(asked.seeds)]
    if asked.jobs == 1:
        found = [one_seed(*task) for task in tasks]
    else:
        with multiprocessing.get_context("spawn").Pool(asked.jobs) as pool:
            found = pool.starmap(one_seed, tasks, chunksize=1)
    table: dict[str, Any] = {}
    for metric in (*(f"hits@{k}" for k in HITS), "auc"):
        values = [one[metric] for one in found]
        spread = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
        table[metric] = {"mean": float(np.mean(values)), "std": spread, "seeds": len(values)}
    names = ("learning_rate", "dropout", "clip", "layers", "passes", "scorer", "tf32")
    table["settings"] = {name: getattr(asked, name) for name in names}
    table["runs"] = found
    asked.output.mkdir(parents=True, exist_ok=True)
    path = asked.output / f"plain-ogbl-ddi-{asked.method}{asked.name}.json"
    path.write_text(json.dumps(table, indent=1) + "\n")
    print(path, json.dumps({key: value for key, value in table.items() if key != "runs"}))


if __name__ == "__main__":
    main()
