"""Splits of triples: random ones, folders, inductive pairs, published files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueedge.errors import InputError
from trueedge.graph import KnowledgeGraph
from trueedge.splits import triples as ts

RING = [(f"e{one}", f"r{one % 2}", f"e{(one + step) % 12}") for one in range(12) for step in (1, 2, 5)]


def write(folder: Path, **parts: list[tuple[str, str, str]]) -> Path:
    """Write a folder of triples."""
    folder.mkdir(parents=True, exist_ok=True)
    for part, triples in parts.items():
        (folder / f"{part}.txt").write_text("".join("\t".join(triple) + "\n" for triple in triples))
    return folder


@given(seed=st.integers(0, 10**6), count=st.integers(20, 120), entities=st.integers(3, 15))
@settings(max_examples=40, deadline=None)
def test_a_random_split_keeps_every_entity_and_relation_in_training(seed, count, entities) -> None:
    rng = np.random.default_rng(seed)
    drawn = np.column_stack([rng.integers(0, limit, count) for limit in (entities, 4, entities)])
    graph = KnowledgeGraph.from_triples(drawn, entities, 4, repeats="drop")
    try:
        found = ts.random_split(graph, (0.6, 0.2, 0.2), seed)
    except InputError:
        with pytest.raises(InputError, match="leaves no triple to test on"):
            ts.random_split(graph, (0.6, 0.2, 0.2), seed)
        return
    pieces = [found.train.triples, found.valid, found.test]
    together = np.concatenate(pieces)
    assert sorted(map(tuple, together.tolist())) == sorted(map(tuple, graph.triples.tolist()))
    ts.check_disjoint(found)
    for part in (found.valid, found.test):
        assert np.isin(part[:, [0, 2]], found.train.triples[:, [0, 2]]).all()
        assert np.isin(part[:, 1], found.train.triples[:, 1]).all()
    again = ts.random_split(graph, (0.6, 0.2, 0.2), seed)
    assert again.hash == found.hash


def test_another_seed_gives_another_split() -> None:
    graph = KnowledgeGraph.from_triples(RING)
    assert ts.random_split(graph, seed=0).hash != ts.random_split(graph, seed=1).hash


def test_a_folder_without_valid_has_two_parts(tmp_path: Path) -> None:
    found = ts.from_folder(write(tmp_path / "mine", train=RING[:30], test=RING[30:]))
    assert list(found.parts) == ["test"]
    assert found.train.name == "mine"


def test_numbers_follow_the_order_of_appearance_in_train_valid_test(tmp_path: Path) -> None:
    found = ts.from_folder(
        write(tmp_path / "x", train=[("b", "s", "a")], valid=[("c", "r", "a")], test=[("d", "s", "b")])
    )
    assert found.train.entities == ("b", "a", "c", "d")
    assert found.train.relations == ("s", "r")


def test_an_inductive_folder_keeps_entities_apart_and_relations_together(tmp_path: Path) -> None:
    seen = write(tmp_path / "x", train=RING[:20], valid=RING[20:28], test=RING[28:])
    other = [(h.upper(), r, t.upper()) for h, r, t in RING]
    write(tmp_path / "x_ind", train=other[:20], valid=other[20:28], test=other[28:])
    found = ts.from_folder(seen)
    assert found.facts is not None
    assert found.facts.relations == found.train.relations
    assert not set(found.facts.entities) & set(found.train.entities)
    assert len(found.test) == len(found.known) == 8
    assert found.notes == ("5 test triples have an entity without a fact in the test graph",)
    assert ts.from_folder(seen, inductive=False).facts is None


def test_shared_entities_and_new_relations_of_an_inductive_pair_are_named(tmp_path: Path) -> None:
    seen = write(tmp_path / "x", train=RING[:20], valid=RING[20:28], test=RING[28:])
    other = [(h.upper(), r, t.upper()) for h, r, t in RING]
    write(tmp_path / "x_ind", train=[*other[:20], ("e1", "new", "E3")], test=other[28:])
    found = ts.from_folder(seen)
    assert "one entity of the test graph is also in the training graph: e1" in found.notes
    assert any("no training triple" in note for note in found.notes)


@pytest.mark.data("kg/GraIL")
def test_wn18rr_v3_shares_eight_entities(data_folder: Path) -> None:
    del data_folder
    (note,) = ts.published("wn18rr-v3").notes
    assert note.startswith("8 entities of the test graph are also in the training graph")
