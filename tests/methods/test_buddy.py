"""BUDDY: counts beside breadth-first search, estimates within theory, no edge of its own seen."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest

torch = pytest.importorskip("torch")

from trueedge.errors import InputError  # noqa: E402
from trueedge.kernels.neighbors import sketches as kernels  # noqa: E402
from trueedge.methods.pairwise.models import sketches  # noqa: E402
from trueedge.methods.pairwise.models.sketches import CountedPairs, union_size  # noqa: E402
from trueedge.training import Messages  # noqa: E402


def searched(graph, pairs, hops):
    """Counts by breadth-first search: an end is one hop from itself."""
    plain = nx.Graph(graph.edges.tolist())
    plain.add_nodes_from(range(graph.num_nodes))
    far = hops + 1
    rows = []
    for a, b in pairs.tolist():
        steps = [nx.single_source_shortest_path_length(plain, end, cutoff=hops) for end in (a, b)]
        counts = np.zeros((far + 1, far + 1))
        for node in set(steps[0]) | set(steps[1]):
            counts[tuple(max(1, way.get(node, far)) for way in steps)] += 1
        alone = [counts[1:far, far], counts[far, 1:far]]
        rows.append(np.concatenate([counts[1:far, 1:far].ravel(), *alone]))
    return np.array(rows)


@pytest.mark.parametrize("hops", [1, 2, 3])
@pytest.mark.parametrize("shape", [(1, 40, 60), (2, 25, 0), (3, 30, 120)], ids=str)
def test_exact_counts_are_those_of_a_search(hops, shape, random_graph):
    graph = random_graph(shape[0], nodes=shape[1], edges=shape[2])
    pairs = np.random.default_rng(0).integers(0, graph.num_nodes, (40, 2))
    counted = CountedPairs(graph.num_nodes, hops, 1, exact=True, key=0)
    found = counted(torch.from_numpy(pairs), Messages.of(graph))
    assert found.numpy().tolist() == searched(graph, pairs, hops).tolist()
    turned = counted(torch.from_numpy(pairs[:, ::-1].copy()), Messages.of(graph))
    assert torch.equal(counted.turned(found), turned)


@pytest.mark.parametrize("size", [1, 5, 40, 200, 640, 2500])
def test_sizes_err_as_little_as_the_sketch_allows(size):
    trials = 300
    registers = np.stack([kernels.own_sketches(size, 1, key=key)[0].max(axis=0) for key in range(trials)])
    rows = torch.arange(trials)
    found = union_size(torch.stack([rows, rows], dim=1), *[torch.from_numpy(registers)] * 2).numpy()
    errors = found / size - 1
    bound = 1.04 / math.sqrt(kernels.REGISTERS)
    assert abs(errors.mean()) < 4 * bound / math.sqrt(trials) + 0.005
    assert errors.std() < 1.25 * bound


@pytest.mark.parametrize("share", [0.0, 0.05, 0.3, 0.8, 1.0])
def test_the_shared_part_errs_as_little_as_the_sketch_allows(share):
    size, trials = 200, 300
    common = round(share * size)
    found = []
    for key in range(trials):
        values = kernels.own_sketches(size, 128, key=key)[1]
        cut = (size + common) // 2
        left, right = values[:cut].min(axis=0), values[cut - common :].min(axis=0)
        found.append((left == right).mean())
    bound = math.sqrt(share * (1 - share) / 128)
    assert abs(np.mean(found) - share) <= 4 * bound / math.sqrt(trials) + 1e-9
    assert np.std(found) <= 1.2 * bound + 1e-9


def test_what_two_sets_share_errs_as_little_as_both_sketches_allow(random_graph):
    graph = random_graph(3, nodes=600, edges=3000)
    messages = Messages.of(graph)
    pairs = torch.from_numpy(np.random.default_rng(0).integers(0, 600, (300, 2)))
    sets = CountedPairs(600, 2, 1, exact=True, key=0).around(messages)
    exact, sizes = sets.shared(pairs).numpy()[:, 1, 1], sets.sizes()[:, 1].numpy()[pairs.numpy()]
    union = sizes.sum(axis=1) - exact
    share = exact / union
    expected = union**2 * share * (1 - share) / 128 + (exact * 1.04) ** 2 / 256
    ratios = []
    for key in range(10):
        guessed = CountedPairs(600, 2, 128, exact=False, key=key).around(messages).shared(pairs)
        ratios.append(np.mean((guessed.numpy()[:, 1, 1] - exact) ** 2 / expected))
    assert np.mean(ratios) < 1.3


def test_torch_alone_comes_to_the_numbers_of_the_kernels(random_graph, monkeypatch):
    monkeypatch.setattr(sketches, "BLOCK", 3000)
    graph = random_graph(4, nodes=80, edges=250)
    messages = Messages.of(graph)
    pairs = torch.from_numpy(np.random.default_rng(0).integers(0, 80, (50, 2)))
    registers, minima = kernels.own_sketches(80, 16, key=2)
    most, least = kernels.spread(graph.indptr, graph.indices, registers, minima)
    large = sketches.spread_here(messages, torch.from_numpy(registers), "amax")
    small = sketches.spread_here(messages, torch.from_numpy(minima), "amin")
    assert large.dtype == torch.uint8
    assert np.array_equal(large.numpy(), most)
    assert np.array_equal(small.numpy(), least)
    sums = kernels.union_sums(pairs.numpy(), registers, most)
    for ours, theirs in zip(
        sketches.union_sums_here(pairs, torch.from_numpy(registers), large), sums, strict=True
    ):
        assert ours.tolist() == theirs.tolist()
    same = kernels.equal_minima(pairs.numpy(), minima, least)
    assert sketches.equal_minima_here(pairs, torch.from_numpy(minima), small).tolist() == same.tolist()


def test_the_sketches_of_a_graph_are_made_once_and_forgotten_with_it(random_graph):
    counted = CountedPairs(30, 2, 8, exact=False, key=0)
    messages = Messages.of(random_graph(1, nodes=30, edges=60))
    assert counted.around(messages) is counted.around(messages)
    del messages
    assert len(counted._seen) == 0


def test_exact_counts_of_a_large_graph_are_refused_in_a_sentence():
    with pytest.raises(InputError, match="exact counts take"):
        CountedPairs(sketches.MOST_EXACT + 1, 2, 8, exact=True, key=0)
