"""Data sets of recommendation: published ones have the sizes of their cards."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import trueedge as te
from trueedge import datasets
from trueedge.errors import InputError

# Users, items, interactions, entities, relations and triples, counted in the files by other means.
COUNTS = {
    "ml-1m-kg": (6036, 2347, 301509 + 75377, 6729, 7, 20195),
    "lastfm-kg": (1872, 3846, 21173, 9366, 60, 15518),
    "ml-100k-kg": (943, 1682, 100000, 34628 + 84, 24, 91631),
    "amazon-book": (70679, 24915, 652514 + 193920, 24915, 0, 0),
}
TEST = {"ml-1m-kg": 75377, "amazon-book": 193920}


def test_cards_have_the_known_counts() -> None:
    cards = {card.name: card for card in datasets.cards() if card.family == "kgrec"}
    found = {
        name: (c.num_users, c.num_items, c.num_edges, c.num_entities, c.num_relations, c.num_triples)
        for name, c in cards.items()
    }
    assert found == COUNTS
    assert {(card.data, card.protocol) for card in cards.values()} == {("interactions", "full-ranking")}
    assert all(file.sha256 for card in cards.values() for file in card.files)


@pytest.mark.data("kgrec")
@pytest.mark.rotating(2)
@pytest.mark.parametrize("name", COUNTS)
def test_a_data_set_has_the_sizes_of_its_card(name: str, data_folder: Path) -> None:
    del data_folder
    data = te.load(name)  # which compares the counts
    assert data.name == name
    assert {check.state for check in datasets.verify(name)} == {"ok"}
    assert (0 if data.test is None else int(data.test.sum())) == TEST.get(name, 0)
    assert len(data.items) == data.num_items
    if name == "ml-100k-kg":
        assert (data.ratings.min(), data.ratings.max()) == (1, 5)
        assert data.times.min() > 8e8
    if name == "lastfm-kg":
        assert data.ratings.min() >= 1


@pytest.mark.data("kgrec/ml-1m")
def test_the_one_cold_user_of_movielens_is_in_the_test_part(data_folder: Path) -> None:
    del data_folder
    task = te.task("ml-1m-kg", "full-ranking")
    assert task.settings["split"] == "published test part"
    assert "1 user has test items but no training items" in task.settings["notes"]
    cold = np.setdiff1d(task.questions("test"), task.graph.pairs[:, 0])
    assert cold.tolist() == [2685]


def test_a_missing_file_is_named_with_its_place(own_data: Path) -> None:
    with pytest.raises(datasets.MissingFile) as caught:
        te.load("amazon-book")
    assert str(own_data / "kgrec" / "amazon-book" / "train.txt") in str(caught.value)
    assert "knowledge_graph_attention_network" in str(caught.value)


def test_only_the_files_of_the_card_are_read(own_data: Path, put: Callable[..., Path]) -> None:
    folder = own_data / "kgrec" / "amazon-book"
    put(folder / "train.txt", "0 0 1\n1 1\n")
    put(folder / "test.txt", "0 2\n")
    put(folder / "user_list.txt", "a 0\nb 1\n")
    put(folder / "item_list.txt", "x 0\ny 1\nz 2\n")
    put(folder / "kg_final.txt", "this is no triple")
    card = datasets.get("amazon-book")
    data = card.read()
    assert (data.num_users, data.num_items, data.knowledge) == (2, 3, None)
    with pytest.raises(InputError, match="the files hold 5 users and entities, the data set has 95594"):
        card.load()


def test_a_card_is_shown_with_users_items_and_triples(trueedge: Callable[..., tuple[int, str, str]]) -> None:
    status, out, _ = trueedge("datasets", "ml-1m-kg")
    assert status == 0
    shown = {line.split()[0]: line.split()[1] for line in out.splitlines() if len(line.split()) == 2}
    assert shown["users"] == "6,036"
    assert shown["items"] == "2,347"
    assert shown["interactions"] == "376,886"
    assert shown["entities"] == "6,729"
    assert shown["triples"] == "20,195"
    _, out, _ = trueedge("datasets", "amazon-book")
    assert "triples" not in out
