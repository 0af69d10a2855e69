"""The audit as a whole: what it takes, what it gives, and that the same seed finds the same."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from planted import benchmark, own_lists, random_edges

import trueedge as te
from trueedge.audit import Finding, LinkSubject, Subject, audit, catalogue
from trueedge.audit.check import CHECKS, Check, graded, percent, register
from trueedge.errors import InputError
from trueedge.graph import Graph

PAIRS = random_edges(5000)


@pytest.fixture(scope="module")
def clean():
    return audit(benchmark(features=np.random.default_rng(0).random((400, 12))))


def test_a_clean_benchmark_has_nothing_broken(clean) -> None:
    assert clean.count("broken") == 0
    assert {finding.check for finding in clean.findings} | set(clean.skipped) == {
        check.name for check in catalogue("link")
    }
    assert "0 broken" in repr(clean)


def test_findings_come_by_family_with_a_sentence_and_a_number(clean) -> None:
    families = [check.family for check in catalogue()]
    assert families == sorted(families, key=list(dict.fromkeys(families)).index)
    assert families[0] == "leaks"
    for finding in clean.findings:
        assert len(finding.sentence) > 20
        assert np.isfinite(list(finding.numbers.values())).all()
        assert finding.number == next(iter(finding.numbers.values()))


def test_every_check_says_what_it_asks_and_when_it_minds() -> None:
    for check in catalogue():
        assert check.question.endswith("?")
        assert check.rule.startswith("look")


def test_it_is_written_as_plain_json(clean, tmp_path) -> None:
    path = clean.save(tmp_path / "deep" / "audit.json")
    read = json.loads(path.read_text())
    assert [one["check"] for one in read["findings"]] == [finding.check for finding in clean.findings]
    assert (
        read["provenance"]["hashes"]["graph"]
        == benchmark(features=np.random.default_rng(0).random((400, 12))).graph.hash
    )
    assert path.stat().st_size < 200_000
    with pytest.raises(InputError, match=r"audit\.pdf: an audit is written to a \.html or a \.json file"):
        clean.save(tmp_path / "audit.pdf")
    with pytest.raises(InputError, match="cannot be written"):
        clean.save(path / "under-a-file.json")


def test_the_same_seed_finds_the_same_and_another_samples_anew() -> None:
    task = benchmark()
    first, again, other = (audit(task, seed=seed, sample=150) for seed in (0, 0, 1))
    assert [f.numbers for f in first.findings] == [f.numbers for f in again.findings]
    assert [f.numbers for f in first.findings] != [f.numbers for f in other.findings]
    assert any("a sample" in note for note in first.notes)


def test_without_a_protocol_it_says_what_it_audits() -> None:
    assert audit("karate").notes[0] == "no protocol was given, so existing is audited"
    named = audit("karate", "uniform")
    assert named.protocol == "uniform"
    assert not any("no protocol" in note for note in named.notes)


def test_a_graph_a_file_and_a_folder_are_audited(tmp_path) -> None:
    edges = tmp_path / "edges.csv"
    edges.write_text("\n".join(f"{u},{v}" for u, v in PAIRS[:600].tolist()))
    from_file = audit(edges)
    from_graph = audit(Graph.from_edges(edges))
    assert [f.numbers for f in from_file.findings] == [f.numbers for f in from_graph.findings]
    te.task("karate", "heart", k=6).save(tmp_path / "task")
    assert audit(tmp_path / "task").protocol == "heart"


def test_a_planted_leak_is_the_only_thing_broken() -> None:
    test = np.concatenate([PAIRS[3200:3500], PAIRS[:100]])
    found = audit(benchmark(test=test))
    assert [f.check for f in found.findings if f.verdict == "broken"] == ["train-leak"]


def test_own_negatives_are_sampled_in_whole_lists() -> None:
    task = benchmark()
    ends = np.random.default_rng(0).integers(0, 400, size=(400, 20))
    subject = LinkSubject(benchmark(negatives=own_lists(task, ends)), sample=80)
    lists = subject.lists()
    assert lists.negatives.shape == (20, 20, 2)
    assert lists.whole_lists
    assert not lists.whole
    assert subject.pairs().negatives.shape == (80, 2)
    assert subject.pairs().positives.shape == (80, 2)
    assert subject.listed_for_leaks().whole
    found = {tuple(pair) for pair in subject.pairs().negatives.tolist()}
    assert found <= {tuple(pair) for pair in subject.task.test.negatives.reshape(-1, 2).tolist()}


def test_large_graphs_have_fewer_shortest_paths_looked_for(monkeypatch) -> None:
    monkeypatch.setattr("trueedge.audit.subject.EDGES_FOR_PATHS", 100)
    monkeypatch.setattr("trueedge.audit.subject.PAIRS_FOR_PATHS", 50)
    found = audit(benchmark())
    assert any("shortest paths were computed for 50 pairs" in note for note in found.notes)
    monkeypatch.setattr("trueedge.audit.subject.PAIRS_FOR_LEAKS", 30)
    assert any("leaks of the test part" in note for note in audit(benchmark(), sample=30).notes)


def test_a_task_of_another_kind_is_audited_by_the_checks_that_apply_to_it(tmp_path) -> None:
    def isolated(subject: Subject) -> Finding:
        share = float((subject.task.graph.degrees == 0).mean())
        return Finding("isolated", "look" if share else "ok", f"{share:.2f}", "some", {"share": share})

    task = te.task("karate", "recommendation")
    with CHECKS.restored():
        register(
            Check(
                name="isolated",
                family="leaks",
                title="t",
                question="q",
                rule="r",
                advice="Add edges",
                run=isolated,
                kinds=None,
            )
        )
        found = audit(task)
        assert [one.check for one in found] == ["isolated"]
        assert found.skipped == {}
        assert found.sizes["test nodes"] == len(task.queries("test"))
        assert "isolated" in found.save(tmp_path / "audit.html").read_text()
        assert len(audit("karate")) > 10
    with pytest.raises(
        InputError, match="your own split or negatives can be audited for Link prediction alone"
    ):
        audit(task, negatives=[[0, 9]])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("karaet",), "did you mean 'karate'"),
        (("karate", "haert"), "did you mean 'heart'"),
        (("karate", "recommendation"), "no check applies to the protocol recommendation: audit the data"),
        (("karate", "existing", -1), "seed"),
        (("karate", "existing", 0, 0), "sample must be"),
        (("karate", "existing", 0, True), "sample must be"),
        ((3,), "a data set's name"),
    ],
)
def test_wrong_input_is_one_sentence(arguments, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        audit(*arguments)


def test_a_task_takes_no_other_protocol_and_no_options() -> None:
    with pytest.raises(InputError, match="takes no protocol heart"):
        audit(benchmark(), "heart")
    with pytest.raises(InputError, match="takes no options"):
        audit(benchmark(), k=3)


def test_parts_that_cannot_be_audited_are_named() -> None:
    with pytest.raises(InputError, match="test part of random has no negatives"):
        audit(benchmark(negatives=np.empty((0, 2))))
    with pytest.raises(InputError, match="test part of random has no positives"):
        audit(benchmark(test=np.empty((0, 2))))
    with pytest.raises(InputError, match="test negatives: row 0 has the node id 400"):
        audit(benchmark(negatives=[[400, 1]]))


def test_one_pair_a_part_is_enough() -> None:
    found = audit(benchmark(valid=[[0, 1]], test=[[2, 3]], negatives=[[4, 5]]))
    assert found.count("broken") == 0


def test_a_finding_can_be_asked_for_by_name(clean) -> None:
    assert clean["id-bands"].check == "id-bands"
    with pytest.raises(InputError, match="no such check"):
        clean["bands"]
    with pytest.raises(InputError, match="no features"):
        audit("karate")["feature-similarity"]


def test_a_name_is_registered_once_and_series_are_of_one_length() -> None:
    one = catalogue()[0]
    with pytest.raises(InputError, match="registered already"):
        register(replace(one))
    with pytest.raises(InputError, match="differ in length"):
        Finding("x", "ok", "", "", {}, {"a": np.zeros(2), "b": np.zeros(3)})


def test_a_bound_is_passed_by_more_than_it_and_chance_is_forgiven() -> None:
    assert [graded(value, 1, 2) for value in (1, 1.5, 2, 2.1)] == ["ok", "look", "look", "broken"]
    assert graded(5, 1, 2, noise=6) == "too small"
    assert graded(0.5, 1, 2, noise=6) == "ok"


def test_a_share_that_is_not_zero_is_not_shown_as_zero() -> None:
    assert [percent(share) for share in (0.0, 0.809, 0.00001)] == ["0.0 %", "80.9 %", "0.001 %"]


def test_an_audit_is_walked_through_and_shown_with_what_is_broken_first():
    found = audit("karate", "existing")
    assert list(found) == list(found.findings)
    assert len(found) == len(found.findings)
    order = ["broken", "look", "ok", "too small"]
    places = [order.index(finding.verdict) for finding in found.by_verdict()]
    assert places == sorted(places)
    assert str(found).startswith("karate · existing: This benchmark is too small to judge. ")
    assert all(len(line) <= 100 for line in str(found).splitlines())
