"""MAGNN on groups of links, as in the published code."""

from __future__ import annotations

import pytest
import torch

import trueedge as te
from trueedge import methods
from trueedge.errors import InputError
from trueedge.methods.typed.models.magnn_groups import GroupedLinks, chosen_instances
from trueedge.training.typed.inputs import TypedInputs

TASK = te.task("bibliography", "typed-links", relation="author-paper")
SETTINGS = {"batches": "published", "dim": 8, "heads": 2, "features": "one-hot", "decoder": "dot"}


@pytest.fixture
def model() -> GroupedLinks:
    """Return an untrained model."""
    method = methods.create("magnn", SETTINGS).for_task(TASK)
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
            places = instances.places[links[:, 2 * side] - starts[kind]]
            found = model._known(places, instances, links, side)
            offsets = [sum(model.inputs.count(one) for one in instances.path.types[:at]) for at in range(9)]
            for row in range(16):
                group = {tuple(link) for link in links[row // 8 * 8 : row // 8 * 8 + 8, [0, 2]].tolist()}
                for number, path in enumerate(places[row].tolist()):
                    nodes = [
                        place - offsets[at] + starts[instances.path.types[at]]
                        for at, place in enumerate(path)
                    ]
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
