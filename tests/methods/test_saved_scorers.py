"""Every method of the catalogue: its scorer is saved, loaded, and gives the same bits."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import trueedge as te
from small_interactions import small_interactions
from trueedge.methods import catalogue, create, get
from trueedge.scorers.fitted import fit_of
from typed_graphs import small_graph

METHODS = sorted(kind.name for kind in catalogue() if kind.__module__.startswith("trueedge."))
# Fits that take no longer than reading their result: these are repeated when a scorer is loaded.
QUICK_FAMILIES = {"heuristics", "counting", "voting"}
QUICK = {"item-knn"}
# Methods whose scorers cannot be saved, with the reason.
UNSAVED: dict[str, str] = {}
# What makes a fit short, where a method has such a setting.
SHORT = {
    "epochs": 2,
    "evaluate_every": 1,
    "dim": 8,
    "vector_dim": 8,
    "position_dim": 8,
    "walks": 2,
    "walk_length": 8,
    "passes": 1,
    "window": 3,
    "pretrain_epochs": 2,
    "pretrain_dim": 8,
    "context_steps": 3,
    "heads": 2,
    "layers": 2,
    "batch_size": 64,
}
ONLY = {"lpformer": {"dim": 16}, "seal": {"hops": 1}, "conve": {"dim": 60}, "compgcn": {"dim": 60}}


@functools.cache
def task_for(data: str, kind: str):
    """A small task on some data."""
    rng = np.random.default_rng(0)
    if data == "interactions":
        return te.task(small_interactions(knowledge=True, named=True), seed=0)
    if data == "typed":
        return te.task(small_graph(), "node-classification" if kind == "nodes" else "typed-links", seed=0)
    if data == "triples":
        triples = np.unique(np.column_stack([rng.integers(0, n, 200) for n in (30, 3, 30)]), axis=0)
        names = [f"thing-{number}" for number in range(30)]
        graph = te.KnowledgeGraph.from_triples(triples, entities=names, relations=["is", "has", "likes"])
        return te.task(graph, "filtered", seed=0)
    inside = np.array([(a, b) for a in range(12) for b in range(a + 1, 12)])
    edges = np.concatenate([12 * clique + inside for clique in range(4)])
    kept = edges[rng.permutation(len(edges))[:180]]
    labels = [f"node-{number}" for number in range(50)]
    graph = te.Graph.from_edges(kept, 50, rng.random((50, 5)), labels=labels, name="cliques")
    return te.task(graph, "existing", seed=0)


def short(name):
    """The method with settings that make its fit short."""
    wanted = {**SHORT, **ONLY.get(name.partition("+")[0], {})}
    own = get(name).space()
    return create(
        name, {key: value for key, value in wanted.items() if key in own and own[key].admits(value)}
    )


def answers(task, scorer):
    """The scores of fifty questions, as bytes."""
    if task.kind == "link":
        return scorer.score(np.random.default_rng(1).integers(0, task.num_nodes, (50, 2))).tobytes()
    rows = task.questions("test")[:50].astype(np.int64)
    return np.asarray(task.bind(scorer, "test").score(rows)).tobytes()


@pytest.mark.rotating(3)
@pytest.mark.parametrize("name", METHODS)
def test_a_loaded_scorer_gives_the_bits_of_the_saved_one(name, tmp_path):
    kind = get(name)
    task = task_for(kind.takes[0], (kind.kinds or ("",))[0])
    scorer = short(name).fit(task, seed=3)
    if name in UNSAVED:
        with pytest.raises(te.InputError, match=name):
            te.save(scorer, tmp_path / "model")
        return
    te.save(scorer, tmp_path / "model")
    learned = fit_of(scorer).steps.done
    assert bool(learned) == (kind.family not in QUICK_FAMILIES and name not in QUICK)
    loaded = te.load_scorer(tmp_path / "model")
    assert type(loaded) is type(scorer)
    assert answers(task, loaded) == answers(task, scorer)
    assert getattr(loaded, "history", None) == getattr(scorer, "history", None)
    # Another seed or a new training would give other bits: what was saved is what is used.
    assert fit_of(loaded).task.training_hash == task.training_hash
    assert "test" not in fit_of(loaded).task.part_names or task.kind == "communities"


@pytest.mark.parametrize("triple_loss", [False, True])
def test_the_attention_of_kgat_is_saved_with_its_weights(triple_loss, tmp_path):
    task = task_for("interactions", "")
    settings = {"epochs": 2, "evaluate_every": 1, "dim": 8, "pretrain_epochs": 2, "triple_loss": triple_loss}
    scorer = create("kgat", settings).fit(task, seed=3)
    loaded = te.load_scorer(te.save(scorer, tmp_path / "model"))
    assert answers(task, loaded) == answers(task, scorer)
