"""The generated bookshop: the same for the same seed, and taste and knowledge help to recommend."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import trueedge as te
from trueedge import datasets
from trueedge.datasets.bookshop import GENRES, RELATIONS
from trueedge.errors import InputError
from trueedge.tasks.items import ItemTask


def test_the_bookshop_is_the_same_for_the_same_seed() -> None:
    first = te.load("bookshop:users=40,items=50,seed=3")
    assert first.hash == te.load("bookshop:seed=3,items=50,users=40").hash
    assert first.hash != te.load("bookshop:users=40,items=50,seed=4").hash
    assert first.name == "bookshop:users=40,items=50,seed=3"
    assert te.load("bookshop").hash == te.load("bookshop:users=300,items=200,seed=0").hash


def test_many_readers_are_generated_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trueedge.datasets.bookshop.BLOCK", 5000)
    data = te.load("bookshop:users=250,items=60,seed=1")
    assert (data.num_users, data.num_items) == (250, 60)
    assert data.user_counts.min() >= 6


def test_the_bookshop_has_ratings_times_and_a_knowledge_graph() -> None:
    data = te.load("bookshop")
    assert (data.num_users, data.num_items) == (300, 200)
    assert set(np.unique(data.ratings)) == {1, 2, 3, 4, 5}
    assert len(np.unique(data.times)) > 300
    assert (data.users[0], data.items[7]) == ("reader 0", "book 7")
    graph = data.knowledge
    assert graph.relations == RELATIONS
    assert graph.entities[:200] == data.items
    assert graph.entities[200 : 200 + len(GENRES)] == GENRES
    # Every book has an author, a genre and a publisher; every author writes a genre.
    heads, relations, _ = graph.triples.T
    for relation in (0, 1, 3):
        assert heads[relations == relation].tolist() == list(range(200))
    assert data.user_counts.min() >= 6
    # A few books are read far more often than most.
    assert np.sort(data.item_counts)[-20:].mean() > 2.5 * np.median(data.item_counts)


def test_liked_authors_get_higher_ratings() -> None:
    data = te.load("bookshop")
    graph = data.knowledge
    heads, relations, tails = graph.triples.T
    author = np.empty(200, dtype=np.int64)
    author[heads[relations == 0]] = tails[relations == 0]
    keys = data.pairs[:, 0].astype(np.int64) * graph.num_entities + author[data.pairs[:, 1]]
    _, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
    often = counts[inverse] >= 3
    assert data.ratings[often].mean() > data.ratings[~often].mean() + 0.3


def scores(task: ItemTask) -> dict[str, float]:
    """Return ndcg@20 by chance, by popularity, by similar books, and by these and the knowledge graph."""
    train = task.graph
    read = np.zeros((train.num_users, train.num_items))
    read[train.pairs[:, 0], train.pairs[:, 1]] = 1
    together = read.T @ read
    np.fill_diagonal(together, 0)
    popular = train.item_counts.astype(float)
    near = read @ (together / np.sqrt(np.outer(popular, popular) + 10))
    about = np.zeros((train.num_items, train.knowledge.num_entities))
    heads, _, tails = train.knowledge.triples[train.knowledge.triples[:, 0] < train.num_items].T
    about[heads, tails] = 1 / np.sqrt(train.knowledge.in_degrees[tails])
    alike = about @ about.T
    np.fill_diagonal(alike, 0)
    known = read @ alike
    tables = {
        "random": np.random.default_rng(0).random(read.shape),
        "popularity": np.tile(popular, (train.num_users, 1)),
        "similar": near,
        "knowledge": near / near.std() + 0.5 * known / known.std(),
    }
    return {name: task.evaluate(one, metrics=["ndcg@20"])["ndcg@20"] for name, one in tables.items()}


@pytest.mark.parametrize("seed", [0, 1])
def test_taste_and_knowledge_help_in_the_bookshop(seed: int) -> None:
    found = scores(te.task(f"bookshop:seed={seed}", "full-ranking"))
    assert found["random"] < 0.5 * found["popularity"]
    assert found["similar"] > 1.3 * found["popularity"]
    assert found["knowledge"] > 1.05 * found["similar"]


def test_the_bookshop_can_be_split_by_time() -> None:
    task = te.task("bookshop", "full-ranking", split="time")
    assert len(task.questions("test")) > 290


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ("users=many", "bookshop: users must be a whole number, got 'many'"),
        ("users=3", "bookshop: users must be a whole number from 10 to 1000000, got 3"),
        ("items=3", "bookshop: items must be a whole number from 40 to 100000, got 3"),
        ("books=3", "no setting of bookshop is called 'books'; there are: items, seed, users"),
        ("seed=-1", "random numbers: seed must be a whole number, 0 or more, got -1"),
        (
            "users=1000000,items=100000",
            "bookshop: 1000000 users and 100000 items are too many: lower one of them",
        ),
    ],
)
def test_wrong_settings_of_the_bookshop_are_named(settings: str, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        te.load(f"bookshop:{settings}")
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("field", "noun"),
    [
        ("num_nodes", "users and entities"),
        ("num_users", "users"),
        ("num_items", "items"),
        ("num_edges", "interactions"),
        ("num_relations", "relations"),
        ("num_triples", "triples"),
    ],
)
def test_a_card_of_interactions_compares_all_counts(field: str, noun: str) -> None:
    card = datasets.get("bookshop:users=30,items=40")
    with pytest.raises(InputError, match=f"the files hold [0-9]+ {noun}, the data set has 7"):
        replace(card, **{field: 7}).load()
