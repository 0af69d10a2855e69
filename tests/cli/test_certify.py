"""The commands: a record is certified, a certificate verified, and what differs is said with status 1."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import trueedge as te
from trueedge.results.certificate_file import digest, request_of, seal_of

KEEP = ("run", "karate", "-p", "existing", "-m", "ra,cn", "--keep-scores", "--seeds", "1")


def test_run_certify_verify(trueedge, tmp_path: Path) -> None:
    assert trueedge(*KEEP)[0] == 0
    status, _, err = trueedge("certify", "-m", "ra", "-o", "out/ra.json")
    assert status == 0
    assert "out/ra.json certifies ra on karate under existing" in err
    status, out, err = trueedge("verify", "out/ra.json")
    assert status == 0
    value = te.run("karate", "existing", "ra").test["mrr"]
    assert out == f"OK  karate · existing · ra · seed 0: mrr {value:.6f}\n"
    assert "also compared: seal, hash of settings, hash of versions, scores, headline" in err
    assert "not verified: kind, dataset, protocol, options, method, settings, seed" in " ".join(err.split())
    status, out, err = trueedge("verify", "out/ra.json", "--task", "karate")
    assert status == 0
    assert "task_settings, size, metrics, warnings, graph, valid, test, task" in " ".join(err.split())
    assert "not verified: method, settings, seed, device, key, created" in " ".join(err.split())


def test_a_difference_is_a_line_and_status_1(trueedge, tmp_path: Path) -> None:
    trueedge(*KEEP)
    trueedge("certify", "-m", "ra")
    path = tmp_path / "karate-existing-ra-0.json"
    card = json.loads(path.read_text())
    claimed = card["metrics"]["auc"]
    path.write_text(json.dumps({**card, "metrics": {**card["metrics"], "auc": 0.999}}))
    status, out, err = trueedge("verify", path.name)
    assert status == 1
    first, second = out.splitlines()
    assert first.startswith("differs  seal: ")
    assert second == f"differs  metric auc: the scores give auc {claimed!r}, but the certificate claims 0.999"
    assert "is not what was certified" in err


def test_a_difference_in_the_task_is_status_1(trueedge) -> None:
    trueedge(*KEEP)
    trueedge("certify", "-m", "ra", "-o", "ra.json")
    status, out, _ = trueedge("verify", "ra.json", "--task", "cora")
    assert status == 1
    assert "differs  graph: the hash of the graph of cora under existing is " in out


def test_records_are_named_by_key_or_by_what_tells_them_apart(trueedge, tmp_path: Path) -> None:
    trueedge(*KEEP)
    key = te.Store(tmp_path / "runs").records()[0].key
    assert trueedge("certify", key[:10], "-o", "a.json")[0] == 0
    words = ("--dataset", "karate", "-p", "existing", "-m", "cn", "--seed", "0")
    assert trueedge("certify", *words, "-o", "b.json")[0] == 0
    status, _, err = trueedge("certify")
    assert status == 1
    assert "2 records in" in err
    assert key[:12] in err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("certify", "-m", "katz"), "there is no record with method katz"),
        (("certify", "-m", "pa"), "run trueedge run karate -p existing -m pa --keep-scores"),
        (("certify", "-m", "ra", "-o", "ra.txt"), "a certificate is written to a .json file"),
        (("certify", "--runs", "nowhere"), "there are no records in nowhere"),
        (("verify", "nothing.json"), "there is no file nothing.json"),
        (("verify", "runs"), "runs is not a regular file"),
    ],
)
def test_wrong_input_is_one_sentence(trueedge, words: tuple[str, ...], sentence: str) -> None:
    trueedge(*KEEP)
    trueedge("run", "karate", "-p", "existing", "-m", "pa", "--seeds", "1")
    status, out, err = trueedge(*words)
    assert status == 1
    assert out == ""
    assert sentence in err
    assert err.count("\n") == 1


def test_a_ranking_of_all_nodes_is_certified(trueedge) -> None:
    status, _, err = trueedge(
        "run", "karate", "-p", "recommendation,existing", "-m", "ra", "--keep-scores", "--seeds", "1"
    )
    assert status == 0
    assert "not saved" not in err
    assert trueedge("certify", "-p", "recommendation", "-o", "ra.json")[0] == 0
    assert trueedge("verify", "ra.json", "--task", "karate")[0] == 0


def test_verifying_imports_no_torch(trueedge, monkeypatch) -> None:
    trueedge(*KEEP)
    trueedge("certify", "-m", "ra", "-o", "ra.json")
    monkeypatch.setitem(sys.modules, "torch", None)
    assert trueedge("verify", "ra.json")[0] == 0


def test_many_records_are_counted_and_what_tells_them_apart_is_named(trueedge) -> None:
    words = ("-p", "existing,uniform", "-m", "ra", "--seeds", "4")
    assert trueedge("run", "karate", *words, "--keep-scores")[0] == 0
    status, _, err = trueedge("certify", "-m", "ra")
    assert status == 1
    assert "8 records with method ra in" in err
    assert "choose one by key, or add -p, --seed:\n" in err
    assert err.endswith("\n  and 3 more\n")
    assert err.count("  ra on karate under ") == 5
    _, _, err = trueedge("certify", "-m", "ra", "-p", "existing")
    assert "choose one by key, or add --seed:\n" in err
    assert "more" not in err
    assert trueedge("certify", "-m", "ra", "-p", "existing", "--seed", "3")[0] == 0


def test_of_one_result_from_a_data_set_and_from_a_saved_task_the_record_with_scores_is_used(trueedge) -> None:
    trueedge("task", "karate", "-p", "existing", "-o", "frozen")
    trueedge("run", "karate", "-p", "existing", "-m", "ra", "--seeds", "1", "--keep-scores")
    trueedge("judge", "frozen", "ra", "--seeds", "1")
    assert len(te.Store("runs").records()) > 2
    assert trueedge("certify", "-m", "ra", "-o", "ra.json")[0] == 0


def test_records_of_one_title_say_in_what_they_differ(trueedge) -> None:
    for end in ("6", "7"):
        edges = ["0,1", "1,2", "2,3", "3,4", "4,5", f"5,{end}", f"{end},0", "0,2", "1,3", "2,4", "0,3"]
        Path("net.csv").write_text("\n".join(edges))
        trueedge("run", "net.csv", "-p", "existing", "-m", "ra", "--seeds", "1", "--keep-scores")
    first, second = trueedge("certify", "-m", "ra")[2].splitlines()[1:]
    assert ", task " in first
    assert first.rpartition(" ")[2] != second.rpartition(" ")[2]


DEGREES = """
from __future__ import annotations
from dataclasses import dataclass
from typing import ClassVar
from trueedge.methods import Method

