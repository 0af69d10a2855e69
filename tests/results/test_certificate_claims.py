"""A forger makes the seal anew: every claim is compared, or named as not verified."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import trueedge as te
from trueedge.results.certificate_file import FIELDS, digest, request_of, seal_of


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Certificates of a method with many ties, of a protocol with the headline mrr and one with auc."""
    folder = tmp_path_factory.mktemp("claims")
    store = te.Store(folder / "runs")
    for protocol, options in (("existing", {"ratio": 2}), ("uniform", {})):
        record = te.run("karate", protocol, "shortest-path", 3, store=store, keep_scores=True, **options)
        te.certify(record, folder / f"{protocol}.json", store)
    return folder


@pytest.fixture
def path(whole: Path, tmp_path: Path) -> Path:
    """A certificate to spoil."""
    return Path(shutil.copytree(whole, tmp_path / "copy")) / "existing.json"


def reseal(path: Path, **changes: object) -> None:
    """Change claims as a forger does who knows all the rules: every hash and the seal fit again."""
    card = {**json.loads(path.read_text()), **changes}
    card["hashes"] = {
        **card["hashes"],
        "settings": digest(request_of(card)),
        "versions": digest(card["versions"]),
    }
    path.write_text(json.dumps({**card, "seal": seal_of(card)}))


def failed(path: Path, task: object = None) -> list[str]:
    return [check.name for check in te.verify(path, task).differences]


def test_a_forger_who_changes_nothing_passes(path: Path) -> None:
    reseal(path)
    assert te.verify(path).ok
    assert te.verify(path, "karate").ok


@pytest.mark.parametrize("headline", ["mrr.optimistic", "auc", "hits@10"])
def test_the_headline_is_that_of_the_protocol(path: Path, headline: str) -> None:
    reseal(path, headline=headline)
    (check,) = te.verify(path).differences
    assert check.name == "headline"
    assert check.sentence == f"the headline of existing is mrr, but the certificate has {headline}"
    assert failed(path, "karate") == ["headline"]


def test_each_protocol_has_its_own_headline(path: Path) -> None:
    other = path.with_name("uniform.json")
    assert te.verify(other).ok
    reseal(other, headline="mrr")
    assert failed(other) == ["headline"]


def test_the_headline_of_a_benchmark_may_be_the_one_it_is_known_by(path: Path) -> None:
    card = json.loads(path.read_text())
    scores = np.load(path.with_suffix(".scores.npz"))
    value = te.metrics.evaluate(scores["positive"], scores["negative"], ["hits@1"])["hits@1"]
    claimed = {**card["metrics"], "hits@1": value}
    reseal(path, dataset="ogbl-ddi", metrics=claimed, headline="hits@1")
    assert failed(path) == ["headline"]
    reseal(path, headline="mrr")
    assert failed(path) == []
    assert "dataset" in te.verify(path).unverified


def test_a_headline_of_an_unknown_protocol_is_not_verified(path: Path) -> None:
    reseal(path, protocol="of-my-own", headline="mrr.optimistic")
    found = te.verify(path)
    assert found.ok
    assert "headline" in found.unverified
    assert "headline" in failed(path, te.task("karate", "existing", 3, ratio=2))


def test_metrics_that_are_left_out_or_added_are_found_with_the_task(path: Path) -> None:
    card = json.loads(path.read_text())
    kept = {name: value for name, value in card["metrics"].items() if name in ("mrr", "mrr.optimistic")}
    reseal(path, metrics=kept)
    assert te.verify(path).ok
    (check,) = te.verify(path, "karate").differences
    assert (check.name, check.sentence) == (
        "metrics",
        "it leaves out hits@1, hits@3, hits@10, auc, ap, mrr.pessimistic",
    )
    scores = np.load(path.with_suffix(".scores.npz"))
    value = te.metrics.evaluate(scores["positive"], scores["negative"], ["hits@5"])["hits@5"]
    reseal(path, metrics={**card["metrics"], "hits@5": value})
    (check,) = te.verify(path, "karate").differences
    assert check.sentence == "it claims hits@5, which the task does not report"


