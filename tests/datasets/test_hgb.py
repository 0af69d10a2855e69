"""Typed graphs of the catalogue: published ones have the sizes of their cards, the generated one is small."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

import trueedge as te
from trueedge import datasets
from trueedge.datasets.hgb import read_gatne, whole
from trueedge.errors import InputError

NAMES = [one.name for one in datasets.cards() if one.family == "hgb"]
# Nodes, node types, edges and relations as printed in HGB's Table 2.
PUBLISHED = {
    "dblp": (26128, 4, 239566, 6),
    "imdb": (21420, 4, 86642, 6),
    "acm": (10942, 4, 547872, 8),
    "freebase": (180098, 8, 1057688, 36),
    "amazon-hgb": (10099, 1, 148659, 2),
    "lastfm-hgb": (20612, 3, 141521, 3),
    "pubmed-hgb": (63109, 4, 244986, 10),
}


def test_counts_are_those_of_the_paper() -> None:
    found = {name: datasets.get(name) for name in NAMES}
    counts = {n: (c.num_nodes, c.num_types, c.num_edges, c.num_relations) for n, c in found.items()}
    assert counts == PUBLISHED
    assert {card.data for card in found.values()} == {"typed"}
    links = {name for name, card in found.items() if card.protocol == "typed-links"}
    assert links == {"amazon-hgb", "lastfm-hgb", "pubmed-hgb"}


@pytest.mark.data("hgb")
@pytest.mark.rotating(2)
@pytest.mark.parametrize("name", [name for name in NAMES if name != "freebase"])
def test_a_typed_graph_has_the_sizes_of_its_card(name: str, data_folder: Path) -> None:
    del data_folder
    # Loading compares the counts.
    graph, card = te.load(name), datasets.get(name)
    found = card.read_typed()
    assert graph.name == found.graph.name == name
    assert {check.state for check in datasets.verify(name)} == {"ok"}
    test = sum(map(len, found.test_links.values()))
    valid = sum(int(positive.sum()) for _, positive in found.valid_pairs.values())
    assert found.graph.num_edges + test + valid == graph.num_edges
    assert (card.protocol == "typed-links") == (test > 0)
    if card.protocol == "node-classification":
        share = found.graph.labels.test.mean()
        assert 0.69 < share < 0.71


@pytest.mark.data("hgb")
def test_published_test_pairs_hold_all_test_links_of_lastfm(data_folder: Path) -> None:
    del data_folder
    found = datasets.get("lastfm-hgb").read_typed()
    pairs, positive = found.test_pairs[0]
    assert (len(pairs), int(positive.sum())) == (37134, 18567)
    assert np.array_equal(np.unique(pairs[positive], axis=0), found.test_links[0])


def test_a_missing_archive_is_named_with_its_place(own_data: Path) -> None:
    with pytest.raises(datasets.MissingFile) as caught:
        te.load("freebase")
    assert str(own_data / "hgb" / "Freebase.zip") in str(caught.value)
    assert "https://github.com/THUDM/HGB" in str(caught.value)


def test_counts_that_differ_from_the_card_are_named(own_data: Path, put: Callable[..., Path]) -> None:
    put(own_data / "hgb/LastFM/node.dat", "0\t\t0\n1\t\t1\n2\t\t2\n")
    put(own_data / "hgb/LastFM/link.dat", "0\t1\t0\t1\n0\t0\t1\t1\n1\t2\t2\t1\n")
    put(own_data / "hgb/LastFM/link.dat.test", "0\t1\t0\t1\n")
    put(own_data / "hgb/LastFM/info.dat", "{}")
    put(own_data / "hgb/LastFM/LastFM_ini_0_label.txt", "0\n1\n1\n")
    with pytest.raises(InputError, match="lastfm-hgb: the files hold 3 nodes, the data set has 20612"):
        datasets.get("lastfm-hgb").load()


def test_gatne_files_give_pairs_with_labels(own_data: Path, put: Callable[..., Path]) -> None:
    put(own_data / "hgb/amazon/train.txt", "1 70 20\n2 20 70\n1 20 900\n1 70 20\n")
    put(own_data / "hgb/amazon/valid.txt", "1 70 900 1\n1 70 5 0\n")
    put(own_data / "hgb/amazon/test.txt", "2 5 20 1\n2 5 900 0\n1 5 70 1\n")
    card = datasets.get("amazon-hgb")
    found = read_gatne("mine", card.files)
    graph = found.graph
    assert graph.names == ("5", "20", "70", "900")
    assert [tuple(one) for one in graph.relations] == [("relation 1", 0, 0), ("relation 2", 0, 0)]
    assert [pairs.tolist() for pairs in graph.edges] == [[[1, 3], [2, 1]], [[1, 2]]]
    pairs, positive = found.valid_pairs[0]
    assert (pairs.tolist(), positive.tolist()) == ([[2, 3], [2, 0]], [True, False])
    assert {key: links.tolist() for key, links in found.test_links.items()} == {0: [[0, 2]], 1: [[0, 1]]}
    everything = whole("mine", lambda: found)
    assert [len(pairs) for pairs in everything.edges] == [4, 2]
    put(own_data / "hgb/amazon/test.txt", "2 5 20 7\n")
    with pytest.raises(InputError, match=r"test.txt: a label is 0 or 1, got 7"):
        read_gatne("mine", card.files)


def test_the_generated_bibliography_is_the_same_for_the_same_seed() -> None:
    first = te.load("bibliography:authors=60,seed=3")
    assert first.hash == te.load("bibliography:seed=3,authors=60").hash
    assert first.hash != te.load("bibliography:authors=60,seed=4").hash
    assert first.name == "bibliography:authors=60,seed=3"
    assert te.load("bibliography").hash == te.load("bibliography:authors=300").hash


def test_the_generated_bibliography_has_every_kind_of_features() -> None:
    graph = te.load("bibliography")
    assert graph.node_types == ("author", "paper", "term", "venue")
    assert isinstance(graph.features[0], np.ndarray)
    assert isinstance(graph.features[1], csr_array)
    assert graph.features[1].nnz < 0.1 * np.prod(graph.features[1].shape)
    assert graph.features[2:] == (None, None)
    assert (graph.labels.type, len(graph.labels.nodes)) == (0, 300)
    assert np.bincount(graph.labels.values).min() > 30
    # Every author has a paper, and the relation that is predicted by default is between these.
    assert len(np.unique(graph.edges[0][:, 0])) == 300
    assert max(map(len, graph.edges)) == len(graph.edges[0])


def test_classes_of_the_bibliography_can_be_learned_but_not_perfectly() -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_score

    graph = te.load("bibliography")
    writes = graph.adjacency(0)
    terms = writes @ graph.adjacency(1)
    found = cross_val_score(LogisticRegression(max_iter=1000), terms, graph.labels.values, cv=5).mean()
    alone = cross_val_score(
        LogisticRegression(max_iter=1000), graph.features[0], graph.labels.values, cv=5
    ).mean()
    majority = np.bincount(graph.labels.values).max() / 300
    assert majority < alone < 0.6 < found < 0.95


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ("authors=many", "bibliography: authors must be a whole number, got 'many'"),
        ("authors=3", "bibliography: authors must be a whole number from 20 to 1000000, got 3"),
        ("papers=3", "no setting of bibliography is called 'papers'; there are: authors, seed"),
        ("seed=-1", "random numbers: seed must be a whole number, 0 or more, got -1"),
    ],
)
def test_wrong_settings_of_the_bibliography_are_named(settings: str, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        te.load(f"bibliography:{settings}")
    assert str(caught.value) == sentence


def test_a_typed_card_compares_all_counts() -> None:
    card = datasets.get("bibliography:authors=30")
    for field, noun in (
        ("num_types", "node types"),
        ("num_relations", "relations"),
        ("num_features", "features"),
    ):
        with pytest.raises(InputError, match=f"the files hold [0-9]+ {noun}, the data set has 7"):
            replace(card, **{field: 7}).load()
