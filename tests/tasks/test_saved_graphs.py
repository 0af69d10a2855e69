"""A folder with a saved graph of any kind is data like the graph itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import trueedge as te
from trueedge.errors import InputError

SAVED = {
    "karate": "trueedge graph",
    "nations": "trueedge knowledge graph",
    "bibliography:authors=60": "trueedge typed graph",
    "bookshop:users=30,items=40": "trueedge interactions",
}


@pytest.mark.parametrize("name", SAVED)
def test_a_task_of_a_saved_graph_is_that_of_the_graph(name: str, tmp_path: Path) -> None:
    graph: Any = te.load(name)
    graph.save(tmp_path / "saved")
    expected = te.task(graph)
    for given in (tmp_path / "saved", str(tmp_path / "saved")):
        made = te.task(given)
        assert (made.hash, made.protocol, made.dataset) == (expected.hash, expected.protocol, graph.name)
    assert te.load(tmp_path / "saved").hash == graph.hash


def test_a_saved_typed_graph_without_labels_has_links_to_predict(tmp_path: Path) -> None:
    te.load("bibliography:authors=60").without_labels().save(tmp_path / "saved")
    assert te.task(tmp_path / "saved").protocol == "typed-links"


def test_a_damaged_saved_graph_is_refused_by_name(tmp_path: Path) -> None:
    te.load("karate").save(tmp_path / "saved")
    (tmp_path / "saved" / "edges.npy").unlink()
    with pytest.raises(InputError, match="saved is damaged"):
        te.task(tmp_path / "saved")
    (tmp_path / "saved" / "graph.json").write_text('{"format": ["other"]}')
    with pytest.raises(InputError, match=r"is not a saved graph: its graph\.json is something else"):
        te.task(tmp_path / "saved")
