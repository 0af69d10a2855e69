"""A setting of a model of typed graphs that does nothing is refused, or named in a warning."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import trueedge as te
from trueedge import methods
from trueedge.errors import InputError, ScoreWarning
from trueedge.methods.method import METHODS
from trueedge.methods.typed.gcn import TypedGCN
from trueedge.tasks.base import KINDS

NODES = te.task("bibliography")
LINKS = te.task("bibliography", "typed-links", relation="author-paper")


def test_a_setting_belongs_to_a_known_kind_of_task() -> None:
    kinds = [limits.only for one in methods.catalogue() for limits in one.space().values() if limits.only]
    assert {KINDS.get(kind).kind for kind in kinds} == {"nodes", "typed-links"}


@pytest.mark.parametrize(
    ("method", "settings", "task", "said"),
    [
        ("hgt", {"redraw_valid": True, "heads": 2}, NODES, ["hgt: redraw_valid=True has no effect in node"]),
        ("hgt", {"redraw_valid": True, "heads": 2}, LINKS, []),
        ("gcn-hetero", {"fixed_negatives": True}, NODES, ["gcn-hetero: fixed_negatives=True has no effect"]),
        (
            "hetsann",
            {"cycle_loss": 0.1, "matrices": "types"},
            LINKS,
            ["hetsann: cycle_loss=0.1 has no effect"],
        ),
        (
            "gatne",
            {"decoder": "bilinear"},
            LINKS,
            ["gatne: decoder=bilinear has no effect in link prediction"],
        ),
        ("hetgnn", {"layers": 2}, LINKS, ["hetgnn: layers=2 has no effect"]),
    ],
)
def test_a_setting_that_the_task_does_not_use_is_named(
    method: str, settings: dict[str, Any], task: te.tasks.Task, said: list[str]
) -> None:
    made = methods.create(method, settings)
    found = made.without_effect(task)
    assert [one[: len(start)] for one, start in zip(found, said, strict=True)] == said


@pytest.mark.parametrize(
    ("task", "kept", "features", "said"),
    [
        (NODES, (), "all", "features=all has no effect: bare has no features"),
        (NODES, (), "target", "features=target has no effect: bare has no features"),
        (NODES, (1,), "target", "features=target has no effect: nodes of type 'author' have no features"),
        (NODES, (1,), "all", ""),
        (NODES, (), "one-hot", ""),
        (NODES, (), "target-only", ""),
        (LINKS, (1,), "target", "features=target has no effect: links have no target type"),
        (LINKS, (1,), "all", ""),
    ],
)
def test_features_that_no_node_keeps_are_named(
    task: Any, kept: tuple[int, ...], features: str, said: str
) -> None:
    tables = [task.graph.features[1] if number in kept else None for number in range(task.graph.num_types)]
    bare = replace(task, dataset="bare", graph=replace(task.graph, features=tuple(tables)))
    method = methods.create("gcn-hetero", {"features": features})
    found = method.without_effect(bare)
    assert len(found) == bool(said), found
    assert all(one.startswith(f"gcn-hetero: {said}") for one in found), found


def _said(fit: Callable[[], object]) -> list[str]:
    """Return what is said of settings without effect."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit()
    return [str(one.message) for one in caught if "no effect" in str(one.message)]


@pytest.mark.parametrize("filled", [False, True])
def test_a_setting_without_effect_is_named_once_whoever_fills_in_the_others(filled: bool) -> None:
    method = methods.create("rgcn-hetero", {"centred": True, "epochs": 1, "dim": 8, "features": "one-hot"})
    wanted = ["rgcn-hetero: centred=True has no effect in node classification"]
    given = method.for_task(NODES) if filled else method
    # The settings of links that were filled in for nodes are no concern of the user's.
    assert _said(lambda: given.fit(NODES)) == wanted
    assert [one for one in te.run(NODES, method=given).warnings if "no effect" in one] == wanted
    assert _said(lambda: replace(given, epochs=2).fit(NODES)) == wanted


def test_a_setting_is_named_though_it_would_have_been_filled_in() -> None:
    method = methods.create("gcn-hetero", {"decoder": "dot", "epochs": 1, "dim": 8, "features": "one-hot"})
    wanted = ["gcn-hetero: decoder=dot has no effect in node classification"]
    assert _said(lambda: method.fit(NODES)) == wanted
    assert [one for one in te.run(NODES, method=method).warnings if "no effect" in one] == wanted


def test_a_fit_that_calls_the_fit_of_its_parent_names_a_setting_once() -> None:
    with METHODS.restored():

        class Own(TypedGCN):
            name = "own-gcn-hetero"

            def fit(self, task: te.tasks.Task, seed: int = 0, device: str = "cpu") -> object:
                return super().fit(task, seed, device)

        said = _said(lambda: Own(fixed_negatives=True, epochs=1, dim=8, features="one-hot").fit(NODES))
    assert said == ["own-gcn-hetero: fixed_negatives=True has no effect in node classification"]


def test_a_fit_and_a_record_name_such_a_setting_once() -> None:
    method = methods.create("gcn-hetero", {"fixed_negatives": True, "epochs": 1, "features": "one-hot"})
    with pytest.warns(ScoreWarning, match="fixed_negatives=True has no effect in node classification"):
        method.fit(NODES)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", ".* has no effect")
        method.fit(LINKS)
    said = [one for one in te.run(NODES, method=method).warnings if "no effect" in one]
    assert said == ["gcn-hetero: fixed_negatives=True has no effect in node classification"]


@pytest.mark.parametrize("method", ["hgt", "rgcn-hetero"])
def test_a_setting_of_links_that_has_no_effect_is_not_refused_for_nodes(method: str) -> None:
    settings = {"redraw_valid": True, "select": "macro-f1", "epochs": 1, "dim": 8, "features": "one-hot"}
    said = te.run(NODES, method=methods.create(method, settings)).warnings
    assert f"{method}: redraw_valid=True has no effect in node classification" in said


def test_a_search_of_gatne_leaves_out_what_it_does_not_use() -> None:
    from trueedge.search.space import Space

    gatne = methods.create("gatne")
    assert set(Space.of(gatne, unused=gatne.unused("typed-links")).values) == {
        "learning_rate",
        "weight_decay",
        "dim",
    }


@pytest.mark.parametrize(
    ("method", "settings", "said"),
    [
        ("hgt", {"cycle_beta": True}, "cycle_beta needs a cycle"),
        (
            "hgt",
            {"redraw_valid": True, "select": "roc-auc"},
            "redraw_valid .* needs select=loss, got roc-auc",
        ),
        (
            "rgcn-hetero",
            {"centred": True, "decoder": "bilinear"},
            "centred needs decoder=distmult, got bilinear",
        ),
        ("rgcn-hetero", {"every_relation": True, "decoder": "dot"}, "every_relation needs decoder=distmult"),
        ("magnn", {"any_source": True}, "magnn: any_source needs batches=published"),
        ("magnn", {"kept_instances": 9}, "magnn: kept_instances needs batches=published"),
        ("magnn", {"captured": True}, "magnn: captured needs batches=published"),
        ("magnn", {"batches": "published", "decoder": "dot", "kept_instances": 9}, "must be above instances"),
    ],
)
def test_a_setting_that_would_do_nothing_is_refused(method: str, settings: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        methods.create(method, {**settings, "epochs": 1, "features": "all"}).fit(LINKS)
