"""What HGB's code of GATNE does differently: which relations are walked along, and what is drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import trueedge as te
from trueedge import methods
from trueedge.errors import InputError
from trueedge.methods.typed.models.gatne import GatneModel, SkipGramObjective
from trueedge.training import Checkpoint, use_callbacks
from trueedge.training.typed.inputs import TypedInputs

TASK = te.task("bibliography", "typed-links")


def objective(noise: str, relations: tuple[int, ...], negatives: int = 5) -> SkipGramObjective:
    """Return an objective of short walks."""
    inputs = TypedInputs.of(TASK.graph, "cpu")
    return SkipGramObjective(inputs, relations, 2, 5, 2, negatives, 64, 0, noise=noise)


def test_nodes_of_rank_k_are_drawn_with_the_logarithm_of_1_plus_1_over_k() -> None:
    torch.manual_seed(0)
    made = objective("rank", tuple(range(TASK.graph.num_relations)), negatives=50)
    assert made.frequent is not None
    degrees = sum(np.diff(indptr) for indptr, _ in made.graphs.values())
    assert (np.diff(degrees[made.frequent.numpy()]) <= 0).all()
    drawn = made.draw_ranks(20_000).flatten()
    most = len(made.frequent)
    wanted = np.log1p(1 / np.arange(1, most + 1)) / np.log(most + 1)
    shares = torch.bincount(drawn, minlength=TASK.graph.num_nodes)[made.frequent].numpy() / len(drawn)
    assert np.abs(shares - wanted).max() < 0.003
    assert torch.isin(drawn, made.frequent).all()


@pytest.mark.parametrize("noise", ["type", "rank"])
def test_a_relation_on_the_device_gives_the_same_vectors_as_its_number(noise: str) -> None:
    made = objective(noise, (0, 1))
    torch.manual_seed(0)
    model = GatneModel(made.inputs, TASK.relations, 8, 4, 3, 2, np.random.default_rng(0))
    nodes = torch.arange(20)
    for relation in (0, 1):
        found = model.vectors(nodes, torch.tensor([relation]))
        torch.testing.assert_close(found, model.vectors(nodes, relation), rtol=0, atol=0)
    for step in made.steps(np.random.default_rng(0)):
        assert step[0].shape == (1,)
        assert step[3].shape == (len(step[1]), 5)
        assert torch.isfinite(made.backward(model, step, np.random.default_rng(0)))


def test_walks_go_along_the_relations_that_are_named() -> None:
    names = [one.name for one in TASK.graph.relations]
    method = methods.create("gatne", {"walked": f"{names[1]}, {names[0]}"})
    assert method.walked_relations(TASK.graph) == (1, 0)
    assert methods.create("gatne", {}).walked_relations(TASK.graph) == tuple(range(len(names)))
    with pytest.raises(InputError, match="no relation 'likes'"):
        methods.create("gatne", {"walked": "likes"}).walked_relations(TASK.graph)


@pytest.mark.parametrize("fixed", [True, False])
def test_walks_are_drawn_once_if_asked_to(fixed: bool) -> None:
    inputs = TypedInputs.of(TASK.graph, "cpu")
    made = SkipGramObjective(inputs, (0, 1), 2, 5, 2, 5, 64, 0, fixed=fixed)
    rng = np.random.default_rng(0)
    epochs = [list(made.steps(rng)) for _ in range(2)]
    first, second = ({tuple(step[1].tolist() + step[2].tolist()) for step in one} for one in epochs)
    assert (first == second) == fixed
    if fixed:
        # Only the order of batches changes, and it does not change what is drawn.
        again = SkipGramObjective(inputs, (0, 1), 2, 5, 2, 5, 64, 0, fixed=True)
        other = {tuple(s[1].tolist() + s[2].tolist()) for s in again.steps(np.random.default_rng(7))}
        assert other == first


@pytest.mark.parametrize("fixed", [True, False])
def test_a_resumed_training_has_the_walks_of_one_that_was_not_stopped(fixed: bool, tmp_path: Path) -> None:
    settings = {"epochs": 5, "dim": 8, "batch_size": 4096, "walk_length": 5, "window": 2}
    method = methods.create("gatne", {**settings, "fixed_walks": fixed})
    checkpoint = Checkpoint(tmp_path / "state.pt")

    def kill(epoch: int, *_: object) -> None:
        if epoch == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), use_callbacks(kill, checkpoint):
        method.fit(TASK)
    with use_callbacks(checkpoint=checkpoint):
        found = method.fit(TASK).history.losses
    assert found == method.fit(TASK).history.losses


def test_gatne_learns_with_nodes_drawn_by_rank() -> None:
    settings = {"noise": "rank", "captured": True, "epochs": 3, "dim": 16, "batch_size": 256}
    scorer = methods.create("gatne", settings).fit(TASK, seed=0)
    assert scorer.history.losses[-1] < scorer.history.losses[0]