@dataclass(frozen=True)
class DegreeSum(Method):
    name: ClassVar[str] = "degree-sum"
    title: ClassVar[str] = "Degrees"
    family: ClassVar[str] = "own"
    citation: ClassVar[str] = "none"

    def fit(self, task, seed=0, device="cpu"):
        degrees = task.graph.degrees.astype(float)
        return lambda pairs: degrees[pairs[:, 0]] + degrees[pairs[:, 1]]
"""


def test_a_method_of_ones_own_is_certified_by_its_file_as_its_code_last_ran(
    trueedge, monkeypatch, tmp_path: Path
) -> None:
    from trueedge.methods import method

    method.METHODS.discover()
    monkeypatch.setattr(method.METHODS, "_entries", dict(method.METHODS._entries))
    words = ("run", "karate", "-p", "existing", "-m", "mine.py:DegreeSum", "--keep-scores")
    for code in (DEGREES, DEGREES.replace(" + ", " * ")):
        Path("mine.py").write_text(code)
        assert trueedge(*words)[0] == 0
    first, last = te.Store(tmp_path / "runs").records()
    assert first.key != last.key
    assert trueedge("certify", "-m", "mine.py:DegreeSum", "-o", "own.json")[0] == 0
    assert json.loads(Path("own.json").read_text())["key"] == last.key
    assert trueedge("certify", first.key[:12], "-o", "first.json")[0] == 0
    assert json.loads(Path("first.json").read_text())["key"] == first.key
    assert "there is no file none.py" in trueedge("certify", "-m", "none.py:DegreeSum")[2]


def test_the_scores_of_a_certificate_are_a_file_that_score_takes(trueedge) -> None:
    trueedge(*KEEP)
    trueedge("certify", "-m", "ra", "-o", "ra.json")
    assert trueedge("task", "karate", "-p", "existing", "-o", "saved")[0] == 0
    status, out, err = trueedge("score", "saved", "ra.scores.npz")
    assert status == 0, err
    value = json.loads(Path("ra.json").read_text())["metrics"]["mrr"]
    assert f"{100 * value:.2f}" in out


def test_the_method_of_a_certificate_is_run_again(trueedge) -> None:
    trueedge(*KEEP)
    trueedge("certify", "-m", "ra", "-o", "ra.json")
    status, out, err = trueedge("verify", "ra.json", "--rerun")
    assert status == 0, err
    assert out.startswith("OK  karate · existing · ra · seed 0: mrr ")
    said = " ".join(err.split())
    assert "run again, ra gives the same scores" in said
    assert "not verified: key, created, seconds, peak_memory, source, versions, machine" in said


def test_a_method_that_gives_other_scores_is_status_1_with_the_difference(trueedge) -> None:
    trueedge(*KEEP)
    trueedge("certify", "-m", "ra", "-o", "ra.json")
    card = json.loads(Path("ra.json").read_text())
    card |= {"method": "cn", "settings": {}}
    card["hashes"]["settings"] = digest(request_of(card))
    Path("ra.json").write_text(json.dumps({**card, "seal": seal_of(card)}))
    assert trueedge("verify", "ra.json")[0] == 0
    status, out, _ = trueedge("verify", "ra.json", "--rerun")
    assert status == 1
    assert "differs  rerun scores: run again, cn gives other scores: they differ by " in out
    assert "differs  rerun mrr: run again, mrr is " in out
    assert trueedge("verify", "ra.json", "--rerun", "--tolerance", "1")[0] == 0


def test_a_method_of_ones_own_is_run_again_from_its_file(trueedge, monkeypatch) -> None:
    from trueedge.methods import method

    method.METHODS.discover()
    monkeypatch.setattr(method.METHODS, "_entries", dict(method.METHODS._entries))
    Path("mine.py").write_text(DEGREES)
    words = ("run", "karate", "-p", "existing", "-m", "mine.py:DegreeSum", "--keep-scores")
    assert trueedge(*words)[0] == 0
    assert trueedge("certify", "-m", "mine.py:DegreeSum", "-o", "own.json")[0] == 0
    assert trueedge("verify", "own.json", "--rerun", "-m", "mine.py:DegreeSum")[0] == 0
    Path("mine.py").write_text(DEGREES.replace(" + ", " - "))
    assert trueedge("verify", "own.json", "--rerun", "-m", "mine.py:DegreeSum")[0] == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("-m", "mine.py:Mine"), "-m is for running the method again: add --rerun"),
        (("--device", "cpu"), "--device is for running the method again: add --rerun"),
        (("--tolerance", "0.1"), "--tolerance is for running the method again: add --rerun"),
        (("--rerun", "-m", "none.py:Mine"), "there is no file none.py"),
        (("--rerun", "--task", "./graph.csv"), "there is no file ./graph.csv"),
    ],
)
def test_options_for_running_again_need_it(trueedge, words: tuple[str, ...], sentence: str) -> None:
    trueedge(*KEEP)
    trueedge("certify", "-m", "ra", "-o", "ra.json")
    status, out, err = trueedge("verify", "ra.json", *words)
    assert (status, out) == (1, "")
    assert sentence in " ".join(err.split())


def test_a_file_that_is_no_text_is_no_certificate(trueedge) -> None:
    Path("scores.npy").write_bytes(b"\x93NUMPY")
    status, _, err = trueedge("verify", "scores.npy")
    assert status == 1
    assert "scores.npy is not a certificate: it is not a text file" in err
