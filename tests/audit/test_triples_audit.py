"""The audit of knowledge graphs: every check catches a planted fault and passes a clean benchmark."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import trueedge as te
from trueedge.audit import Finding, audit, catalogue
from trueedge.audit.triples_shortcuts import OneRule
from trueedge.audit.triples_subject import relation_overlaps
from trueedge.errors import InputError
from trueedge.graph import KnowledgeGraph
from trueedge.splits import TripleSplit
from trueedge.tasks import TripleTask

ENTITIES, RELATIONS = 300, 6
CHECKS = {one.name: one for one in catalogue("triples")}


def drawn(count: int, seed: int = 0, entities: int = ENTITIES, relations: int = RELATIONS) -> np.ndarray:
    """Distinct random triples in random order, without self-loops."""
    rng = np.random.default_rng(seed)
    limits = (entities, relations, entities)
    found = np.column_stack([rng.integers(0, limit, 2 * count) for limit in limits])
    found = np.unique(found[found[:, 0] != found[:, 2]], axis=0)
    return rng.permutation(found)[:count].astype(np.int32)


def split(
    triples: np.ndarray, test: int = 300, entities: int = ENTITIES, relations: int = RELATIONS
) -> TripleSplit:
    """The first triples to test on, as many to validate on, the others to train on."""
    train = KnowledgeGraph.from_triples(triples[2 * test :], entities, relations, name="planted")
    return TripleSplit(train, triples[test : 2 * test], triples[:test], "planted")


def clean() -> TripleSplit:
    """Random triples: nothing can be learned, and nothing is wrong."""
    return split(drawn(6000))


def inductive(shared: int = 0) -> TripleSplit:
    """Another random graph for the test part, some of whose entities have the names of training entities."""
    seen, unseen = drawn(5000), drawn(3000, 1)
    names = [str(one) if one < shared else f"new {one}" for one in range(ENTITIES)]
    train = KnowledgeGraph.from_triples(seen[300:], ENTITIES, RELATIONS, name="planted")
    facts = KnowledgeGraph.from_triples(
        unseen[300:], entities=names, relations=train.relations, name="planted_ind"
    )
    return TripleSplit(train, seen[:300], unseen[:300], "planted", facts)


def with_copies(change, share: float = 0.6) -> TripleSplit:
    """The clean benchmark, where changed copies of some triples are training triples too."""
    base = drawn(6000)
    copies = change(base[: int(share * 300)])
    extra = change(base[600:2000])
    train = np.unique(np.concatenate([base[600:], copies, extra]), axis=0)
    relations = int(max(train[:, 1].max() + 1, RELATIONS))
    graph = KnowledgeGraph.from_triples(train, ENTITIES, relations, name="planted")
    return TripleSplit(graph, base[300:600], base[:300], "planted")


def _repeated() -> TripleSplit:
    found = clean()
    train = found.train.with_triples(np.concatenate([found.train.triples, found.test[:3]]))
    return TripleSplit(train, found.valid, found.test, "planted")


def _alike(reverse: bool) -> TripleSplit:
    """A second name for each relation, for all triples of the first; the test triples keep one of them."""
    base = drawn(3000)
    other = base[:, [2, 1, 0]] if reverse else base
    copies = other + np.array([0, RELATIONS, 0])
    rest = np.concatenate([base[600:], copies])
    train = KnowledgeGraph.from_triples(rest, ENTITIES, 2 * RELATIONS, name="planted")
    return TripleSplit(train, base[300:600], base[:300], "planted")


def _unseen_entities() -> TripleSplit:
    found = clean()
    test = found.test.copy()
    test[:100, 2] = ENTITIES + np.arange(100) % 7
    test = np.unique(test, axis=0)
    names = [*found.train.entities, *(f"new {one}" for one in range(7))]
    train = KnowledgeGraph.from_triples(found.train.triples, entities=names, relations=found.train.relations)
    return TripleSplit(train, found.valid, test, "planted")


def _unseen_relations() -> TripleSplit:
    found = clean()
    test = found.test.copy()
    test[:100, 1] = RELATIONS
    names = [*found.train.relations, "new"]
    train = KnowledgeGraph.from_triples(found.train.triples, entities=found.train.entities, relations=names)
    return TripleSplit(train, found.valid, test, "planted")


def _cartesian() -> TripleSplit:
    """One relation joins 40 heads with 20 tails."""
    full = np.array([(head, RELATIONS, 200 + tail) for head in range(40) for tail in range(20)])
    full = np.random.default_rng(0).permutation(full)
    rest = drawn(3000)
    triples = np.concatenate([full[:100], rest[:200], full[100:], rest[200:]]).astype(np.int32)
    return split(triples, relations=RELATIONS + 1)


def _popular() -> TripleSplit:
    """Most triples have one of three entities."""
    rng = np.random.default_rng(0)
    triples = drawn(6000)
    few = rng.integers(0, 3, len(triples))
    popular = rng.random(len(triples)) < 0.95
    ends = np.where(rng.random(len(triples)) < 0.5, 0, 2)
    for end in (0, 2):
        chosen = popular & (ends == end)
        triples[chosen, end] = few[chosen]
    keep = triples[:, 0] != triples[:, 2]
    found = np.unique(triples[keep], axis=0).astype(np.int32)
    return split(rng.permutation(found))


def _frequent() -> TripleSplit:
    """A relation has two heads and five tails that are nearly always the answer."""
    rng = np.random.default_rng(0)
    base = drawn(30_000)
    heads = base[:, 0] % 40 + 40 * base[:, 1]
    tails = base[:, 2] % 2 + 250 + 2 * base[:, 1]
    # Entities that no triple has would be lost in files.
    used, ends = np.unique(np.column_stack([heads, tails]), return_inverse=True)
    ends = ends.reshape(-1, 2)
    found = np.unique(np.column_stack([ends[:, 0], base[:, 1], ends[:, 1]]), axis=0).astype(np.int32)
    return split(rng.permutation(found), test=60, entities=len(used))


def _few() -> TripleSplit:
    return split(drawn(60, entities=6, relations=3), test=8, entities=6, relations=3)


FAULTS = {
    "repeated-triples": _repeated,
    "symmetric-relations": lambda: with_copies(lambda triples: triples[:, [2, 1, 0]]),
    "inverse-relations": lambda: _alike(True),
    "duplicate-relations": lambda: _alike(False),
    "shared-entities": lambda: inductive(30),
    "few-candidates": _few,
    "unseen-entities": _unseen_entities,
    "unseen-relations": _unseen_relations,
    "cartesian-relations": _cartesian,
    "shortcut-entity-degree": _popular,
    "shortcut-relation-frequency": _frequent,
    "shortcut-one-rule": lambda: _alike(True),
    "popular-answers": _popular,
}


def task_of(found: TripleSplit) -> TripleTask:
    """The task of a split, faults and all."""
    return TripleTask.from_split(found, overlaps=True)


def write(found: TripleSplit, folder: Path) -> Path:
    """Write a split as a user has it."""

    def lines(graph: KnowledgeGraph, triples: np.ndarray) -> str:
        return "".join(
            f"e{graph.entities[h]}\tr{graph.relations[r]}\te{graph.entities[t]}\n" for h, r, t in triples
        )

    graphs = [(folder, found.train, found.valid)]
    if found.facts is not None:
        graphs.append((folder.with_name(f"{folder.name}_ind"), found.facts, found.known))
    for place, graph, valid in graphs:
        place.mkdir()
        parts = {"train": graph.triples, "valid": valid, "test": found.test}
        if found.facts is not None and graph is found.train:
            parts["test"] = found.valid[:1]
        for part, triples in parts.items():
            if len(triples):
                (place / f"{part}.txt").write_text(lines(graph, triples))
    return folder


@pytest.fixture(scope="module")
def sound():
    """What the checks say of clean benchmarks."""
    return audit(task_of(clean())), audit(task_of(inductive()))


def test_there_is_a_fault_for_every_check() -> None:
    assert sorted(FAULTS) == sorted(CHECKS)


@pytest.mark.parametrize("name", CHECKS)
def test_a_check_passes_the_clean_benchmarks(name: str, sound) -> None:
    for found in sound:
        if name not in found.skipped:
            assert found[name].verdict == "ok", found[name].sentence
    assert name not in sound[1].skipped


@pytest.mark.parametrize("name", CHECKS)
def test_a_check_catches_its_fault_in_memory_and_in_files(name: str, tmp_path: Path) -> None:
    planted = audit(task_of(FAULTS[name]()))[name]
    assert isinstance(planted, Finding)
    assert planted.verdict in ("look", "broken"), planted.sentence
    read = audit(write(FAULTS[name](), tmp_path / "mine"))[name]
    assert read.verdict == planted.verdict
    assert read.numbers == pytest.approx(planted.numbers)


@pytest.mark.parametrize(
    "name", ["repeated-triples", "inverse-relations", "duplicate-relations", "shortcut-one-rule"]
)
def test_the_faults_of_published_benchmarks_are_broken(name: str) -> None:
    assert audit(task_of(FAULTS[name]()))[name].verdict == "broken"


def test_an_audit_takes_shared_triples_that_a_task_refuses(tmp_path: Path) -> None:
    folder = write(_repeated(), tmp_path / "mine")
    with pytest.raises(InputError, match="3 of 300 test triples are in train too"):
        te.task(folder)
    found = audit(folder)["repeated-triples"]
    assert "3 of 300 test triples are in training" in found.sentence


def test_overlaps_equal_plain_counts() -> None:
    triples = drawn(200, entities=12, relations=3)
    found = relation_overlaps(triples, 3)
    both = {*map(tuple, triples.tolist())} | {(t, r + 3, h) for h, r, t in triples.tolist()}
    for left in range(6):
        for right in range(6):
            shared = sum((h, right, t) in both for h, r, t in both if r == left)
            assert found[left, right] == shared


def test_one_rule_learns_the_inverse_relation() -> None:
    found = _alike(True)
    rule = OneRule.of(found.train)
    assert rule.bodies[:RELATIONS].tolist() == list(range(3 * RELATIONS, 4 * RELATIONS))
    assert task_of(found).evaluate(rule)["mrr"] > 0.7


def test_sampled_queries_are_ranked_as_in_the_whole_task() -> None:
    found = audit(task_of(clean()), sample=100)
    whole = audit(task_of(clean()))
    assert "scorers were evaluated on 100 of 300 test triples" in found.notes
    ours, all_of_them = (one["shortcut-relation-frequency"].number for one in (found, whole))
    assert ours == pytest.approx(all_of_them, rel=0.5)
    assert "shortcut-one-rule" in {one.check for one in found}


@pytest.mark.parametrize("name", ["split", "negatives", "features"])
def test_what_only_links_have_is_refused_for_triples(name: str) -> None:
    with pytest.raises(InputError, match=f"your own {name} can be audited for Link prediction alone"):
        audit("umls", **{name: "mine.npy"})


def test_the_command_audits_a_name_a_folder_and_a_saved_task(trueedge, tmp_path: Path) -> None:
    folder = write(clean(), tmp_path / "mine")
    status, out, err = trueedge("audit", str(folder), "-o", "page.html")
    assert status == 0, err
    assert out.startswith("mine · filtered · 0 broken")
    page = (tmp_path / "page.html").read_text()
    assert "The MRR of scorers that learn nothing" in page
    assert "sampled with seed" in page
    assert "test triples, sampled" in page
    assert trueedge("task", str(folder), "-o", "task")[0] == 0
    status, again, err = trueedge("audit", "task", "-o", "all.json")
    assert status == 0, err
    assert again == out
    assert len(json.loads((tmp_path / "all.json").read_text())["findings"]) == len(CHECKS) - 1
    status, out, err = trueedge("audit", "nations", "--strict")
    assert status == 1
    assert "broken  few-candidates" in out


@pytest.mark.rotating(4, group="published audits")
@pytest.mark.data("kg/GraIL")
def test_wn18rr_v3_shares_entities_and_v1_does_not(data_folder) -> None:
    del data_folder
    found = audit("wn18rr-v3")["shared-entities"]
    assert (found.verdict, found.number) == ("look", 8)
    assert audit("wn18rr-v1")["shared-entities"].verdict == "ok"


@pytest.mark.rotating(4, group="published audits")
@pytest.mark.data("kg/WN18RR")
def test_a_third_of_wn18rr_is_symmetric(data_folder) -> None:
    """Dettmers et al. 2018 report Hits@1 of 0.35 for a model of inverse relations alone."""
    del data_folder
    found = audit("wn18rr")
    assert found["symmetric-relations"].number == pytest.approx(0.3465, abs=1e-4)
    assert found["shortcut-one-rule"].numbers["hits@1"] == pytest.approx(0.35, abs=0.005)
    assert found["inverse-relations"].verdict == "ok"


def test_an_inductive_audit_speaks_of_the_facts_of_the_test_graph() -> None:
    found = audit(task_of(inductive()))
    assert "test triples are in the facts of the test graph" in found["repeated-triples"].sentence
    assert "an entity without a fact of the test graph" in found["unseen-entities"].sentence
    assert "a relation without a training triple" in found["unseen-relations"].sentence
