"""HAN, MAGNN, GTN, HetGNN and GATNE, fitted to small tasks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.typed_graphs import small_graph

import trueedge as te
from trueedge import methods
from trueedge.errors import InputError
from trueedge.methods.published_settings import _table

NAMES = ("han", "magnn", "gtn", "hetgnn")
QUICK = {"features": "all", "epochs": 30, "learning_rate": 0.01, "dropout": 0.0}
OWN = {
    "han": {"dim": 4, "heads": 2, "features": "target"},
    "magnn": {"dim": 16, "heads": 2, "instances": 10},
    "gtn": {"dim": 16},
    "hetgnn": {"dim": 16, "neighbors": 4, "context_steps": 60, "epochs": 200},
    "gatne": {"dim": 16, "edge_dim": 4, "attention_dim": 4, "batch_size": 2000, "epochs": 15},
}


def fitted(name, task, seed=0, **settings):
    return methods.create(name, {**QUICK, **OWN[name], **settings}).fit(task, seed)


def links():
    return te.task(small_graph(), "typed-links", relation="author-paper")


@pytest.mark.parametrize("name", NAMES)
def test_a_fitted_model_knows_more_than_the_most_frequent_class(name):
    task = te.task(small_graph(authors=200, papers=300))
    found = task.evaluate(fitted(name, task))
    common = task.evaluate(methods.create("majority").fit(task))
    assert found["micro-f1"] > common["micro-f1"] + 0.1


@pytest.mark.parametrize("name", NAMES)
def test_nodes_with_several_classes_get_a_logit_for_each_and_the_same_seed_the_same_bits(name):
    task = te.task(small_graph(multi=True))
    nodes = task.nodes["test"]
    quick = {"epochs": 3} | ({"context_steps": 3} if name == "hetgnn" else {})
    first, second = (fitted(name, task, **quick).predict(nodes) for _ in range(2))
    assert first.shape == (len(nodes), 3)
    assert np.isfinite(first).all()
    assert np.array_equal(first, second)


@pytest.mark.parametrize("name", ["magnn", "hetgnn", "gatne"])
def test_links_are_scored_and_the_same_seed_gives_the_same_bits(name):
    task = links()
    asked = task.questions("test")
    quick = {"epochs": 3, "decoder": "dot"}
    quick |= {"hetgnn": {"context_steps": 3}, "gatne": {"walk_length": 6, "window": 2}}.get(name, {})
    first, second, other = (fitted(name, task, seed, **quick).score_links(asked) for seed in (0, 0, 1))
    assert np.isfinite(first).all()
    assert np.array_equal(first, second)
    assert not np.array_equal(first, other)


def test_gatne_scores_training_links_above_random_ones():
    task = links()
    quick = {"walk_length": 10, "window": 2, "batch_size": 500, "epochs": 10, "learning_rate": 0.05}
    scorer = fitted("gatne", task, **quick)
    known = np.insert(task.graph.edges[0].astype(np.int64), 1, 0, axis=1)
    other = known.copy()
    other[:, 2] = np.random.default_rng(0).choice(task.graph.nodes_of(1), len(other))
    assert scorer.score_links(known).mean() > scorer.score_links(other).mean() + 0.2


@pytest.mark.parametrize("name", ["han", "gtn", "majority", "label-propagation"])
def test_models_of_classes_refuse_links(name):
    with pytest.raises(InputError, match=f"{name} is for node classification, and typed-links is another"):
        methods.create(name).fit(links())


def test_gatne_refuses_classes():
    with pytest.raises(InputError, match="gatne is for link prediction, and node-classification is another"):
        fitted("gatne", te.task(small_graph()))


def test_hetgnn_can_be_trained_for_classes():
    task = te.task(small_graph(authors=200, papers=300))
    found = task.evaluate(fitted("hetgnn", task, supervised=True, aggregate="mean", epochs=40))
    common = task.evaluate(methods.create("majority").fit(task))
    assert found["micro-f1"] > common["micro-f1"] + 0.1


@pytest.mark.parametrize("name", ["han", "magnn"])
def test_own_meta_paths_are_followed(name):
    task = te.task(small_graph())
    paths = "author-paper-author, author-paper-(paper-cites-paper)-paper-author, paper-term-paper"
    logits = fitted(name, task, metapaths=paths, epochs=2, layers=2).predict(task.nodes["test"])
    default = fitted(name, task, epochs=2, layers=2).predict(task.nodes["test"])
    assert np.isfinite(logits).all()
    assert not np.array_equal(logits, default)


@pytest.mark.parametrize("name", ["han", "magnn"])
@pytest.mark.parametrize(
    ("paths", "words"),
    [
        ("author-book-author", "no node type of small is called 'book'"),
        ("author-term-author", "a step without edges: author-term"),
        ("paper-term-paper", "none of the meta-paths 'paper-term-paper' leads from author to author"),
        ("", "metapaths is empty"),
    ],
)
def test_bad_meta_paths_are_refused(name, paths, words):
    with pytest.raises(InputError, match=words):
        fitted(name, te.task(small_graph()), metapaths=paths)


def test_magnn_needs_a_path_for_both_ends_of_a_link():
    with pytest.raises(InputError, match="leads from paper to paper"):
        fitted("magnn", links(), metapaths="author-paper-author", decoder="dot")


@pytest.mark.parametrize(
    ("name", "settings", "words"),
    [
        ("gtn", {"drop_types": "book"}, "no node type of small is called 'book'"),
        ("gtn", {"drop_types": "author"}, "drop_types holds 'author', the type that is classified"),
        ("magnn", {"dim": 7}, "magnn: dim must be even, got 7"),
        ("hetgnn", {"dim": 7}, "hetgnn: dim must be even, got 7"),
        ("hetgnn", {"window": 30}, "window must be below walk_length, which is 30"),
    ],
)
def test_settings_that_do_not_fit_are_refused(name, settings, words):
    with pytest.raises(InputError, match=words):
        fitted(name, te.task(small_graph()), **settings)


def test_gatne_cannot_select_by_the_loss_of_walks():
    with pytest.raises(InputError, match="gatne: select must be a metric"):
        fitted("gatne", links(), select="loss")


def test_gtn_without_a_type_gives_other_logits():
    task = te.task(small_graph())
    whole, part = (
        fitted("gtn", task, drop_types=types, epochs=3).predict(task.nodes["test"]) for types in ("", "term")
    )
    assert not np.array_equal(whole, part)


def test_the_best_epoch_is_chosen_by_f1_if_nodes_have_several_classes():
    for multi, wanted in ((False, "loss"), (True, "micro-f1")):
        task = te.task(small_graph(multi=multi))
        assert methods.create("han").for_task(task).select == wanted
        assert methods.create("gtn", {"select": "macro-f1"}).for_task(task).select == "macro-f1"


def test_published_meta_paths_are_taken_for_their_data_set():
    task = replace(te.task(small_graph()), dataset="dblp")
    paths = methods.create("han").for_task(task).metapaths
    assert paths == ("author-paper-author, author-paper-term-paper-author, author-paper-venue-paper-author")
    counts = {
        dataset: len(found["metapaths"].split(","))
        for (paper, dataset, _), found in _table().items()
        if paper == "hgb" and "metapaths" in found
    }
    assert counts == {"dblp": 3, "imdb": 6, "acm": 6, "freebase": 7, "lastfm-hgb": 6}


@pytest.mark.parametrize("name", [*NAMES, "gatne"])
def test_every_published_setting_is_one_that_can_be_filled_in(name):
    kind = methods.get(name)
    for (paper, dataset, method), found in _table().items():
        if (paper, method) == ("hgb", name):
            closed = [key for key in found if getattr(kind(), key) is not None]
            assert closed == [], f"{dataset}: {closed}"
