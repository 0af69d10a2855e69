"""The audit of typed graphs: every check catches a planted fault and passes a clean benchmark."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import typed_faults as planted

import trueedge as te
from trueedge.audit import audit, catalogue
from trueedge.errors import InputError
from trueedge.graph.typed import Labels, Relation
from trueedge.tasks import NodeTask

NODE_CHECKS = [one.name for one in catalogue("nodes")]
LINK_CHECKS = [one.name for one in catalogue("typed-links")]
FAULTS = {"nodes": planted.NODE_FAULTS, "typed-links": planted.LINK_FAULTS}
CASES = [(kind, name) for kind, faults in FAULTS.items() for name in faults]


@pytest.fixture(scope="module")
def sound() -> dict[str, te.audit.Audit]:
    """What the checks say of clean benchmarks."""
    made = {"nodes": planted.nodes(), "typed-links": planted.links(), "within a type": planted.friends()}
    return {kind: audit(one) for kind, one in made.items()}


def test_there_is_a_fault_for_every_check() -> None:
    known = set(planted.TASK_FAULTS)
    assert set(NODE_CHECKS) - known == set(planted.NODE_FAULTS)
    assert set(LINK_CHECKS) - known == set(planted.LINK_FAULTS)
    assert known <= {*NODE_CHECKS, *LINK_CHECKS}


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *(("nodes", one) for one in NODE_CHECKS),
        *(("within a type" if one == "self-links" else "typed-links", one) for one in LINK_CHECKS),
    ],
)
def test_a_check_passes_the_clean_benchmark(kind: str, name: str, sound) -> None:
    assert sound[kind][name].verdict == "ok", sound[kind][name].sentence


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_a_check_catches_its_fault_in_memory_and_in_files(kind: str, name: str, tmp_path: Path) -> None:
    made = FAULTS[kind][name]()
    found = audit(made)[name]
    assert found.verdict in ("look", "broken"), found.sentence
    read = audit(planted.write(made, tmp_path / "mine"))[name]
    assert read.verdict == found.verdict
    assert read.sentence == found.sentence
    assert read.numbers == pytest.approx(found.numbers)


@pytest.mark.parametrize("name", planted.TASK_FAULTS)
def test_a_check_catches_a_fault_that_files_cannot_have(name: str) -> None:
    found = audit(planted.TASK_FAULTS[name]())[name]
    assert found.verdict == "broken", found.sentence


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("nodes", "label-in-features"),
        ("nodes", "label-in-ids"),
        ("nodes", "duplicate-nodes"),
        ("nodes", "class-balance"),
        ("typed-links", "repeated-links"),
        ("typed-links", "parallel-relations"),
        ("typed-links", "features-from-links"),
    ],
)
def test_what_gives_the_answers_away_is_broken(kind: str, name: str) -> None:
    assert audit(FAULTS[kind][name]())[name].verdict == "broken"


def test_a_column_with_the_number_of_the_class_is_named() -> None:
    found = audit(planted.nodes(planted.class_number))["label-in-features"]
    assert (found.verdict, found.numbers["column"], found.number) == ("broken", 3, 1.0)
    assert "column 3 of the features" in found.sentence


def test_classes_are_told_by_sparse_features_too() -> None:
    from scipy.sparse import csr_array

    dense = planted.NODE_FAULTS["label-in-features"]()
    sparse = replace(dense, features=(csr_array(dense.features[0]), *dense.features[1:]))
    found = audit(sparse)["label-in-features"]
    assert found.numbers == pytest.approx(audit(dense)["label-in-features"].numbers)


def test_features_that_are_the_bag_of_neighbours_are_named() -> None:
    found = audit(planted.nodes(planted.bag_of_tags))["features-from-links"]
    assert found.verdict == "look"
    assert "the features of 'thing' are the bag of its neighbours of type 'tag'" in found.sentence


def test_features_that_are_a_mean_are_named_although_their_columns_are_permuted() -> None:
    found = audit(planted.NODE_FAULTS["features-from-links"]())["features-from-links"]
    assert "the features of 'other' are the mean of the features of its neighbours of type 'thing'" in (
        found.sentence
    )


def test_features_of_training_links_alone_are_no_leak_of_test_links() -> None:
    """A mean over the items of other links follows from what was known before the test."""

    def of_training(made) -> None:
        user, item = made["buys"][len(made["buys"]) // 5 :].T
        total = np.zeros_like(made["users"])
        np.add.at(total, user, made["items"][item])
        made["users"] = total / np.maximum(np.bincount(user, minlength=planted.USERS), 1)[:, None]

    found = audit(planted.links(of_training))["features-from-links"]
    assert found.verdict == "look"
    assert "test links included" not in found.sentence


def test_a_class_without_training_nodes_is_named() -> None:
    found = audit(planted.NODE_FAULTS["class-balance"]())["class-balance"]
    assert "class 'blue' of the test part: no training node" in found.sentence


def test_nodes_with_several_classes_are_audited() -> None:
    from tests.typed_graphs import small_graph

    found = audit(small_graph(multi=True))
    assert {one.check for one in found} | set(found.skipped) == set(NODE_CHECKS)
    assert 0.2 < found["shortcut-node-features"].number < 1.0
    for one in found:
        assert np.isfinite(list(one.numbers.values())).all()


@pytest.mark.parametrize("edges", [[[0, 6], [1, 7], [2, 6]], np.empty((0, 2))], ids=["few", "none"])
def test_the_smallest_graphs_are_audited(edges, tmp_path: Path) -> None:
    labels = Labels(0, np.arange(6, dtype=np.int32), np.arange(6, dtype=np.int32) % 2, ("odd", "even"))
    graph = te.HeteroGraph(
        ("thing", "tag"),
        np.array([0, 6, 8]),
        (Relation("has", 0, 1),),
        (np.array(edges, dtype=np.int32),),
        labels=labels,
    )
    made = te.task(graph, ratios=(0.4, 0.2, 0.4))
    without = NodeTask.of(graph, labels, {part: made.nodes[part] for part in ("train", "test")})
    for one in (made, without):
        found = audit(one)
        assert found["empty-types"].verdict == ("ok" if len(edges) else "broken")
        assert found.save(tmp_path / "page.html").stat().st_size > 1000


def test_checks_of_features_say_that_there_are_none() -> None:
    graph = planted.nodes()
    found = audit(replace(graph, features=(None, graph.features[1], None)))
    for name in ("label-in-features", "shortcut-node-features"):
        assert found.skipped[name] == "nodes of type 'thing' have no features"
    bare = audit(replace(graph, features=()))
    assert bare.skipped["features-from-links"] == "no node type has features"


def test_links_from_a_node_to_itself_are_counted_in_each_part(sound) -> None:
    one, many = (audit(planted.friends(count))["self-links"] for count in (1, 20))
    assert (one.verdict, many.verdict) == ("look", "broken")
    size = len(planted.friends(20).test_links[3])
    assert f"20 of {size:,} test links" in many.sentence
    assert many.number == many.numbers["test links"] == pytest.approx(20 / size)
    assert many.numbers["validation links"] == many.numbers["test negatives"] == 0
    told = "no predicted relation connects nodes of one type"
    assert sound["typed-links"].skipped["self-links"] == told


def test_negatives_from_a_node_to_itself_are_told_too() -> None:
    made = te.task(planted.friends())
    looped = made.negatives["test"].copy()
    looped[: len(looped) // 50, 2] = looped[: len(looped) // 50, 0]
    found = audit(replace(made, negatives={**made.negatives, "test": looped}))["self-links"]
    assert found.verdict == "broken"
    assert found.number == found.numbers["test negatives"] == pytest.approx(0.02, abs=0.001)


def test_two_hop_negatives_are_closer_than_links_if_friends_are_few() -> None:
    """As in HGB's LastFM: whoever shares a neighbour is more often a negative."""

    def few(made) -> None:
        made["knows"] = made["knows"][:600]

    found = audit(planted.links(few))["shortcut-two-steps"]
    assert found.verdict in ("look", "broken")
    assert "closeness singles out negatives" in found.sentence


