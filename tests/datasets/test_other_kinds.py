"""``te.load`` says what reads the folders and archives that it does not read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.interaction_folders import KGAT, KGCN, RECBOLE, put

import trueedge as te
from trueedge.errors import InputError
from trueedge.graph.graph_folders import LOADERS

HGB = {
    "link.dat": "0\t2\t0\t1\n1\t2\t0\t1\n",
    "node.dat": "0\tann\t0\n1\tbob\t0\n2\tp\t1\n",
    "info.dat": '{"node.dat": {"node type": {"0": "author", "1": "paper"}}}',
}
TRIPLES = {"train.txt": "a\tr\tb\nb\tr\tc\n", "test.txt": "a\tr\tc\n"}


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        (
            HGB,
            "holds a typed graph in HGB's format: te.HeteroGraph.from_hgb reads it, and te.task or 'trueedge",
        ),
        ({"label.dat": "0\tann\t0\t1\n"}, "holds a typed graph in HGB's format"),
        (
            TRIPLES,
            "holds the parts of a knowledge graph: te.task or 'trueedge run' makes a task of it, and te.Kn",
        ),
        (KGAT, "holds interactions of users with items: te.Interactions.from_path reads it, and te.task or"),
        (RECBOLE, "holds interactions of users with items: te.Interactions.from_path reads it"),
        (KGCN, "holds interactions of users with items: te.Interactions.from_path reads it"),
        (
            {"train.txt": "1 2 3\n2 3 4\n", "test.txt": "1 2 3\n"},
            "holds triples or interactions: te.task or 'trueedge run' makes a task of it, with the protocol"
            " filtered for triples or full-ranking for interactions",
        ),
        ({"task.json": "{}"}, "is a saved task: te.load_task reads it"),
    ],
)
def test_a_folder_of_another_kind_is_named_with_what_reads_it(
    files: Mapping[str, str], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = put(tmp_path / "mine", files)
    monkeypatch.chdir(tmp_path)
    for given in (folder, str(folder), "mine", "./mine"):
        with pytest.raises(InputError) as caught:
            te.load(given)
        assert str(caught.value).startswith(f"{given} {sentence}")


def test_columns_do_not_hide_what_reads_a_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"te\.HeteroGraph\.from_hgb reads it"):
        te.load(put(tmp_path / "mine", HGB), source=0, target=1)


def test_what_the_sentence_names_reads_the_folder(tmp_path: Path) -> None:
    assert te.HeteroGraph.from_hgb(put(tmp_path / "typed", HGB)).num_edges == 2
    assert te.Interactions.from_path(put(tmp_path / "shop", RECBOLE)).num_users == 2
    assert te.task(put(tmp_path / "facts", TRIPLES)).kind == "triples"


def test_a_zip_archive_is_no_edge_list(tmp_path: Path) -> None:
    archive = tmp_path / "edges.zip"
    archive.write_bytes(b"PK\x03\x04")
    with pytest.raises(InputError, match=r"is a zip archive: if it is in HGB's format, te\.HeteroGraph"):
        te.load(archive)


@pytest.mark.parametrize("name", ["nations", "bibliography:authors=60", "bookshop:users=30,items=40"])
def test_a_saved_graph_of_another_kind_is_named_with_its_class(name: str, tmp_path: Path) -> None:
    graph: Any = te.load(name)
    graph.save(tmp_path / "saved")
    own = type(graph).__name__
    assert te.load(tmp_path / "saved").hash == graph.hash
    for reader in (te.Graph.load, te.KnowledgeGraph.load, te.HeteroGraph.load, te.Interactions.load):
        if getattr(reader, "__self__", None) is type(graph):
            assert reader(tmp_path / "saved").hash == graph.hash
        else:
            with pytest.raises(InputError, match=rf"saved .*: te\.{own}\.load reads it$"):
                reader(tmp_path / "saved")
    assert all(hasattr(te, one) for one in LOADERS.values())


def test_a_file_of_a_typed_graph_is_named_with_what_reads_its_folder(tmp_path: Path) -> None:
    folder = put(tmp_path / "mine", HGB)
    said = "belongs to the typed graph in mine: te.HeteroGraph.from_hgb reads the folder"
    with pytest.raises(InputError, match=f"; node.dat {said}"):
        te.load(folder / "node.dat")
    assert te.load(folder / "link.dat", source=0, target=1).notes[-1] == f"link.dat {said}"


def test_a_folder_of_records_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    put(tmp_path / "runs", {"records.sqlite": ""})
    with pytest.raises(InputError, match=r"^runs holds records of runs and no graph: te\.Store reads it$"):
        te.load("runs")


def test_a_folder_by_name_is_no_data_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    put(tmp_path / "emp", {})
    with pytest.raises(InputError, match="at emp, a folder without known files"):
        te.load("emp")


def test_other_folders_and_long_names_hold_nothing(tmp_path: Path) -> None:
    for place in (put(tmp_path / "empty", {}), tmp_path / ("y" * 300)):
        with pytest.raises(InputError, match="there is no edge list and no saved graph at"):
            te.load(place)
