"""Typed graphs from ``HeteroData``: odd labels, masks and edges."""

from __future__ import annotations

from typing import Any

import pytest

import trueedge as te
from trueedge.errors import InputError
from trueedge.graph.typed import HeteroGraph

torch = pytest.importorskip("torch")
geometric = pytest.importorskip("torch_geometric.data")
NAN = float("nan")


def data_of(y: Any = None, **masks: list[bool]) -> Any:
    data = geometric.HeteroData()
    data["author"].x = torch.arange(8.0).view(4, 2)
    data["paper"].num_nodes = 2
    data["author", "writes", "paper"].edge_index = torch.tensor([[0, 1, 3], [0, 1, 1]])
    if y is not None:
        data["author"].y = torch.as_tensor(y)
    for name, mask in masks.items():
        data["author"][f"{name}_mask"] = torch.tensor(mask)
    return data


@pytest.mark.parametrize(
    ("y", "nodes", "values"),
    [
        ([2.0, NAN, 0.0, 1.0], [0, 2, 3], [2, 0, 1]),
        ([[0, 1], [-1, -1], [1, 1], [0, 0]], [0, 2, 3], [[0, 1], [1, 1], [0, 0]]),
        ([[0.0, 1.0], [NAN, NAN], [1.0, 1.0], [0.0, 0.0]], [0, 2, 3], [[0, 1], [1, 1], [0, 0]]),
    ],
)
def test_nodes_whose_y_is_missing_have_no_label(y: Any, nodes: list[int], values: list[Any]) -> None:
    labels = HeteroGraph.from_pyg(data_of(y)).labels
    assert labels is not None
    assert labels.nodes.tolist() == nodes
    assert labels.values.astype(int).tolist() == values


@pytest.mark.parametrize(
    ("y", "sentence"),
    [
        ([[0.2, 0.8], [0.5, 0.5], [1.0, 0.0], [0.0, 1.0]], "must hold 0 or 1 for each class"),
        ([[0.0, NAN], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]], "must hold 0 or 1 for each class"),
        ([0.5, 1.0, 2.0, 0.0], "must hold whole numbers"),
        ([10**12, 0, 1, 2], "has the class 1000000000000, but 4 nodes have a label"),
        (3, "must hold a class for each of 4 nodes, got ()"),
    ],
)
def test_a_y_that_holds_no_classes_is_refused(y: Any, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        HeteroGraph.from_pyg(data_of(y))
    assert str(caught.value) == f"from_pyg: y of 'author' {sentence}"


@pytest.mark.parametrize("part", ["train", "val"])
def test_test_nodes_that_are_in_another_mask_are_refused(part: str) -> None:
    data = data_of([0, 1, 0, 1], **{part: [True, True, True, False]}, test=[False, True, True, True])
    with pytest.raises(InputError) as caught:
        HeteroGraph.from_pyg(data)
    assert str(caught.value) == (
        f"from_pyg: 2 nodes of type 'author', such as 1, are in test_mask and in {part}_mask"
    )


def test_what_is_not_read_of_the_edges_is_noted() -> None:
    data = data_of()
    data["author", "writes", "paper"].edge_attr = torch.ones(3, 1)
    assert HeteroGraph.from_pyg(data).notes == ("edge_attr of ('author', 'writes', 'paper') is not used",)


def test_features_in_bfloat16_are_read() -> None:
    data = data_of()
    data["author"].x = data["author"].x.to(torch.bfloat16)
    assert HeteroGraph.from_pyg(data).features[0].tolist() == [[0, 1], [2, 3], [4, 5], [6, 7]]


def test_classes_of_y_without_a_node_are_noted() -> None:
    assert HeteroGraph.from_pyg(data_of([0, 3, 0, 3])).notes == (
        "classes 1 to 2 have no node: there are 4 classes, 0 to 3",
    )


def test_edges_without_numbers_of_nodes_are_refused_with_what_is_missing() -> None:
    data = type(data_of())()
    data["author", "writes", "paper"].edge_index = torch.tensor([[0, 3], [0, 1]])
    with pytest.raises(InputError, match=r"give .*data\['author'\]\.num_nodes$"):
        HeteroGraph.from_pyg(data)
    data["author"].num_nodes = 4
    with pytest.raises(InputError, match=r"data\['paper'\]\.num_nodes$"):
        HeteroGraph.from_pyg(data)


def test_a_task_of_hetero_data_names_what_reads_it() -> None:
    with pytest.raises(InputError, match=r"^a HeteroData becomes a typed graph by te\.HeteroGraph\.from_pyg"):
        te.task(data_of())
