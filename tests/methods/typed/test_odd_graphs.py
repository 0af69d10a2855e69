"""Graphs without edges, with loops alone, with types that have no nodes: models run, or say why not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import trueedge as te
from trueedge.errors import InputError
from trueedge.graph.typed import HeteroGraph

pytest.importorskip("torch")
COUNT = 30
MODELS = ("simple-hgn", "gcn-hetero", "gat-hetero", "rgcn-hetero", "han", "gtn", "rshn", "hetgnn", "magnn")
MODELS += ("hetsann", "hgt")
LOOPS = np.column_stack([np.arange(COUNT), np.arange(COUNT)])
SPREAD = np.column_stack([np.arange(COUNT), np.arange(COUNT) % 5])
# The edges of each graph, and the models that refuse it.
GRAPHS: dict[str, tuple[dict[tuple[str, str, str], Any], tuple[str, ...]]] = {
    "no edges": ({("a", "r", "b"): []}, ("han", "magnn", "hetgnn")),
    "one edge": ({("a", "r", "b"): [(3, 2)]}, ()),
    "loops alone": ({("a", "r", "a"): LOOPS}, ("hetgnn",)),
    "no edges of the target": ({("b", "r", "b"): [(0, 1), (1, 2)]}, ("han", "magnn")),
    "a type without nodes": ({("a", "r", "b"): SPREAD, ("a", "s", "c"): []}, ()),
    "a relation without edges": ({("b", "t", "a"): [], ("a", "r", "b"): SPREAD}, ()),
}
REASONS = ("has no meta-paths: nodes of type a have no edges", "no walks to train on, since no edge of")


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("model", MODELS)
def test_a_model_of_classes_runs_on_an_odd_graph_or_says_why_not(model: str, graph: str) -> None:
    edges, refusing = GRAPHS[graph]
    nodes = {"a": {"field": [0, 1, 2] * (COUNT // 3)}, "b": 5, "c": 0}
    task = te.task(HeteroGraph.from_tables(nodes, edges, label="field"), "node-classification")
    options = {"context_steps": 2} if model == "hetgnn" else {}
    method = te.methods.get(model)(epochs=1, **options)
    if model in refusing:
        with pytest.raises(InputError) as caught:
            method.fit(task)
        assert any(reason in str(caught.value) for reason in REASONS)
    else:
        assert 0 <= task.evaluate(method.fit(task))["micro-f1"] <= 1
