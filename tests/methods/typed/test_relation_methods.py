"""R-GCN, HGT, HetSANN and RSHN, fitted to small tasks."""

from __future__ import annotations

import numpy as np
import pytest
from tests.typed_graphs import small_graph

import trueedge as te
from trueedge import methods
from trueedge.errors import InputError

NAMES = ("rgcn-hetero", "hgt", "hetsann", "rshn")
QUICK = {"features": "target", "epochs": 30, "learning_rate": 0.01, "dropout": 0.0, "layers": 2}


def fitted(name, task, **settings):
    return methods.create(name, {**QUICK, **settings}).fit(task)


@pytest.mark.parametrize("name", NAMES)
def test_a_fitted_model_knows_more_than_the_most_frequent_class(name):
    task = te.task(small_graph())
    found = task.evaluate(fitted(name, task))
    common = task.evaluate(methods.create("majority").fit(task))
    assert found["micro-f1"] > common["micro-f1"] + 0.1


@pytest.mark.parametrize("name", NAMES)
def test_nodes_with_several_classes_get_a_logit_for_each(name):
    task = te.task(small_graph(multi=True))
    logits = fitted(name, task, epochs=3).predict(task.nodes["test"])
    assert logits.shape == (len(task.nodes["test"]), 3)
    assert np.isfinite(logits).all()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("decoder", ["dot", "distmult"])
def test_links_are_scored_and_the_same_seed_gives_the_same_bits(name, decoder):
    task = te.task(small_graph(), "typed-links", relation="author-paper")
    asked = task.questions("test")
    scores = [fitted(name, task, epochs=3, decoder=decoder).score_links(asked) for _ in range(2)]
    assert np.isfinite(scores[0]).all()
    assert np.array_equal(*scores)


def test_hgt_names_a_size_that_its_heads_do_not_divide():
    with pytest.raises(InputError, match="dim must be a multiple of heads; got dim 20 and 8 heads"):
        fitted("hgt", te.task(small_graph()), dim=20)


def test_rgcn_names_blocks_that_do_not_divide_its_sizes():
    task = te.task(small_graph(), "typed-links", relation="author-paper")
    with pytest.raises(InputError, match="blocks must divide dim and the number of classes; got 3 blocks"):
        fitted("rgcn-hetero", task, dim=8, blocks=3, decoder="dot")
    with pytest.raises(InputError, match="set bases or blocks, not both"):
        fitted("rgcn-hetero", task, blocks=2, bases=2, decoder="dot")