@pytest.mark.parametrize(
    ("change", "names"),
    [
        ({"dataset": "cora"}, ["dataset"]),
        ({"kind": "recommend"}, ["kind"]),
        ({"task_seed": 4}, ["task_seed"]),
        ({"options": {"ratio": 1}}, ["options"]),
        ({"task_settings": {"split": "the official one"}}, ["task_settings"]),
        ({"task_settings": {"audited": True}}, ["task_settings"]),
        ({"warnings": []}, ["warnings"]),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_claim_on_the_task_is_compared_with_the_task(path: Path, change: dict, names: list[str]) -> None:
    task = te.task("karate", "existing", 3, ratio=2)
    reseal(path, **change)
    found = te.verify(path)
    assert found.ok
    assert set(change) <= set(found.unverified)
    assert failed(path, task) == names


def test_a_hash_of_something_that_the_task_does_not_have_is_found(path: Path) -> None:
    card = json.loads(path.read_text())
    reseal(path, hashes={**card["hashes"], "audit": "0" * 64})
    assert "hash of audit" in te.verify(path).unverified
    assert failed(path, "karate") == ["hashes"]


def test_every_field_is_compared_or_named(path: Path) -> None:
    """A claim that is added or changed is either found or among those that were not verified."""
    card = json.loads(path.read_text())
    reseal(path, award="best of show")
    assert "award" in te.verify(path).unverified
    assert "award" in te.verify(path, "karate").unverified
    assert "award" in te.rerun(path).unverified
    shown = {"format", "version", "scores", "metrics", "headline", "seal", "hashes"}
    assert set(te.verify(path).unverified) >= set(card) - shown
    with_task = set(te.verify(path, "karate").unverified)
    assert with_task == {"method", "settings", "seed", "device", "key", "created", "source", "award"} | {
        "versions",
        "machine",
        "seconds",
        "peak_memory",
    }
    assert set(te.rerun(path).unverified) == with_task - {"method", "settings", "seed", "device"}
    assert set(FIELDS) <= set(card)


def test_warnings_of_another_version_are_not_verified(path: Path) -> None:
    card = json.loads(path.read_text())
    reseal(path, warnings=[], versions={**card["versions"], "trueedge": "9.9"})
    found = te.verify(path, "karate")
    assert found.ok
    assert "warnings" in found.unverified


# The names of nodes


def named_task() -> te.LinkTask:
    karate = te.load("karate")
    return te.task(replace(karate, labels=tuple(f"p{node}" for node in range(34))), "existing")


@pytest.fixture
def named(tmp_path: Path) -> Path:
    """A certificate on a graph whose nodes have names."""
    store = te.Store(tmp_path / "runs")
    record = te.run(named_task(), method="ra", store=store, keep_scores=True)
    return te.certify(record, tmp_path / "named.json", store)


def test_a_certificate_seals_the_names_of_nodes(named: Path) -> None:
    task = named_task()
    found = te.verify(named, task)
    assert found.ok
    assert "names of nodes" not in found.unverified
    turned = replace(task, graph=replace(task.graph, labels=task.graph.labels[::-1]))
    assert failed(named, turned) == ["graph", "task"]


@pytest.mark.parametrize("version", [2, 3])
def test_a_certificate_without_sealed_names_is_verified_and_says_so(named: Path, version: int) -> None:
    task = named_task()
    card = json.loads(named.read_text())
    hashes = {**card["hashes"], "graph": task.graph.hash_without_labels, "task": task.hash_without_labels}
    reseal(named, version=version, hashes=hashes)
    for one in (task, replace(task, graph=replace(task.graph, labels=task.graph.labels[::-1]))):
        found = te.verify(named, one)
        assert found.ok, found.differences
        assert found.unverified[-1] == "names of nodes"