def test_the_kind_of_negatives_is_an_option_of_the_audit() -> None:
    data = planted.links()
    found = audit(data, negatives="random")
    assert found.skipped["few-two-hop"] == "the negatives are random, not two steps away"
    with pytest.raises(InputError, match="negatives must be one of 'two-hop', 'random', 'published'"):
        audit(data, negatives="mine.npy")


@pytest.mark.parametrize("name", ["split", "features"])
def test_what_only_plain_links_have_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=f"your own {name} can be audited for Link prediction alone"):
        audit(planted.links(), **{name: "mine.npy"})


def test_the_command_audits_a_folder_and_a_saved_task(trueedge, tmp_path: Path) -> None:
    folder = planted.write(planted.nodes(), tmp_path / "mine")
    status, out, err = trueedge("audit", str(folder), "-o", "page.html")
    assert status == 0, err
    assert out.startswith("mine · node-classification · 0 broken, 0 look")
    page = (tmp_path / "page.html").read_text()
    assert "Predictors that use one source alone" in page
    assert "All test nodes and links were examined" in page
    assert trueedge("task", str(folder), "-o", "task")[0] == 0
    status, again, err = trueedge("audit", "task", "-o", "all.json")
    assert status == 0, err
    assert again == out
    assert len(json.loads((tmp_path / "all.json").read_text())["findings"]) == len(NODE_CHECKS)


def test_the_command_takes_the_kind_of_negatives(trueedge, tmp_path: Path) -> None:
    folder = planted.write(planted.LINK_FAULTS["popular-targets"](), tmp_path / "mine")
    status, out, err = trueedge("audit", str(folder), "--option", "negatives=random", "--strict")
    assert status == 1
    assert "broken  popular-targets" in out
    assert "few-two-hop does not apply" in err


def test_the_page_compares_what_degrees_and_neighbours_achieve(tmp_path: Path) -> None:
    page = audit(planted.links()).save(tmp_path / "page.html").read_text()
    assert "Scorers that learn nothing" in page
    assert "degrees of targets" in page


@pytest.mark.rotating(4, group="published audits")
@pytest.mark.data("hgb/ACM.zip")
def test_ids_of_acm_are_sorted_by_class_and_its_features_follow_from_links(data_folder) -> None:
    found = audit(data_folder / "hgb" / "ACM.zip")
    assert found["label-in-ids"].verdict == "broken"
    assert found["label-in-ids"].number > 0.97
    told = found["features-from-links"].sentence
    assert "the features of 'author' are the union of the features of its neighbours of type 'paper'" in told
    assert "the features of 'paper' are the bag of its neighbours of type 'term'" in told


@pytest.mark.rotating(4, group="published audits")
@pytest.mark.data("hgb/IMDB.zip")
def test_actors_and_directors_of_imdb_have_the_mean_of_their_movies(data_folder) -> None:
    told = audit(data_folder / "hgb" / "IMDB.zip")["features-from-links"].sentence
    for kind in ("actor", "director"):
        assert (
            f"the features of {kind!r} are the mean of the features of its neighbours of type 'movie'" in told
        )
