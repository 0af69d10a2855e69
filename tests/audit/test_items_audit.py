"""The audit of recommendation: every check catches a planted fault and passes clean data."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import items_faults as planted
import numpy as np
import pytest

import trueedge as te
from trueedge.audit import Audit, audit, catalogue
from trueedge.audit.items_subject import ItemSubject
from trueedge.errors import InputError
from trueedge.graph import Interactions, KnowledgeGraph
from trueedge.tasks.storage import save

NAMES = [one.name for one in catalogue("items")]


@pytest.fixture(scope="module")
def sound() -> Audit:
    """What the checks say of clean data."""
    return audit(planted.data(), split="time")


def test_there_is_a_fault_for_every_check_and_no_check_of_other_kinds() -> None:
    assert sorted(NAMES) == sorted(planted.FAULTS)
    assert all(one.kinds == ("items",) for one in catalogue("items"))


@pytest.mark.parametrize("name", NAMES)
def test_a_check_passes_clean_data(name: str, sound: Audit) -> None:
    assert sound[name].verdict == "ok", sound[name].sentence


@pytest.mark.parametrize("name", NAMES)
def test_a_check_catches_its_fault(name: str) -> None:
    thing, options = planted.FAULTS[name]()
    found = audit(thing, **options)[name]
    assert found.verdict in ("look", "broken"), found.sentence
    assert np.isfinite(list(found.numbers.values())).all()


@pytest.mark.parametrize(
    "name", ["repeated-interactions", "users-in-knowledge", "future-of-users", "cold-items", "knowledge-lift"]
)
def test_what_makes_scores_misleading_is_broken(name: str) -> None:
    thing, options = planted.FAULTS[name]()
    assert audit(thing, **options)[name].verdict == "broken"


def test_a_task_of_data_with_times_is_audited_by_its_training_times() -> None:
    """The task keeps no times of its test part, but a random one is like the training part."""
    of_data = audit(planted.data())["future-of-users"]
    of_task = audit(te.task(planted.data()))["future-of-users"]
    assert of_task.verdict == of_data.verdict == "broken"
    assert of_task.number == pytest.approx(of_data.number, abs=0.03)
    assert "stand for the random test part" in of_task.looked
    by_time = audit(te.task(planted.data(), split="time"))
    assert "does not keep the times" in by_time.skipped["future-of-users"]


def test_times_are_found_again_if_users_and_items_were_left_out() -> None:
    found = audit(planted.data(), core=10)
    assert found["future-of-users"].verdict == "broken"


def test_the_future_is_counted_by_hand() -> None:
    """User 0 has (item, time) 0 at 1 and 2 at 3 in training, user 1 has 0 at 4 and 1 at 5."""
    pairs = [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 3]]
    data = Interactions.from_pairs(pairs, times=[1, 2, 3, 4, 5, 6])
    test = np.array([False, True, False, False, False, True])
    template = te.task(planted.data())
    task = replace(template, graph=data.keep(~test), hidden={"test": data.pairs[test]})
    users, items = (
        one.run(ItemSubject(task, source=data))
        for one in catalogue("items")
        if one.name in ("future-of-users", "future-of-items")
    )
    assert users.numbers["share"] == 0.5
    assert users.numbers["share of newer training interactions"] == 0.25
    assert items.numbers["share"] == 0.5
    assert items.numbers["cold"] == 0.5
    assert items.numbers["newer training interactions"] == 0.375


def test_a_user_that_is_an_entity_by_name_is_named() -> None:
    def named(made: planted.Made) -> None:
        made["users"] = [f"user {one}" for one in range(planted.USERS)]
        made["entities"][planted.ITEMS + 3] = "user 7"

    found = audit(planted.data(named), split="time")["users-in-knowledge"]
    assert found.verdict == "look"
    assert "1 of 300 users are like an entity (1 by their name)" in found.sentence


def test_numbers_are_not_names_of_users() -> None:
    def numbered(made: planted.Made) -> None:
        made["users"] = list(range(planted.USERS))
        made["entities"] = [str(one) for one in range(len(made["entities"]))]

    assert audit(planted.data(numbered), split="time")["users-in-knowledge"].verdict == "ok"


def test_items_sorted_by_popularity_are_told_by_their_id() -> None:
    def by_popularity(made: planted.Made) -> None:
        planted.popularity_alone(made)
        place = np.empty(planted.ITEMS, dtype=np.int64)
        counts = np.bincount(made["pairs"][:, 1], minlength=planted.ITEMS)
        place[np.argsort(-counts, kind="stable")] = np.arange(planted.ITEMS)
        made["pairs"][:, 1] = place[made["pairs"][:, 1]]

    found = audit(planted.data(by_popularity), split="time")["item-ids"]
    assert found.verdict == "broken"
    assert found.numbers["rank correlation"] < -0.9


def test_data_that_nobody_can_learn_from_deserves_a_look() -> None:
    def noise(made: planted.Made) -> None:
        flat = np.ones((planted.USERS, planted.ITEMS))
        made["pairs"] = planted.draw(np.random.default_rng(4), flat)
        made["times"] = np.random.default_rng(5).random(len(made["pairs"]))

    found = audit(planted.data(noise), split="time")
    assert found["shortcut-popularity"].verdict == "look"
    assert "item neighbours are no better than random scores" in found["shortcut-popularity"].sentence
    assert found["knowledge-lift"].verdict == "broken"
    assert found["item-ids"].verdict == "ok"


def test_without_a_knowledge_graph_or_times_the_checks_of_these_say_so() -> None:
    made = replace(planted.data(), knowledge=None, times=None)
    found = audit(made)
    of_knowledge = ("users-in-knowledge", "items-without-triples", "inverse-triples", "knowledge-lift")
    assert {found.skipped[name] for name in of_knowledge} == {"there is no knowledge graph"}
    assert found.skipped["future-of-items"] == "the interactions have no times"
    assert {one.check for one in found} | set(found.skipped) == set(NAMES)


def test_the_smallest_data_are_audited(tmp_path: Path) -> None:
    pairs = [[user, item] for user in range(3) for item in range(4) if (user + item) % 4]
    bare = Interactions.from_pairs(pairs)
    told = replace(bare, knowledge=KnowledgeGraph.from_triples([[0, 0, 4], [5, 0, 6]]))
    for made in (bare, told):
        found = audit(made, ratios=(0.4, 0.3, 0.3))
        assert {one.check for one in found} | set(found.skipped) == set(NAMES)
        assert found.save(tmp_path / "page.html").stat().st_size > 1000


def test_a_test_part_that_is_all_known_is_audited() -> None:
    task = te.task(planted.data())
    found = audit(replace(task, hidden={**task.hidden, "test": task.graph.pairs[:50]}))
    assert found["repeated-interactions"].number == 1.0
    assert found.skipped["shortcut-popularity"] == "all test interactions are known from other parts"


def test_many_users_are_sampled_and_the_audit_says_so() -> None:
    found = audit(planted.data(), sample=100, split="time")
    assert "scorers were evaluated on 100 of 300 test users" in found.notes
    assert found["shortcut-popularity"].looked == "100 test users"


def test_repeated_rows_of_the_data_are_told_in_the_notes() -> None:
    given = planted.data()
    pairs = np.concatenate([given.pairs, given.pairs[:3]])
    found = audit(te.task(Interactions.from_pairs(pairs, repeats="drop")))
    assert "dropped 3 repeated interactions" in found.notes
    assert found["repeated-interactions"].verdict == "look"
    assert found["repeated-interactions"].sentence.endswith("; dropped 3 repeated interactions")
    assert found["repeated-interactions"].advice.startswith("Say beside the results that repeated")


def test_what_only_plain_links_have_is_refused() -> None:
    with pytest.raises(InputError, match="your own negatives can be audited for Link prediction alone"):
        audit(planted.data(), negatives="mine.npy")
    with pytest.raises(InputError, match="split must be"):
        audit(planted.data(), split="mine")


def test_the_command_audits_a_saved_task_and_writes_a_page(trueedge, tmp_path: Path) -> None:
    save(te.task(planted.data(planted.wrong_items), split="time"), tmp_path / "task")
    status, out, err = trueedge("audit", "task", "-o", "page.html", "--strict")
    assert status == 1, err
    assert out.startswith("shop · full-ranking · 1 broken, 0 look")
    assert "→ Check that the triples are attached to the right items" in out
    page = (tmp_path / "page.html").read_text()
    assert "scorers are evaluated on as many test users" in page
    assert trueedge("audit", "task", "-o", "all.json")[0] == 0
    found = json.loads((tmp_path / "all.json").read_text(), parse_constant=pytest.fail)
    assert len(found["findings"]) == len(NAMES) - 3


def test_the_help_of_the_command_names_what_is_looked_for(trueedge) -> None:
    out = trueedge("audit", "--help")[1]
    assert "recommendation data" in out
    assert "popularity" in out
