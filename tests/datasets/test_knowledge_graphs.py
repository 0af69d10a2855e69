"""The knowledge graphs of the catalogue have the sizes that their cards state."""

from __future__ import annotations

import numpy as np
import pytest

import trueedge as te
from trueedge import datasets
from trueedge.splits import triples as ts

NAMES = [one.name for one in datasets.cards() if one.family == "kg"]


@pytest.mark.parametrize("name", ["umls", "nations"])
def test_an_embedded_knowledge_graph_needs_no_download(name: str, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("TRUEEDGE_DATA", str(tmp_path))
    graph, card = te.load(name), datasets.get(name)
    assert (graph.num_entities, graph.num_triples) == (card.num_nodes, card.num_edges)
    assert graph.num_relations == card.num_relations
    split = ts.published(name)
    assert len(split.train.triples) + len(split.valid) + len(split.test) == card.num_edges
    ts.check_disjoint(split)


@pytest.mark.rotating(3)
@pytest.mark.parametrize("name", NAMES)
def test_a_knowledge_graph_has_the_sizes_of_its_card(name: str, data_folder) -> None:
    del data_folder
    graph, card = te.load(name), datasets.get(name)
    assert (graph.num_entities, graph.num_triples) == (card.num_nodes, card.num_edges)
    assert graph.num_relations == card.num_relations
    task = te.task(name)
    assert task.protocol == card.protocol
    truth = task.truth("test")["negatives"]
    assert truth.min() >= 1
    assert truth.max() < task.graph_for("test").num_entities


def test_tail_relation_degrees_equal_plain_counts_on_umls() -> None:
    graph = te.load("umls")
    rng = np.random.default_rng(0)
    relations = rng.integers(0, 2 * graph.num_relations, 60)
    tails = rng.integers(0, graph.num_entities, 60)
    expected = [
        sum(
            (r == relation and t == tail) or (r + graph.num_relations == relation and h == tail)
            for h, r, t in graph.triples.tolist()
        )
        for relation, tail in zip(relations.tolist(), tails.tolist(), strict=True)
    ]
    assert graph.tail_relation_degrees(relations, tails).tolist() == expected
