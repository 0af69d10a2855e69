"""The benchmark of what HGB's code does differently."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.hgb_causes import (  # noqa: E402
    CASES,
    Trainings,
    is_in,
    macro_f1_of_means,
    summary,
    task_of,
    write,
)
from benchmarks.hgb_links import (  # noqa: E402
    links_of_seen_nodes,
    ordered_scores,
    published_validation,
    random_pair_scores,
)

import trueedge as te  # noqa: E402
from trueedge import methods  # noqa: E402
from trueedge.tasks import TypedLinkTask  # noqa: E402


def test_links_of_nodes_without_training_edges_are_left_out() -> None:
    graph = te.HeteroGraph.from_tables(
        nodes={"user": 3, "artist": 4},
        edges={("user", "likes", "artist"): [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2), (2, 3), (0, 3), (1, 0)]},
    )
    task = te.task(graph, "typed-links", negatives="random", ratios=(0.5, 0.25, 0.25))
    kept = links_of_seen_nodes(task)
    seen = np.unique(np.concatenate([edges.ravel() for edges in task.graph.edges]))
    wanted = [link for link in task.positives["test"].tolist() if link[0] in seen and link[2] in seen]
    assert kept.positives["test"].tolist() == wanted
    assert set(kept.negatives["test"][:, 2]) <= set(seen)
    assert kept.part_names == ("test",)


def test_every_case_is_a_method_with_settings_that_it_knows() -> None:
    for case in CASES:
        made = methods.create(case.method, dict(case.settings))
        assert {name: getattr(made, name) for name in case.settings} == dict(case.settings)


def test_macro_f1_of_means_is_the_f1_of_mean_precision_and_recall() -> None:
    wanted = np.array([[1, 0], [1, 0], [0, 1], [0, 1]], dtype=bool)
    predicted = np.array([[1, 0], [0, 1], [0, 1], [0, 1]], dtype=bool)
    precision, recall = (1 + 2 / 3) / 2, (1 / 2 + 1) / 2
    assert np.isclose(macro_f1_of_means(predicted, wanted), 2 * precision * recall / (precision + recall))


def test_a_file_keeps_the_rows_of_other_cases(tmp_path: Path) -> None:
    path = tmp_path / "causes.json"
    case, other = CASES[0], next(one for one in CASES if one.without)
    write(path, [summary(case, {0: {"auc": 1.0, "seconds": 1.0}})])
    write(path, [summary(other, {0: {"auc": 2.0, "seconds": 1.0}})])
    write(path, [summary(case, {seed: {"auc": 3.0, "seconds": 1.0} for seed in range(2)})])
    rows = json.loads(path.read_text())
    assert [(row["mean"]["auc"], row["seeds"]) for row in rows] == [(3.0, 2), (2.0, 1)]
    assert rows[1]["without"] == other.without


def test_a_case_is_missing_until_the_file_has_all_its_seeds(tmp_path: Path) -> None:
    path = tmp_path / "causes.json"
    number = next(number for number, one in enumerate(CASES) if one.without and one.seeds == 3)
    assert not is_in(path, number, 5)
    for seeds in (1, 3):
        found = {seed: {"auc": 1.0, "seconds": 1.0} for seed in range(seeds)}
        write(path, [summary(CASES[number], found)])
        assert is_in(path, number, 5) == (seeds == 3)
    assert not is_in(path, 0, 5)


def test_leaving_out_a_type_leaves_out_its_edges() -> None:
    task = task_of("bibliography", 0, "venue")
    left = task.graph.type_number("venue")
    sizes = {
        left in (one.source, one.target): len(edges)
        for one, edges in zip(task.graph.relations, task.graph.edges, strict=True)
    }
    assert sizes[True] == 0
    assert sizes[False] > 0


def test_a_perfect_scorer_has_full_marks_against_random_pairs() -> None:
    task = te.task("bibliography", "typed-links", negatives="random")
    assert isinstance(task, TypedLinkTask)
    known = {tuple(link) for link in task.positives["test"].tolist()}

    class Perfect:
        def score_links(self, links: NDArray[np.int64]) -> NDArray[np.float64]:
            return np.array([float(tuple(link) in known) for link in links.tolist()])

    assert dict(random_pair_scores(task, Perfect())) == {
        "roc-auc, random pairs": 100.0,
        "head-mrr, random pairs": 100.0,
    }


def test_links_are_asked_by_head_and_positives_before_negatives() -> None:
    task = te.task("bibliography", "typed-links", negatives="random")
    assert isinstance(task, TypedLinkTask)
    known = {tuple(link) for link in task.positives["test"].tolist()}
    asked: list[tuple[int, bool]] = []

    class Perfect:
        def score_links(self, links: NDArray[np.int64]) -> NDArray[np.float64]:
            asked.extend((link[0], tuple(link) not in known) for link in links.tolist())
            return np.array([float(tuple(link) in known) for link in links.tolist()])

    found = dict(ordered_scores(task, Perfect(), "random"))
    assert asked == sorted(asked)
    assert found == {"roc-auc, random in order": 100.0, "head-mrr, random in order": 100.0}


def test_no_training_starts_after_the_time_is_over(capsys: pytest.CaptureFixture[str]) -> None:
    chosen = argparse.Namespace(jobs=1, seconds=1e-9, device="cpu", epochs=1, json=None, seeds=1)
    Trainings(chosen, [(0, 0)]).run()
    assert "not started: pubmed-hgb gatne" in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["one-way", "kept"])
def test_published_validation_links_leave_their_reverses_in_the_graph(kind: str) -> None:
    people = [(a, b) for a in range(30) for b in range(30) if a != b and (a + b) % 3]
    graph = te.HeteroGraph.from_tables(nodes={"person": 30}, edges={("person", "knows", "person"): people})
    task = te.task(graph, "typed-links", negatives="random", ratios=(0.8, 0.1, 0.1))
    found = published_validation(task, kind, 0)
    before, after = (set(map(tuple, one.graph.edges[0].tolist())) for one in (task, found))
    held = {(source, target) for source, _, target in found.positives["valid"].tolist()}
    drawn = {(source, target) for source, _, target in task.positives["valid"].tolist()}
    assert after | held == before | drawn
    assert (held <= after) if kind == "kept" else not held & after
    assert np.mean([(target, source) in after for source, target in held]) > 0.7
    assert {source for source, _ in after} == {source for source, _ in before}
    assert len(found.negatives["valid"]) == len(held)
    assert found.positives["test"] is task.positives["test"]


def test_validation_links_can_leave_the_graph_with_their_reverses() -> None:
    people = [(a, b) for a in range(30) for b in range(30) if a != b and (a + b) % 3]
    graph = te.HeteroGraph.from_tables(nodes={"person": 30}, edges={("person", "knows", "person"): people})
    task = te.task(graph, "typed-links", negatives="random", ratios=(0.8, 0.1, 0.1))
    found = published_validation(task, "shared", 0)
    held = {(source, target) for source, _, target in found.positives["valid"].tolist()}
    after = set(map(tuple, found.graph.edges[0].tolist()))
    assert 0.05 * len(after) < len(held) < 0.2 * len(after)
    assert {(target, source) for source, target in held} == held
    assert not held & after
