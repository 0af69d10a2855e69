"""MAGNN on groups of links, as in the published code."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import trueedge as te
from trueedge import methods
from trueedge.errors import InputError
from trueedge.methods.typed.models.magnn import turned
from trueedge.methods.typed.models.magnn_groups import (
    GroupedLinks,
    GroupObjective,
    GroupShape,
    chosen_instances,
    encoded_instances,
    nodes_of,
)
from trueedge.training.typed.inputs import TypedInputs

TASK = te.task("bibliography", "typed-links", relation="author-paper")
SETTINGS = {"batches": "published", "dim": 8, "heads": 2, "features": "one-hot", "decoder": "dot"}


@pytest.fixture
def model() -> GroupedLinks:
    """Return an untrained model."""
    return made_with()


def made_with(**settings: Any) -> GroupedLinks:
    """Return an untrained model with some settings."""
    method = methods.create("magnn", {**SETTINGS, **settings}).for_task(TASK)
    inputs = TypedInputs.of(TASK.graph)
    torch.manual_seed(0)
    encoder = method.build(TASK, inputs, 8)
    made = method.link_model(TASK, inputs, encoder, method.link_decoder(TASK, 8)).eval()
    assert isinstance(made, GroupedLinks)
    return made


def test_a_row_has_as_many_instances_as_the_fewest_before_it_in_its_group() -> None:
    counts = torch.tensor([5, 3, 4, 0, 9, 2, 6, 1, 4, 7])
    there = torch.arange(9) < counts[:, None]
    found = chosen_instances(there, 4)
    assert found.sum(1).tolist() == [5, 3, 3, 0, 9, 2, 2, 1, 4, 4]
    assert not (found & ~there).any()
    assert chosen_instances(there, 4, most=3).sum(1).tolist() == [3, 3, 3, 0, 3, 2, 2, 1, 3, 3]


def test_a_score_depends_on_the_links_of_its_group_alone(model: GroupedLinks) -> None:
    links = torch.from_numpy(TASK.questions("valid")[:24].astype("int64"))
    with torch.no_grad():
        states = model(model.inputs)
        scores = model.decode(states, links)
        others = links.clone()
        others[16:] = links[:8]
        same = model.decode(states, others)
        moved = model.decode(states, torch.cat([links[:7], links[20:21], links[8:]]))
    torch.testing.assert_close(scores[:16], same[:16])
    assert not torch.allclose(scores[:7], moved[:7])
    torch.testing.assert_close(scores[8:16], moved[8:16], rtol=1e-3, atol=1e-3)


def test_instances_that_hold_a_link_of_their_group_are_found(model: GroupedLinks) -> None:
    layer = model.encoder.layers[-1]
    links = torch.from_numpy(TASK.graph.edges[TASK.relations[0]][:16].astype("int64"))
    links = torch.stack([links[:, 0], torch.full((16,), TASK.relations[0]), links[:, 1]], dim=1)
    starts = model.inputs.starts
    for side in (0, 1):
        kind = model.ends[side]
        paths = [one for one in layer.instances[kind] if one.path.types[1] == model.ends[1 - side]]
        assert paths
        for instances in paths:
            every = nodes_of(instances, model.inputs)[links[:, 2 * side] - starts[kind]]
            for at, one in enumerate(instances.path.types):
                assert bool((model.inputs.node_type[every[..., at]] == one).all())
            found = model._known(every, links, side)
            for row in range(16):
                group = {tuple(link) for link in links[row // 8 * 8 : row // 8 * 8 + 8, [0, 2]].tolist()}
                for number, nodes in enumerate(every[row].tolist()):
                    ends = [(nodes[0], nodes[1]), (nodes[-1], nodes[-2])]
                    ends = [pair if side == 0 else pair[::-1] for pair in ends]
                    assert bool(found[row, number]) == any(pair in group for pair in ends)


def test_magnn_learns_in_groups() -> None:
    settings = {**SETTINGS, "epochs": 3, "batch_size": 64}
    scorer = methods.create("magnn", settings).fit(TASK, seed=0)
    losses = scorer.history.losses
    assert losses[-1] < losses[0]


def test_groups_are_refused_where_the_published_code_has_none() -> None:
    with pytest.raises(InputError, match="layers=1"):
        methods.create("magnn", {**SETTINGS, "layers": 2}).fit(TASK)


def test_an_instance_is_the_mean_of_its_rotated_nodes(model: GroupedLinks) -> None:
    layer = model.encoder.layers[-1]
    states = torch.randn(model.inputs.num_nodes, 8)
    for kind, paths in layer.instances.items():
        for instances, nodes in zip(paths, model.nodes[kind], strict=True):
            turns = layer.turns(instances.path)
            table = torch.cat(
                [
                    turned(states[model.inputs.rows(at)], turn)
                    for at, turn in zip(instances.path.types, turns, strict=True)
                ]
            )
            wanted = table[instances.places].mean(2)
            torch.testing.assert_close(encoded_instances(states, nodes, turns), wanted)


def test_negatives_have_the_sources_of_links_or_any() -> None:
    inputs = TypedInputs.of(TASK.graph)
    sources = slice(*inputs.starts[:2])
    for source, same in ((None, True), (0, False)):
        objective = GroupObjective(inputs, TASK.relations, 64, source=source)
        near, far = next(iter(objective.steps(np.random.default_rng(0))))
        assert near.shape == far.shape
        assert torch.equal(near[:, 0], far[:, 0]) == same
        assert bool(((far[:, 0] >= sources.start) & (far[:, 0] < sources.stop)).all())
        assert bool((inputs.node_type[far[:, 2]] == inputs.node_type[near[0, 2]]).all())


def test_each_step_draws_some_of_the_instances_that_are_kept() -> None:
    wide, narrow = made_with(instances=2, kept_instances=5), made_with(instances=2)
    assert wide.shape == GroupShape(most=2)
    for one, width in ((wide, 5), (narrow, 2)):
        layer = one.encoder.layers[-1]
        assert max(part.places.shape[1] for parts in layer.instances.values() for part in parts) == width
    links = torch.from_numpy(TASK.questions("valid")[:16].astype("int64"))
    states = wide(wide.inputs)
    first, second = (wide._score(states, links) for _ in range(2))
    assert not torch.allclose(first, second)


def test_without_center_attention_reads_instances_alone(model: GroupedLinks) -> None:
    without = made_with(center=False)
    names = {name for name, _ in without.named_parameters()}
    assert {name for name, _ in model.named_parameters()} - names == {
        name for name, _ in model.named_parameters() if name.endswith("of_node")
    }
    attention = without.encoder.layers[-1].by_path["0"][0]
    encoded, there = torch.randn(3, 4, 8), torch.ones(3, 4, dtype=torch.bool)
    found = [attention.mixed(own, encoded, there) for own in (torch.zeros(3, 8), torch.randn(3, 8))]
    assert torch.equal(*found)


def test_links_and_negatives_may_be_scored_at_once() -> None:
    # With one instance of each node, and nothing dropped, there is nothing to draw.
    model = made_with(instances=1, dropout=0.0).train()
    near, far = next(iter(GroupObjective(model.inputs, TASK.relations, 16).steps(np.random.default_rng(0))))
    states = model(model.inputs)
    parts = model._score(states, near, exclude=16), model._score(states, far)
    wanted = -(torch.nn.functional.logsigmoid(parts[0]) + torch.nn.functional.logsigmoid(-parts[1])).mean()
    torch.testing.assert_close(model.parted_loss(states, near, far), wanted)
    assert not torch.allclose(parts[0], model._score(states, near))
